import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { settled, startConsole } from './support.mjs';

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

test('a page says that it is outdated once no gateway serves its build, of the same release too', async () => {
  const { context, page, said } = await console_.open('nodes', {
    prepare: (blank) => blank.clock.install(),
  });
  await page.getByRole('heading', { name: 'Nodes' }).waitFor();
  const { builds: own } = await console_.api(context, 'GET', '/api/about');
  assert.equal(own.length, 1);
  /** What the gateways serve from now on, as the page hears at its next look. */
  const serve = async (builds) => {
    await page.route('**/api/about', async (route) => {
      const reply = await route.fetch();
      const { data, ...rest } = await reply.json();
      await route.fulfill({ response: reply, json: { ...rest, data: { ...data, builds } } });
    });
    const heard = page.waitForResponse('**/api/about');
    await page.clock.runFor(61_000);
    await (await heard).finished();
    await settled(page);
  };
  const bar = page.getByText('The gateway was upgraded: this page is outdated.');

  // An upgrade is under way, or the store cannot tell: the page after a reload might be as old.
  await serve([...own, 'other']);
  assert.equal(await bar.count(), 0);
  await serve([]);
  assert.equal(await bar.count(), 0);
  await serve(['other']);
  await bar.waitFor();
  await serve([...own, 'other']);
  await bar.waitFor();

  await page.unrouteAll();
  await page.getByRole('button', { name: 'Reload' }).click();
  await bar.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Nodes' }).waitFor();
  await page.clock.runFor(61_000);
  await settled(page);
  assert.equal(await bar.count(), 0);
  assert.deepEqual(said, []);
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

test('a proxy that answers for gateways that are away is told from the gateway, and the page comes back', async () => {
  const { context, page } = await console_.open('keys');
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  const answer = (route) =>
    route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>503</h1>' });
  await page.route('**/api/**', answer);
  await page.keyboard.press('r');
  const away = page.getByRole('alert').filter({ hasText: 'These numbers are from' });
  await away.waitFor();
  await page.unroute('**/api/**', answer);
  await away.waitFor({ state: 'detached' });
  await context.close();
});
