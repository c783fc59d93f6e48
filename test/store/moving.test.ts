import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { count, newTally } from '../../src/core/tally.js';
import { exportLines, importLines, isHalfImported } from '../../src/assembly/moving.js';
import { MOVED_TABLES, type MovedRow } from '../../src/store/moving.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Credential, Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { usageEntry } from '../support/events.js';
import { OPEN_POLICY } from '../support/policy.js';
import {
  PATIENT,
  startRedis,
  startRedisCluster,
  type RedisCluster,
  type RedisServer,
} from '../support/redis-server.js';
import {
  admitRequest,
  createToken,
  createUser,
  newChannel,
  settlement,
  sha256,
  T0,
  unique,
  VAULT,
} from './contract/harness.js';

const HOUR = 3_600_000;
const PASSPHRASE = new Secret('a passphrase of the test');
const folder = mkdtempSync(join(tmpdir(), 'moving-'));
const opened: Store[] = [];
let server: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});

afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await server.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

function kept(store: Store): Store {
  opened.push(store);
  return store;
}

const sqlite = (): Promise<Store> =>
  Promise.resolve(
    kept(openSqliteStore({ file: join(folder, `${unique('store')}.db`), vault: VAULT })),
  );

/** With another key than the embedded store has. */
const otherVault = createVault(new Secret('the key of another house'));
const redis = async (url = server.url): Promise<Store> =>
  kept(
    await openRedisStore({
      ...{ url, prefix: `${unique('moving')}:`, vault: otherVault, clock: 'caller' },
      ...PATIENT,
    }),
  );

/** One of everything that moves, with text that is easily mistaken. */
async function furnish(store: Store) {
  const userId = await createUser(store, {
    username: 'Änne "Q"',
    email: 'Anne@Example.com',
    labels: 'team=a',
  });
  const gone = await createUser(store);
  await store.deleteUser(gone);
  const credential = await createToken(store, { userId, name: 'prod: 1' });
  await store.admit(admitRequest(credential, { amount: 100 }));
  const rolled = { keyHash: sha256(unique('new key')), keyHint: 'sk-new', keepOldMs: HOUR };
  await store.rollToken(credential.token.id, rolled, T0);
  const session = {
    ...{ idHash: sha256(unique('session')), userId, kind: 'access_token' as const },
    ...{ createdAtMs: T0, expiresAtMs: T0 + 9 * HOUR, endsAtMs: T0 + 9 * HOUR },
    ...{ usedAtMs: T0, address: '192.0.2.1', agent: 'curl: 8', source: 'a provider' },
  };
  await store.createSession(session);
  await store.linkIdentity(sha256('somebody at a provider'), userId, T0);
  const code = {
    ...{ name: 'Launch', batchId: 'b1', quota: 500, codeHash: sha256('code'), codeHint: 'AB…' },
    ...{ createdBy: userId, expiredTime: 0 },
  };
  await store.createCodes([code], T0);
  await store.createChannel(newChannel({ name: 'eu', tag: 'hosted' }));
  await store.setTagSwitch({
    ...{ tag: 'hosted', disabled: true, reason: 'a test', changedTime: 7, changedBy: undefined },
  });
  await store.keepPrices(
    { atMs: T0, prices: { models: {}, fallback: { per: 'request', units: 5 } } },
    10,
  );
  await store.addExample({ userId, name: 'tea', shared: true, content: '{"q":1}' }, 10, T0);
  await store.keepSecret('mask', 'the mask key');
  const tally = newTally();
  count(tally, { requests: 3, quota: 21 }, 12);
  await store.addStats({
    ...{ writer: 'w', serial: 1, nowMs: T0, maxRows: 9 },
    additions: [
      {
        ...{ rollup: 'spend_hour', atMs: T0, owner: userId, key: '[1,"m"]', otherKey: '[0,"*"]' },
        ...{ expiresMs: T0 + 99 * HOUR, tally },
      },
      // Written first, and happened before.
      {
        ...{ rollup: 'spend_hour', atMs: T0 - HOUR, owner: userId, key: '[1,"m"]' },
        ...{ otherKey: '[0,"*"]', expiresMs: T0 + 99 * HOUR, tally },
      },
      {
        ...{ rollup: 'total_hour', atMs: T0, owner: 0, key: '[0]', otherKey: '[0]' },
        ...{ expiresMs: T0 + 99 * HOUR, tally },
      },
      {
        ...{ rollup: 'labels_gone', atMs: 0, owner: 0, key: '["token",9,"team=b"]' },
        ...{ otherKey: '["others",0,""]', expiresMs: T0 + 99 * HOUR, tally: newTally() },
      },
    ],
  });
  const attempts = { attempts: [] } as never;
  await store.appendUsage(
    [
      usageEntry({ atMs: T0, requestId: 'one', userId, quota: 7 }),
      {
        ...usageEntry({ atMs: T0 - 5, requestId: 'two', userId, tag: 'hosted' }),
        detail: attempts,
      },
    ],
    100,
  );
  await store.appendRefused(
    [
      {
        ...{ atMs: T0, requestId: 'three', userId: undefined, tokenId: undefined },
        ...{ tokenName: undefined, model: 'm', outcome: 'unauthorized', status: 401 },
        ...{ message: 'No key.', address: undefined, node: 'n', documents: 0, durationMs: 0.5 },
        repeated: 2,
      },
    ],
    100,
  );
  await store.appendAudit(
    {
      ...{ atMs: T0, actorId: userId, actor: 'root', action: 'key.create', target: 'key 1' },
      ...{ detail: { why: ['a', 1] }, address: undefined },
    },
    100,
  );
  return { userId, credential, rolled, session, code };
}

