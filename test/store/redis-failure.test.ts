import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openClaims } from '../../src/store/redis/claims.js';
import { connectRedis } from '../../src/store/redis/connection.js';
import { createKeys } from '../../src/store/redis/keys.js';
import { openRegistry } from '../../src/store/redis/logins.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.js';
import {
  admitRequest,
  createToken,
  createUser,
  newToken,
  newUser,
  sha256,
  T0,
  unique,
  VAULT,
} from './contract/harness.js';
import { until } from '../support/until.js';

/** What a command may take where it is to fail. */
const COMMAND_TIMEOUT_MS = 500;
/** What it may take where it is to succeed, or to fail for another reason. */
const PATIENT_MS = 60_000;
/** Long before those end that are patient, and generous: the machine that runs the tests may be busy. */
const BOUND_MS = 20_000;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function givenServer(): Promise<RedisServer> {
  const server = await startRedis();
  cleanUps.push(() => server.stop());
  return server;
}

async function givenStore(
  { url }: RedisServer,
  commandTimeoutMs: number = PATIENT_MS,
): Promise<Store> {
  const store = await openRedisStore({
    ...{ url, vault: VAULT, commandTimeoutMs, clock: 'caller' },
  });
  cleanUps.push(() => store.close());
  return store;
}

/** Keeps the event loop from doing anything else. */
function holdFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function isBack(store: Store): Promise<boolean> {
  return store.ping().then(
    () => true,
    () => false,
  );
}

