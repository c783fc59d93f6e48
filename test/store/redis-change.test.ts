import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { change } from '../../src/store/redis/change.js';
import { connectRedis, type Connection } from '../../src/store/redis/connection.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import { T0 } from './contract/harness.js';

let server: RedisServer;
let connection: Connection;
beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis(server.url, { ...PATIENT, clock: 'caller' });
});
afterEach(() => connection.client.flushall());
afterAll(async () => {
  await connection.close();
  await server.stop();
});

const KEY = 'a record';
const LOOKS = [['HMGET', KEY, 'count', 'name']] as const;

test('shows what is there and the time, and makes all writes', async () => {
  await connection.client.hset(KEY, 'count', 7);

  const result = await change(connection, LOOKS, T0, (answers, nowMs) => ({
    result: [answers, nowMs],
    writes: [
      ['HSET', KEY, 'count', 8, 'name', ''],
      ['SADD', 'another', 'a b'],
    ],
  }));

  expect(result).toEqual([[['7', null]], T0]);
  expect(await connection.client.hgetall(KEY)).toEqual({ count: '8', name: '' });
  expect(await connection.client.smembers('another')).toEqual(['a b']);
});

test('loses no change of those that are made at once', async () => {
  const add = () =>
    change(connection, LOOKS, T0, ([fields]) => {
      const count = Number((fields as readonly string[])[0] ?? 0) + 1;
      return { result: count, writes: [['HSET', KEY, 'count', count]] };
    });

  const counts = await Promise.all(Array.from({ length: 20 }, add));

  expect(counts.toSorted((one, other) => one - other)).toEqual(counts.map((_, at) => at + 1));
  expect(await connection.client.hget(KEY, 'count')).toBe('20');
});

test('gives up, having done nothing, when what it looks at never keeps still', async () => {
  const restless = change(connection, LOOKS, T0, () => {
    void connection.client.hincrby(KEY, 'count', 1);
    return { result: undefined, writes: [['HSET', KEY, 'name', 'written']] };
  });

  await expect(restless).rejects.toThrow(StoreUnavailableError);
  await expect(restless).rejects.toMatchObject({ didNothing: true });
  expect(await connection.client.hget(KEY, 'name')).toBeNull();
});
