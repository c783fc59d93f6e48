import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { faultsOf, settled, startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

test('what has an address is shown at that address, and lists link to it', async () => {
  const { context, page, said } = await console_.open('login');
  await console_.makeKey(context, { name: 'shop' });
  const { items } = await console_.api(context, 'GET', '/api/token');
  const key = items.find(({ name }) => name === 'shop');
  await console_.api(context, 'POST', '/api/redemption', { name: 'meetup', quota: 5, count: 1 });
  const codes = await console_.api(context, 'GET', '/api/redemption');
  const channels = await console_.api(context, 'GET', '/api/channel');
  const channel = channels.items.find(({ name }) => name === 'inside');
  const records = [
    ['keys', key.id, 'shop', 'Spent'],
    ['people', key.user_id, 'root', 'Balance'],
    ['channels', channel.id, 'inside', 'Credentials'],
    ['codes', codes.items[0].id, 'meetup', 'Redeemed'],
    ['tags', 'own', 'own', '1 channel'],
    ['models', 'rerank-2.5', 'rerank-2.5', 'Price'],
  ];
  const found = [];
  for (const [list, id, name, fact] of records) {
    await page.goto(`${console_.url}/console/${list}/${id}`);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.getByText(fact, { exact: false }).first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.equal(await page.locator('tr.item').count(), 0);
    found.push(...(await faultsOf(page, `${list}/${id}`)));

    await page.locator('.head').getByRole('link').click();
    const link = page.locator(`main a[href="/console/${list}/${id}"]`);
    await link.first().waitFor();
    if (list === 'tags') continue;
    // A plain click opens the drawer, whose title leads to the page.
    await link.first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('heading', { name, exact: true }).getByRole('link').click();
    await page.waitForURL(new RegExp(`/console/${list}/${id}$`));
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await drawer.waitFor({ state: 'detached' });
  }
  assert.deepEqual(found, []);
  assert.deepEqual(said, []);
  await context.close();
});

test('what does not exist is told in a sentence, with who deleted it', async () => {
  const { context, page } = await console_.open('login');
  await console_.makeKey(context, { name: 'gone' });
  const { items } = await console_.api(context, 'GET', '/api/token');
  const { id } = items.find(({ name }) => name === 'gone');
  await console_.api(context, 'DELETE', `/api/token/${id}`);

  await page.goto(`${console_.url}/console/keys/${id}`);
  await page.getByText(`There is no key ${id}. It may have been deleted.`).waitFor();
  await page.getByText(/root deleted it/).waitFor();
  assert.deepEqual(await faultsOf(page, 'a key that is gone'), []);
  await page.getByRole('link', { name: 'What was changed' }).click();
  await page.getByRole('cell', { name: 'deleted the key gone' }).waitFor();

  const nobody = [
    ['people/9999', 'There is no account 9999.'],
    ['channels/9999', 'There is no channel 9999.'],
    ['channels/nobody', 'There is no channel nobody.'],
    ['codes/9999', 'There is no code 9999.'],
    ['tags/nobody', 'No channel has the tag nobody.'],
    ['models/no%2Fbody', 'There is no model no/body'],
    ['keys?open=9999', 'There is no key 9999.'],
    ['requests/nobody', 'This request is not in the logs.'],
    ['spend/7', 'There is no such page.'],
    ['keys/7/8', 'There is no such page.'],
  ];
  for (const [path, sentence] of nobody) {
    await page.goto(`${console_.url}/console/${path}`);
    await page.getByText(sentence).waitFor();
    await settled(page);
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, path);
    assert.equal(await page.locator('.skeleton').count(), 0, path);
  }
  await context.close();
});

test('where the gateway fails, a page says so once, and pretends nothing is on its way', async () => {
  const { context, page } = await console_.open('login');
  let calls = 0;
  await page.route(/\/api\/(?!about)/, (route) => {
    calls += 1;
    return route.fulfill({
      status: 500,
      json: { success: false, message: 'It broke.', code: 'internal_error', request_id: 'r1' },
    });
  });
  const pages = ['', 'requests', 'requests/r1', 'keys', 'keys/1', 'spend', 'codes', 'codes/1'];
  pages.push('people', 'people/1', 'channels', 'channels/1', 'channels/new', 'tags', 'tags/own');
  pages.push('models', 'models/local', 'nodes', 'audit', 'account');
  for (const path of pages) {
    await page.goto(`${console_.url}/console/${path}`);
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    await until(`${path} has no grey bars`, async () => {
      return (await page.locator('.skeleton').count()) === 0;
    });
    const before = calls;
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await until(`${path} asks again`, () => calls > before);
  }
  await context.close();
});
