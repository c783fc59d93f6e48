import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { standingOf } from '../../src/core/budget.js';
import { bucketOf } from '../../src/core/rollups.js';
import { count, newTally, writeTally } from '../../src/core/tally.js';
import { OPEN_POLICY } from '../../src/core/token.js';
import { openClaims } from '../../src/store/redis/claims.js';
import { connectRedis, type Connection } from '../../src/store/redis/connection.js';
import { createKeys, type Keys } from '../../src/store/redis/keys.js';
import { ANY_CLAIM, openRegistry } from '../../src/store/redis/logins.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { listOf, run, SCRIPTS } from '../../src/store/redis/scripts.js';
import { openUsers } from '../../src/store/redis/users.js';
import {
  StoreUnavailableError,
  type Credential,
  type StatsAddition,
  type Store,
  type UsageQuery,
  type User,
} from '../../src/store/store.js';
import { usageEntry } from '../support/events.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import {
  admitRequest,
  createToken,
  createUser,
  settlement,
  sha256,
  T0,
  unique,
  VAULT,
} from './contract/harness.js';

/** A Friday in 2055, 8:00 in UTC. */
const HOUR = 3_600_000;
const TOMORROW = Date.UTC(2055, 0, 16);
const DAILY = { budget: 100, budgetPeriod: 'day', budgetTimeZone: 'UTC' } as const;

let server: RedisServer | undefined;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server?.stop();
});

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A store, and a connection on which a script can be sent as a node would, at another moment than it would. */
async function givenStore(): Promise<{ store: Store; connection: Connection; keys: Keys }> {
  const url = server?.url ?? '';
  const prefix = `${unique('scripts')}:`;
  const store = await openRedisStore({ url, prefix, vault: VAULT, clock: 'caller', ...PATIENT });
  const connection = await connectRedis(url, { ...PATIENT, clock: 'caller' });
  cleanUps.push(
    () => store.close(),
    () => connection.close(),
  );
  return { store, connection, keys: createKeys(prefix) };
}

describe('a sum that a release without costs wrote', () => {
  test('is added to, costs included, and adds to one that has them', async () => {
    const { store, connection, keys } = await givenStore();
    const query = { rollup: 'traffic_minute', fromMs: T0, toMs: T0 } as const;
    const atMs = bucketOf('traffic_minute', T0);
    const old = { key: '["r",1]', text: '2 0 0 0 0 9|4:2' };
    await connection.client.hset(`${keys.stats}:traffic_minute:${atMs}:0`, old.key, old.text);
    const tally = newTally();
    count(tally, { requests: 1, quota: 5, cost: 3 }, 4);
    const addition: StatsAddition = {
      ...{ rollup: 'traffic_minute', atMs, owner: 0, key: old.key, otherKey: '["r",0]', tally },
      expiresMs: T0 + 3_600_000,
    };
    const batch = { writer: 'new', serial: 1, nowMs: T0, maxRows: 10, additions: [addition] };
    await store.addStats(batch);

    const read: string[] = [];
    await store.readStats({ ...query, fromMs: atMs }, (row) => read.push(writeTally(row.tally)));
    expect(read).toEqual(['3 0 0 0 0 14 3|4:3']);
  });
});

