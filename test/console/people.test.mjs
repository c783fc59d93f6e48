import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { faultsOf, goBy, PASSWORD, startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

test('an account is made, given balance, disabled with a reason and deleted', async () => {
  const { context, page, said } = await console_.open('people');
  await page.getByRole('heading', { name: /^People/ }).waitFor();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'New account' });
  await form.getByLabel('Name', { exact: true }).fill('ada');
  await form.getByRole('textbox', { name: 'Password' }).fill('a long enough secret');
  assert.deepEqual(await faultsOf(page, 'new account'), []);
  await page.keyboard.press('Control+Enter');

  const drawer = page.getByRole('dialog', { name: 'ada', exact: true });
  await drawer.getByRole('heading', { name: 'ada' }).waitFor();
  await drawer.getByLabel('Amount in dollars').fill('12.5');
  await drawer.getByLabel('Reason').fill('a present');
  await drawer.getByRole('button', { name: 'Add' }).click();
  await drawer.getByText('$12.50').waitFor();
  assert.deepEqual(await faultsOf(page, 'drawer'), []);
  await drawer.getByText('Not logged in anywhere.').waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Actions: ada' }).click();
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  await page.getByRole('dialog', { name: 'Disable ada?' }).getByLabel('Reason').fill('on leave');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /ada/ }).getByText('disabled').waitFor();

  const reasons = async () => {
    const { items } = await console_.api(context, 'GET', '/api/audit?page_size=10');
    return items.map(({ detail }) => detail.reason).filter((reason) => reason);
  };
  assert.deepEqual(await reasons(), ['on leave', 'a present']);

  await page.getByRole('button', { name: 'Actions: ada' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByText('It has no keys.').waitFor();
  await page.getByLabel(/To confirm/).fill('ada');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /ada/ }).waitFor({ state: 'detached' });

  // The reasons were about a person, who is forgotten.
  assert.deepEqual(await reasons(), []);
  // Nobody acts on an equal role.
  await page.getByRole('button', { name: /Its role is not below yours: root/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('logins are seen and ended, one’s own and those of lower roles', async () => {
  const { context, page, said } = await console_.open('account');
  const { id } = await console_.api(context, 'POST', '/api/user', {
    ...{ username: 'grace', password: PASSWORD },
  });
  const other = await console_.open('', { username: 'grace' });
  const grace = await console_.open('account', { username: 'grace', login: 'anew' });
  const own = grace.page.getByRole('main').getByRole('list');
  await own.getByText('this one').waitFor();
  assert.equal(await own.getByRole('listitem').count(), 2);
  await own
    .getByText(/Chrome \d+, Linux · from 127\.0\.0\.1/)
    .first()
    .waitFor();
  await own
    .getByText(/since .+ · last used/)
    .first()
    .waitFor();
  assert.deepEqual(await faultsOf(grace.page, 'own logins'), []);
  await own.getByRole('button', { name: 'End' }).click();
  await own.getByRole('button', { name: 'End' }).waitFor({ state: 'detached' });
  assert.equal((await other.context.request.get(`${console_.url}/api/user/self`)).status(), 401);

  await page.goto(`${console_.url}/console/people?open=${id}`);
  const logins = page.getByRole('region', { name: 'Logins' });
  await logins.getByRole('button', { name: 'End' }).click();
  await logins.getByText('Not logged in anywhere.').waitFor();
  assert.equal((await grace.context.request.get(`${console_.url}/api/user/self`)).status(), 401);
  assert.deepEqual(said, []);
  for (const opened of [grace, other, { context }]) await opened.context.close();
});

test('a list is in the order of the head that was clicked, also for whoever opens its address', async () => {
  const { context, page, said } = await console_.open('people');
  for (const [username, quota] of [
    ['sorted-a', 5],
    ['sorted-b', 9],
    ['sorted-c', 1],
  ]) {
    await console_.api(context, 'POST', '/api/user', { username, password: PASSWORD, quota });
  }
  await page.goto(`${console_.url}/console/people?keyword=sorted-`);
  const names = () => page.locator('tbody tr td:first-child').allTextContents();
  const inOrder = (order) =>
    until(
      `the order is ${order}`,
      async () => (await names()).map((name) => name.trim().at(7)).join('') === order,
    );
  await inOrder('cba');
  await page.getByRole('button', { name: 'Balance' }).click();
  await inOrder('bac');
  await page.getByRole('columnheader', { name: 'Balance', exact: true }).waitFor();
  assert.equal(await page.locator('th[aria-sort=descending]').count(), 1);
  assert.deepEqual(await faultsOf(page, 'sorted'), []);
  await page.reload();
  await inOrder('bac');
  await page.getByRole('button', { name: 'Balance' }).click();
  await inOrder('cab');
  await page.getByRole('button', { name: 'Balance' }).click();
  await inOrder('cba');
  assert.deepEqual(said, []);
  await context.close();
});

test('codes are made, shown once, printed, redeemed, and what is left is disabled', async () => {
  const { context, page, said } = await console_.open('codes');
  await page.getByRole('heading', { name: /^Codes/ }).waitFor();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'Codes that turn into balance' });
  await form.getByLabel('Name', { exact: true }).fill('meetup');
  await form.getByLabel('Worth of each, in dollars').fill('5');
  await form.getByLabel('How many').fill('12');
  await form.getByText('12 × $5.00 = $60.00').waitFor();
  assert.deepEqual(await faultsOf(page, 'make'), []);
  await page.keyboard.press('Enter');

  const shown = page.getByRole('dialog', { name: '12 codes “meetup”' });
  await shown.getByRole('listitem').first().waitFor();
  const codes = await shown.locator('.secret li').allTextContents();
  assert.equal(new Set(codes).size, 12);
  assert.deepEqual(await faultsOf(page, 'shown once'), []);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.print-card:visible').count(), 12);
  assert.equal(await page.getByRole('button', { name: 'Copy all' }).isVisible(), false);
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 2, 'ten cards to a page');
  await page.emulateMedia({ media: 'screen' });
  await page.keyboard.press('Escape');
  await page.getByText('They were neither copied nor saved').waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    shown.getByRole('button', { name: 'CSV' }).click(),
  ]);
  assert.equal(file.suggestedFilename(), 'codes.csv');
  await shown
    .getByRole('button', { name: /Close|I have them/ })
    .last()
    .click();
  await shown.waitFor({ state: 'detached' });
  const left = await page.evaluate(() => document.documentElement.outerHTML);
  assert.equal(
    codes.some((code) => left.includes(code)),
    false,
  );

  await console_.api(context, 'POST', '/api/user', { username: 'bob', password: PASSWORD });
  const bob = await console_.open('', { username: 'bob' });
  await bob.page.getByLabel('Redeem a code').fill(codes[0]);
  await bob.page.getByRole('button', { name: 'Redeem' }).click();
  await bob.page.getByText('$5.00').first().waitFor();
  await bob.context.close();

  await page.keyboard.press('r');
  await page.getByRole('row', { name: /^meetup 12 1 11 \$55\.00/ }).waitFor();
  await page.getByRole('button', { name: 'Disable the rest… meetup' }).click();
  await page.getByText('11 codes can no longer be redeemed.').waitFor();
  await page.keyboard.press('Tab');
  await page.getByLabel('Reason').fill('over');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /^meetup 12 1 0 \$0/ }).waitFor();
  await page.getByRole('button', { name: 'Delete invalid ones…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('No code yet.').waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('models say who serves them in which order; users see prices and no channels', async () => {
  const { context, page, said } = await console_.open('models');
  await page.getByRole('cell', { name: 'rerank-2.5', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'rerank-2.5' });
  await drawer.getByRole('link', { name: 'voyage-eu' }).waitFor();
  await drawer.getByText('100% of the requests at this priority').waitFor();
  await drawer.getByText('$2.00 per 1,000 searches').waitFor();
  assert.deepEqual(await faultsOf(page, 'model'), []);
  await console_.api(context, 'POST', '/api/user', { username: 'eve', password: PASSWORD });
  await context.close();

  const eve = await console_.open('models', { username: 'eve' });
  await eve.page.getByRole('cell', { name: 'rerank-2.5', exact: true }).click();
  await eve.page.getByRole('dialog').getByText('Code to paste').waitFor();
  assert.equal((await eve.page.content()).includes('voyage-eu'), false);
  await eve.page.goto(`${console_.url}/console/people`);
  await eve.page.getByText('This page is for admins.').waitFor();
  await eve.page.getByText('Yours has the role user;').waitFor();
  await eve.page.getByText('Admins of this gateway: root').waitFor();
  assert.deepEqual(await faultsOf(eve.page, 'a page for admins'), []);
  await eve.page.getByRole('link', { name: 'Home page' }).click();
  await eve.page.getByRole('heading', { name: 'Home' }).waitFor();
  assert.deepEqual([...said, ...eve.said], []);
  await eve.context.close();
});

