import { describe, expect, it } from '@jest/globals';
import { readTrafficKey } from '../../src/core/rollups.js';
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
    expect(new Set(additions.map(({ rollup }) => rollup)).size).toBe(5);
    // By hour no longer than by day.
    expect(of('spend_hour')[0]?.expiresMs).toBeLessThanOrEqual(
      NOW + 2 * 24 * 3_600_000 + 3_600_000,
    );
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
});