describe('the window of a budget', () => {
  async function givenKey() {
    const { store, connection, keys } = await givenStore();
    const userId = await createUser(store, DAILY);
    const key = await createToken(store, { userId, policy: { ...OPEN_POLICY, ...DAILY } });
    const begin = (nowMs: number, period: string, untilMs: number) =>
      run(
        connection,
        SCRIPTS.beginWindows,
        [keys.user(userId), keys.userReservations(userId), keys.userToken(userId, key.token.id)],
        [`=${nowMs}`, ...[period, 'UTC', untilMs], ...[period, 'UTC', untilMs]],
      );
    return { store, key, begin };
  }

  async function spend(store: Store, key: Credential, units: number, nowMs = T0): Promise<string> {
    const request = admitRequest(key, { amount: units, nowMs });
    const admission = await store.admit(request);
    await store.settle(settlement(request, { cost: units }));
    return admission.kind === 'refused' ? admission.reason : admission.kind;
  }

  test('begins once, though a second node asks for it later', async () => {
    const { store, key, begin } = await givenKey();
    await spend(store, key, 70);

    await begin(T0, 'day', TOMORROW);

    expect(await spend(store, key, 31)).toBe('token_budget');
    expect(await spend(store, key, 30)).toBe('admitted');
  });

  test('is that of the terms in force, not of those that a slow node remembers', async () => {
    const { store, key, begin } = await givenKey();
    const month = { budgetPeriod: 'month' } as const;
    await store.updateToken(key.token.id, { policy: month }, T0);
    await store.updateUser(key.token.userId, month, T0);

    await begin(T0, 'day', TOMORROW);

    const token = await store.getToken(key.token.id, T0);
    const user = await store.getUser(key.token.userId, T0);
    const monthly = { period: 'month', renewsAtMs: Date.UTC(2055, 1, 1) };
    expect(token && standingOf(token.policy, token.budgetUse, T0)).toMatchObject(monthly);
    expect(user && standingOf(user, user.budgetUse, T0)).toMatchObject(monthly);
  });
});

describe('a key that was deleted', () => {
  test('leaves no record behind when its last request is settled or has expired', async () => {
    const { store, connection, keys } = await givenStore();
    const { token, ...key } = await createToken(store, { policy: { ...OPEN_POLICY, ...DAILY } });
    const settled = admitRequest({ token, ...key }, { amount: 10 });
    const expired = admitRequest({ token, ...key }, { amount: 10, expiresAtMs: T0 + 1_000 });
    await store.admit(settled);
    await store.admit(expired);
    const before = (await store.getUser(token.userId, T0))?.quota ?? 0;

    await store.deleteToken(token.id);
    await store.settle(settlement(settled, { cost: 4 }));
    const after = (await store.getUser(token.userId, T0 + 1_000))?.quota;

    expect(after).toBe(before + 6 + 10);
    const record = keys.userToken(token.userId, token.id);
    expect(await connection.answer(connection.client.exists(record))).toBe(0);
  });
});

describe('a store that was emptied', () => {
  test('says so to a node that reports to it', async () => {
    const { store, connection, keys } = await givenStore();
    await store.begin();
    const version = await store.setTagSwitch({
      ...{ tag: 'eu', disabled: true, reason: undefined, changedTime: 0, changedBy: undefined },
    });
    const told = { nodeId: 'a', version, nowMs: T0, ttlMs: 1_000 };
    const before = await store.syncNode({ ...told, serial: 1, heardSerial: 0 });

    await connection.answer(connection.client.del(keys.channelsMark, keys.channelNodes));
    const after = await store.syncNode({ ...told, serial: 2, heardSerial: 1 });

    expect([before.memory, after.memory]).toEqual(['kept', 'emptied']);
    expect(await store.oldestNodeVersion(T0)).toBe(0);
  });
});

