import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayOf, startOfDay } from '../../src/core/time-zone.js';
import type { Token } from '../../src/core/token.js';
import { labelValues } from '../../src/management/labels.js';
import { deleteToken, deleteTokens, updateToken } from '../../src/management/tokens.js';
import { deleteUser } from '../../src/management/users.js';
import { usageBreakdown, type BreakdownQuery } from '../../src/management/usage-breakdown.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { Rollups } from '../../src/telemetry/rollups.js';
import { createToken, createUser, VAULT } from '../store/contract/harness.js';
import { requestEvent } from '../support/events.js';
import { freshManagement, OPERATOR } from '../support/management.js';
import { OPEN_POLICY } from '../support/policy.js';
import { PATIENT, startRedis } from '../support/redis-server.js';

const ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'America/St_Johns'];
const NOW = Math.floor(Date.now() / 60_000) * 60_000;
const DAY_MS = 86_400_000;
const FIRST_MS = NOW - 250 * DAY_MS;
const ROOT = { id: 9_999, name: 'root', role: 100 as const, address: undefined };

interface Spent {
  readonly atMs: number;
  readonly quota: number;
  readonly team: string | undefined;
}

/** A number below `most`; the same ones in every run. */
function sequence(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
}

describe.each(['SQLite', 'Redis'])('spending by label, on %s,', (kind) => {
  let store: Store;
  let close: () => Promise<void>;
  let spent: Spent[];
  let keys: { readonly userId: number; readonly tokenId: number; readonly team?: string }[];
  const now = (): number => NOW;
  const ask = (query: Omit<BreakdownQuery, 'label'>, label = 'team') =>
    usageBreakdown({ store, now, statsDays: 400 }, { ...query, label });
  const byTeam = async (): Promise<Record<string, number>> => {
    const { rows } = await ask({ fromMs: FIRST_MS, toMs: NOW, by: ['label'] });
    return Object.fromEntries(rows.map(({ of, sums }) => [of.label ?? 'none', sums.quota]));
  };
  const sumsOf = (within: readonly Spent[]): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { team = 'none', quota } of within) sums[team] = (sums[team] ?? 0) + quota;
    return sums;
  };

  beforeAll(async () => {
    if (kind === 'Redis') {
      const server = await startRedis();
      store = await openRedisStore({ url: server.url, vault: VAULT, ...PATIENT });
      close = () => store.close().then(() => server.stop());
    } else {
      const folder = mkdtempSync(join(tmpdir(), 'labels-'));
      store = openSqliteStore({ file: join(folder, 'gateway.db'), vault: VAULT });
      close = () => store.close().then(() => rmSync(folder, { recursive: true }));
    }
    keys = [];
    // Of each account, one key has a label of its own, one has another label, and one has none.
    for (const account of ['', 'env=prod,team=search', 'team=ads']) {
      const userId = await createUser(store, { labels: account });
      const inherited = /team=(\w+)/.exec(account)?.[1];
      for (const [labels, team] of [
        ['team=maps', 'maps'],
        ['env=test', inherited],
        ['', inherited],
      ] as const) {
        const policy = { ...OPEN_POLICY, labels };
        const { token } = await createToken(store, { userId, policy });
        keys.push({ userId, tokenId: token.id, ...(team === undefined ? {} : { team }) });
      }
    }
    const random = sequence(7);
    const rollups = new Rollups({
      ...{ store, observe: () => undefined, now, writer: 'a node', keepDays: 400 },
    });
    spent = Array.from({ length: 1_200 }, () => {
      const { userId, tokenId, team } = keys[random(keys.length)] ?? { userId: 0, tokenId: 0 };
      const zone = ZONES[random(ZONES.length)] ?? 'UTC';
      const anyMs = FIRST_MS + random(250) * DAY_MS;
      // Many at the seams of months.
      const seamMs = startOfDay({ ...dayOf(anyMs, zone), date: 1 }, zone) - random(2);
      const atMs = random(2) === 0 ? anyMs + random(DAY_MS) : Math.max(seamMs, FIRST_MS);
      const quota = 1 + random(1_000);
      rollups.read([requestEvent({ atMs, userId, tokenId, quota })]);
      return { atMs, quota, team };
    });
    await rollups.close(Infinity);
  }, 60_000);
  afterAll(() => close());

  it.each(ZONES)('adds up to the unit by label and month in %s', async (timeZone) => {
    const { rows, total } = await ask({
      ...{ fromMs: FIRST_MS, toMs: NOW, by: ['month', 'label'] as const, timeZone },
    });

    const expected: Record<string, number> = {};
    for (const { atMs, team = 'none', quota } of spent) {
      const month = startOfDay({ ...dayOf(atMs, timeZone), date: 1 }, timeZone) / 1_000;
      const group = `${month} ${team}`;
      expected[group] = (expected[group] ?? 0) + quota;
    }
    const found = rows.map(({ of, sums }) => [`${of.month} ${of.label ?? 'none'}`, sums.quota]);
    expect(Object.fromEntries(found)).toEqual(expected);
    expect(total.quota).toBe(spent.reduce((sum, { quota }) => sum + quota, 0));
  });

  it('counts one value alone, whatever it is grouped by', async () => {
    const span = { fromMs: FIRST_MS, toMs: NOW };
    const [byKey, byDay] = await Promise.all([
      ask({ ...span, by: ['token'] }, 'team=search'),
      ask({ ...span, by: ['day'] }, 'team=search'),
    ]);

    const expected = sumsOf(spent).search;
    expect([byKey.total.quota, byDay.total.quota]).toEqual([expected, expected]);
    const ids = keys.filter(({ team }) => team === 'search').map(({ tokenId }) => tokenId);
    expect(byKey.rows.map(({ of }) => Number(of.token)).sort((a, b) => a - b)).toEqual(ids);
  });

  it('stays where it was when keys and accounts are deleted, and moves with a label', async () => {
    const deps = { store, now, randomBytes };
    const before = await byTeam();
    expect(before).toEqual(sumsOf(spent));

    const [one, another] = keys.filter(({ team }) => team === 'maps');
    await deleteToken(deps, one?.tokenId ?? 0, ROOT);
    await deleteTokens(deps, [another?.tokenId ?? 0], ROOT);
    await deleteUser(deps, keys.at(-1)?.userId ?? 0, ROOT);
    expect(await byTeam()).toEqual(before);

    const moved = keys.find(({ team }) => team === 'search');
    const policy = { labels: 'team=rank' };
    await updateToken(deps, moved?.tokenId ?? 0, { policy }, ROOT);
    const after = await byTeam();
    expect((after.rank ?? 0) + (after.search ?? 0)).toBe(before.search);
    expect(after.rank).toBeGreaterThan(0);
  });
});

