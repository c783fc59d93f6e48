import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openStore } from '../../src/assembly/open-store.js';
import type { Client } from '../../src/client/client.js';
import { clientInProcess } from '../../src/client/in-process.js';
import { routes } from '../../src/client/routes.js';
import { loadConfig } from '../../src/config/load-config.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { createUser, T0 } from '../store/contract/harness.js';

const ACCOUNTS = 30;

let server: RedisServer;
let client: Client;

beforeAll(async () => {
  server = await startRedis();
  const env = { REDIS_URL: server.url, ENCRYPTION_KEY: 'the key of this house' };
  const store = await openStore(loadConfig({ env }).store);
  await createUser(store, { username: 'root', role: 100 });
  for (let one = 1; one < ACCOUNTS; one += 1) await createUser(store);
  await store.close();
  client = await clientInProcess(
    { env },
    'alice',
    () => T0,
    () => undefined,
  );
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

it('loads the module of every operation', () => {
  const source = readFileSync('src/client/in-process.ts', 'utf8');
  const names = new Set(Object.values(routes()).map(([, , , name]) => name));

  expect([...names].filter((name) => !source.includes(`'../operations/${name}.js'`))).toEqual([]);
});

it('does not look for root each time that it reads a page or a name', async () => {
  const observer = new Redis(server.url);
  const scripts = async (): Promise<number> => {
    const stats = await observer.info('commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  const self = await client.call('getSelf');
  const before = await scripts();

  for (let id = 1; id <= ACCOUNTS; id += 1) await client.call('getUser', { params: { id } });
  for (let page = 1; page <= 9; page += 1)
    await client.call('searchTokens', { query: { p: page } });

  expect(self.username).toBe('root');
  expect((await scripts()) - before).toBeLessThan(3 * ACCOUNTS);
  observer.disconnect();
});

it('sees what it has just changed about root', async () => {
  const { id } = await client.call('getSelf');
  await client.call('updateUser', { body: { id, display_name: 'The boss' } });

  expect((await client.call('getSelf')).display_name).toBe('The boss');
});

it('does not open a store that has a part of an export, and leaves no connection to it', async () => {
  const env = {
    REDIS_URL: server.url,
    REDIS_PREFIX: 'half',
    ENCRYPTION_KEY: 'the key of this house',
  };
  const store = await openStore(loadConfig({ env }).store);
  await store.importState(JSON.stringify({ id: 'a', lines: 3, done: false }));
  await store.close();
  const observer = new Redis(server.url);
  const connections = async (): Promise<number> =>
    String(await observer.client('LIST'))
      .trim()
      .split('\n').length;
  await until('the store above is closed', async () => (await connections()) <= 2);
  const before = await connections();

  const opening = clientInProcess(
    { env },
    'alice',
    () => T0,
    () => undefined,
  );

  await expect(opening).rejects.toThrow('This store has a part of an export');
  await until('nobody is connected', async () => (await connections()) === before, 5_000);
  observer.disconnect();
});

it('ends once what it does after its answers is done', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'in-process-'));
  const env = { DATA_DIR: folder };
  const store = await openStore(loadConfig({ env }).store);
  await createUser(store, { email: 'ann@example.com' });
  await store.close();
  const own = await clientInProcess(
    { env },
    'alice',
    () => T0,
    () => undefined,
  );

  await own.call('requestPasswordReset', { query: { email: 'ann@example.com' } });
  await own.close();

  expect(readdirSync(join(folder, 'outbox'))).toHaveLength(1);
  rmSync(folder, { recursive: true });
});