describe('the end of a claim on a code', () => {
  test('that another node has ended before does not free a code that was redeemed since', async () => {
    const { store, connection, keys } = await givenStore();
    const [first, second] = [await createUser(store), await createUser(store)];
    const codeHash = sha256('a code');
    const code = { name: 'c', batchId: '', quota: 5, codeHash, codeHint: 'c', createdBy: 0 };
    const [{ id } = { id: 0 }] = await store.createCodes([{ ...code, expiredTime: 0 }], T0);
    const claims = openClaims(connection, keys);
    const claim = await claims.take(id, codeHash, first, T0);
    if (typeof claim === 'string') throw new Error(`the code was not taken: ${claim}`);
    const endRefused = () => claims.end(claim, false);

    await endRefused();
    expect(await store.redeem(codeHash, second, T0)).toMatchObject({ kind: 'redeemed' });
    await endRefused();

    expect(await store.redeem(codeHash, first, T0)).toEqual({ kind: 'refused', reason: 'used' });
    expect(await store.getCode(id)).toMatchObject({ status: 'used', usedUserId: second });
  });

  test('leaves no record of a code that was deleted', async () => {
    const { connection, keys } = await givenStore();
    const [claims, record] = [`${keys.codes}:claims`, `${keys.codes}:7`] as const;
    await connection.answer(connection.client.zadd(claims, T0, '7:1:2:5'));
    const claim = { codeId: 7, number: 1, userId: 2, quota: 5 };

    await openClaims(connection, keys).end(claim, false);

    expect(await connection.answer(connection.client.exists(claims, record))).toBe(0);
  });
});

describe('the logins of an account', () => {
  test('that have ended are dropped with the next one', async () => {
    const { store, connection, keys } = await givenStore();
    const userId = await createUser(store);
    const begin = (name: string, createdAtMs: number) =>
      store.createSession({
        ...{ idHash: sha256(name), userId, kind: 'session', createdAtMs },
        ...{ expiresAtMs: createdAtMs + 1_000, endsAtMs: createdAtMs + 1_000 },
      });
    await begin('first', T0);
    await begin('second', T0 + 500);

    await begin('third', T0 + 1_000);

    const records = await connection.answer(connection.client.hkeys(keys.userSessions(userId)));
    expect(records.toSorted()).toEqual([sha256('second'), sha256('third')].toSorted());
  });
});

describe('what has ended', () => {
  const exists = ({ connection }: { readonly connection: Connection }, ...names: string[]) =>
    connection.answer(connection.client.exists(...names));

  test('of a login: neither it nor where it came from is known', async () => {
    const given = await givenStore();
    const { store, keys } = given;
    const userId = await createUser(store);
    const [ended, refused] = [sha256('ended'), sha256('refused')];
    const times = { createdAtMs: T0, expiresAtMs: T0 + 1_000, endsAtMs: T0 + 1_000 };
    const session = { idHash: ended, userId, kind: 'session', ...times } as const;
    const other = { ...session, idHash: sha256('other'), endsAtMs: T0 + HOUR };
    for (const begun of [session, other]) {
      await store.createSession({ ...begun, address: '192.0.2.1', expiresAtMs: T0 + HOUR });
      await store.findSession(begun.idHash, T0 + HOUR / 2, HOUR);
    }

    await store.deleteSession(ended);
    expect(await store.deriveSession({ ...session, idHash: refused }, ended)).toBe(false);
    await store.deleteUserSessions(userId);

    const places = [ended, refused, other.idHash].map((idHash) => keys.session(idHash));
    const ofUser = [keys.userSessions(userId), keys.userLogins(userId)];
    expect(await exists(given, ...ofUser, ...places)).toBe(0);
  });

  test('of an example: it is in no list', async () => {
    const given = await givenStore();
    const { store, keys } = given;
    const about = { userId: 1, name: 'planets', shared: true, content: '{}' };
    const example = await store.addExample(about, 9, T0);
    if (example === 'too_many') throw new Error('there is room');

    await store.deleteExample(example.id);

    const at = keys.owned('examples');
    expect(await exists(given, `${at}:${example.id}`, `${at}:of:1`, `${at}:shared`)).toBe(0);
  });

  test('of a key: its secrets before the last lead nowhere, and it is in no list', async () => {
    const given = await givenStore();
    const { store, keys } = given;
    const { token, keyHash } = await createToken(store);
    const roll = (secret: string) => {
      const rolled = { keyHash: sha256(secret), keyHint: 'hint', keepOldMs: 60_000 };
      return store.rollToken(token.id, rolled, T0);
    };
    await roll('second');
    await roll('third');

    expect(await exists(given, keys.keyHash(keyHash))).toBe(0);
    await store.deleteToken(token.id);

    expect(await store.listTokens({ offset: 0, limit: 1 }, T0)).toEqual({ items: [], total: 0 });
    expect(await exists(given, ...['second', 'third'].map((of) => keys.keyHash(sha256(of))))).toBe(
      0,
    );
  });

  test('of an account whose name was taken: no record of it', async () => {
    const given = await givenStore();
    const { store, keys } = given;
    const id = await createUser(store, { username: 'ada' });

    await expect(createUser(store, { username: 'Ada' })).rejects.toThrow();

    expect(await exists(given, keys.user(id + 1), keys.userReservations(id + 1))).toBe(0);
  });
});

