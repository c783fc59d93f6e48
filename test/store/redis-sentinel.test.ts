import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { connectRedis } from '../../src/store/redis/connection.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startSentinelDouble } from '../support/sentinel-double.js';
import { until } from '../support/until.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function server(): Promise<RedisServer> {
  const started = await startRedis();
  ends.push(() => started.stop());
  return started;
}

it('leaves an old master at once after a failover, though it still takes writes', async () => {
  const [old, promoted] = await Promise.all([server(), server()]);
  const sentinel = await startSentinelDouble(old.port);
  ends.push(() => sentinel.close());
  const connection = await connectRedis(`redis+sentinel://127.0.0.1:${sentinel.port}/mymaster`, {
    ...{ commandTimeoutMs: 10_000, connectTimeoutMs: 20_000 },
  });
  const { client } = connection;
  if (!(client instanceof Redis)) throw new Error('Sentinel leads to one server');
  await until('failovers are listened for', () => sentinel.listening > 0);
  await client.set('before', '1');

  sentinel.failover(promoted.port);

  await until('writes go to the new master', async () => {
    const isWritten = await client.set('after', '1').then(
      () => true,
      () => false,
    );
    return isWritten && client.stream.remotePort === promoted.port;
  });
  const there = new Redis(promoted.url);
  ends.push(() => there.disconnect());
  expect(await there.mget('before', 'after')).toEqual([null, '1']);

  await until('it listens again', () => sentinel.listening > 0);
  await connection.close();
  await until('nothing listens any more', () => sentinel.listening === 0);
});
