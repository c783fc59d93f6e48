import { describe, expect, it, jest } from '@jest/globals';
import { readSpendKey, readTrafficKey } from '../../src/core/rollups.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { StoreUnavailableError, type StatsBatch } from '../../src/store/store.js';
import { Rollups } from '../../src/telemetry/rollups.js';
import { attemptEvent, requestEvent } from '../support/events.js';

const NOW = 1_800_000_000_000;

function opened(addStats: (batch: StatsBatch) => Promise<void>) {
  const events: GatewayEvent[] = [];
  const rollups = new Rollups({
    store: { addStats },
    observe: (event) => events.push(event),
    now: () => NOW,
    writer: 'w',
    keepDays: 2,
  });
  return { rollups, events };
}

describe('Rollups', () => {
  it('adds up what happened, and adds it to the bucket of each length', async () => {
    const batches: StatsBatch[] = [];
    const { rollups } = opened((batch) => Promise.resolve(void batches.push(batch)));
    const request = requestEvent({ atMs: NOW, quota: 7 });
    rollups.read([request, request, attemptEvent({})]);

    await rollups.close(NOW + 1_000);

    expect(batches).toHaveLength(1);
    const additions = batches[0]?.additions ?? [];
    const of = (rollup: string) => additions.filter((each) => each.rollup === rollup);
    expect(of('traffic_minute').map(({ tally }) => tally.sums.requests)).toEqual([2, 1]);
    expect(of('spend_day')).toMatchObject([
      { owner: request.userId, tally: { sums: { requests: 2, quota: 14 } } },
    ]);
    expect(new Set(additions.map(({ rollup }) => rollup)).size).toBe(6);
    expect(of('total_hour')).toMatchObject([{ owner: 0, tally: { sums: { quota: 14 } } }]);
    // By hour no longer than by day.
    const [hour] = of('spend_hour');
    expect((hour?.expiresMs ?? 0) - (hour?.atMs ?? 0)).toBe(3_600_000 + 2 * 24 * 3_600_000);
  });

  it('adds up parts of units, and writes whole ones', async () => {
    const batches: StatsBatch[] = [];
    const { rollups } = opened((batch) => Promise.resolve(void batches.push(batch)));
    for (let at = 0; at < 10; at += 1) {
      const channelId = 1 + (at % 2);
      rollups.read([requestEvent({ cost: 3.5, tokenId: at % 2, channelId })]);
    }

    await rollups.close(NOW);

    const costs = (name: string): number[] =>
      batches.flatMap(({ additions }) =>
        additions.filter(({ rollup }) => rollup === name).map(({ tally }) => tally.sums.cost),
      );
    expect(costs('total_hour')).toEqual([34]);
    // Neither pays for the other's parts.
    expect(costs('spend_day')).toEqual([17, 17]);
    expect(costs('spend_day').every(Number.isInteger)).toBe(true);
  });

  it('counts what was refused as traffic, under no name that a caller made up, and as nobody’s spending', async () => {
    const batches: StatsBatch[] = [];
    const { rollups } = opened((batch) => Promise.resolve(void batches.push(batch)));
    rollups.read([
      requestEvent({
        ...{ admitted: false, outcome: 'model_not_found', model: 'made up', knownModel: false },
      }),
    ]);

    await rollups.close(NOW);

    const additions = batches.flatMap((batch) => batch.additions);
    expect(additions.every(({ owner }) => owner === 0)).toBe(true);
    expect(readTrafficKey(additions[0]?.key ?? '')).toMatchObject({
      outcome: 'model_not_found',
      model: undefined,
    });
  });

  it('resends unchanged what had no answer', async () => {
    const batches: StatsBatch[] = [];
    const { rollups, events } = opened((batch) => {
      batches.push(batch);
      return batches.length === 1
        ? Promise.reject(new StoreUnavailableError('no answer'))
        : Promise.resolve();
    });
    rollups.read([requestEvent({})]);

    await rollups.close(NOW + 60_000);

    expect(batches).toHaveLength(2);
    expect(batches[1]).toBe(batches[0]);
    expect(events).toEqual([]);
  });

  it('gives up at the end of the process, and says how much was lost', async () => {
    const error = new StoreUnavailableError('gone');
    const { rollups, events } = opened(() => Promise.reject(error));
    rollups.read([attemptEvent({})]);

    await rollups.close(NOW);

    expect(events).toEqual([{ kind: 'fault', what: '3 rows of the statistics were lost', error }]);
  });

  it('adds up to the unit what each account, key and channel had, in however many writes', async () => {
    const batches: StatsBatch[] = [];
    const { rollups } = opened((batch) => Promise.resolve(void batches.push(batch)));
    const spent = new Map<string, number>();
    const traffic = new Map<string, number>();
    const add = (to: Map<string, number>, key: unknown, units: number) =>
      to.set(JSON.stringify(key), (to.get(JSON.stringify(key)) ?? 0) + units);

    // First about a few rows that differ in one thing from the one before, then over enough for several writes.
    for (let at = 0; at < 3_000; at += 1) {
      const of = (count: number, bit: number) =>
        at < 1_000 ? (Math.floor(at / 3) >> bit) % 2 : at % count;
      const event = requestEvent({
        ...{ atMs: NOW + of(3, 0) * 60_000, userId: 1 + of(7, 1), tokenId: 1 + of(11, 2) },
        ...{ channelId: 1 + of(5, 3), quota: at },
        ...(at % 4 === 0 ? { outcome: 'upstream_error' } : {}),
      });
      rollups.read([event]);
      const { atMs, userId, tokenId, channelId, outcome, quota } = event;
      add(spent, [userId, tokenId, channelId], quota);
      add(traffic, [atMs, channelId, outcome, outcome === 'ok' ? 0 : 1], 1);
      if (at === 1_500) await rollups.close(NOW);
    }
    await rollups.close(NOW);

    const written = batches.flatMap(({ additions }) => additions);
    expect(Math.max(...batches.map(({ additions }) => additions.length))).toBeLessThanOrEqual(400);
    const summed = new Map<string, number>();
    for (const { rollup, owner, key, tally } of written) {
      if (rollup !== 'spend_day') continue;
      const { tokenId, channelId } = readSpendKey(key);
      add(summed, [owner, tokenId, channelId], tally.sums.quota);
    }
    expect(summed).toEqual(spent);
    const seen = new Map<string, number>();
    for (const { rollup, atMs, key, tally } of written) {
      if (rollup !== 'traffic_minute') continue;
      const { channelId, outcome } = readTrafficKey(key);
      const { requests, failed } = tally.sums;
      if (requests > 0) add(seen, [atMs, channelId, outcome, failed > 0 ? 1 : 0], requests);
    }
    expect(seen).toEqual(traffic);
    expect(batches.map(({ serial }) => serial)).toEqual(batches.map((_, index) => index + 1));
  });

  it.each([
    ['ok', 0],
    ['cancelled', 0],
    ['timeout', 1],
  ] as const)('counts an attempt that ended with %s as failed: %d', async (outcome, failed) => {
    const batches: StatsBatch[] = [];
    const { rollups } = opened((batch) => Promise.resolve(void batches.push(batch)));
    rollups.read([attemptEvent({ outcome })]);

    await rollups.close(NOW);

    expect(batches[0]?.additions[0]?.tally.sums).toMatchObject({ requests: 1, failed });
  });

  it('writes by itself every two seconds, also what came during a write', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const batches: StatsBatch[] = [];
      const finish: (() => void)[] = [];
      const { rollups } = opened((batch) => {
        batches.push(batch);
        return new Promise((resolve) => finish.push(resolve));
      });
      rollups.read([requestEvent({})]);
      await jest.advanceTimersByTimeAsync(1_999);
      expect(batches).toHaveLength(0);
      await jest.advanceTimersByTimeAsync(1);
      expect(batches).toHaveLength(1);

      rollups.read([requestEvent({})]);
      finish[0]?.();
      await jest.advanceTimersByTimeAsync(2_000);
      expect(batches).toHaveLength(2);
      const sums = batches.map(({ additions }) =>
        additions.map(({ rollup, tally }) => [rollup, tally.sums.requests]),
      );
      expect(sums[1]).toEqual(sums[0]);
      finish[1]?.();
      await rollups.close(NOW);
    } finally {
      jest.useRealTimers();
    }
  });

  it('counts as lost what exceeds the rows that may wait', async () => {
    const batches: StatsBatch[] = [];
    const { rollups, events } = opened((batch) => Promise.resolve(void batches.push(batch)));
    for (let channelId = 1; channelId <= 20_003; channelId += 1) {
      rollups.read([attemptEvent({ channelId })]);
    }

    await rollups.close(NOW);

    expect(events).toMatchObject([{ kind: 'fault', what: '3 rows of the statistics were lost' }]);
  });
});