describe('a code that is deleted while somebody redeems it', () => {
  test('is unknown', async () => {
    const { store, connection, keys } = await givenStore();
    const userId = await createUser(store);

    const taken = await openClaims(connection, keys).take(1, sha256('a code'), userId, T0);

    expect(taken).toBe('unknown');
  });
});

describe('a search of a long log', () => {
  test('leaves in Redis what cannot match', async () => {
    const { store, connection } = await givenStore();
    const entries = Array.from({ length: 3_000 }, (_, index) =>
      usageEntry({ atMs: T0 + index, requestId: `of-${index}`, durationMs: index / 1_000 }),
    );
    const rare = usageEntry({ atMs: T0, model: 'rare', outcome: 'timeout', durationMs: 5 });
    await store.appendUsage([rare, ...entries], 10_000);
    const bytesSent = async (): Promise<number> => {
      const stats = await connection.client.info('stats');
      return Number(/total_net_output_bytes:(\d+)/.exec(stats)?.[1]);
    };

    const queries = [
      { model: 'rare' },
      { outcome: 'timeout' },
      { failed: true },
      { minDurationMs: 4 },
    ];
    for (const query of queries as readonly Partial<UsageQuery>[]) {
      const before = await bytesSent();
      const { items } = await store.listUsage({ ...query, offset: 0, limit: 10 });
      expect(items).toMatchObject([{ model: 'rare' }]);
      expect((await bytesSent()) - before).toBeLessThan(50_000);
    }
  });
});

test('what is kept for a time goes by itself, and not before', async () => {
  const { store, connection, keys } = await givenStore();
  const { client } = connection;
  const atMs = bucketOf('spend_hour', T0);
  const addition = { rollup: 'spend_hour', atMs, owner: 3, key: 'k', otherKey: 'o' } as const;
  const additions = [{ ...addition, tally: newTally(), expiresMs: Date.now() + HOUR }];
  await store.addStats({ writer: 'w', serial: 1, nowMs: T0, maxRows: 10, additions });
  await store.claimIdempotent('one', 'request', T0, HOUR);
  for (const [name, forMs] of [
    ['long', HOUR],
    ['later', HOUR / 2],
  ] as const) {
    await store.keepReply(name, 'text', T0, forMs, 1_000);
  }

  for (const [key, ms] of [
    [`${keys.stats}:spend_hour:${atMs}`, HOUR],
    [`${keys.stats}:spend_hour:${atMs}:3`, HOUR],
    [keys.idempotency('one'), HOUR],
    [keys.replies('long'), HOUR],
    [`${keys.replies('later')}:later`, HOUR / 2],
  ] as const) {
    expect([key, Math.round((await connection.answer(client.pttl(key))) / 60_000)]).toEqual([
      ...[key, ms / 60_000],
    ]);
  }
});

test('places that were counted wrong are counted again, also after the clock was set back', async () => {
  const { store, connection, keys } = await givenStore();
  const policy = { ...OPEN_POLICY, maxConcurrency: 1 };
  const credential = await createToken(store, { policy });
  const { userId, id } = credential.token;

  for (const nowMs of [T0 + HOUR, T0]) {
    await connection.answer(connection.client.hset(keys.userToken(userId, id), 'busy', 5));
    const request = admitRequest(credential, { nowMs });
    expect(await store.admit(request)).toMatchObject({ kind: 'admitted' });
    await store.settle(settlement(request, { cost: 1 }));
  }
});

