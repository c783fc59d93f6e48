import { describe, expect, test } from '@jest/globals';
import { ROLLUPS } from '../../../src/core/rollups.js';
import { present } from '../../../src/core/records.js';
import { count, newTally, writeTally } from '../../../src/core/tally.js';
import type { StatsAddition, StatsQuery, Store } from '../../../src/store/store.js';
import { freshStore, T0, type OpenHarness } from './harness.js';

const MINUTE = ROLLUPS.traffic_minute.stepMs;
const HOUR = ROLLUPS.spend_hour.stepMs;
const START = Math.floor(T0 / HOUR) * HOUR;

function addition(given: Partial<StatsAddition> & { quota?: number; ms?: number }): StatsAddition {
  const { quota = 1, ms = 10, ...rest } = given;
  const tally = newTally();
  count(tally, { requests: 1, quota }, ms);
  return {
    rollup: 'traffic_minute',
    atMs: START,
    owner: 0,
    key: '["r",1]',
    otherKey: '["r",0]',
    expiresMs: START + 10 * HOUR,
    tally,
    ...rest,
  };
}

async function rowsOf(store: Store, query: StatsQuery): Promise<string[]> {
  const rows: string[] = [];
  await store.readStats(query, ({ atMs, owner, key, tally }) => {
    rows.push(`${(atMs - START) / MINUTE} ${owner} ${key} ${writeTally(tally)}`);
  });
  return rows.sort();
}

export function describeStats(open: OpenHarness): void {
  describe('roll-ups', () => {
    const given = freshStore(open);
    let serial = 0;

    function add(
      store: Store,
      additions: readonly StatsAddition[],
      more: { writer?: string; serial?: number; maxRows?: number } = {},
    ): Promise<void> {
      serial += 1;
      const batch = { writer: 'one', serial, nowMs: T0, maxRows: 100, additions, ...more };
      return store.addStats(batch);
    }

    test('are the sums of what all processes add', async () => {
      const second = await given.reopen();
      expect(await given.store.statsSince()).toBeUndefined();

      await Promise.all([
        add(given.store, [addition({ quota: 5, ms: 10 }), addition({ key: '["a"]', quota: 2 })]),
        add(second, [addition({ quota: 2 ** 52, ms: 90 })], { writer: 'two', serial: 1 }),
      ]);
      await add(given.store, [addition({ quota: 3, ms: 10, atMs: START + MINUTE })]);

      const query = { rollup: 'traffic_minute', fromMs: START, toMs: START + MINUTE } as const;
      expect(await rowsOf(second, query)).toEqual([
        '0 0 ["a"] 1 0 0 0 0 2 0|7:1',
        `0 0 ["r",1] 2 0 0 0 0 ${2 ** 52 + 5} 0|7:1,13:1`,
        '1 0 ["r",1] 1 0 0 0 0 3 0|7:1',
      ]);
      expect(await rowsOf(second, { ...query, toMs: START })).toHaveLength(2);
      expect(await second.statsSince()).toBe(T0);
    });

    test.each([undefined, 7])(
      'leave others their turn while many are read, of %p',
      async (owner) => {
        const additions = Array.from({ length: 30 * 90 }, (_, row) =>
          addition({
            ...{ rollup: 'spend_hour', owner: 7, key: `[${row},"m"]` },
            ...{ atMs: START + (row % 3) * HOUR, expiresMs: T0 + 100 * HOUR },
          }),
        );
        await add(given.store, additions, { maxRows: 5_000 });
        let [turn, timer] = [0, setImmediate(() => undefined)];
        const nextTurn = (): void => {
          turn += 1;
          timer = setImmediate(nextTurn);
        };
        nextTurn();
        const inTurn = new Map<number, number>();

        const query = { rollup: 'spend_hour', fromMs: START, toMs: START + 2 * HOUR } as const;
        await given.store.readStats({ ...query, ...present({ owner }) }, () =>
          inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1),
        );
        clearImmediate(timer);

        const visited = [...inTurn.values()];
        expect(visited.reduce((sum, rows) => sum + rows)).toBe(additions.length);
        expect(Math.max(...visited)).toBeLessThan(2_000);
      },
    );

    test('count a batch once that is added again', async () => {
      await add(given.store, [addition({})], { writer: 'w', serial: 7 });
      await add(given.store, [addition({})], { writer: 'w', serial: 7 });
      await add(given.store, [addition({})], { writer: 'w', serial: 6 });
      await add(given.store, [addition({})], { writer: 'other', serial: 7 });

      const query = { rollup: 'traffic_minute', fromMs: START, toMs: START } as const;
      expect(await rowsOf(given.store, query)).toEqual(['0 0 ["r",1] 2 0 0 0 0 2 0|7:2']);
    });

    test('are read of all owners, or of one', async () => {
      const spent = { rollup: 'spend_hour', key: '[3]' } as const;
      await add(given.store, [
        addition({ ...spent, owner: 5, quota: 1 }),
        addition({ ...spent, owner: 6, quota: 2 }),
        addition({ ...spent, owner: 5, quota: 4, atMs: START + 40 * HOUR }),
      ]);

      const query = { rollup: 'spend_hour', fromMs: START, toMs: START + 100 * HOUR } as const;
      expect(await rowsOf(given.store, query)).toHaveLength(3);
      expect(await rowsOf(given.store, { ...query, owner: 5 })).toEqual([
        '0 5 [3] 1 0 0 0 0 1 0|7:1',
        '2400 5 [3] 1 0 0 0 0 4 0|7:1',
      ]);
    });

    test('lose nothing if a bucket has too many rows', async () => {
      const rows = Array.from({ length: 5 }, (_, index) => addition({ key: `["r",${index + 1}]` }));
      await add(given.store, rows, { maxRows: 3 });
      await add(given.store, rows, { maxRows: 3 });

      const query = { rollup: 'traffic_minute', fromMs: START, toMs: START } as const;
      expect(await rowsOf(given.store, query)).toEqual([
        '0 0 ["r",0] 4 0 0 0 0 4 0|7:4',
        '0 0 ["r",1] 2 0 0 0 0 2 0|7:2',
        '0 0 ["r",2] 2 0 0 0 0 2 0|7:2',
        '0 0 ["r",3] 2 0 0 0 0 2 0|7:2',
      ]);
    });

    test('go when their time is up', async () => {
      await add(given.store, [
        addition({ expiresMs: 1_000 }),
        addition({ rollup: 'spend_hour', owner: 5, expiresMs: 1_000 }),
      ]);

      await add(given.store, [addition({ key: '["later"]' })]);

      const span = { fromMs: START, toMs: START };
      expect(await rowsOf(given.store, { rollup: 'spend_hour', ...span })).toEqual([]);
      expect(await rowsOf(given.store, { rollup: 'traffic_minute', ...span })).toEqual([
        '0 0 ["later"] 1 0 0 0 0 1 0|7:1',
      ]);
    });
  });
}
