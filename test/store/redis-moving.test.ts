import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { newTally } from '../../src/core/tally.js';
import { connectRedis, type Connection } from '../../src/store/redis/connection.js';
import { createKeys } from '../../src/store/redis/keys.js';
import { openMoving } from '../../src/store/redis/moving/moving.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import { createVault } from '../../src/store/vault.js';
import { newChannel, T0, VAULT } from './contract/harness.js';

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

it('moves no channel whose credentials it cannot read', async () => {
  const store = await openRedisStore({
    url: server.url,
    prefix: 'locked:',
    vault: VAULT,
    ...PATIENT,
  });
  await store.createChannel(newChannel({ name: 'eu' }));
  await store.close();
  const otherVault = createVault(new Secret('the key of another house'));

  const moving = openMoving(connection, createKeys('locked:'), otherVault);
  const rows = moving.rowsOf('channels', T0)[Symbol.asyncIterator]().next();

  await expect(rows).rejects.toThrow(/eu/);
});

it('writes what it is given again once, and logins that end by themselves', async () => {
  const keys = createKeys('again:');
  const moving = openMoving(connection, keys, VAULT);
  const endsAtMs = Date.now() + HOUR;
  const session = {
    ...{ id_hash: 'hash', user_id: 1, kind: 'session', created_at_ms: T0, used_at_ms: T0 },
    ...{ expires_at_ms: endsAtMs, ends_at_ms: endsAtMs, address: '', agent: '', source: '' },
  };
  const prices = [{ id: 1, at_ms: T0, prices: '{}' }];
  for (let time = 0; time < 2; time += 1) {
    await moving.putRows('price_lists', prices);
    await moving.putRows('sessions', [session]);
  }

  const kept: unknown[] = [];
  for await (const rows of moving.rowsOf('price_lists', T0)) kept.push(...rows);
  expect(kept).toEqual(prices);
  expect(await connection.answer(connection.client.pexpiretime(keys.session('hash')))).toBe(
    endsAtMs,
  );
});
