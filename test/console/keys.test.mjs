import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { faultsOf, PASSWORD, startConsole, until } from './support.mjs';

const DAY_S = 86_400;
let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

async function textOf(download) {
  return readFileSync(await download.path(), 'utf8');
}

async function keysOf(context) {
  const { items } = await console_.api(context, 'GET', '/api/token?page_size=100');
  return new Map(items.map((key) => [key.name, key]));
}

test('several keys are extended, disabled, enabled and deleted at once; what is refused is named', async () => {
  const { context, page, said } = await console_.open('login');
  const budget = { unlimited_quota: false, remain_quota: 500_000 };
  await console_.makeKey(context, { name: 'one of two', ...budget });
  await console_.makeKey(context, { name: 'two of two', ...budget });
  await page.goto(`${console_.url}/console/keys`);
  const choose = async (...names) => {
    for (const name of names) {
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByRole('checkbox')
        .check();
    }
  };
  const dialog = page.getByRole('dialog');
  const finish = async (action) => {
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  await choose('one of two', 'two of two');
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Extend…' }).click();
  await dialog.getByText('30 days').click();
  await dialog.getByLabel(/Add to the budget/).fill('2');
  assert.deepEqual(await faultsOf(page, 'extending'), []);
  await finish('Extend');
  const extended = await keysOf(context);
  for (const name of ['one of two', 'two of two']) {
    assert.equal(extended.get(name).remain_quota, 1_500_000);
    assert.ok(extended.get(name).expired_time > Date.now() / 1000 + 29 * DAY_S);
  }

  await choose('one of two', 'two of two');
  await page.getByRole('button', { name: 'Disable…' }).click();
  await dialog.getByLabel('Reason').fill('of a test');
  await finish('Disable');
  const disabled = await keysOf(context);
  assert.deepEqual(
    ['one of two', 'two of two'].map((name) => disabled.get(name).status),
    [2, 2],
  );
  const audit = await console_.api(context, 'GET', '/api/audit?action=token.update');
  assert.equal(audit.items[0].detail.reason, 'of a test');

  // One of them cannot be enabled as it is.
  await console_.api(context, 'PUT', '/api/token', {
    id: disabled.get('one of two').id,
    remain_quota: 0,
  });
  await choose('one of two', 'two of two');
  await page.getByRole('button', { name: 'Enable…' }).click();
  await dialog.getByRole('button', { name: 'Enable', exact: true }).click();
  await dialog.getByRole('alert').getByText('one of two').waitFor();
  assert.equal(await dialog.getByRole('alert').getByRole('listitem').count(), 1);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await keysOf(context)).get('two of two').status, 1);

  // It is extended and enabled in one step.
  await page.getByRole('button', { name: 'Actions: one of two' }).click();
  await page.getByRole('menuitem', { name: 'Enable…' }).click();
  await dialog.getByLabel(/Add to the budget/).fill('1');
  await finish('Extend and enable');
  const enabled = (await keysOf(context)).get('one of two');
  assert.deepEqual([enabled.status, enabled.remain_quota], [1, 500_000]);

  // A question that a row asks breaks its lines, and not as a cell of the table does.
  await page.getByRole('button', { name: 'Actions: two of two' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const isFitting = ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth;
  assert.ok(await dialog.evaluate(isFitting), 'what is asked runs out of the dialog');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await choose('one of two', 'two of two');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await finish('Delete');
  assert.equal((await keysOf(context)).has('two of two'), false);
  // The one that could not be enabled.
  assert.equal(said.length, 1);
  assert.match(said[0], /409/);
  await context.close();
});

test('admins see whose each key is, and the list is a file', async () => {
  const { context, page, said } = await console_.open('login');
  const account = { username: 'ada', password: PASSWORD, quota: 500_000 };
  const { id } = await console_.api(context, 'POST', '/api/user', account);
  await console_.makeKey(context, { name: 'of ada', user_id: id });
  await page.goto(`${console_.url}/console/keys?user_id=${id}`);
  await page
    .getByRole('row', { name: /of ada/ })
    .getByRole('link', { name: 'ada', exact: true })
    .waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const lines = (await textOf(download)).trim().split('\r\n');
  assert.deepEqual(
    [lines.length, lines[0].split(',').at(-1), lines[1].split(',').at(-1)],
    [2, 'owner', 'ada'],
  );

  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: /first key/ }).waitFor();
  await page.getByLabel('All states').selectOption('not used for 90 days');
  await page.getByText('Nothing matches').waitFor();
  assert.deepEqual(said, []);
  await context.close();

  const own = await console_.open('keys', { username: 'ada' });
  await own.page.getByRole('row', { name: /of ada/ }).waitFor();
  assert.equal(await own.page.getByRole('columnheader', { name: 'Account' }).count(), 0);
  await own.context.close();
});

test('a new key is saved as a file, and tried in the playground', async () => {
  const { context, page, said } = await console_.open('keys?new=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('shop & search');
  await dialog.getByLabel('Models', { exact: true }).fill('rerank-2.5');
  await dialog.getByRole('button', { name: 'Make key' }).click();
  await dialog.locator('.secret').waitFor();
  const secret = await dialog.locator('.secret').textContent();

  // Leaving without the key only warns.
  await dialog.getByRole('button', { name: 'Try it' }).click();
  await dialog.getByText('The key was not copied').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Save as .env' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'shop-search.env');
  assert.equal(await textOf(download), `KEY=${secret}\nRERANK_URL=${console_.url}/v1/rerank\n`);

  await dialog.getByRole('button', { name: 'Try it' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await page.locator('.chip', { hasText: 'rerank-2.5' }).waitFor();
  await until('the key is nowhere', () =>
    page.evaluate(
      (key) =>
        !document.documentElement.outerHTML.includes(key) &&
        !location.href.includes(key) &&
        !JSON.stringify([localStorage, globalThis.sessionStorage]).includes(key),
      secret,
    ),
  );
  assert.deepEqual(said, []);
  await context.close();
});
