import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newTally } from '../../src/core/tally.js';
import { connectRedis, type Connection } from '../../src/store/redis/connection.js';
import { createKeys } from '../../src/store/redis/keys.js';
import { openMoving } from '../../src/store/redis/moving/moving.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import { T0, VAULT } from './contract/harness.js';

const HOUR = 3_600_000;
const PREFIX = 'moving:';

let server: RedisServer;
let connection: Connection;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis(server.url, { ...PATIENT, clock: 'caller' });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

it('asks for the statistics of many accounts in parts that Redis answers in time', async () => {
  const store = await openRedisStore({
    ...{ url: server.url, prefix: PREFIX, vault: VAULT, clock: 'caller' },
    ...PATIENT,
  });
  const additions = Array.from({ length: 20 * 150 }, (_, index) => ({
    ...{ rollup: 'spend_hour' as const, owner: 1 + (index % 150), tally: newTally() },
    ...{ atMs: T0 + Math.floor(index / 150) * HOUR, expiresMs: T0 + 999 * HOUR },
    ...{ key: '[1,"m"]', otherKey: '[0,"*"]' },
  }));
  await store.addStats({ ...{ writer: 'w', serial: 1, nowMs: T0, maxRows: 9 }, additions });
  await store.close();
  let [pending, most, found] = [0, 0, 0];
  const answer: Connection['answer'] = async (reply) => {
    pending += 1;
    most = Math.max(most, pending);
    try {
      return await connection.answer(reply);
    } finally {
      pending -= 1;
    }
  };

  const moving = openMoving({ ...connection, answer }, createKeys(PREFIX), VAULT);
  for await (const part of moving.rowsOf('stats', T0 + 20 * HOUR)) found += part.length;

  expect(found).toBe(additions.length);
  expect(most).toBeLessThanOrEqual(1_000);
});
