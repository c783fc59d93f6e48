import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { faultsOf, goBy, PASSWORD, settled, startConsole, until, clickStep } from './support.mjs';

let gateway;

before(async () => {
  gateway = await startConsole({ prices: { default: { per_search_unit: 250_000 } } });
});

after(() => gateway?.stop());

test('the overview, the spending and the home page show what happened, and sums that agree', async () => {
  const { open, api, makeKey, rerank } = gateway;
  const { context, page, said } = await open('');
  await page.getByText('All right: no request in this time.').waitFor();
  const user = await api(context, 'POST', '/api/user', {
    ...{ username: 'ada', password: PASSWORD, quota: 10_000_000 },
  });
  const key = await makeKey(context, { user_id: user.id, name: 'search' });
  await rerank(key, 'no such model');
  // Nothing has gone well yet: that a refusal was quick is no latency.
  await page.getByText(/^All right: .* requests a second, 0% failed, p95 –\.$/).waitFor();
  for (let round = 0; round < 4; round += 1) await rerank(key, 'local');
  await page.getByText(/^All right: .* requests a second, 0% failed, p95 \d/).waitFor();
  await page.getByRole('region', { name: 'Channels' }).getByRole('link').first().waitFor();
  const charts = page.locator('figure.chart');
  assert.equal(await charts.count(), 2);
  await charts.first().getByText('As a table').click();
  // The requests may lie in two minutes.
  await until('the table has all that went well', async () => {
    const counts = await charts.first().locator('tbody td:nth-child(2)').allInnerTexts();
    return counts.reduce((sum, count) => sum + Number(count), 0) === 4;
  });
  assert.deepEqual(await faultsOf(page, 'overview'), []);

  await api(context, 'POST', '/api/channel/tag/disabled', { tag: 'hosted', reason: 'a test' });
  await page.keyboard.press('r');
  await page.getByText('2 things need a look').waitFor();
  await page.getByRole('link', { name: 'the tag hosted is switched off' }).waitFor();
  await page.getByRole('link', { name: /^1 model has no live channel.*: rerank-2\.5$/ }).waitFor();
  await page.getByRole('button', { name: /^Mute for a day: 1 model/ }).click();
  await page.getByText('1 thing needs a look').waitFor();
  // Muted for a day, in this browser, until somebody wants it back.
  await page.getByRole('button', { name: /^Mute for a day: the tag hosted/ }).click();
  await page.getByText(/^All right: /).waitFor();
  await page.reload();
  await page.getByText(/^All right: /).waitFor();
  await page.getByRole('button', { name: '2 muted: show again' }).click();
  await page.getByText('2 things need a look').waitFor();
  await api(context, 'POST', '/api/channel/tag/enabled', { tag: 'hosted' });
  await page.keyboard.press('r');
  await page.getByText(/^All right: /).waitFor();
  await settled(page);

  // A range that is dragged is that of the page, and of its address; keys move it.
  const drawing = charts.first().locator('.u-over');
  const { width } = await drawing.boundingBox();
  await drawing.dragTo(drawing, {
    sourcePosition: { x: width * 0.2, y: 20 },
    targetPosition: { x: width * 0.4, y: 20 },
  });
  await page.waitForURL(/from=\d+&to=\d+/);
  await page.getByText('All right: no request in this time.').waitFor();
  const rangeOf = () =>
    ['from', 'to'].map((name) => Number(new URL(page.url()).searchParams.get(name)));
  const [from, to] = rangeOf();
  await page.keyboard.press('[');
  await until('an earlier range', () => rangeOf()[1] === from);
  await page.keyboard.press(']');
  await until('the range as it was', () => rangeOf()[1] === to);
  assert.deepEqual(await faultsOf(page, 'overview of a range'), []);

  await goBy(page, 's', /^Spend$/);
  const row = page.getByRole('row', { name: /^ada 4 0 8 / });
  await row.waitFor();
  const { used_quota: used } = await api(context, 'GET', `/api/user/${user.id}`);
  assert.equal(used, 1_000_000);
  // What was spent, and the margin: the channel costs nothing.
  await row.getByText('$2.00').nth(1).waitFor();
  await page.getByRole('row', { name: /^Total 4 0 8 .*\$2\.00/ }).waitFor();
  await page.getByRole('combobox', { name: 'Then by' }).selectOption('model');
  await page.getByRole('cell', { name: 'local', exact: true }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  assert.equal((await saved).suggestedFilename(), 'spend.csv');
  // A day is picked from the chart; of a single one, nothing more can be.
  await page.getByText('7 days', { exact: true }).click();
  await page.waitForURL(/span=7d/);
  await settled(page);
  await clickStep(page.locator('figure.chart'));
  await page.waitForURL(/from=/);
  const [dayStart, dayEnd] = rangeOf();
  assert.ok([23, 24, 25].includes((dayEnd - dayStart) / 3_600));
  await page.getByRole('row', { name: /^Total 4 0 8 .*\$2\.00/ }).waitFor();
  await page.getByText('This month', { exact: true }).click();
  await until('no range but the usual one', () => rangeOf()[1] === 0);
  // On the first of a month, all of it may be complete.
  await page.getByText('30 days', { exact: true }).click();
  await page
    .getByText(/^Complete since .+\. Earlier requests are not in these numbers\.$/)
    .waitFor();
  assert.deepEqual(await faultsOf(page, 'spend'), []);
  assert.deepEqual(said, []);
  await context.close();

  const theirs = await open('', { username: 'ada' });
  await theirs.page.getByRole('heading', { name: 'Home' }).waitFor();
  await theirs.page.getByText(/lasts about \d+ days at the rate/).waitFor();
  await theirs.page.getByRole('link', { name: 'model_not_found' }).waitFor();
  await theirs.page.getByRole('link', { name: 'search', exact: true }).waitFor();
  assert.deepEqual(await faultsOf(theirs.page, 'home'), []);
  assert.deepEqual(theirs.said, []);
  await theirs.context.close();
});

test('the overview names keys and accounts that end soon, and channels that fail', async () => {
  const { open, api, makeKey, rerank } = gateway;
  const { context, page, said } = await open('login');
  const user = await api(context, 'POST', '/api/user', {
    ...{ username: 'grace', password: PASSWORD, quota: 3_000_000 },
  });
  const soon = Math.floor(Date.now() / 1_000) + 24 * 3_600;
  await makeKey(context, { name: 'for the fair', expired_time: soon });
  const limited = { unlimited_quota: false, remain_quota: 500_000 };
  const key = await makeKey(context, { name: 'of grace', user_id: user.id, ...limited });
  await rerank(key, 'local');
  const broken = await api(context, 'POST', '/api/channel', {
    ...{ name: 'broken', provider: 'tei', models: { wrecked: 'x' }, tag: 'flaky' },
    base_url: 'http://127.0.0.1:9',
  });
  for (let at = 0; at < 3; at += 1) await rerank(key, 'wrecked');
  await until('what was spent is in the statistics', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const span = `start_timestamp=${now - 3_600}&end_timestamp=${now + 60}&by=token`;
    const { rows } = await api(context, 'GET', `/api/stats/breakdown?${span}`);
    return rows.some(({ token_name: name, quota }) => name === 'of grace' && quota > 0);
  });
  await page.goto(`${gateway.url}/console/`);
  await page.getByRole('link', { name: '1 key expires within 3 days: for the fair' }).waitFor();
  await page
    .getByRole('link', { name: /^the key of grace will have nothing left in 24 hours/ })
    .waitFor();
  const failing = page.getByRole('link', { name: /^broken fails: 100% of its attempts/ });
  await failing.waitFor();
  assert.deepEqual(await faultsOf(page, 'overview with things to look at'), []);
  await failing.click();
  await page
    .getByRole('row', { name: /broken/ })
    .getByText('live, but fails: 100% of its last attempts')
    .waitFor();
  // Its state has one sign, wherever it is shown.
  for (const path of ['', 'channels', 'tags?open=flaky', 'models?model=wrecked']) {
    await page.goto(`${gateway.url}/console/${path}`);
    const named = page.locator('tr, li').filter({
      has: page.getByRole('link', { name: 'broken', exact: true }),
    });
    await named.last().locator('.state .sign', { hasText: '✕' }).waitFor();
  }
  await api(context, 'DELETE', `/api/channel/${broken.id}`);
  assert.deepEqual(said, []);
  await context.close();
});

