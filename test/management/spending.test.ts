import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeSpendKey } from '../../src/core/rollups.js';
import { count, newTally } from '../../src/core/tally.js';
import { dayOf, startOfDay } from '../../src/core/time-zone.js';
import type { StatsDeps } from '../../src/management/stats.js';
import { usageBreakdown } from '../../src/management/usage-breakdown.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { Rollups } from '../../src/telemetry/rollups.js';
import { requestEvent } from '../support/events.js';
import { PATIENT, startRedis } from '../support/redis-server.js';

const ZONES = [
  ...['UTC', 'America/New_York', 'Asia/Kolkata', 'Asia/Shanghai', 'Pacific/Auckland'],
  ...['Asia/Kathmandu', 'Pacific/Chatham', 'America/St_Johns', 'Australia/Lord_Howe'],
];
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Redis decides by its own clock what has expired. Clocks change in most zones within the days that are looked at. */
const NOW = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
const DAYS = 250;
const FIRST_MS = NOW - DAYS * DAY_MS;

interface Spent {
  readonly atMs: number;
  readonly userId: number;
  readonly quota: number;
}

/** The start of the month that is so many after the one of a moment. */
function monthFrom(atMs: number, months: number, zone: string): number {
  const { year, month } = dayOf(atMs, zone);
  return startOfDay({ year, month: month + months, date: 1 }, zone);
}

/** Requests at all times of the day, most of them in the minutes around the beginning of days and months. */
function spendings(): Spent[] {
  const spent: Spent[] = [];
  let quota = 0;
  const add = (atMs: number): void => {
    quota += 1;
    if (atMs < NOW) spent.push({ atMs, userId: 1 + (quota % 3), quota: quota * 7 });
  };
  for (let day = 0; day < DAYS; day += 1)
    add(FIRST_MS + day * DAY_MS + ((day * 7_919) % 1_440) * MINUTE_MS);
  for (const zone of ZONES) {
    for (let at = monthFrom(FIRST_MS, 1, zone); at < NOW; at = monthFrom(at, 1, zone)) {
      for (const startMs of [at, startOfDay({ ...dayOf(at, zone), date: 17 }, zone)]) {
        add(startMs - 1);
        add(startMs);
      }
    }
  }
  return spent;
}