test('an account of an older release, which lacks members, is changed by those who have judged it', async () => {
  const { store, connection, keys } = await givenStore();
  const id = await createUser(store, { displayName: 'Ada' });
  await connection.answer(connection.client.hdel(keys.user(id), 'budget', 'labels'));
  const holds = (given: string) => (user: User) => user.displayName === given;

  const [wrong, right] = [
    await store.updateUser(id, { enabled: false }, T0, { holds: holds('Bob') }),
    await store.updateUser(id, { enabled: false }, T0, { holds: holds('Ada') }),
  ];

  expect([wrong, right]).toMatchObject([{ kind: 'conflict' }, { kind: 'updated' }]);
});

describe('the name of an account', () => {
  test('is not given up for another account that once had it', async () => {
    const { store, connection, keys } = await givenStore();
    const owner = await createUser(store, { username: 'ada', email: 'ada@example.org' });
    const registry = openRegistry(connection, keys, (...of) => store.getUser(...of));
    const logins = { username: 'ada', email: 'ada@example.org' };

    await registry.release(owner + 1, logins, ANY_CLAIM, true);

    expect(await store.findUser('ada', T0)).toMatchObject({ id: owner });
    expect(await store.findUser('ada@example.org', T0)).toMatchObject({ id: owner });
  });
});

test('an account takes along the key that it gets while it is deleted', async () => {
  const { store, connection, keys } = await givenStore();
  const userId = await createUser(store);
  const late: Credential[] = [];
  const answer: Connection['answer'] = async (asked) => {
    const found = await connection.answer(asked);
    // After the first look, which finds no keys.
    if (late.length === 0) late.push(await createToken(store, { userId }));
    return found;
  };

  expect(await openUsers({ ...connection, answer }, keys).deleteUser(userId)).toBe(true);

  expect(late).toHaveLength(1);
  expect(await store.findToken(late[0]?.keyHash ?? '', T0)).toBeUndefined();
  expect(await connection.client.exists(keys.userToken(userId, late[0]?.token.id ?? 0))).toBe(0);
});

test('a share and a limit of a minute are kept for as long as they count in the next one', async () => {
  const { store, connection, keys } = await givenStore();
  const span = { kind: 'sliding', ms: 60_000 } as const;

  await store.takeShare('calls', { most: 10, want: 1, least: 1, span }, T0);
  await store.takeLimit('login', 10, 60_000, T0);

  for (const key of [keys.share('calls'), keys.limit('login')])
    expect(await connection.client.pttl(key)).toBeGreaterThan(60_000);
});

describe('a wrong count of a key that has two places', () => {
  // As a release before this one could leave it, when its script was cut short.
  test.each([
    ['too high', 9, 2],
    ['negative', -3, 1],
  ])('%s: is put right before it refuses or admits too many', async (_, count, places) => {
    const { store, connection, keys } = await givenStore();
    const policy = { ...OPEN_POLICY, maxConcurrency: 2 };
    const key = await createToken(store, { policy });
    for (let held = places; held < 2; held += 1) await store.admit(admitRequest(key));
    const record = keys.userToken(key.token.userId, key.token.id);
    await connection.answer(connection.client.hset(record, 'busy', count));

    const admissions = await Promise.all([0, 1, 2].map(() => store.admit(admitRequest(key))));

    expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(places);
    expect(await connection.answer(connection.client.hget(record, 'busy'))).toBe('2');
  });
});

test.each([null, 'OK', 7, undefined])(
  'what is not the answer of a script leaves open what it did: %j',
  (reply) => {
    expect(() => listOf(reply)).toThrow(StoreUnavailableError);
  },
);
