/**
 * Measures the console of a gateway with 1 000 channels and 200 000 entries in its log, and what 20 open overviews cost it.
 * Numbers depend on the machine: they are printed, and judged by people.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, startConsole, until } from './support.mjs';

const CHANNELS = 1_000;
const ENTRIES = 200_000;
/** Channels that had traffic in each minute of the last hour. */
const BUSY = 50;
const TABS = 20;
const ROUNDS = 5;
const TABS_MS = 20_000;
/** All chunks are fetched when a page has been idle for a while. */
const SETTLE_MS = 6_000;

const PAGES = {
  '': 'Overview',
  requests: 'Requests',
  'requests?model=m7': 'Requests',
  channels: 'Channels',
  'channels?keyword=c77': 'Channels',
  tags: 'Tags',
  models: 'Models',
  keys: 'Keys',
};

function settings() {
  const channels = Array.from({ length: CHANNELS }, (_, at) => ({
    ...{ name: `c${at}`, provider: 'local', tag: `t${at % 20}` },
    models: { [`m${at % 50}`]: 'local/lexical', local: 'local/lexical' },
  }));
  return { channels, log: { usage_entries: ENTRIES + 10_000 } };
}

/** Entries of the last six hours, and an hour of statistics of some channels, written beside the gateway. */
function fillLog(folder) {
  const Database = createRequire(join(root, 'package.json'))('libsql');
  const database = new Database(join(folder, 'gateway.db'));
  const now = Date.now();
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ENTRIES - 1})
    INSERT INTO usage_log (at_ms, request_id, user_id, token_id, token_name, model, channel_id, provider, tag, attempts,
      documents, input_tokens, search_units, quota, duration_ms, outcome)
    SELECT ${now} - (${ENTRIES} - i) * 100, 'rr_' || i, 1, 1, 'first key', 'm' || (i % 50), 1 + i % ${CHANNELS}, 'local',
      't' || (i % 20), 1, 10, 100, 1, 5, 12.5, iif(i % 100 = 0, 'upstream_error', 'ok') FROM n`);
  const minute = Math.floor(now / 60_000) * 60_000;
  database.exec(`INSERT OR IGNORE INTO stats_since (only_row, since_ms) VALUES (1, ${now - 6 * 3_600_000});
    WITH RECURSIVE m(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM m WHERE i < 59),
      c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c WHERE id < ${BUSY}),
      kind(of, model) AS (VALUES ('r', '"local"'), ('a', '0'))
    INSERT INTO stats (rollup, at_ms, owner, row, tally, expires_at_ms)
    SELECT 'traffic_minute', ${minute} - i * 60000, 0, '["' || of || '",' || id || ',"local","t1",' || model || ',"ok"]',
      '120 1 1200 5000 120 600|5:3,6:20,7:40,8:30,9:20,10:7', ${now} + 6 * 3600000 FROM m, c, kind`);
  database.close();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

async function view(console_, path, heading) {
  const { context, page } = await console_.open('login');
  const calls = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls.push(request.url());
  });
  const [times, paints] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.goto('about:blank');
    calls.length = 0;
    const begun = performance.now();
    await page.goto(`${console_.url}/console/${path}`, { waitUntil: 'commit' });
    await page
      .getByRole('heading', { name: new RegExp(`^${heading}`) })
      .first()
      .waitFor();
    await page.waitForFunction(
      () => globalThis.document.querySelector('[aria-busy=true]') === null,
    );
    times.push(performance.now() - begun);
    paints.push(
      await page.evaluate(
        () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      ),
    );
  }
  await page.waitForLoadState('networkidle');
  const row = {
    page: path === '' ? 'overview' : path,
    'first paint ms': Math.round(median(paints)),
    'quickest paint ms': Math.round(Math.min(...paints)),
    'usable ms': Math.round(median(times)),
    calls: calls.length,
    rows: await page.locator('tbody tr').count(),
  };
  await context.close();
  return row;
}

/** Seconds of processor time that a process has used, by the system's count of a hundred a second. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Which share of a core a gateway uses during a while. */
async function shareOf(gateway) {
  const [before, begun] = [cpuSeconds(gateway.pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, TABS_MS));
  return ((cpuSeconds(gateway.pid) - before) / (performance.now() - begun)) * 1_000;
}

/** What open overviews cost the gateway, beyond what it does by itself, and how often they ask. All are visible. */
async function tabsCost(console_) {
  const [{ gateway }] = console_.gateways;
  const alone = await shareOf(gateway);
  const { context } = await console_.open('');
  for (let tab = 1; tab < TABS; tab += 1) {
    await (await context.newPage()).goto(`${console_.url}/console/`);
  }
  await until('the tabs are there', () => context.pages().length === TABS);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  let calls = 0;
  context.on('request', (request) => {
    if (request.url().includes('/api/')) calls += 1;
  });
  const share = (await shareOf(gateway)) - alone;
  await context.close();
  return { share, alone, perMinute: (calls * 60_000) / TABS_MS };
}

const console_ = await startConsole(settings());
try {
  fillLog(console_.folder);
  const rows = [];
  for (const [path, heading] of Object.entries(PAGES))
    rows.push(await view(console_, path, heading));
  console.table(rows);
  const { share, alone, perMinute } = await tabsCost(console_);
  const percent = (part) => `${(100 * part).toFixed(1)} % of a core`;
  console.log(
    `${TABS} visible overviews: ${percent(share)} beyond ${percent(alone)}, ${perMinute} calls a minute`,
  );
} finally {
  await console_.stop();
}
