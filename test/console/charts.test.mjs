import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { faultsOf, settled, startConsole, until } from './support.mjs';

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
  const drawing = page.locator('figure.chart svg').first();
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
    await chart.locator('svg path.line.s6').waitFor({ state: 'attached' });
    assert.equal(await chart.locator('svg path.line.s6').count(), 1);
  }
  assert.deepEqual(await faultsOf(page, 'a price mark'), []);

  await page.goto(`${url}/console/models`);
  await page.getByRole('cell', { name: 'local', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'local' });
  await drawer.getByText('$4.00 per 1,000 searches').waitFor();
  await drawer.getByText(/\$1\.00 per 1,000 searches until/).waitFor();
  assert.deepEqual(await faultsOf(page, 'the history of a price'), []);
  assert.deepEqual(said, []);
  await context.close();
});