describe('a Redis that goes away', () => {
  test('answers at once that it is gone, comes back by itself, and has lost nothing that was confirmed', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    const credential = await createToken(store, { userQuota: 1_000_000, remainQuota: 1_000_000 });
    const { id: tokenId, userId } = credential.token;
    let charged = 0;
    let open = 0;
    let unsure = 0;
    let isOver = false;
    const failures: { readonly error: unknown; readonly tookMs: number }[] = [];

    const caller = async (): Promise<void> => {
      while (!isOver) {
        const request = admitRequest(credential, { amount: 3 });
        const startedAt = performance.now();
        let isAdmitted = false;
        try {
          const admission = await store.admit(request);
          if (admission.kind !== 'admitted') throw new Error(admission.kind);
          isAdmitted = true;
          open += 1;
          const cost = await store.settle({ ...request, cost: 2, served: true });
          charged += cost ?? NaN;
          open -= 1;
        } catch (error) {
          failures.push({ error, tookMs: performance.now() - startedAt });
          // What was sent when it died may have been done or not.
          if (isAdmitted) open -= 1;
          unsure += 1;
          return;
        }
      }
    };
    const callers = Array.from({ length: 32 }, caller);
    await eventually('calls are going on', () => Promise.resolve(charged > 1_000));
    await server.kill();
    await Promise.all(callers);
    isOver = true;

    expect(failures).toHaveLength(32);
    for (const { error, tookMs } of failures) {
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(tookMs).toBeLessThan(BOUND_MS);
    }
    await expect(store.getToken(tokenId, T0)).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(store.loadChannels()).rejects.toBeInstanceOf(StoreUnavailableError);

    await server.restart();
    await eventually('the store answers again', () => isBack(store));

    // All reservations are over by then: each that was confirmed was settled, and each of the others may have been.
    const later = T0 + 3_600_000;
    const token = await store.getToken(tokenId, later);
    expect(open).toBe(0);
    expect(token?.usedQuota).toBeGreaterThanOrEqual(charged);
    expect(token?.usedQuota).toBeLessThanOrEqual(charged + 2 * unsure);
    expect(token?.remainQuota).toBe(1_000_000 - (token?.usedQuota ?? 0));
    expect((await store.getUser(userId, later))?.quota).toBe(token?.remainQuota);
    expect(await store.admit(admitRequest(credential))).toMatchObject({ kind: 'admitted' });
  });

  test('bounds the wait for a server that hangs', async () => {
    const server = await givenServer();
    const credential = await createToken(await givenStore(server));
    const store = await givenStore(server, COMMAND_TIMEOUT_MS);
    process.kill(server.pid, 'SIGSTOP');
    const startedAt = performance.now();

    const asked = await Promise.allSettled([
      store.admit(admitRequest(credential)),
      store.ping(),
      store.channelsVersion(),
    ]);
    const tookMs = performance.now() - startedAt;
    process.kill(server.pid, 'SIGCONT');

    for (const outcome of asked) {
      expect(outcome).toMatchObject({ status: 'rejected' });
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailableError);
    }
    expect(tookMs).toBeLessThan(BOUND_MS);
    await eventually('the store answers again', () => isBack(store));
  });

  test('is not blamed while this process is busy: answers that wait to be read count', async () => {
    const server = await givenServer();
    const patient = await givenStore(server);
    const credential = await createToken(patient);
    // The server has the script.
    await patient.admit(admitRequest(credential));
    const store = await givenStore(server, COMMAND_TIMEOUT_MS);

    const asked = Promise.all([store.admit(admitRequest(credential)), store.channelsVersion()]);
    // What was asked leaves at the end of this turn.
    await nextTurn();
    holdFor(5 * COMMAND_TIMEOUT_MS);

    await expect(asked).resolves.toMatchObject([{ kind: 'admitted' }, expect.anything()]);
    await expect(store.ping()).resolves.toBeUndefined();
  });

  test('is left when it stays silent, so that commands do not pile up on it', async () => {
    const server = await givenServer();
    const connection = await connectRedis(server.url, {
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      connectTimeoutMs: PATIENT_MS,
    });
    cleanUps.push(() => connection.close());
    const { stream } = connection.client as Redis;
    process.kill(server.pid, 'SIGSTOP');

    // Fails when its connection ends: it has no time limit of its own.
    await expect(connection.client.ping()).rejects.toThrow();
    process.kill(server.pid, 'SIGCONT');

    expect(stream.destroyed).toBe(true);
    await eventually('the store answers again', () =>
      connection.client.ping().then(
        () => true,
        () => false,
      ),
    );
  });

  test('hears of changes again after the server was away', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    let heard = 0;
    store.watchChannels(() => (heard += 1));
    await until('the watch begins', () => Promise.resolve(heard > 0));

    await server.kill();
    await server.restart();
    await until('the store answers again', () => isBack(store));
    const before = heard;
    const tagSwitch = { tag: 'eu', disabled: true, reason: undefined, changedTime: 0 };

    // One call may come from listening again, as changes may have been missed; a second one is a message.
    await until('changes are heard', async () => {
      await store.setTagSwitch({ ...tagSwitch, changedBy: undefined });
      return heard > before + 1;
    });
  });

  test('finds its scripts again on a server that has forgotten them', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    const credential = await createToken(store);
    await store.admit(admitRequest(credential));
    const client = new Redis(server.url);
    await client.script('FLUSH');
    client.disconnect();

    const admissions = await Promise.all(
      Array.from({ length: 5 }, () => store.admit(admitRequest(credential))),
    );

    expect(admissions.map(({ kind }) => kind)).toEqual(Array(5).fill('admitted'));
  });

  test('says at the start that no server answers, without naming the password', async () => {
    const server = await givenServer();
    await server.kill();

    const opening = openRedisStore({
      url: server.url.replace('redis://', 'redis://:geheim@'),
      vault: VAULT,
      connectTimeoutMs: 200,
    });

    await expect(opening).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(opening).rejects.not.toThrow(/geheim/);
  });

  test('says while it waits at the start what it tries and why that fails, and goes on once a server answers', async () => {
    const server = await givenServer();
    await server.kill();
    const told: string[] = [];
    let restarted: Promise<void> | undefined;

    const store = await openRedisStore({
      url: server.url.replace('redis://', 'redis://:geheim@'),
      vault: VAULT,
      connectTimeoutMs: 20_000,
      onWaiting: (why) => {
        told.push(why);
        restarted = server.restart();
      },
    });
    cleanUps.push(() => store.close());

    await restarted;
    const address = `127.0.0.1:${server.port}`;
    expect(told).toEqual([
      `Redis at ${address} cannot be used yet (connect ECONNREFUSED ${address}); retrying for 20000 ms`,
    ]);
  });

  test('reports a server that accepts connections and says nothing', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const sockets: Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    cleanUps.push(async () => {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, 'close');
    });
    const { port } = silent.address() as AddressInfo;
    const told: string[] = [];

    const opening = openRedisStore({
      url: `redis://127.0.0.1:${port}`,
      vault: VAULT,
      connectTimeoutMs: 1_500,
      onWaiting: (why) => told.push(why),
    });

    await expect(opening).rejects.toThrow(`Redis at 127.0.0.1:${port} cannot be used (no answer)`);
    expect(told).toHaveLength(1);
  });

  test('is refused a database that the server does not have', async () => {
    const server = await givenServer();

    const opening = connectRedis(`${server.url}/99`, {
      commandTimeoutMs: PATIENT_MS,
      connectTimeoutMs: 600_000,
    });

    await expect(opening).rejects.toThrow(/cannot be used \(ERR DB index is out of range\)/);
  });

  test.each([
    ['a wrong password', ':geheim@', /refuses the login \(WRONGPASS .*Check user and password/],
    ['no password', '', /refuses the login \(NOAUTH .*Check user and password/],
  ])('says at once that %s is refused, and does not repeat it', async (_name, login, message) => {
    const server = await startRedis({ password: 'right' });
    cleanUps.push(() => server.stop());

    const opening = openRedisStore({
      url: `redis://${login}127.0.0.1:${server.port}`,
      vault: VAULT,
      // Longer than the test may take.
      connectTimeoutMs: 600_000,
    });

    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(opening).rejects.not.toThrow(/geheim/);
  });

  test('takes a server with a password, and a database of its own', async () => {
    const server = await startRedis({ password: 'p@ss:word/ü' });
    cleanUps.push(() => server.stop());
    const first = await openRedisStore({
      url: `${server.url}/0`,
      vault: VAULT,
      commandTimeoutMs: PATIENT_MS,
    });
    cleanUps.push(() => first.close());
    const second = await openRedisStore({
      url: `${server.url}/3`,
      vault: VAULT,
      commandTimeoutMs: PATIENT_MS,
    });
    cleanUps.push(() => second.close());

    await createUser(first);

    expect((await first.listUsers({ offset: 0, limit: 1 }, T0)).total).toBe(1);
    expect((await second.listUsers({ offset: 0, limit: 1 }, T0)).total).toBe(0);
  });
});