function sumOf(spent: readonly Spent[], fromMs: number, toMs: number): number {
  const within = spent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  return within.reduce((sum, { quota }) => sum + quota, 0);
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
  const folder = mkdtempSync(join(tmpdir(), 'spending-'));
  const store = openSqliteStore({ file: join(folder, 'gateway.db'), vault });
  return {
    store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe.each(['SQLite', 'Redis'])('what was spent, on %s,', (kind) => {
  let deps: StatsDeps;
  let close: () => Promise<void>;
  const spent = spendings();
  beforeAll(async () => {
    const opened = await openStore(kind);
    close = opened.close;
    deps = { store: opened.store, now: () => NOW, statsDays: 400 };
    const rollups = new Rollups({
      ...{ store: opened.store, observe: () => undefined, now: () => NOW },
      ...{ writer: 'a node', keepDays: 400 },
    });
    for (const { atMs, userId, quota } of spent)
      rollups.read([requestEvent({ atMs, userId, quota })]);
    await rollups.close(Infinity);
  }, 60_000);
  afterAll(async () => {
    await close();
  });

  // How rows are added up is the same on each store: one reads them for all zones, the other for a third.
  it.each(ZONES.filter((_, index) => kind === 'SQLite' || index % 3 === 2))(
    'adds up to the unit for each month and day of %s',
    async (zone) => {
      let whole = 0;
      for (let fromMs = monthFrom(FIRST_MS, 0, zone); fromMs < NOW;) {
        const toMs = monthFrom(fromMs, 1, zone);
        const [byUser, byDay] = await Promise.all([
          usageBreakdown(deps, { fromMs, toMs, by: ['user'], named: false }),
          usageBreakdown(deps, { fromMs, toMs, by: ['day'], timeZone: zone }),
        ]);

        const expected = sumOf(spent, fromMs, toMs);
        expect([byUser.fromMs, byUser.toMs]).toEqual([fromMs, toMs]);
        expect([zone, byUser.total.quota, byDay.total.quota]).toEqual([zone, expected, expected]);
        for (const { of, sums } of byDay.rows) {
          const dayMs = Number(of.day) * 1_000;
          const { date, ...month } = dayOf(dayMs, zone);
          expect(dayMs).toBe(startOfDay({ ...month, date }, zone));
          const endMs = startOfDay({ ...month, date: date + 1 }, zone);
          expect([of.day, sums.quota]).toEqual([of.day, sumOf(spent, dayMs, endMs)]);
        }
        whole += byUser.total.quota;
        fromMs = toMs;
      }
      expect(whole).toBe(sumOf(spent, 0, NOW));
    },
    60_000,
  );

  it('adds up for one account as well, by two things', async () => {
    const zone = 'Asia/Kolkata';
    const own = spent.filter(({ userId }) => userId === 2);
    const fromMs = monthFrom(NOW, -3, zone);
    const toMs = monthFrom(NOW, -2, zone);

    const { total } = await usageBreakdown(deps, {
      ...{ fromMs, toMs, by: ['day', 'model'] as const, owner: 2, timeZone: zone },
    });

    expect(total.quota).toBe(sumOf(own, fromMs, toMs));
  });

  it('is not compared with its totals day by day, once a day has all of it', async () => {
    let reads = 0;
    const readStats: Store['readStats'] = (...asked) => {
      reads += 1;
      return deps.store.readStats(...asked);
    };
    const statsSince = () => Promise.resolve(FIRST_MS);
    const counted = { ...deps, store: { ...deps.store, readStats, statsSince } };

    await usageBreakdown(counted, { fromMs: FIRST_MS, toMs: NOW, by: ['month'] });

    expect(reads).toBeLessThan(10);
  });

  it('sums up what is beyond the most rows, and says that it is the rest', async () => {
    const span = { fromMs: monthFrom(NOW, -3, 'UTC'), toMs: monthFrom(NOW, -2, 'UTC') };

    const { rows, total } = await usageBreakdown(deps, { ...span, by: ['user'], most: 1 });

    expect(rows.map(({ isRest }) => isRest)).toEqual([false, true]);
    expect(rows.reduce((sum, { sums }) => sum + sums.quota, 0)).toBe(total.quota);
  });
});

describe('what an earlier release counted', () => {
  let store: Store;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await openStore('SQLite'));
  });
  afterAll(() => close());

  it('stays in one month each, where hours are gone: the days of UTC go to the month that their noon is in', async () => {
    const quota = 11;
    const additions = Array.from({ length: 100 }, (_, day) => {
      const tally = newTally();
      count(tally, { requests: 1, quota }, 5);
      const atMs = Math.floor(NOW / DAY_MS) * DAY_MS - (40 + day) * DAY_MS;
      const about = { channelId: 1, provider: 'tei', tag: undefined };
      const key = writeSpendKey({ tokenId: 1, model: 'm', ...about });
      const row = { atMs, owner: 1, key, otherKey: key, expiresMs: NOW * 2, tally };
      // Of every third day, a newer gateway that ran beside it kept hours.
      const hour = newTally();
      count(hour, { requests: 1, quota: 1 }, 5);
      return [
        { ...row, rollup: 'spend_day' as const },
        ...(day % 3 === 0 ? [{ ...row, tally: hour, rollup: 'spend_hour' as const }] : []),
      ];
    }).flat();
    await store.addStats({ writer: 'old', serial: 1, nowMs: NOW, maxRows: 100, additions });
    const deps: StatsDeps = { store, now: () => NOW, statsDays: 400 };

    for (const zone of ['Asia/Shanghai', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland']) {
      let [whole, endMs] = [0, undefined as number | undefined];
      for (let fromMs = monthFrom(NOW - 200 * DAY_MS, 0, zone); fromMs < NOW;) {
        const toMs = monthFrom(fromMs, 1, zone);
        const { total, ...span } = await usageBreakdown(deps, { fromMs, toMs, by: ['user'] });
        // What it says that it read meets what the month before read.
        if (endMs !== undefined) expect(span.fromMs).toBe(endMs);
        endMs = span.toMs;
        expect(total.quota % quota).toBe(0);
        whole += total.quota;
        fromMs = toMs;
      }
      expect([zone, whole]).toEqual([zone, 100 * quota]);
    }
  });
});
