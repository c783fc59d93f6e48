import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { keyFile } from '../../src/config/data-files.js';
import { loadConfig } from '../../src/config/load-config.js';
import { openStore } from '../../src/assembly/open-store.js';
import { firstStart, welcome } from '../../src/process/first-start.js';
import { startRedis } from '../support/redis-server.js';
import { sha256 } from '../store/contract/harness.js';

it('the first start on Redis makes a key and prints it; later ones make none', async () => {
  const redis = await startRedis();
  const config = loadConfig({ env: { REDIS_URL: redis.url }, folder: 'none' });
  const store = await openStore(config.store);
  const printed: string[] = [];
  const print = (text: string): void => {
    printed.push(text);
  };

  const { key = '' } = await firstStart(config, store, print);
  const again = await firstStart(config, store, print);
  const found = await store.findToken(sha256(key));
  await store.close();
  await redis.stop();

  expect(found?.token.name).toBe('first key');
  expect(printed).toEqual([expect.stringContaining(`first API key: ${key} `)]);
  expect(again.key).toBeUndefined();
});

it('the first start of a container prints neither password nor key, and says how to make them', async () => {
  const redis = await startRedis();
  const env = { REDIS_URL: redis.url, ROOT_SHOW_SECRETS: 'false' };
  const config = loadConfig({ env, folder: 'none' });
  const store = await openStore(config.store);
  const printed: string[] = [];

  const { key } = await firstStart(config, store, (text) => printed.push(text));
  const { total } = await store.listTokens({ offset: 0, limit: 1 }, Date.now());
  await store.close();
  await redis.stop();

  expect([key, total]).toEqual([undefined, 0]);
  expect(printed.join('')).toMatch(
    /users update root --password -\n.*keys create --name my-app --quota 5usd\n/,
  );
  expect(printed.join('')).not.toMatch(/sk-|password: \w{24}/);
});

it.each([true, false])(
  'a first start says that the database is gone if a key is left of an earlier one (%s)',
  async (isLeft) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'first-start-'));
    if (isLeft) {
      writeFileSync(keyFile(dataDir), 'a'.repeat(64));
      utimesSync(keyFile(dataDir), 1, 1);
    }
    const config = loadConfig({ env: { DATA_DIR: dataDir }, folder: 'none' });
    const store = await openStore(config.store);
    const printed: string[] = [];

    await firstStart(config, store, (text) => printed.push(text));
    await store.close();
    rmSync(dataDir, { recursive: true });

    expect(printed.join('').includes('its gateway.db is gone')).toBe(isLeft);
  },
);

it.each([
  ['m', undefined, { model: 'm' }],
  ['m', 'm', {}],
])('the request to try names %s where the default is %s', (model, byDefault, expected) => {
  const text = JSON.stringify({
    gateway: { default_model: byDefault },
    channels: [
      { name: 'off', provider: 'local', models: ['gone'], enabled: false },
      { name: 'a', provider: 'local', models: { [model]: 'local/lexical' } },
    ],
  });
  const config = loadConfig({ env: {}, texts: [['gateway.yaml', text]] });

  const [, body = ''] = /-d '(.*)'/.exec(welcome(config, { key: 'sk-x' }, 80)) ?? [];

  expect(JSON.parse(body)).toEqual({
    ...expected,
    query: expect.any(String),
    documents: expect.any(Array),
    return_documents: true,
  });
});