describe('a process that dies half way', () => {
  /** The commands that the store would have sent, up to the crash. */
  async function givenConnection(server: RedisServer) {
    const connection = await connectRedis(server.url, {
      commandTimeoutMs: PATIENT_MS,
      connectTimeoutMs: PATIENT_MS,
      clock: 'caller',
    });
    cleanUps.push(() => connection.close());
    return { connection, keys: createKeys('rg:') };
  }

  async function givenClaim(claimedAtMs: number) {
    const server = await givenServer();
    const store = await givenStore(server);
    const { connection, keys } = await givenConnection(server);
    const userId = await createUser(store, { quota: 0 });
    const code = { name: 'c', batchId: '', quota: 500, codeHash: sha256('c'), codeHint: 'c' };
    await store.createCodes([{ ...code, createdBy: 0, expiredTime: 0 }], T0);
    const claims = openClaims(connection, keys);
    const claim = await claims.take(1, sha256('c'), userId, claimedAtMs);
    if (typeof claim === 'string') throw new Error(`the code was not taken: ${claim}`);
    return { store, claims, userId, claim };
  }

  test('between claim and credit: recovery credits once, when the claim is old enough', async () => {
    const { store, userId } = await givenClaim(T0);
    expect((await store.getUser(userId, T0))?.quota).toBe(0);

    expect(await store.recoverRedemptions(T0 + 60_000, 60_000)).toBe(0);
    expect(await store.recoverRedemptions(T0 + 60_001, 60_000)).toBe(1);
    expect(await store.recoverRedemptions(T0 + 60_001, 60_000)).toBe(0);

    expect((await store.getUser(userId, T0))?.quota).toBe(500);
    expect(await store.redeem(sha256('c'), userId, T0)).toEqual({
      kind: 'refused',
      reason: 'used',
    });
  });

  test('between claim and credit: the next attempt of the same user credits, and another user’s does not', async () => {
    const { store, userId } = await givenClaim(T0);
    const otherId = await createUser(store, { quota: 0 });

    expect(await store.redeem(sha256('c'), otherId, T0)).toEqual({
      kind: 'refused',
      reason: 'used',
    });
    expect(await store.redeem(sha256('c'), userId, T0)).toMatchObject({ kind: 'redeemed' });

    expect((await store.getUser(userId, T0))?.quota).toBe(500);
    expect((await store.getUser(otherId, T0))?.quota).toBe(0);
    expect(await store.recoverRedemptions(T0 + 60_001, 60_000)).toBe(0);
  });

  test('between credit and the end of the claim: nobody credits again, nor after the code is deleted', async () => {
    const { store, claims, userId, claim } = await givenClaim(T0);
    await claims.credit(claim);
    await store.deleteInvalidCodes(T0);

    expect(await store.recoverRedemptions(T0 + 60_001, 60_000)).toBe(0);

    expect((await store.getUser(userId, T0))?.quota).toBe(500);
  });

  test('after a refused credit: whoever goes on refuses as well, though it would fit by now', async () => {
    const { store, claims, userId, claim } = await givenClaim(T0);
    await claims.credit(claim, 499);

    expect(await store.recoverRedemptions(T0 + 60_001, 60_000)).toBe(0);

    expect((await store.getCode(claim.codeId))?.status).toBe('enabled');
    expect(await store.redeem(sha256('c'), userId, T0)).toMatchObject({ kind: 'redeemed' });
    expect((await store.getUser(userId, T0))?.quota).toBe(500);
  });

  test('of an older claim after a newer one of the same code: nothing is credited', async () => {
    const { store, claims, userId, claim } = await givenClaim(T0);
    const newer = await claims.credit({ ...claim, number: 7 });

    const older = await claims.credit({ ...claim, number: 6 });

    expect([newer, older]).toEqual(['credited', 'over']);
    expect((await store.getUser(userId, T0))?.quota).toBe(500);
  });

  test('limits leave no keys behind for ever', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    const { connection, keys } = await givenConnection(server);
    await store.takeLimit('login:ip:192.0.2.1', 5, 60_000, T0);

    const lifeMs = await connection.client.pttl(keys.limit('login:ip:192.0.2.1'));

    expect(lifeMs).toBeGreaterThan(60_000);
    expect(lifeMs).toBeLessThanOrEqual(120_000);
  });

  test('before a token is written: its key opens nothing, and lists leave it out', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    const { connection, keys } = await givenConnection(server);
    const userId = await createUser(store);
    await connection.client.set(keys.keyHash(sha256('k')), `${userId}:77`);
    await connection.client.zadd(keys.tokens, 77, `77:${userId}`);

    expect(await store.findToken(sha256('k'))).toBeUndefined();
    expect(await store.getToken(77, T0)).toBeUndefined();
    const page = await store.listTokens({ offset: 0, limit: 10 }, T0);
    expect(page.items).toEqual([]);
    expect(await store.createToken(newToken(userId), T0)).toBeDefined();
  });

  test('before an account is written: its name is free again after a while', async () => {
    const server = await givenServer();
    const store = await givenStore(server);
    const { connection, keys } = await givenConnection(server);
    const registry = openRegistry(connection, keys, (...of) => store.getUser(...of));
    await registry.claim(9_999, { username: 'ada', email: '' }, `9999:${T0}:mark`, T0);
    const ada = newUser({ username: 'Ada', email: `${unique('ada')}@example.org` });

    expect(await store.createUser(ada, T0 + 1_000)).toEqual({ kind: 'taken', field: 'username' });
    expect((await store.createUser(ada, T0 + 60_000)).kind).toBe('updated');
    expect(await store.createUser(newUser({ username: 'ada' }), T0 + 120_000)).toEqual({
      kind: 'taken',
      field: 'username',
    });
  });
});