test('every page has its letter, and what the search finds is there', async () => {
  const { context, page, said } = await console_.open('');
  await page.getByRole('link', { name: 'Channels' }).waitFor();
  for (const [letter, heading] of [
    ['c', 'Channels'],
    ['m', 'Models'],
    ['u', 'People'],
    ['d', 'Codes'],
  ]) {
    await goBy(page, letter, new RegExp(`^${heading}`));
  }
  await console_.api(context, 'POST', '/api/redemption', { name: 'found', quota: 5 });
  const search = async (text, option) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(text);
    await page.getByRole('option', { name: option }).click();
  };
  // Eight letters and more might be the id of a request.
  await search('yage-eu', /^voyage-eu/);
  await page.getByRole('dialog', { name: 'voyage-eu' }).waitFor();
  await page.keyboard.press('Escape');
  await search('root', /^root/);
  await page.getByRole('dialog', { name: 'root' }).getByText('Balance').first().waitFor();
  await page.keyboard.press('Escape');
  await search('erank-2', /^rerank-2\.5$/);
  await page.getByRole('dialog', { name: 'rerank-2.5' }).waitFor();
  await page.keyboard.press('Escape');
  await search('found', /^found/);
  await page.getByRole('cell', { name: 'found', exact: true }).first().waitFor();
  await search('add a ch', 'Add a channel');
  await page.getByRole('heading', { name: 'Add a channel' }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

for (const [colorScheme, locale] of [
  ['light', 'en-GB'],
  ['dark', 'zh-CN'],
]) {
  test(`the pages are accessible and fit: ${colorScheme}, ${locale}`, async () => {
    const { context, page, said } = await console_.open('', { colorScheme, locale });
    await console_.api(context, 'POST', '/api/redemption', { name: 'x', quota: 5, count: 2 });
    const found = [];
    for (const path of ['models', 'models?model=local', 'people', 'people?new=1', 'codes']) {
      await page.goto(`${console_.url}/console/${path}`);
      found.push(...(await faultsOf(page, path)));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(said, []);
    await context.close();
  });
}
