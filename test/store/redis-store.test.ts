import { afterAll, beforeAll } from '@jest/globals';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import type { Store } from '../../src/store/store.js';
import type { Vault } from '../../src/store/vault.js';
import {
  PATIENT,
  startRedis,
  startRedisCluster,
  type RedisCluster,
  type RedisServer,
} from '../support/redis-server.js';
import { unique, VAULT, type StoreHarness } from './contract/harness.js';
import { describeStoreContract } from './contract/index.js';

/** Tests share a server; each has keys of its own. */
async function openHarness(url: string): Promise<StoreHarness> {
  const prefix = `${unique('test')}:`;
  const opened: Store[] = [];
  const open = async (vault: Vault, where = prefix): Promise<Store> => {
    const store = await openRedisStore({
      ...{ url, prefix: where, vault, clock: 'caller' },
      ...PATIENT,
    });
    opened.push(store);
    return store;
  };
  return {
    store: await open(VAULT),
    reopen: (vault = VAULT) => open(vault),
    fresh: () => open(VAULT, `${unique('fresh')}:`),
    dispose: async () => {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}

let server: RedisServer | undefined;
let cluster: RedisCluster | undefined;

beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});

afterAll(async () => {
  await server?.stop();
  await cluster?.stop();
});

describeStoreContract('Redis', () => openHarness(server?.url ?? ''));
describeStoreContract('Redis Cluster', () => openHarness(cluster?.url ?? ''));
