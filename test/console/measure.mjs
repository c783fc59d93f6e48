/**
 * Measures the console of a gateway with 1 000 channels and 200 000 entries in its log, the playground with four lanes of 1 000
 * documents, and what 20 open overviews cost the gateway.
 * Numbers depend on the machine: they are printed, and judged by people.
 *
 *   npm run console:measure -- [redis://…]
 *
 * The address is of a Redis for this alone, which stays filled; without it, the embedded store is measured.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load-config.ts';
import { openStore } from '../../src/assembly/open-store.ts';
import { measurePlayground } from './measure-playground.mjs';
import { startConsole, until } from './support.mjs';

const CHANNELS = 1_000;
const ENTRIES = 200_000;
/** Channels that had traffic in each minute of the last hour. */
const BUSY = 50;
const TABS = 20;
const ROUNDS = 5;
const TABS_MS = 60_000;
/** How many entries, or rows of statistics, are written at once. */
const BATCH = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** All chunks are fetched when a page has been idle for a while. */
const SETTLE_MS = 6_000;

const PAGES = {
  '': 'Overview',
  requests: 'Requests',
  'requests?model=m7': 'Requests',
  'requests?model=nobody': 'Requests',
  channels: 'Channels',
  'channels?keyword=c77': 'Channels',
  tags: 'Tags',
  models: 'Models',
  keys: 'Keys',
  spend: 'Spend',
  people: 'People',
  nodes: 'Nodes',
  audit: 'Audit',
  playground: 'Playground',
};

const [, , redisUrl] = process.argv;

function settings() {
  const channels = Array.from({ length: CHANNELS }, (_, at) => ({
    ...{ name: `c${at}`, provider: 'local', tag: `t${at % 20}` },
    models: { [`m${at % 50}`]: 'local/lexical', local: 'local/lexical' },
  }));
  return {
    ...{ channels, log: { usage_entries: ENTRIES + 10_000 } },
    ...(redisUrl === undefined ? {} : { store: { redis_url: redisUrl } }),
  };
}

/** One entry in a hundred failed. */
function entryOf(index, now) {
  const failed = index % 100 === 0;
  return {
    ...{ atMs: now - (ENTRIES - index) * 100, requestId: `rr_${index}` },
    ...{ userId: 1, tokenId: 1, tokenName: 'first key' },
    ...{ model: `m${index % 50}`, channelId: 1 + (index % CHANNELS), provider: 'local' },
    ...{ tag: `t${index % 20}`, attempts: 1, documents: 10, inputTokens: 100, searchUnits: 1 },
    ...{ quota: 5, durationMs: 12.5, outcome: failed ? 'upstream_error' : 'ok' },
  };
}

/** The traffic of a channel in a minute. */
function additionsOf(channel, atMs) {
  const durations = [5, 6, 7, 8, 9, 10];
  const tally = {
    sums: {
      requests: 120,
      failed: 1,
      documents: 1_200,
      inputTokens: 5_000,
      searchUnits: 120,
      quota: 600,
    },
    durations: new Map(durations.map((bound) => [bound, 20])),
  };
  return ['r', 'a'].map((of) => {
    const key = JSON.stringify([of, channel, 'local', 't1', of === 'r' ? 'local' : 0, 'ok']);
    const expiresMs = atMs + 6 * HOUR_MS;
    return { rollup: 'traffic_minute', atMs, owner: 0, key, otherKey: key, expiresMs, tally };
  });
}

function inBatches(items) {
  const count = Math.ceil(items.length / BATCH);
  return Array.from({ length: count }, (_, at) => items.slice(at * BATCH, (at + 1) * BATCH));
}

/** Entries of the last hours, and an hour of statistics of some channels, through the store's own writes. */
async function fill(folder) {
  const env = { DATA_DIR: folder, CONFIG: join(folder, 'gateway.yaml') };
  const store = await openStore(loadConfig({ env }).store);
  const now = Date.now();
  const entries = Array.from({ length: ENTRIES }, (_, index) => entryOf(index, now));
  for (const batch of inBatches(entries)) await store.appendUsage(batch, ENTRIES + 10_000);
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const additions = Array.from({ length: 60 * BUSY }, (_, at) =>
    additionsOf(1 + (at % BUSY), minute - Math.floor(at / BUSY) * MINUTE_MS),
  ).flat();
  const writer = `measure ${now}`;
  for (const [at, batch] of inBatches(additions).entries()) {
    const added = { writer, serial: at + 1, maxRows: 1_000, additions: batch };
    await store.addStats({ ...added, nowMs: now - 6 * HOUR_MS });
  }
  await store.close();
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** In a page: the longest time from a key to the paint that follows, of those pressed since this was called first. */
function slowestKey() {
  globalThis.slowest ??= (() => {
    const found = { ms: 0 };
    const note = ({ duration, name }) => {
      if (name.startsWith('key') || name === 'input') found.ms = Math.max(found.ms, duration);
    };
    new globalThis.PerformanceObserver((list) => list.getEntries().forEach(note)).observe({
      ...{ type: 'event', durationThreshold: 16 },
    });
    return found;
  })();
  return globalThis.slowest.ms;
}

/** Goes down some rows, then types into the first field of the page. */
async function keysOf(page) {
  await page.evaluate(slowestKey);
  for (let row = 0; row < 10; row += 1) await page.keyboard.press('j');
  const field = page.locator('main input[type=search], main input[type=text]').first();
  if ((await field.count()) > 0) await field.pressSequentially('m77');
  await page.waitForTimeout(1_000);
  return page.evaluate(slowestKey);
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
    'input to paint ms': await keysOf(page),
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
  await fill(console_.folder);
  const rows = [];
  for (const [path, heading] of Object.entries(PAGES))
    rows.push(await view(console_, path, heading));
  console.table(rows);
  console.table([await measurePlayground(console_, ['m0', 'm1', 'm2'])]);
  const { share, alone, perMinute } = await tabsCost(console_);
  const percent = (part) => `${(100 * part).toFixed(1)} % of a core`;
  console.log(
    `${TABS} visible overviews: ${percent(share)} beyond ${percent(alone)}, ${perMinute} calls a minute`,
  );
} finally {
  await console_.stop();
}
