import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { moveSlotOf } from '../support/move-slots.js';
import { eventually, startRedisCluster, type RedisCluster } from '../support/redis-server.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';
import { rerankBody } from './upstreams.js';

const QUOTA = 1_000_000;
const PRICE = 3;

let cluster: RedisCluster;
let upstream: TestUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [cluster, upstream] = await Promise.all([startRedisCluster(), startUpstream()]);
  gateway = await startGateway(
    {
      prices: { default: { per_request: PRICE } },
      channels: [
        {
          ...{ name: 'only', provider: 'cohere', base_url: upstream.url },
          ...{ api_key: 'upstream-key', models: ['m'], tag: 'eu' },
        },
      ],
    },
    { REDIS_URL: cluster.url },
  );
}, 60_000);

afterAll(async () => {
  await gateway.close();
  await Promise.all([cluster.stop(), upstream.close()]);
});

describe('a Cluster that moves the slots of everything that a request needs', () => {
  it('looks to callers like an absence of the store at most, and costs nothing', async () => {
    const { key, id } = await gateway.createKey({ remainQuota: QUOTA, unlimitedQuota: false });
    const seen = new Map<number, number>();
    let isOver = false;
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const { status } = await gateway.post(key, rerankBody('m'));
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    };
    const callers = Array.from({ length: 4 }, caller);

    const hash = createHash('sha256').update(key).digest('hex');
    for (const place of [`rg:{u${gateway.userId}}`, 'rg:{ch}', `rg:k:${hash}`, 'rg:{usage}']) {
      gateway.app.gateway.credentials.clear();
      await moveSlotOf(cluster, place, 40);
    }
    isOver = true;
    await Promise.all(callers);
    const { status } = await gateway.post(key, rerankBody('m'));
    seen.set(status, (seen.get(status) ?? 0) + 1);

    expect(status).toBe(200);
    expect([...seen.keys()].filter((each) => each !== 200 && each !== 503)).toEqual([]);
    const served = seen.get(200) ?? 0;
    expect(served).toBeGreaterThan(10);
    await eventually('everything is settled', () =>
      Promise.resolve(gateway.app.gateway.settlements.size === 0),
    );
    expect(await gateway.store.getToken(id, Date.now())).toMatchObject({
      usedQuota: served * PRICE,
      remainQuota: QUOTA - served * PRICE,
    });
    expect(gateway.log.filter((line) => line.includes('not charged'))).toEqual([]);
  }, 120_000);
});
