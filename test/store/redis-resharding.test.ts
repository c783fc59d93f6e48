import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Cluster } from 'ioredis';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { moveSlotOf } from '../support/move-slots.js';
import { OPEN_POLICY } from '../support/policy.js';
import { PATIENT, startRedisCluster, type RedisCluster } from '../support/redis-server.js';
import { admitRequest, createToken, newToken, VAULT } from './contract/harness.js';

const CALLERS = 6;
const BALANCE = 1_000_000;
const PAUSE_MS = 60;

let cluster: RedisCluster;
let store: Store;

beforeAll(async () => {
  cluster = await startRedisCluster();
  store = await openRedisStore({ url: cluster.url, vault: VAULT, ...PATIENT });
}, 60_000);

afterAll(async () => {
  await store.close();
  await cluster.stop();
});

describe('a slot of a Cluster that is moved while its user is busy', () => {
  test('costs no quota and no place, and no good key is unknown meanwhile', async () => {
    const credential = await createToken(store, {
      ...{ userQuota: BALANCE, remainQuota: BALANCE },
      policy: { ...OPEN_POLICY, maxConcurrency: CALLERS },
    });
    const { token, keyHash } = credential;
    const { id: tokenId, userId } = token;
    // More keys of the same slot, so that moving it takes a while.
    for (let index = 0; index < 10; index += 1) {
      await store.createToken(newToken(userId), Date.now());
    }
    let isOver = false;
    let charged = 0;
    let admitted = 0;
    const wrong: unknown[] = [];

    const settled = async (request: ReturnType<typeof admitRequest>): Promise<void> => {
      for (;;) {
        try {
          const units = await store.settle({ ...request, cost: 2, served: true });
          charged += units ?? NaN;
          return;
        } catch (error) {
          if (!(error instanceof StoreUnavailableError) || !error.didNothing) wrong.push(error);
        }
      }
    };
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const nowMs = Date.now();
        const request = admitRequest(credential, { amount: 3, nowMs });
        try {
          const known = await store.findToken(keyHash);
          if (known?.token.id !== tokenId) wrong.push(known);
          const admission = await store.admit(request);
          if (admission.kind !== 'admitted') wrong.push(admission);
          else admitted += 1;
          await settled(request);
        } catch (error) {
          if (!(error instanceof StoreUnavailableError) || !error.didNothing) wrong.push(error);
        }
      }
    };
    const callers = Array.from({ length: CALLERS }, caller);
    for (let round = 0; round < 3; round += 1) {
      await moveSlotOf(cluster, `rg:{u${userId}}`, PAUSE_MS);
    }
    isOver = true;
    await Promise.all(callers);

    expect(wrong).toEqual([]);
    expect(admitted).toBeGreaterThan(10);
    const after = await store.getToken(tokenId, Date.now());
    expect(after).toMatchObject({ usedQuota: charged, remainQuota: BALANCE - charged });
    expect((await store.getUser(userId, Date.now()))?.quota).toBe(BALANCE - charged);
    // All places are free.
    for (let index = 0; index < CALLERS; index += 1) {
      const request = admitRequest(credential, { nowMs: Date.now() });
      expect(await store.admit(request)).toMatchObject({ kind: 'admitted' });
    }
    expect(await store.admit(admitRequest(credential, { nowMs: Date.now() }))).toMatchObject({
      reason: 'concurrency',
    });
  }, 120_000);
});

describe('places that were lost', () => {
  test('are counted anew before anybody is refused for them', async () => {
    const credential = await createToken(store, {
      policy: { ...OPEN_POLICY, maxConcurrency: 2 },
    });
    const { id: tokenId, userId } = credential.token;
    const held = admitRequest(credential, { nowMs: Date.now() });
    await store.admit(held);
    const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    await client.hset(`rg:{u${userId}}:t:${tokenId}`, 'busy', 2);
    client.disconnect();

    const second = await store.admit(admitRequest(credential, { nowMs: Date.now() }));
    const third = await store.admit(admitRequest(credential, { nowMs: Date.now() }));

    expect(second).toMatchObject({ kind: 'admitted' });
    expect(third).toMatchObject({ kind: 'refused', reason: 'concurrency' });
  });
});
