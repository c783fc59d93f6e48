import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { otherSpendKey } from '../../src/core/rollups.js';
import { count, newTally } from '../../src/core/tally.js';
import type { StatsDeps } from '../../src/management/stats.js';
import { sumUsage } from '../../src/management/usage-sums.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { StatsQuery, StatsRow, Store, UsageEntry } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { Rollups } from '../../src/telemetry/rollups.js';
import { requestEvent, usageEntry } from '../support/events.js';
import { createUser, newToken } from '../store/contract/harness.js';
import { PATIENT, startRedis } from '../support/redis-server.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Redis decides by its own clock what has expired. */
const NOW = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
/** In the middle of a day. */
const THEN = Math.floor(NOW / DAY_MS) * DAY_MS - 10.5 * HOUR_MS;
const EVERY_MS = 7 * MINUTE_MS + 13_001;

const hourBefore = (atMs: number): number => Math.floor(atMs / HOUR_MS) * HOUR_MS;

/** Two and a half days of requests of two accounts with two keys each. */
function entriesUntil(now: number): UsageEntry[] {
  return Array.from({ length: 500 }, (_, at) =>
    usageEntry({
      // One at the very beginning of an hour.
      atMs: at === 20 ? hourBefore(now - 20 * EVERY_MS) : now - at * EVERY_MS,
      ...{ requestId: `req-${at}`, userId: 1 + (at % 2), tokenId: 1 + (at % 4) },
      ...{ model: at % 5 === 0 ? 'sun' : 'moon', channelId: at % 7 === 0 ? 8 : 9 },
      ...{ tokenName: `key ${at % 4}`, outcome: at % 11 === 0 ? 'upstream_error' : 'ok' },
      ...{ provider: 'cohere', tag: at % 3 === 0 ? 'blue' : undefined },
      ...{ documents: 1 + at, inputTokens: 2 * at, quota: 3 * at, durationMs: at },
    }),
  );
}

function sumOf(entries: readonly UsageEntry[]) {
  const sum = { requests: 0, documents: 0, inputTokens: 0, quota: 0 };
  for (const { documents, inputTokens, quota } of entries) {
    sum.requests += 1;
    sum.documents += documents;
    sum.inputTokens += inputTokens;
    sum.quota += quota;
  }
  return sum;
}

