import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../src/cli/program.js';
import { storeFile } from '../src/config/data-files.js';
import { loadConfig } from '../src/config/load-config.js';
import { Secret } from '../src/core/secret.js';
import { openStore } from '../src/assembly/open-store.js';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.js';
import type { Store } from '../src/store/store.js';
import { createVault } from '../src/store/vault.js';
import { newChannel } from './store/contract/harness.js';
import { startGateway } from './support/gateway.js';
import { startRedis, type RedisServer } from './support/redis-server.js';

type Env = Readonly<Record<string, string>>;

const KEYS = { first: 'the first key', second: 'the-second-key' };

/** What a gateway, or a command, does with the store when it starts. */
async function use<T>(env: Env, work: (store: Store) => Promise<T>, asGateway = true): Promise<T> {
  const store = await openStore(loadConfig({ env, folder: 'none' }).store, { asGateway });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function cli(env: Env, ...args: string[]) {
  let out = '';
  let error = '';
  const code = await runCli(['--local', ...args], {
    env,
    user: 'alice',
    now: Date.now,
    writeOut: (text) => (out += text),
    writeError: (text) => (error += text),
    ask: undefined,
    readInput: () => Promise.resolve(''),
  });
  return { code, out, error };
}

const keyOf = async (store: Store): Promise<string | undefined> =>
  (await store.loadChannels()).channels[0]?.credentials.apiKey?.reveal();

let redis: RedisServer;
let folder: string;
let starts = 0;
beforeAll(async () => {
  redis = await startRedis();
  folder = mkdtempSync(join(tmpdir(), 'encryption-'));
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

describe.each(['redis', 'embedded'] as const)('the encryption key of a store: %s', (kind) => {
  const env = (keys: Env): Env => ({
    ...(kind === 'redis' ? { REDIS_URL: redis.url } : { DATA_DIR: join(folder, 'data') }),
    ...keys,
  });

  it('is one, and a gateway or a command with another refuses to start with a sentence', async () => {
    const credentials = { apiKey: new Secret('upstream key') };
    await use(env({ ENCRYPTION_KEY: KEYS.first }), (store) =>
      store.createChannel(newChannel({ name: 'sealed', credentials })),
    );
    const wrong = env({ ENCRYPTION_KEY: KEYS.second });

    await expect(use(wrong, keyOf)).rejects.toMatchObject({
      name: 'EncryptionKeyError',
      message: expect.stringContaining('set ENCRYPTION_KEY to that one') as unknown,
    });
    for (const change of [
      ['channels', 'update', 'sealed', '--priority', '7'],
      ['channels', 'create', '--name', 'other', '--provider', 'local', '--models', 'm'],
      ['encryption', 'rotate'],
    ]) {
      const command = await cli(wrong, ...change);

      expect([command.code, command.out]).toEqual([78, '']);
      expect(command.error).toContain('not the one that the credentials');
    }
    const importing = (store: Store) => store.putRows('channels', []);
    await expect(use(wrong, importing, false)).rejects.toThrow('not the one that the credentials');
    const right = env({ ENCRYPTION_KEY: KEYS.first });
    expect(await use(right, keyOf)).toBe('upstream key');
    expect(
      await use(right, async (store) => (await store.loadChannels()).channels[0]?.priority),
    ).toBe(0);
  });

  it('is not asked of commands that write no channel', async () => {
    const wrong = env({ ENCRYPTION_KEY: KEYS.second });

    for (const command of [
      ['keys', 'list'],
      ['users', 'list'],
      ['nodes', 'list'],
      ['tags', 'list'],
      ['channels', 'list'],
    ]) {
      expect(await cli(wrong, ...command)).toMatchObject({ code: 0, error: '' });
    }

    const test = await cli(wrong, 'channels', 'test', 'sealed');
    expect(test.code).not.toBe(0);
    expect(test.error).toContain('cannot be read with this encryption key');
  });

  it('is not changed while a running gateway lacks the new one, which the command names', async () => {
    const old = env({ ENCRYPTION_KEY: KEYS.first });
    const both = env({ ENCRYPTION_KEYS: `b:${KEYS.second},a:${KEYS.first}` });
    const gateway = await startGateway({}, old);
    try {
      const refused = await cli(both, 'encryption', 'rotate');

      expect(refused).toMatchObject({ code: 78, out: '' });
      expect(refused.error).toMatch(/Nothing was changed: .*unknown to running gateways \(.+\)/);
      expect(await use(old, keyOf)).toBe('upstream key');
    } finally {
      await gateway.close();
    }
  });

  it('is not changed while a gateway that lacks the new one is starting', async () => {
    const old = env({ ENCRYPTION_KEY: KEYS.first });
    const both = env({ ENCRYPTION_KEYS: `b:${KEYS.second},a:${KEYS.first}` });

    await use(old, async (starting) => {
      const refused = await cli(both, 'encryption', 'rotate');

      expect(refused).toMatchObject({ code: 78, out: '' });
      expect(refused.error).toMatch(/Nothing was changed: .*unknown to running gateways \(.+\)/);
      expect(await keyOf(starting)).toBe('upstream key');
    });
    // A command that was refused stands in nobody's way.
    expect(await use(old, keyOf)).toBe('upstream key');
  });

  it('is not put first while a running gateway lacks it, nor is one left out that a running one encrypts with', async () => {
    const old = env({ ENCRYPTION_KEY: KEYS.first });
    const newFirst = env({ ENCRYPTION_KEYS: `b:${KEYS.second},a:${KEYS.first}` });
    const behind = await startGateway({}, old);
    try {
      await expect(use(newFirst, keyOf)).rejects.toMatchObject({
        name: 'EncryptionKeyError',
        message: expect.stringMatching(/unknown to running gateways \([^,]+\)/) as unknown,
      });
      const write = await cli(newFirst, 'channels', 'update', 'sealed', '--priority', '7');
      expect(write).toMatchObject({ code: 78, out: '' });
    } finally {
      await behind.close();
    }

    const ahead = await startGateway({}, newFirst);
    try {
      await expect(use(old, keyOf)).rejects.toMatchObject({
        name: 'EncryptionKeyError',
        message: expect.stringContaining('add it to ENCRYPTION_KEYS') as unknown,
      });
      // The gateway reads what a command with the old key writes.
      const write = await cli(old, 'channels', 'update', 'sealed', '--priority', '7');
      expect(write).toMatchObject({ code: 0, error: '' });
      const newLast = env({ ENCRYPTION_KEYS: `a:${KEYS.first},b:${KEYS.second}` });
      expect(await use(newLast, keyOf)).toBe('upstream key');
    } finally {
      await ahead.close();
    }
  });

  it.each([
    { why: 'neither has been used', unlike: ['c:the-key-c', 'd:the-key-d'] },
    {
      why: 'nothing is sealed',
      before: 'c:the-key-c',
      unlike: ['d:the-key-d', 'e:the-key-e'],
    },
    {
      why: 'one could not read what the other will seal',
      before: 'c:the-key-c',
      unlike: ['c:the-key-c', 'd:the-key-d,c:the-key-c'],
    },
  ])('is decided by the first of gateways that start at once: $why', async ({ before, unlike }) => {
    const place = `start-${starts++}`;
    const at = (keys: string): Env => ({
      ...(kind === 'redis'
        ? { REDIS_URL: redis.url, REDIS_PREFIX: `${place}:` }
        : { DATA_DIR: join(folder, place), ENCRYPTION_KEY: '' }),
      ENCRYPTION_KEYS: keys,
    });
    if (before !== undefined) await use(at(before), () => Promise.resolve());
    const tries = await Promise.allSettled(
      unlike.map((keys) =>
        openStore(loadConfig({ env: at(keys), folder: 'none' }).store, { asGateway: true }),
      ),
    );
    const started = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    await Promise.all(started.map((store) => store.close()));

    expect(started).toHaveLength(1);
    expect(tries.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'EncryptionKeyError' },
    });
    // Who has left, or was refused, stands in nobody's way.
    await use(at(unlike[tries.findIndex(({ status }) => status === 'fulfilled')] ?? ''), () =>
      Promise.resolve(),
    );
  });

  it('is changed by one command, while gateways that have both go on', async () => {
    const both = env({ ENCRYPTION_KEYS: `b:${KEYS.second},a:${KEYS.first}` });

    await use(both, async (running) => {
      const rotated = await cli(both, 'encryption', 'rotate');

      expect(rotated).toMatchObject({ code: 0, error: '' });
      expect(rotated.out).toContain('credentials of 1 channel');
      expect(await keyOf(running)).toBe('upstream key');
    });

    expect(await use(env({ ENCRYPTION_KEYS: `b:${KEYS.second}` }), keyOf)).toBe('upstream key');
    // The id is a name, not a part of the key.
    expect(await use(env({ ENCRYPTION_KEY: KEYS.second }), keyOf)).toBe('upstream key');
    await expect(use(env({ ENCRYPTION_KEY: KEYS.first }), keyOf)).rejects.toMatchObject({
      name: 'EncryptionKeyError',
    });
  });
});

it('a rotation fails where some credentials cannot be read, and seals the others', async () => {
  const dataDir = join(folder, 'partly');
  const env = { DATA_DIR: dataDir, ENCRYPTION_KEYS: `b:${KEYS.second},a:${KEYS.first}` };
  const sealWith = async (key: string, ...names: readonly string[]): Promise<void> => {
    const vault = createVault(new Secret(key));
    const store = openSqliteStore({ file: storeFile(dataDir), vault });
    for (const name of names) await store.createChannel(newChannel({ name }));
    await store.close();
  };
  await use(env, () => Promise.resolve());
  await sealWith('a key that is lost', 'lost');
  await sealWith(KEYS.first, 'one', 'two');

  const rotated = await cli(env, 'encryption', 'rotate');

  expect(rotated.code).toBe(1);
  expect(rotated.out).toContain('credentials of 2 channels');
  expect(rotated.error).toContain('credentials of 1 channel cannot be read');
});

it('a gateway without a key does not start if there are credentials; a command that needs none does', async () => {
  const env = { REDIS_URL: redis.url };

  await expect(use(env, keyOf)).rejects.toMatchObject({ name: 'EncryptionKeyError' });

  expect(await cli(env, 'keys', 'list')).toMatchObject({ code: 0, error: '' });
});
