import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bucketOf, ROLLUPS, writeSpendKey, writeTrafficKey } from '../../src/core/rollups.js';
import { Secret } from '../../src/core/secret.js';
import { count, newTally } from '../../src/core/tally.js';
import { OPEN_POLICY } from '../../src/core/token.js';
import { createChannel } from '../../src/management/channels.js';
import { getOverview, type Overview } from '../../src/management/overview.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { StatsAddition, Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { newChannel } from '../store/contract/harness.js';
import { freshManagement, NOW, OPERATOR } from '../support/management.js';
import { PATIENT, startRedis } from '../support/redis-server.js';

const { stepMs: MINUTE_MS } = ROLLUPS.traffic_minute;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TABS = 20;
const VAULT = createVault(new Secret('a key for the tests of overviews'));

const STORES = {
  async 'the embedded store'() {
    const folder = mkdtempSync(join(tmpdir(), 'overview-'));
    const store = openSqliteStore({ file: join(folder, 'gateway.db'), vault: VAULT });
    const close = async (): Promise<void> => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return Promise.resolve({ store, close });
  },
  async Redis() {
    const server = await startRedis();
    const store = await openRedisStore({ url: server.url, vault: VAULT, ...PATIENT });
    const close = async (): Promise<void> => {
      await store.close();
      await server.stop();
    };
    return { store, close };
  },
} satisfies Record<string, () => Promise<{ store: Store; close: () => Promise<void> }>>;