/** All rows, apart from the order of members, absent ones, and numbers that only the embedded store counts. */
async function everything(store: Store): Promise<Record<string, readonly unknown[]>> {
  const all: Record<string, readonly unknown[]> = {};
  for (const table of MOVED_TABLES) {
    const rows: MovedRow[] = [];
    for await (const part of store.rowsOf(table, T0)) rows.push(...part);
    all[table] = rows
      .filter(({ name }) => table !== 'sequences' || name !== 'price_lists')
      .map(({ definition = '{}', ...row }) => ({
        ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
        definition: JSON.parse(String(definition)) as unknown,
      }))
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return all;
}

const nobody = (): void => undefined;

async function exported(store: Store, passphrase: Secret | null = PASSPHRASE): Promise<string[]> {
  const lines: string[] = [];
  const given = {
    passphrase: passphrase ?? undefined,
    release: '0.0.0',
    nowMs: T0,
    onMoved: nobody,
  };
  for await (const text of exportLines(store, given)) lines.push(...text.split('\n').slice(0, -1));
  return lines;
}

function imported(store: Store, lines: readonly string[], passphrase: Secret | null = PASSPHRASE) {
  // oxlint-disable-next-line typescript/require-await -- an iterable that is asynchronous
  const all = (async function* () {
    yield* lines;
  })();
  const given = {
    passphrase: () => Promise.resolve(passphrase ?? undefined),
    nowMs: T0,
    onMoved: nobody,
  };
  return importLines(store, all, given);
}

describe.each([
  ['Redis', () => redis()],
  ['a Redis Cluster', () => redis(cluster.url)],
  ['the embedded store', sqlite],
])('moving house to %s', (_name, open) => {
  it('loses nothing, there and back', async () => {
    const [from, to, back] = [await sqlite(), await open(), await sqlite()];
    await furnish(from);

    await imported(to, await exported(from));
    await imported(back, await exported(to));

    const moved = await everything(from);
    expect(Object.values(moved).map((rows) => rows.length)).not.toContain(0);
    expect(await everything(to)).toEqual(moved);
    expect(await everything(back)).toEqual(moved);
  });

  it('keeps keys, balances, logins and codes working, and goes on counting', async () => {
    const [from, to] = [await sqlite(), await open()];
    const { userId, credential, rolled, session, code } = await furnish(from);
    const before = await from.listUsers({ offset: 0, limit: 9 }, T0);
    await to.loadChannels();

    await imported(to, await exported(from));

    // What was set aside is given back: no request of the old house is settled in the new one.
    expect(await to.getUser(userId, T0)).toMatchObject({
      quota: (before.items[0]?.quota ?? 0) + 100,
    });
    const found = await to.findToken(rolled.keyHash);
    expect(found?.token).toMatchObject({ name: 'prod: 1', remainQuota: 100_000 });
    expect((await to.findToken(credential.keyHash))?.endsAtMs).toBe(T0 + HOUR);
    expect(await to.findUser('anne@example.COM', T0)).toMatchObject({ username: 'Änne "Q"' });
    expect(await to.findSession(session.idHash, T0 + 1, HOUR)).toMatchObject({ userId });
    const { channels, switches } = await to.loadChannels();
    expect(channels[0]?.credentials.apiKey?.reveal()).toBe('upstream key');
    expect(switches).toMatchObject([{ tag: 'hosted', disabled: true, reason: 'a test' }]);
    const another = await createUser(to);
    expect(another).toBe(userId + 2);
    expect(await to.listExamples(another)).toMatchObject([{ name: 'tea', shared: true }]);
    expect(await to.redeem(code.codeHash, another, T0)).toMatchObject({
      kind: 'redeemed',
      quota: 500,
    });
    expect(await to.redeem(code.codeHash, another, T0)).toMatchObject({ reason: 'used' });
    expect(await to.listUsage({ offset: 0, limit: 9 })).toEqual(
      await from.listUsage({ offset: 0, limit: 9 }),
    );
    await to.appendUsage([usageEntry({ atMs: T0 + 1, requestId: 'later', userId })], 100);
    const { items } = await to.listUsage({ offset: 0, limit: 9 });
    expect(items.map(({ requestId }) => requestId)).toEqual(['later', 'one', 'two']);
    expect(await to.usageStats({ userId })).toMatchObject({ requests: 3 });
  });

  it('has credited what a crash had left undone', async () => {
    const [from, done] = [await sqlite(), [] as string[]];
    const watched: Store = {
      ...from,
      recoverRedemptions: (...times) => Promise.resolve(done.push(times.join(' '))),
      rowsOf: (table, nowMs) => (done.push(table), from.rowsOf(table, nowMs)),
    };

    await exported(watched);

    expect(done).toEqual([`${T0} 0`, ...MOVED_TABLES]);
  });

  it('credits no code again that was redeemed in the old house', async () => {
    const [from, to] = [await sqlite(), await open()];
    const userId = await createUser(from, { quota: 0 });
    const codeHash = sha256('redeemed');
    const code = { name: 'c', batchId: '', quota: 5, codeHash, codeHint: 'c', createdBy: 0 };
    await from.createCodes([{ ...code, expiredTime: 0 }], T0);
    await from.redeem(codeHash, userId, T0);

    await imported(to, await exported(from));

    expect(await to.redeem(codeHash, userId, T0)).toEqual({ kind: 'refused', reason: 'used' });
    expect((await to.getUser(userId, T0))?.quota).toBe(5);
  });

  it('gives back what requests under way hold: of keys, accounts and budgets', async () => {
    const [from, to] = [await open(), await sqlite()];
    const budget = { budget: 500, budgetPeriod: 'day' } as const;
    const userId = await createUser(from, { ...budget, quota: 1_000 });
    const policy = { ...OPEN_POLICY, ...budget };
    const limited = await createToken(from, { userId, policy, remainQuota: 900 });
    const unlimited = await createToken(from, { userId, policy, unlimitedQuota: true });
    const plain = await createToken(from);
    const spent = admitRequest(limited, { amount: 7 });
    for (const [credential, amount] of [
      [limited, 100],
      [unlimited, 30],
      [plain, 20],
    ] as const) {
      await from.admit(admitRequest(credential, { amount }));
    }
    await from.admit(spent);
    await from.settle(settlement(spent, { cost: 5 }));

    await imported(to, await exported(from));

    const found = async ({ keyHash }: Credential) => (await to.findToken(keyHash))?.token;
    expect(await to.getUser(userId, T0)).toMatchObject({ quota: 995, budgetUse: { spent: 5 } });
    expect(await found(limited)).toMatchObject({ remainQuota: 895, budgetUse: { spent: 5 } });
    for (const { token, keyHash } of [unlimited, plain]) {
      const { remainQuota } = token;
      expect((await to.findToken(keyHash))?.token).toMatchObject({
        ...{ remainQuota, budgetUse: { spent: 0 } },
      });
    }
    expect((await to.getUser(plain.token.userId, T0))?.budgetUse).toMatchObject({ spent: 0 });
  });

  it('goes on after an interruption, and does nothing twice', async () => {
    const [from, to] = [await sqlite(), await open()];
    await furnish(from);
    const lines = await exported(from);

    for (let cut = 1; cut < lines.length; cut += 3) {
      await expect(imported(to, lines.slice(0, cut))).rejects.toThrow('in the middle');
      expect(await isHalfImported(to)).toBe(cut > 1);
    }
    const whole = await imported(to, lines);
    const again = await imported(to, lines);

    expect(whole.before).toBe(false);
    expect(again).toEqual({ counts: whole.counts, before: true });
    expect(await isHalfImported(to)).toBe(false);
    expect(await everything(to)).toEqual(await everything(from));
  });

  it('refuses a store that is not empty, another passphrase, and what is no export', async () => {
    const [from, to] = [await sqlite(), await open()];
    await furnish(from);
    const lines = await exported(from);

    await expect(imported(to, lines, new Secret('wrong'))).rejects.toThrow('The passphrase is not');
    await expect(imported(to, ['id,name'])).rejects.toThrow('is no JSON');
    await expect(imported(to, ['{"model_list":[]}'])).rejects.toThrow('says nothing of one');
    await expect(imported(to, lines, null)).rejects.toThrow('give its passphrase');
    // The credentials of one export fit no other.
    const another = lines.with(0, lines[0]?.replace(/"id":"../, '"id":"') ?? '');
    await expect(imported(to, another)).rejects.toThrow('The passphrase is not');
    expect(await isHalfImported(to)).toBe(false);
    await to.createChannel(newChannel());
    await expect(imported(to, lines)).rejects.toThrow('(accounts: 0, channels: 1)');
    await createUser(to);

    await expect(imported(to, lines)).rejects.toThrow('(accounts: 1, channels: 1)');
  });

  it('refuses an export of a newer release, a damaged one, and a part of another one', async () => {
    const [from, to] = [await sqlite(), await open()];
    await furnish(from);
    const lines = await exported(from);
    const [first = '', second = '', ...rest] = lines;
    const newer = JSON.stringify({
      ...(JSON.parse(first) as object),
      version: 2,
      release: '9.0.0',
    });
    const users = rest.findIndex((text) => text.startsWith('{"users"'));
    const withMember = rest[users]?.replace('{"users":{', '{"users":{"shoe_size":43,') ?? '';

    await expect(imported(to, [newer])).rejects.toThrow('newer release (9.0.0)');
    for (const [damaged, why] of [
      [[first, second.slice(0, -1)], 'Line 2 of the export is damaged'],
      [[first, '{"planets":{"id":1}}', second], 'Line 2 of the export is of "planets"'],
      [[first, withMember, ...rest], 'does not know the member shoe_size of users'],
      [[first, ...rest], 'The export lacks lines of'],
    ] as const) {
      await expect(imported(await open(), damaged)).rejects.toThrow(why);
    }
    await expect(imported(to, lines.slice(0, 5))).rejects.toThrow('in the middle');
    await expect(imported(to, await exported(from))).rejects.toThrow('a part of another export');
  });

  it('leaves credentials out without a passphrase', async () => {
    const [from, to] = [await sqlite(), await open()];
    await furnish(from);

    const lines = await exported(from, null);
    await imported(to, lines, null);

    expect(lines.join('\n')).not.toMatch(/upstream key|the mask key|sealed|"secrets":\{/);
    const { channels } = await to.loadChannels();
    expect(channels.map(({ name, credentials }) => [name, credentials])).toEqual([['eu', {}]]);
    expect(await to.keepSecret('mask', 'a new one')).toBe('a new one');
  });
});
