import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startConsole } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

/** From now on, the gateway is of another release, and does not know these files of the page's. */
async function upgrade(page, files) {
  await page.route(files, (route) =>
    route.fulfill({ status: 404, contentType: 'application/json', body: '{}' }),
  );
}

/** The browser itself tells of each file that is missing. */
const unexpected = (said) => said.filter((text) => !text.includes('404'));

test('a page that stayed open through an upgrade says so, and a reload keeps what was typed', async () => {
  const { context, page, said } = await console_.open('login');
  await upgrade(page, '**/assets/audit-*');
  await page.goto(`${console_.url}/console/playground`);
  await page.getByLabel('Query').fill('which is a draft?');
  await page.getByLabel(/^Documents/).fill('one draft\nanother draft');
  assert.equal(await page.locator('.late').count(), 0);
  await page.getByRole('link', { name: 'Audit' }).first().click();
  const gone = page
    .getByRole('main')
    .getByText('The gateway was upgraded while this page was open.');
  await gone.waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel('Query').inputValue(), 'which is a draft?');
  await page.unroute('**/assets/audit-*');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('button', { name: 'Reload' }).waitFor({ state: 'detached' });
  await page.getByLabel('Query').waitFor();
  assert.equal(await page.getByLabel('Query').inputValue(), 'which is a draft?');
  assert.match(await page.getByLabel(/^Documents/).inputValue(), /another draft/);
  assert.equal(await page.evaluate(() => globalThis.sessionStorage.length), 0);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  assert.equal(await page.evaluate(() => document.body.innerText.includes('draft')), false);
  assert.deepEqual(unexpected(said), []);
  await context.close();
});

test('a page whose script is of another release than the page itself is not white', async () => {
  const { context, page, said } = await console_.open('login', { login: false });
  await upgrade(page, '**/assets/*');
  await page.reload();
  await page.getByText('The console is still loading.').waitFor();
  assert.deepEqual(unexpected(said), []);
  await context.close();
});

test('a login page that stayed open through an upgrade is not white', async () => {
  const { context, page, said } = await console_.open('login', { login: false });
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  await upgrade(page, '**/assets/*');
  await page.getByRole('link', { name: /forgot/i }).click();
  await page.getByRole('button', { name: 'Reload' }).waitFor();
  assert.deepEqual(unexpected(said), []);
  await context.close();
});
