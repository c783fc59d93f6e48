import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';
import { rerankBody } from './upstreams.js';

let redis: RedisServer;
let admin: Redis;
let upstream: TestUpstream;
let gateway: TestGateway;
let key = '';

async function start(now: () => number = Date.now): Promise<TestGateway> {
  return startGateway(
    {
      store: { command_timeout_ms: 20_000 },
      channels: [
        {
          ...{ name: 'only', provider: 'cohere', base_url: upstream.url },
          ...{ api_key: 'upstream-key', models: ['m'] },
        },
      ],
    },
    { REDIS_URL: redis.url },
    { now },
  );
}

beforeEach(async () => {
  [redis, upstream] = await Promise.all([startRedis(), startUpstream()]);
  admin = new Redis(redis.url);
  admin.on('error', () => undefined);
  gateway = await start();
  ({ key } = await gateway.createKey());
  expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
  expect(await readiness()).toEqual([200, 'ready']);
});

afterEach(async () => {
  admin.disconnect();
  await gateway.close();
  await Promise.all([redis.stop(), upstream.close()]);
});

/** The status of `/readyz`, and what it says. */
async function readiness(of = gateway): Promise<[number, string]> {
  const response = await fetch(`${of.url}/readyz`);
  const body = (await response.json()) as { readonly status?: string; readonly message?: string };
  return [response.status, body.message ?? body.status ?? ''];
}

async function refused(): Promise<void> {
  const { status, body } = await gateway.post(key, rerankBody('m'));
  expect([status, body.error.code]).toEqual([503, 'store_unavailable']);
}

async function recovered(): Promise<void> {
  await eventually('it is ready again', async () => (await readiness())[0] === 200);
  expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
}

describe('a gateway whose Redis can be read and not written', () => {
  it('says that it is full, and charges nothing for what it could not do', async () => {
    await admin.config('SET', 'maxmemory', '1');

    expect(await readiness()).toEqual([503, expect.stringContaining('Redis is full')]);
    await refused();

    await admin.config('SET', 'maxmemory', '0');
    await recovered();
  });

  it('says that it is a replica', async () => {
    await admin.replicaof('127.0.0.1', 1);

    expect(await readiness()).toEqual([503, expect.stringContaining('Redis is read-only')]);
    await refused();

    await admin.replicaof('NO', 'ONE');
    await recovered();
  });

  it('says that its disk takes nothing', async () => {
    const [, folder = ''] = await admin.config('GET', 'dir');
    await admin.config('SET', 'save', '3600 1');
    const elsewhere = mkdtempSync(join(tmpdir(), 'gone-'));
    rmSync(elsewhere, { recursive: true });
    rmSync(folder, { recursive: true });
    await admin.bgsave();
    await eventually('saving has failed', async () =>
      (await admin.info('persistence')).includes('rdb_last_bgsave_status:err'),
    );

    expect(await readiness()).toEqual([503, expect.stringContaining('cannot save to its disk')]);
    await refused();

    await admin.config('SET', 'save', '');
    await recovered();
  });
});

describe('a gateway whose Redis was emptied', () => {
  it('says so, tells no caller that its key is wrong, and goes on once another one has begun anew', async () => {
    await admin.flushall();

    await refused();
    const stranger = await gateway.post('sk-nobody', rerankBody('m'));
    expect(stranger.status).toBe(503);
    expect(await readiness()).toEqual([503, expect.stringContaining('has been emptied')]);
    expect(gateway.log.join('')).toContain('the store is empty');

    const second = await start();
    ({ key } = await second.createKey());
    await eventually('it is ready again', async () => (await readiness())[0] === 200);
    expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
    expect((await gateway.post('sk-nobody', rerankBody('m'))).status).toBe(401);
    await second.close();
  });
});

describe('a gateway whose clock is wrong', () => {
  it.each([
    ['ahead of', 90_000],
    ['behind', -90_000],
  ])('serves, and says that it is %s that of the store', async (where, offMs) => {
    await admin.flushall();
    const off = await start(() => Date.now() + offMs);
    try {
      const created = await off.createKey();
      const ready = await (await fetch(`${off.url}/readyz`)).json();
      const metrics = await (await fetch(`${off.url}/metrics`)).text();

      expect((await off.post(created.key, rerankBody('m'))).status).toBe(200);
      expect(ready).toEqual({
        status: 'ready',
        warnings: [
          expect.stringMatching(new RegExp(`is (8|9)\\d\\.\\d s ${where} that of the store`)),
        ],
      });
      const seconds = Number(/^rerank_clock_offset_seconds (\S+)$/m.exec(metrics)?.[1]);
      // As exactly as the question and the answer were quick.
      expect(Math.abs(seconds - offMs / 1_000)).toBeLessThan(10);
      expect(off.log.join('')).toContain('the clock of this node is wrong');
    } finally {
      await off.close();
    }
  });
});