describe.each(Object.entries(STORES))('an overview of %s', (_, open) => {
  let store: Store;
  let close: () => Promise<void>;
  let ownerId = 0;
  let tokenId = 0;
  let serial = 0;
  /** In the middle of an hour of the morning, UTC. */
  const nowMs = NOW + HOUR_MS / 2;
  const dayFromMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const query = { fromMs: nowMs - HOUR_MS, toMs: nowMs + MINUTE_MS, dayFromMs };

  async function add(...additions: StatsAddition[]): Promise<void> {
    serial += 1;
    await store.addStats({ writer: 'a node', serial, nowMs, maxRows: 1_000, additions });
  }

  function attempts(channelId: number, ended: Readonly<Record<string, number>>): StatsAddition[] {
    const about = {
      ...({ of: 'attempt', channelId, provider: 'tei' } as const),
      ...{ tag: undefined, model: undefined },
    };
    return Object.entries(ended).map(([outcome, times]) => {
      const tally = newTally();
      const failed = outcome === 'ok' ? 0 : 1;
      for (let time = 0; time < times; time += 1) count(tally, { requests: 1, failed }, 20);
      const key = writeTrafficKey({ ...about, outcome });
      const atMs = bucketOf('traffic_minute', nowMs);
      return {
        ...({ rollup: 'traffic_minute', atMs, owner: 0, key, otherKey: key } as const),
        ...{ expiresMs: nowMs * 2, tally },
      };
    });
  }

  function spent(quota: number, whenMs = nowMs): StatsAddition[] {
    const tally = newTally();
    count(tally, { requests: 1, quota }, 20);
    const about = { tokenId, model: 'm', channelId: 1, provider: 'tei', tag: undefined };
    const key = writeSpendKey(about);
    return (['spend_hour', 'spend_day'] as const).map((rollup) => ({
      ...{ rollup, atMs: bucketOf(rollup, whenMs), owner: ownerId, key, otherKey: key },
      ...{ expiresMs: nowMs * 2, tally },
    }));
  }

  /** The store, and what it is asked. */
  function watched(): { readonly store: Store; readonly asked: string[] } {
    const asked: string[] = [];
    const watching = new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]): unknown => {
          asked.push(String(name));
          return Reflect.apply(method, target, args) as unknown;
        };
      },
    });
    return { store: watching, asked };
  }

  const overview = (of = store, atMs = nowMs): Promise<Overview> =>
    getOverview({ store: of, now: () => atMs, statsDays: 400 }, query, () => []);

  beforeAll(async () => {
    ({ store, close } = await open());
    const created = await store.createUser(
      {
        ...{ username: 'ada', email: undefined, displayName: '', passwordHash: 'none' },
        ...{ role: 1, enabled: true, quota: 1_000 },
      },
      nowMs,
    );
    if (created.kind !== 'updated') throw new Error('no account');
    ownerId = created.user.id;
    const token = await store.createToken(
      {
        ...{ userId: ownerId, name: 'ends', keyHash: 'of it', keyHint: 'sk-…', enabled: true },
        ...{ expiredTime: Math.floor(nowMs / 1_000) + 3_600, remainQuota: 5 },
        ...{ unlimitedQuota: true, policy: OPEN_POLICY },
      },
      nowMs,
    );
    tokenId = token?.id ?? 0;
  }, 60_000);

  afterAll(() => close());

  it('is read once for all who look at it, and not again a second later', async () => {
    const { store: watching, asked } = watched();

    await Promise.all(Array.from({ length: TABS }, () => overview(watching)));
    const first = asked.splice(0).filter((name) => !name.includes('hannels'));
    await Promise.all(Array.from({ length: TABS }, () => overview(watching, nowMs + 1_000)));

    expect(first.length).toBeLessThan(TABS);
    // Whether the channels are still the same.
    expect(asked).toEqual(Array.from({ length: TABS }, () => 'channelsVersion'));
  });

  it('has the channels that fail, however little they are asked, and the busiest', async () => {
    const busy = Array.from({ length: 20 }, (_unused, at) => attempts(at + 1, { ok: 100 - at }));
    await add(...busy.flat(), ...attempts(99, { ok: 1, timeout: 3 }));

    const { channels } = await overview(watched().store);

    expect(channels.map(({ key }) => key)).toEqual([
      ...Array.from({ length: 11 }, (_unused, at) => String(at + 1)),
      ...['99', 'others'],
    ]);
    expect(channels.find(({ key }) => key === '99')).toMatchObject({
      total: { requests: 4, failed: 3 },
      recent: { requests: 4, failed: 3 },
    });
    const rest = Array.from({ length: 9 }, (_unused, at) => 100 - at - 11);
    expect(channels.at(-1)?.total.requests).toBe(rest.reduce((sum, n) => sum + n, 0));
  });

  it('judges a channel of a whole day by its last minutes alone', async () => {
    const atMs = bucketOf('traffic_5_minutes', nowMs - 20 * MINUTE_MS);
    const rows = attempts(98, { timeout: 3 });
    await add(...rows.map((row) => ({ ...row, rollup: 'traffic_5_minutes', atMs }) as const));
    const deps = { store, now: () => nowMs, statsDays: 400 };

    const day = { ...query, fromMs: nowMs - DAY_MS };
    const { channels } = await getOverview(deps, day, () => []);

    expect(channels.find(({ key }) => key === '98')).toMatchObject({
      total: { requests: 3, failed: 3 },
      recent: { requests: 0, failed: 0 },
    });
  });

  it('says why a channel takes no traffic', async () => {
    const made = await store.createChannel(newChannel({ status: 2, models: {} }));
    const id = made.kind === 'updated' ? made.channel.id : 0;
    await add(...attempts(id, { timeout: 3 }));

    const { channels } = await overview(watched().store);

    expect(channels.find(({ key }) => key === String(id))).toMatchObject({ because: 'disabled' });
  });

  it('has every channel that fails so much that it needs a look', async () => {
    const failing = Array.from({ length: 14 }, (_unused, at) => 101 + at);
    await add(...failing.flatMap((id) => attempts(id, { timeout: 3 })));

    const { channels } = await overview(watched().store);

    expect(channels.map(({ key }) => key)).toEqual(expect.arrayContaining(failing.map(String)));
    expect(channels.at(-1)?.key).toBe('others');
  });

  it('tells of models that nothing serves, keys that end, and accounts that run out', async () => {
    await add(...spent(900));

    const {
      darkModels,
      watched: seen,
      today,
    } = await overview(watched().store, nowMs + HOUR_MS + 1);

    expect(darkModels).toEqual([]);
    expect(seen.ending).toEqual({ names: [], total: 0 });
    expect(seen.runningOut).toMatchObject([{ of: 'account', id: ownerId, name: 'ada' }]);
    expect(today.rows).toMatchObject([{ names: { user: 'ada' }, sums: { quota: 900 } }]);
    const { watched: before } = await overview(watched().store);
    expect(before.ending).toEqual({ names: ['ends'], total: 1 });
  });

  it('has the twenty-fifth hour of a day that has one, and no more of the others', async () => {
    await add(...spent(900));
    const deps = { store, now: () => nowMs, statsDays: 400 };
    const dayFrom = async (ms: number) =>
      (await getOverview(deps, { ...query, dayFromMs: ms }, () => [])).today.total.quota;

    const hourMs = nowMs - HOUR_MS / 2;
    expect(await dayFrom(hourMs - DAY_MS)).toBeGreaterThan(0);
    expect(await dayFrom(hourMs - DAY_MS - HOUR_MS)).toBe(0);
  });

  it('tells of who runs out as soon as an hour has begun', async () => {
    const hourMs = dayFromMs + 10 * DAY_MS + 9 * HOUR_MS;
    await add(...spent(900, hourMs));

    const { watched: before } = await overview(watched().store, hourMs - MINUTE_MS);
    const { watched: seen } = await overview(watched().store, hourMs + MINUTE_MS);

    expect(before.runningOut).toEqual([]);
    expect(seen.runningOut).toMatchObject([{ of: 'account', id: ownerId, name: 'ada' }]);
  });

  it('tells of who runs out, however many have less and spend nothing', async () => {
    for (let at = 0; at < 101; at += 1) {
      const account = { email: undefined, displayName: '', passwordHash: 'none' };
      const left = { ...account, role: 1, enabled: true, quota: 0 } as const;
      await store.createUser({ ...left, username: `idle-${at}` }, nowMs);
    }

    const { watched: seen } = await overview(watched().store);

    expect(seen.runningOut).toMatchObject([{ of: 'account', id: ownerId, name: 'ada' }]);
  });
});

describe('models without a live channel', () => {
  const management = freshManagement();

  it('are dark unless a live fallback answers for them', async () => {
    const { deps, store } = management;
    const channel = (name: string, model: string, status: 1 | 2) =>
      createChannel(
        deps,
        { name, provider: 'local', models: { [model]: 'local' }, status },
        OPERATOR,
      );
    await channel('on', 'served', 1);
    await channel('off', 'helped', 2);
    await channel('off too', 'alone', 2);
    await channel('last', 'of the dark', 2);
    const fallbacks: Readonly<Record<string, string[]>> = {
      helped: ['alone', 'served'],
      'of the dark': ['alone'],
    };

    const { darkModels } = await getOverview(
      { store, now: deps.now, statsDays: 400 },
      { fromMs: NOW - HOUR_MS, toMs: NOW, dayFromMs: NOW - DAY_MS },
      (model) => fallbacks[model] ?? [],
    );

    expect(darkModels).toEqual(['alone', 'of the dark']);
  });
});
