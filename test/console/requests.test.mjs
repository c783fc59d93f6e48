import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { faultsOf, PASSWORD, settled, startConsole, until, clickStep } from './support.mjs';

let gateway;

before(async () => {
  gateway = await startConsole();
});

after(() => gateway?.stop());

const inAddress = (page, name) => new URL(page.url()).searchParams.get(name);

test('a log without entries shows code as code, and fits 320 px with a scrollbar', async () => {
  const { context, page, said } = await gateway.open('requests');
  await page.setViewportSize({ width: 305, height: 800 });
  const code = page.locator('.empty pre');
  await code.waitFor();
  await settled(page);
  const align = await code.evaluate((each) => globalThis.getComputedStyle(each).textAlign);
  assert.equal(align, 'start');
  const wider = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(wider <= 0, `${wider} px wider than the window`);
  assert.deepEqual(said, []);
  await context.close();
});

test('requests are picked from a chart, and filtered by what a row has', async () => {
  const { open, api, makeKey, rerank } = gateway;
  const { context, page, said } = await open('login');
  const keys = [await makeKey(context, { name: 'shop' }), await makeKey(context, { name: 'lab' })];
  await rerank(keys[0], 'rerank-2.5');
  await rerank(keys[1], 'local');
  await rerank(keys[1], 'nobody');
  await until('the requests are in the log', async () => {
    const { total } = await api(context, 'GET', '/api/log');
    const { total: refused } = await api(context, 'GET', '/api/log/refused');
    return total === 2 && refused === 1;
  });
  await until('they are in the statistics', async () => {
    const now = Math.floor(Date.now() / 60_000) * 60 + 60;
    const span = `start_timestamp=${now - 3_600}&end_timestamp=${now}`;
    const { total } = await api(context, 'GET', `/api/stats/series?${span}`);
    return total.requests === 3;
  });
  await page.goto(`${gateway.url}/console/requests?span=1h`);
  const rows = page.locator('tr.item');
  const chart = page.locator('figure.chart');
  await chart.locator('.u-over').waitFor();
  assert.deepEqual(await faultsOf(page, 'requests'), []);

  // Channels have names.
  await page.getByRole('cell', { name: 'voyage-eu', exact: true }).first().waitFor();

  // Both logs are one list, and each can be seen alone.
  await until('all three', async () => (await rows.count()) === 3);
  await page.getByText('Refused', { exact: true }).first().click();
  await until('one was refused', async () => (await rows.count()) === 1);
  await page.getByText('404 model_not_found').waitFor();
  await page.getByText('Admitted', { exact: true }).click();
  await until('two were admitted', async () => (await rows.count()) === 2);
  await page.getByRole('radiogroup', { name: 'Which requests' }).getByText('All').click();
  await page.getByLabel('Any outcome').selectOption({ label: 'any error' });
  await until('one error', async () => (await rows.count()) === 1);
  await page.getByLabel('Any outcome').selectOption({ label: 'Any outcome' });
  await until('all three again', async () => (await rows.count()) === 3);

  // A click on a bar picks its minute: one in which a request was admitted.
  await clickStep(chart);
  await page.waitForURL(/from=\d+/);
  assert.equal(Number(inAddress(page, 'to')) - Number(inAddress(page, 'from')), 60);
  await rows.first().waitFor();
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await page.getByText('Nothing matches').waitFor();
  await page.goBack();
  await page.getByText('24h', { exact: true }).click();
  await rows.nth(1).waitFor();
  assert.equal(inAddress(page, 'from'), null);

  // A cell filters, and so does the menu of a row.
  await page.getByRole('cell', { name: 'shop', exact: true }).click({ modifiers: ['Alt'] });
  await until('one row', async () => (await rows.count()) === 1);
  assert.equal(inAddress(page, 'token_name'), 'shop');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('f');
  await page.getByRole('menuitem', { name: 'Only channel voyage-eu' }).press('Enter');
  await page.getByText('channel: voyage-eu').waitFor();
  await until('the chart is of the channel', async () => {
    const series = await chart.locator('figcaption ~ .row .nowrap').allInnerTexts();
    return series.filter((text) => /Refused/.test(text)).length === 0;
  });

  // A letter starts and ends following.
  await page.locator('body').press('l');
  await page.getByRole('button', { name: '● Live', pressed: true }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('the chart of all requests begins with the first of them, filters stand in a line, and times are the reader’s', async () => {
  const { context, page, said } = await gateway.open('requests');
  const chart = page.locator('figure.chart');
  await chart.waitFor();
  await chart.getByText('As a table').click();
  await until('a day, where a month is kept', async () => {
    const steps = await chart.locator('tbody tr').count();
    return steps > 0 && steps <= 26;
  });
  const tops = await Promise.all(
    ['Model', 'Tag'].map(async (name) => (await page.getByLabel(name).boundingBox()).y),
  );
  assert.equal(tops[0], tops[1]);
  await page.goto(`${gateway.url}/console/requests/nobody`);
  const told = page.locator('.empty');
  await told.getByText('This request is not in the logs.').waitFor();
  assert.doesNotMatch(await told.innerText(), /\dT\d\d:/);
  // The browser says that there was a 404.
  assert.ok(said.length <= 1);
  await context.close();
});

test('a request of another day has its date, one of today the time alone', async () => {
  const { context, page, said } = await gateway.open('requests');
  const time = page.locator('tbody tr.item td').first();
  await time.getByText(/^\d\d:\d\d:\d\d$/).waitFor();
  await page.clock.setFixedTime(Date.now() + 2 * 86_400_000);
  await page.reload();
  await time.getByText(/^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d:\d\d$/).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('users see the chart and the filters of their own requests, and no channel', async () => {
  const { open, api, makeKey, rerank } = gateway;
  const { context } = await open('login');
  const account = { username: 'ada', password: PASSWORD, quota: 500_000 };
  const { id } = await api(context, 'POST', '/api/user', account);
  await rerank(await makeKey(context, { name: 'of ada', user_id: id }), 'local');
  await context.close();
  const { page, said, context: own } = await open('requests', { username: 'ada' });
  await until('a row', async () => {
    await page.keyboard.press('r');
    return (await page.locator('tr.item').count()) === 1;
  });
  await page.locator('figure.chart .u-over').waitFor();
  await page.locator('tr.item').getByRole('button').click();
  await page.getByRole('menuitem', { name: 'Only model local' }).waitFor();
  assert.equal(await page.getByText(/voyage-eu|inside/).count(), 0);
  assert.deepEqual(said, []);
  await own.close();
});

test('rows that are followed stand still for somebody who reads further down', async () => {
  const { open, makeKey, rerank } = gateway;
  const { context, page, said } = await open('login', { viewport: { width: 1280, height: 400 } });
  const key = await makeKey(context, { name: 'many' });
  for (let at = 0; at < 25; at += 1) await rerank(key, 'local');
  await page.goto(`${gateway.url}/console/requests?token_name=many`);
  await until('all rows', async () => {
    await page.keyboard.press('r');
    return (await page.locator('tr.item').count()) === 25;
  });
  await page.getByRole('button', { name: '○ Live' }).click();
  await page.evaluate(() => globalThis.scrollTo(0, 600));
  await settled(page);
  await rerank(key, 'local');
  const more = page.getByRole('button', { name: '1 new' });
  await more.waitFor();
  assert.equal(await page.locator('tr.item').count(), 25);
  await more.click();
  await until('the new row', async () => (await page.locator('tr.item').count()) === 26);
  assert.deepEqual(said, []);
  await context.close();
});

test('a link with filters of operators tells users of none, and a hidden field is a chip', async () => {
  const { open, api } = gateway;
  const link = 'requests?log=refused&channel_id=1&tag=own&provider=local&user_id=1&slower=5';
  const ofRoot = await open(link);
  const chips = (page) => page.locator('main .chip');
  await until('all filters are told', async () => (await chips(ofRoot.page).count()) === 5);
  await chips(ofRoot.page).filter({ hasText: 'tag: own' }).getByRole('button').click();
  await until('the tag is gone', () => inAddress(ofRoot.page, 'tag') === null);
  const account = { username: 'reader', password: PASSWORD };
  await api(ofRoot.context, 'POST', '/api/user', account);
  const { context, page, said } = await open(link, account);
  await until('one filter is told', async () => (await chips(page).count()) === 1);
  assert.match(await chips(page).textContent(), /slower than/);
  assert.deepEqual([...said, ...ofRoot.said], []);
  await context.close();
  await ofRoot.context.close();
});
