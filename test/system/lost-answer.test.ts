import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startSlowLink, type SlowLink } from '../support/slow-link.js';
import { until } from '../support/until.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';
import { rerankBody } from './upstreams.js';

/** Reservations live longer than that: what is waited for here is not that they expire. */
const DEADLINE_MS = 120_000;
const QUOTA = 1_000_000;
const DAY_MS = 24 * 3_600_000;

let redis: RedisServer;
let admin: Redis;
let link: SlowLink;
let upstream: TestUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  [redis, upstream] = await Promise.all([startRedis(), startUpstream()]);
  admin = new Redis(redis.url);
  link = await startSlowLink(redis.port);
  gateway = await startGateway(
    {
      store: { command_timeout_ms: 30_000 },
      gateway: { deadline_ms: DEADLINE_MS },
      prices: { default: { per_request: 7 } },
      channels: [
        {
          ...{ name: 'only', provider: 'cohere', base_url: upstream.url, tag: 'eu' },
          ...{ api_key: 'upstream-key', models: ['m'] },
        },
      ],
    },
    { REDIS_URL: `redis://127.0.0.1:${link.port}` },
  );
});

afterEach(async () => {
  admin.disconnect();
  await gateway.close();
  await link.close();
  await Promise.all([redis.stop(), upstream.close()]);
});

/** How many reservations the store holds. */
async function reservations(): Promise<number> {
  const lists = await admin.keys('*:r');
  const sizes = await Promise.all(lists.map((list) => admin.zrange(list, '0', '-1')));
  return sizes.flat().filter((member) => member !== '-').length;
}

it('ends an admission whose answer was lost as soon as the store is back: its one place is free, nothing is charged', async () => {
  const { key, id } = await gateway.createKey({
    remainQuota: QUOTA,
    policy: { maxConcurrency: 1 },
  });
  expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
  await until('the first request is settled', async () => (await reservations()) === 0);
  const before = await gateway.store.getToken(id, Date.now());

  link.hold();
  const lost = gateway.post(key, rerankBody('m'));
  await until('it is admitted', async () => (await reservations()) === 1);
  link.sever();

  expect((await lost).body.error.code).toBe('store_unavailable');
  await until('its reservation is ended', async () => (await reservations()) === 0);
  const after = await gateway.store.getToken(id, Date.now());
  expect(after?.remainQuota).toBe(before?.remainQuota);
  expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
}, 120_000);

it('counts each request once in log, statistics and balance, whichever answers are lost', async () => {
  const { key } = await gateway.createKey({ remainQuota: QUOTA });
  let served = 0;
  const serve = async (): Promise<boolean> => {
    const isServed = (await gateway.post(key, rerankBody('m'))).status === 200;
    if (isServed) served += 1;
    return isServed;
  };
  for (let nth = 1; nth <= 10; nth += 1) {
    link.lose(nth, 'cut');
    await until('an answer to a request is lost', async () => {
      await serve();
      return link.hasLost;
    });
    await until('it serves again', serve);
    // What is written after a request: its settlement, the log, statistics.
    link.lose(nth, 'cut');
    await until('an answer is lost that no request waits for', () => link.hasLost);
    await until('it serves again', serve);
  }
  link.lose(Infinity, 'cut');

  const sums = async () => {
    const { requests, quota } = await gateway.store.usageStats({});
    const counted = { requests: 0, quota: 0 };
    const nowMs = Date.now();
    const query = { rollup: 'spend_day', fromMs: nowMs - (nowMs % DAY_MS), toMs: nowMs } as const;
    await gateway.store.readStats(query, ({ tally }) => {
      counted.requests += tally.sums.requests;
      counted.quota += tally.sums.quota;
    });
    const user = await gateway.store.getUser(gateway.userId, nowMs);
    return { log: { requests, quota }, counted, used: user?.usedQuota };
  };
  let last = await sums();
  // Duplicates, if there are any, never go: this does not fail, and what follows says how far apart they are.
  await until('all is written', async () => {
    last = await sums();
    return last.log.quota === last.used && last.log.requests === last.counted.requests;
  }).catch(() => undefined);
  expect(last.log).toEqual(last.counted);
  expect(last.log.quota).toBe(last.used);
  expect(last.log.requests).toBeGreaterThanOrEqual(served);
}, 120_000);

it.each([180, 900])(
  'switches a tag over a way of %i ms, and says that it is in force',
  async (roundTripMs) => {
    const { token } = await createAccount(gateway.store, { role: 100 });
    const { key } = await gateway.createKey();
    expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
    link.roundTrip(roundTripMs);

    const off = await callApi(gateway.url, 'POST', '/api/channel/tag/disabled', {
      ...{ token, body: { tag: 'eu' } },
    });
    const seen = upstream.seen.length;
    const refused = await gateway.post(key, rerankBody('m'));
    const on = await callApi(gateway.url, 'POST', '/api/channel/tag/enabled', {
      ...{ token, body: { tag: 'eu' } },
    });

    expect([off.status, on.status]).toEqual([200, 200]);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'no_channel_available']);
    expect(upstream.seen.length).toBe(seen);
    link.roundTrip(0);
    await until(
      'it serves again',
      async () => (await gateway.post(key, rerankBody('m'))).status === 200,
    );
  },
  120_000,
);
