import { describe, expect, it } from '@jest/globals';
import { bucketOf, ROLLUPS, writeSpendKey, writeTrafficKey } from '../../src/core/rollups.js';
import { count, newTally } from '../../src/core/tally.js';
import type { StatsDeps } from '../../src/management/stats.js';
import { usageSeries } from '../../src/management/usage-series.js';
import type { StatsQuery } from '../../src/store/store.js';
import { freshManagement, NOW } from '../support/management.js';

const { stepMs: MINUTE_MS } = ROLLUPS.traffic_minute;
const HOUR_MS = 60 * MINUTE_MS;
const SPAN = { fromMs: NOW - HOUR_MS + MINUTE_MS, toMs: NOW + MINUTE_MS };
const SHARED_MS = 2_000;

describe('usageSeries', () => {
  const management = freshManagement();
  let serial = 0;

  /** The store, and which spans of buckets it was asked for. */
  function watched(): { readonly deps: StatsDeps; readonly asked: StatsQuery[] } {
    const { store, deps } = management;
    const asked: StatsQuery[] = [];
    const watching = new Proxy(store, {
      get: (target, name) => {
        if (name !== 'readStats') return Reflect.get(target, name) as unknown;
        return (query: StatsQuery, visit: Parameters<typeof store.readStats>[1]) => {
          asked.push(query);
          return target.readStats(query, visit);
        };
      },
    });
    return { deps: { store: watching, now: deps.now, statsDays: 400 }, asked };
  }

  async function happen(minutesAgo: number, channelId: number, tag?: string): Promise<void> {
    const tally = newTally();
    count(tally, { requests: 1 }, 20);
    const atMs = bucketOf('traffic_minute', NOW - minutesAgo * MINUTE_MS);
    const about = {
      of: 'attempt',
      channelId,
      provider: 'tei',
      tag,
      model: undefined,
    } as const;
    const key = writeTrafficKey({ ...about, outcome: 'ok' });
    const row = {
      rollup: 'traffic_minute',
      atMs,
      owner: 0,
      key,
      otherKey: key,
      expiresMs: NOW * 2,
      tally,
    } as const;
    serial += 1;
    await management.store.addStats({
      writer: 'a node',
      serial,
      nowMs: NOW,
      maxRows: 100,
      additions: [row],
    });
  }

  const requests = async (deps: StatsDeps): Promise<Record<string, number>> => {
    const { series } = await usageSeries(deps, { ...SPAN, group: 'channel' });
    return Object.fromEntries(series.map(({ key, total }) => [key, total.requests]));
  };

  it('shows as many as are asked for by their keys', async () => {
    const { deps } = watched();
    const keys = Array.from({ length: 13 }, (_, at) => String(at + 1));
    for (const key of keys) await happen(0, Number(key));

    const { series } = await usageSeries(deps, { ...SPAN, group: 'channel', keys });

    expect(new Set(series.map(({ key }) => key))).toEqual(new Set(keys));
  });

  it('adds up the least busy beyond twelve', async () => {
    const { deps } = watched();
    for (const channelId of Array.from({ length: 14 }, (_, at) => at + 1)) {
      for (let times = channelId > 2 ? 2 : 1; times > 0; times -= 1) await happen(0, channelId);
    }

    const { series } = await usageSeries(deps, { ...SPAN, group: 'channel' });

    expect(series.map(({ total }) => total.requests)).toEqual([...series.keys()].map(() => 2));
    expect(series.at(-1)?.key).toBe('others');
    expect(
      series
        .at(-1)
        ?.points.map(({ requests }) => requests)
        .at(-1),
    ).toBe(2);
    expect(series).toHaveLength(13);
  });

  it('shares no key of a tag with the sum', async () => {
    const { deps } = watched();
    const tags = ['others', 'others', ...Array.from({ length: 13 }, (_, at) => `tag ${at}`)];
    for (const tag of tags) await happen(0, 1, tag);

    const { series } = await usageSeries(deps, { ...SPAN, group: 'tag' });

    const sums = series.filter(({ key }) => key === 'others');
    expect(sums.map(({ total }) => total.requests)).toEqual([3]);
    expect(series).toHaveLength(13);
  });

  it('keeps what accounts spent apart, also where it is over', async () => {
    const { deps } = watched();
    for (const owner of [1, 2]) {
      const tally = newTally();
      count(tally, { requests: owner }, 20);
      const about = { channelId: undefined, provider: undefined, tag: undefined };
      const key = writeSpendKey({ tokenId: owner, model: 'm', ...about });
      const row = { rollup: 'spend_hour', owner, key, otherKey: key, tally } as const;
      const atMs = bucketOf('spend_hour', NOW - 10 * HOUR_MS);
      serial += 1;
      await management.store.addStats({
        ...{ writer: 'a node', serial, nowMs: NOW, maxRows: 100 },
        additions: [{ ...row, atMs, expiresMs: NOW * 2 }],
      });
    }
    const span = { fromMs: NOW - 12 * HOUR_MS, toMs: NOW, group: 'token' } as const;
    const spent = async (query: { readonly owner?: number }): Promise<number> =>
      (await usageSeries(deps, { ...span, ...query })).total.requests;

    expect([await spent({ owner: 1 }), await spent({ owner: 2 }), await spent({})]).toEqual([
      ...[1, 2, 3],
    ]);
  });

  it('asks again after a failure', async () => {
    await happen(1, 1);
    let isAway = true;
    const store = new Proxy(management.store, {
      get: (target, name) =>
        isAway && name === 'readStats'
          ? () => Promise.reject(new Error('away'))
          : (Reflect.get(target, name) as unknown),
    });
    const deps = { store, now: management.deps.now, statsDays: 400 };

    await expect(requests(deps)).rejects.toThrow('away');
    isAway = false;

    expect(await requests(deps)).toEqual({ 1: 1 });
  });

  it('reads minutes that are long over once a minute, and the last ones each time', async () => {
    const { deps, asked } = watched();
    await happen(30, 1);
    await happen(0, 2);
    expect(await requests(deps)).toEqual({ 1: 1, 2: 1 });

    await happen(30, 1);
    await happen(0, 2);
    management.pass(SHARED_MS);
    expect(await requests(deps)).toEqual({ 1: 1, 2: 2 });

    management.pass(MINUTE_MS);
    expect(await requests(deps)).toEqual({ 1: 2, 2: 2 });

    const [first, second, third] = asked.map(({ fromMs, toMs }) =>
      Math.floor((toMs - fromMs) / MINUTE_MS),
    );
    expect([first, third]).toEqual([59, 59]);
    expect(second).toBeLessThanOrEqual(3);
  });

  it('answers many readers of the same moment with one reading', async () => {
    const { deps, asked } = watched();
    await happen(1, 1);

    await Promise.all(Array.from({ length: 20 }, () => requests(deps)));

    expect(asked).toHaveLength(1);
  });
});
