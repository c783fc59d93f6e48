import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { faultsOf, settled, startConsole, until } from './support.mjs';

const TOTAL = {
  requests: 99,
  failed: 0,
  documents: 0,
  tokens: 0,
  quota: 0,
  p50: null,
  p95: null,
  p99: null,
};
const PART = { key: 'ok', name: 'ok', total: TOTAL };

let gateway;

before(async () => {
  gateway = await startConsole({
    prices: { default: { per_search_unit: 1_000 }, models: { local: { per_search_unit: 500 } } },
  });
});

after(() => gateway?.stop());

test('the range that is dragged is the one under the pointer, though a minute turns meanwhile', async () => {
  const { context, page, said } = await gateway.open('login');
  const key = await gateway.makeKey(context);
  await gateway.rerank(key, 'local');
  let turned = 0;
  const starts = [];
  await page.route('**/api/overview?*', async (route) => {
    const reply = await route.fetch();
    const body = await reply.json();
    const { traffic } = body.data;
    traffic.start_timestamp += turned * traffic.step_s;
    starts.push(traffic.start_timestamp);
    await route.fulfill({ response: reply, json: body });
  });
  await page.goto(`${gateway.url}/console/`);
  const drawing = page.locator('figure.chart .u-over').first();
  await drawing.waitFor();
  await settled(page);
  const { x, y, width } = await drawing.boundingBox();
  const step = width / 60;
  const before = starts.at(-1);
  await page.mouse.move(x + 10.5 * step, y + 20);
  await page.mouse.down();
  turned = 7;
  await page.keyboard.press('r');
  await until('the next minutes are read', () => starts.at(-1) >= before + 7 * 60);
  await settled(page);
  await page.mouse.move(x + 19.5 * step, y + 20);
  await page.mouse.up();
  await page.waitForURL(/from=\d+&to=\d+/);
  const { searchParams } = new URL(page.url());
  assert.deepEqual(
    ['from', 'to'].map((name) => Number(searchParams.get(name)) - before),
    [10 * 60, 20 * 60],
  );
  assert.deepEqual(said, []);
  await context.close();
});

test('prices that change are marked in the chart of the spending, and told with the model', async () => {
  const file = join(gateway.folder, 'gateway.yaml');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.prices.models.local = { per_search_unit: 2_000 };
  writeFileSync(file, JSON.stringify(config));
  const { url } = await gateway.startNode();
  const { context, page, said } = await gateway.open('login');
  const key = await gateway.makeKey(context);
  await gateway.rerank(key, 'local');
  const changedAt = await until('the price has changed', async () => {
    const changes = await gateway.api(context, 'GET', '/api/price/change');
    return changes.length === 1 && new Date(changes[0].changed_at * 1_000);
  });
  const midnight = (days) =>
    new Date(changedAt.getFullYear(), changedAt.getMonth(), changedAt.getDate() + days) / 1_000;
  const chart = page.locator('figure.chart');
  // A single day is a chart of one step, as is a month on its first day.
  for (const days of [1, 7]) {
    const [from, to] = [midnight(1 - days), midnight(1)];
    await until('what was spent is in the statistics', async () => {
      const span = `start_timestamp=${from}&end_timestamp=${to}`;
      const { total } = await gateway.api(context, 'GET', `/api/stats/series?${span}`);
      return total.quota > 0;
    });
    // Cookies know no ports.
    await page.goto(`${url}/console/spend?from=${from}&to=${to}`);
    await chart
      .getByText(/price of local: \$1\.00 per 1,000 searches, then \$4\.00 per 1,000 searches/)
      .waitFor();
    await chart.locator('canvas').waitFor();
    assert.equal(await chart.getByText('┆').count(), 1);
  }
  assert.deepEqual(await faultsOf(page, 'a price mark'), []);

  // What upstreams cost, and what the month comes to.
  await page.goto(`${url}/console/spend`);
  for (const name of ['Upstream cost', 'Margin']) {
    await page.getByRole('columnheader', { name, exact: true }).waitFor();
  }
  await page.getByText(/this month ends at \$0\.\d+\./).waitFor();

  await page.goto(`${url}/console/models`);
  await page.getByRole('cell', { name: 'local', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'local' });
  await drawer.getByText('$4.00 per 1,000 searches').waitFor();
  await drawer.getByText(/\$1\.00 per 1,000 searches until/).waitFor();
  assert.deepEqual(await faultsOf(page, 'the history of a price'), []);
  assert.deepEqual(said, []);
  await context.close();
});

test('a chart has axes, tells the values at the pointer, and what the period before came to', async () => {
  const { context, page, said } = await gateway.open('login');
  const now = Math.floor(Date.now() / 60_000) * 60;
  const series = (requests) => ({
    start_timestamp: now - 3_600,
    step_s: 60,
    steps: 60,
    series: [{ ...PART, requests, failed: requests.map(() => 0) }],
  });
  await page.route('**/api/stats/series?*', async (route) => {
    const start = Number(new URL(route.request().url()).searchParams.get('start_timestamp'));
    const reply = await route.fetch();
    const body = await reply.json();
    const isBefore = start < now - 3_600 - 60;
    const values = Array.from({ length: 60 }, (_, at) => (at === 30 ? (isBefore ? 7 : 40) : 1));
    await route.fulfill({
      response: reply,
      json: { ...body, data: { ...body.data, ...series(values) } },
    });
  });
  await page.goto(`${gateway.url}/console/requests?span=1h`);
  const chart = page.locator('figure.chart');
  const plot = chart.locator('.u-over');
  await plot.waitFor();
  await settled(page);
  const { x, y, width, height } = await plot.boundingBox();
  const whole = await chart.locator('canvas').boundingBox();
  assert.ok(whole.x < x && whole.y + whole.height > y + height, 'axes beside and below');
  await page.mouse.move(x + (30.5 / 60) * width, y + 20);
  await chart.getByText('OK 40', { exact: true }).waitFor();
  await chart.getByText('the period before 7', { exact: true }).waitFor();
  await page.mouse.move(x + width / 2, y + 600);
  await chart.getByText('OK', { exact: true }).first().waitFor();
  assert.deepEqual(await faultsOf(page, 'a chart'), []);
  assert.deepEqual(said, []);
  await context.close();
});
