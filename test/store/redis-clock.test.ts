import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import type { Store } from '../../src/store/store.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import {
  admitRequest,
  createToken,
  createUser,
  VAULT,
  sha256,
  unique,
} from './contract/harness.js';

const HOUR_MS = 3_600_000;

let server: RedisServer;
let store: Store;

beforeAll(async () => {
  server = await startRedis();
  store = await openRedisStore({ url: server.url, vault: VAULT, ...PATIENT });
});

afterAll(async () => {
  await store.close();
  await server.stop();
});

describe('nodes whose clocks differ', () => {
  test.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('do not give back what is reserved: %s by an hour', async (_how, offMs) => {
    const credential = await createToken(store, { userQuota: 100, remainQuota: 100 });
    const now = Date.now();
    await store.admit(admitRequest(credential, { amount: 100, nowMs: now }));

    const there = now + offMs;
    const second = await store.admit(admitRequest(credential, { amount: 1, nowMs: there }));
    const user = await store.getUser(credential.token.userId, there);
    const token = await store.getToken(credential.token.id, there);

    expect(second).toMatchObject({ kind: 'refused', reason: 'token_quota' });
    expect([user?.quota, token?.remainQuota]).toEqual([0, 0]);
  });

  test('give back at the same moment what was reserved by a clock that is ahead', async () => {
    const credential = await createToken(store, { userQuota: 100, remainQuota: 100 });
    const there = Date.now() + HOUR_MS;
    const life = { nowMs: there, expiresAtMs: there + 50 };
    await store.admit(admitRequest(credential, { amount: 100, ...life }));

    await new Promise((resolve) => setTimeout(resolve, 60));

    expect(await store.admit(admitRequest(credential, { amount: 100 }))).toMatchObject({
      kind: 'admitted',
    });
  });

  test('agree on when a key expires, and on the rate of a minute', async () => {
    const now = Date.now();
    const userId = await createUser(store);
    const expired = await createToken(store, {
      userId,
      expiredTime: Math.floor(now / 1000) - 1,
    });
    const behind = admitRequest(expired, { nowMs: now - HOUR_MS });

    expect(await store.admit(behind)).toEqual({ kind: 'refused', reason: 'expired' });
  });

  test('agree on logins, limits and idempotency keys', async () => {
    const now = Date.now();
    const ahead = now + HOUR_MS;
    const userId = await createUser(store);
    const [idHash, limit, key] = [sha256(unique('id')), unique('limit'), unique('key')];
    await store.createSession({
      ...{ idHash, userId, kind: 'session', createdAtMs: ahead },
      ...{ expiresAtMs: ahead + 60_000, endsAtMs: ahead + 120_000 },
    });
    expect(await store.findSession(idHash, now, 60_000)).toBeDefined();
    expect(await store.findSession(idHash, ahead, 60_000)).toBeDefined();

    await store.takeLimit(limit, 1, 60_000, now);
    expect((await store.takeLimit(limit, 1, 60_000, ahead)).allowed).toBe(false);

    await store.claimIdempotent(key, 'print', now, 60_000);
    expect((await store.claimIdempotent(key, 'print', ahead, 60_000)).kind).toBe('running');
  });

  test.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('give a login the same life, one being %s', async (_how, offMs) => {
    const there = Date.now() + offMs;
    const idHash = sha256(unique('id'));
    await store.createSession({
      ...{ idHash, userId: await createUser(store), kind: 'access_token', createdAtMs: there },
      ...{ expiresAtMs: there + 60_000, endsAtMs: there + 60_000 },
    });

    const found = await store.findSession(idHash, there, 60_000);

    // By the clock of the store, which is that of this machine.
    const leftMs = (found?.endsAtMs ?? NaN) - Date.now();
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });

  test.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('agree on codes and on places, one being %s', async (_how, offMs) => {
    const now = Date.now();
    const there = now + offMs;
    const userId = await createUser(store);

    await store.putOneTimeCode(userId, 'hash', there, 60_000);
    expect(await store.takeOneTimeCode(userId, 'hash', now, 9)).toBe(true);
    await store.putOneTimeCode(userId, 'hash', now, 60_000);
    expect(await store.takeOneTimeCode(userId, 'hash', there, 9)).toBe(true);
    await store.putOneTimeCode(userId, 'hash', there, 0);
    expect(await store.takeOneTimeCode(userId, 'hash', there - HOUR_MS, 9)).toBe(false);

    await store.putAddressCode(userId, 'ann@example.com', 'hash', there, 60_000);
    expect(await store.takeAddressCode(userId, 'hash', now)).toBe('ann@example.com');
    await store.putAddressCode(userId, 'ann@example.com', 'hash', now, 60_000);
    expect(await store.takeAddressCode(userId, 'hash', there)).toBe('ann@example.com');

    await store.rememberPlace(userId, 'home', there, 60_000);
    expect(await store.knowsPlace(userId, 'home', now)).toBe(true);
    expect(await store.knowsPlace(userId, 'home', now + HOUR_MS)).toBe(true);
  });

  test('are told what time it is', async () => {
    const { storeTimeMs } = await store.syncNode({
      ...{ nodeId: 'a', version: -1, serial: 1, heardSerial: 0, ttlMs: 1_000 },
      nowMs: Date.now() + HOUR_MS,
    });

    expect(Math.abs(storeTimeMs - Date.now())).toBeLessThan(5_000);
  });
});