async function openStore(kind: string): Promise<{ store: Store; close: () => Promise<void> }> {
  const vault = createVault(undefined);
  if (kind === 'Redis') {
    const server = await startRedis();
    const store = await openRedisStore({ url: server.url, vault, ...PATIENT });
    return {
      store,
      async close() {
        await store.close();
        await server.stop();
      },
    };
  }
  const folder = mkdtempSync(join(tmpdir(), 'usage-sums-'));
  const store = openSqliteStore({ file: join(folder, 'gateway.db'), vault });
  return {
    store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const FILTERS: readonly Partial<UsageEntry>[] = [
  {},
  { userId: 2 },
  { tokenId: 3 },
  { userId: 2, model: 'sun' },
  { channelId: 8, provider: 'cohere' },
  { tag: 'blue' },
  { tokenName: 'key 3' },
  { outcome: 'upstream_error' },
];
function spansUntil(now: number): { readonly fromMs?: number; readonly toMs?: number }[] {
  const dayMs = Math.floor(now / DAY_MS) * DAY_MS;
  return [
    {},
    { fromMs: now - 3 * HOUR_MS - 1, toMs: now - 3 * HOUR_MS + 20 * MINUTE_MS },
    { fromMs: now - 30 * HOUR_MS - 12_345 },
    { toMs: now - 26 * HOUR_MS + 999 },
    { fromMs: now - 49 * HOUR_MS, toMs: now - HOUR_MS },
    { fromMs: dayMs - DAY_MS, toMs: dayMs - 1 },
    { fromMs: dayMs - 2 * DAY_MS, toMs: dayMs - DAY_MS - HOUR_MS - 1 },
    { fromMs: now + DAY_MS },
    { toMs: hourBefore(now - 20 * EVERY_MS) },
  ];
}

describe.each([
  ['SQLite', 400, NOW],
  ['Redis', 400, NOW],
  // Of the oldest day, the first hours are gone.
  ['SQLite', 2, THEN],
] as const)('sums of usage, on %s, with statistics of %i days,', (kind, statsDays, now) => {
  const entries = entriesUntil(now);
  /** No hour begins at it. */
  const sinceMs = now - 50 * HOUR_MS - 17 * MINUTE_MS;
  let deps: StatsDeps;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const opened = await openStore(kind);
    close = opened.close;
    deps = { store: opened.store, now: () => now, statsDays };
    const first = {
      writer: 'first',
      serial: 1,
      nowMs: sinceMs + 10_000,
      maxRows: 1,
      additions: [],
    };
    await opened.store.addStats(first);
    const owners = [await createUser(opened.store), await createUser(opened.store)];
    for (const userId of [...owners, ...owners]) {
      await opened.store.createToken(newToken(userId), now);
    }
    const rollups = new Rollups({
      ...{ store: opened.store, observe: () => undefined, now: () => now },
      ...{ writer: 'a node', keepDays: statsDays },
    });
    for (const entry of entries.filter(({ atMs }) => atMs >= sinceMs).reverse()) {
      rollups.read([requestEvent({ ...entry, outcome: 'ok' })]);
    }
    await rollups.close(Infinity);
    await opened.store.appendUsage([...entries].reverse(), 1_000);
  });
  afterAll(async () => {
    await close();
  });

  it.each(FILTERS)('are those of the entries that match %j, in any span', async (filter) => {
    const matching = entries.filter((entry) =>
      Object.entries(filter).every(([name, value]) => entry[name as keyof UsageEntry] === value),
    );
    for (const span of spansUntil(now)) {
      const { fromMs = 0, toMs = Infinity } = span;
      const expected = sumOf(matching.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs));
      expect([span, await sumUsage(deps, { ...filter, ...span } as object)]).toEqual([
        span,
        expected,
      ]);
    }
  });

  it('are those of the entries that took so long', async () => {
    expect(await sumUsage(deps, { minDurationMs: 400 })).toEqual(
      sumOf(entries.filter(({ durationMs }) => durationMs >= 400)),
    );
  });

  it('over all requests read the rows of all accounts for one day at most', async () => {
    const read: number[] = [];
    const store: Store = Object.assign(Object.create(deps.store) as Store, {
      readStats(query: StatsQuery, visit: (row: StatsRow) => void) {
        if (query.rollup.startsWith('spend')) read.push(query.toMs - query.fromMs);
        return deps.store.readStats(query, visit);
      },
    });

    await sumUsage({ ...deps, store }, { fromMs: now - 30 * HOUR_MS });

    expect(read).toEqual([DAY_MS - 1]);
  });

  it('over all requests are right where an earlier release kept no totals', async () => {
    const { store, close: end } = await openStore('SQLite');
    const tally = newTally();
    count(tally, { requests: 1, quota: 7 }, 5);
    const atMs = Math.floor(now / DAY_MS) * DAY_MS - DAY_MS;
    const [key, otherKey] = ['[1,"m",0,0,0]', otherSpendKey()];
    const row = { atMs, owner: 1, key, otherKey, expiresMs: now * 2, tally };
    const additions = [
      { ...row, rollup: 'spend_hour' as const },
      { ...row, rollup: 'spend_day' as const },
    ];
    // Its first day had no requests.
    const first = { writer: 'old', nowMs: atMs - DAY_MS, maxRows: 9 };
    await store.addStats({ ...first, serial: 1, additions: [] });
    await store.addStats({ ...first, serial: 2, nowMs: atMs + 60_000, additions });

    expect(await sumUsage({ ...deps, store }, {})).toMatchObject({ requests: 1, quota: 7 });
    await end();
  });

  it('are those of the log without statistics', async () => {
    expect(await sumUsage({ ...deps, statsDays: 0 }, {})).toEqual(sumOf(entries));
  });

  it('look at entries of whole hours only for what statistics do not tell apart', async () => {
    const looked: unknown[] = [];
    const store: Store = Object.assign(Object.create(deps.store) as Store, {
      usageStats(query: Parameters<Store['usageStats']>[0]) {
        looked.push(query);
        return deps.store.usageStats(query);
      },
    });
    const tally = newTally();
    count(tally, { requests: 1, quota: 1_000_000 }, 5);
    const atMs = Math.floor(now / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
    const [key, otherKey] = [otherSpendKey(), otherSpendKey()];
    const row = { atMs, owner: 1, key, otherKey, expiresMs: now * 2, tally };
    const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
    const additions = [
      { ...row, rollup: 'spend_hour' as const },
      { ...row, rollup: 'spend_day' as const, atMs: dayMs },
      { ...row, rollup: 'total_hour' as const, owner: 0 },
    ];
    const span = { fromMs: atMs, toMs: atMs + HOUR_MS - 1 };
    const within = entries.filter(({ atMs: at }) => at >= span.fromMs && at <= span.toMs);
    const ofOne = within.filter(({ userId }) => userId === 2);
    await store.addStats({ writer: 'other', serial: 1, nowMs: now, maxRows: 100, additions });

    expect(await sumUsage({ ...deps, store }, { ...span, userId: 2, model: 'moon' })).toEqual(
      sumOf(ofOne.filter(({ model }) => model === 'moon')),
    );
    expect(await sumUsage({ ...deps, store }, { ...span, tokenId: 4 })).toEqual(
      sumOf(ofOne.filter(({ tokenId }) => tokenId === 4)),
    );
    expect(looked).toEqual([]);
    const all = sumOf(within);
    expect(await sumUsage({ ...deps, store }, span)).toEqual({
      ...{ ...all, requests: all.requests + 1, quota: all.quota + 1_000_000 },
    });
    expect(looked).toEqual([]);
    const [ofUser, ofAll] = [
      { ...span, userId: 1, model: 'moon' },
      { ...span, model: 'moon' },
    ];
    expect(await sumUsage({ ...deps, store }, ofUser)).toEqual(
      sumOf(within.filter(({ userId, model }) => userId === 1 && model === 'moon')),
    );
    expect(await sumUsage({ ...deps, store }, ofAll)).toEqual(
      sumOf(within.filter(({ model }) => model === 'moon')),
    );
    expect(looked).toEqual([ofUser, ofAll]);
  });
});