test('what is used up has nothing left, and does not last', async () => {
  const { open, api, makeKey, rerank } = gateway;
  const { context, page, said } = await open('login');
  const costs = 250_000;
  const user = await api(context, 'POST', '/api/user', {
    ...{ username: 'alan', password: PASSWORD, quota: 9 * costs },
  });
  const key = await makeKey(context, { name: 'of alan', user_id: user.id });
  for (let at = 0; at < 8; at += 1) await rerank(key, 'local');
  const theirs = await open('login', { username: 'alan' });
  const spent = async () => {
    const end = Math.floor(Date.now() / 1_000) + 60;
    const span = `start_timestamp=${end - 86_400}&end_timestamp=${end}`;
    const { total } = await api(theirs.context, 'GET', `/api/stats/self/breakdown?${span}`);
    return total.quota / costs;
  };
  await until('what was spent is in the statistics', async () => (await spent()) === 8);
  await theirs.page.goto(`${gateway.url}/console/`);
  await theirs.page.getByText('lasts less than a day at the rate of the last 7 days').waitFor();

  await rerank(key, 'local');
  await until('the rest is in the statistics', async () => (await spent()) === 9);
  await theirs.page.reload();
  await theirs.page.getByText('Redeem a code').waitFor();
  await settled(theirs.page);
  assert.equal(await theirs.page.getByText(/lasts/).count(), 0);
  await page.goto(`${gateway.url}/console/`);
  await page.getByRole('link', { name: 'the account alan has nothing left' }).waitFor();
  assert.deepEqual([...said, ...theirs.said], []);
  await theirs.context.close();
  await context.close();
});

test('a page that nobody looks at asks nothing, and is up to date as soon as somebody does', async () => {
  const { context, page, said } = await gateway.open('login');
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls += 1;
  });
  await page.addInitScript(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => globalThis.visibility });
    Object.defineProperty(document, 'hidden', { get: () => globalThis.visibility === 'hidden' });
    globalThis.visibility = 'visible';
  });
  const show = (visibility) =>
    page.evaluate((value) => {
      globalThis.visibility = value;
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }, visibility);
  await page.clock.install();
  await page.goto(`${gateway.url}/console/`);
  await page.getByRole('heading', { name: 'Spent today' }).waitFor();

  // It was read for the last time shortly before a minute turned: soon the range that it shows is another one.
  const nowMs = await page.evaluate(() => Date.now());
  await page.clock.runFor((116_000 - (nowMs % 60_000)) % 60_000);
  await show('hidden');
  // What had begun before may end.
  await settled(page);
  calls = 0;
  await page.clock.runFor(10 * 60_000);
  assert.equal(calls, 0);
  await show('visible');
  await until('it asks again', () => calls > 2);
  assert.deepEqual(said, []);
  await context.close();
});