describe('labels', () => {
  const management = freshManagement();

  it('of all keys are found, however many there are', async () => {
    const { deps, store } = management;
    const key = (id: number) => ({ id, policy: { ...OPEN_POLICY, labels: `team=t${id}` } });
    const many: Store = {
      ...store,
      listTokens: ({ offset, limit }) =>
        Promise.resolve({
          items: Array.from({ length: Math.min(limit, 5_001 - offset) }, (_, at) =>
            key(offset + at + 1),
          ) as unknown as Token[],
          total: 5_001,
        }),
    };

    const valueOf = await labelValues({ ...deps, store: many }, 'team', undefined);

    expect([valueOf(1, 0), valueOf(5_001, 0), valueOf(5_002, 0)]).toEqual([
      't1',
      't5001',
      undefined,
    ]);
  });

  it('of what had none are not kept when it is deleted', async () => {
    const { deps, store } = management;
    const [plain, labelled] = [
      await createToken(store),
      await createToken(store, { policy: { ...OPEN_POLICY, labels: 'team=a' } }),
    ];

    await deleteTokens(deps, [plain.token.id, labelled.token.id], OPERATOR);

    const kept: string[] = [];
    const query = { rollup: 'labels_gone', fromMs: 0, toMs: 0 } as const;
    await store.readStats(query, (row) => kept.push(row.key));
    expect(kept).toEqual([JSON.stringify(['token', labelled.token.id, 'team=a'])]);
  });
});
