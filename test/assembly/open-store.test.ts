import { afterEach, describe, expect, it } from '@jest/globals';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { loadConfig } from '../../src/config/load-config.js';
import { Secret } from '../../src/core/secret.js';
import { messageOf } from '../../src/core/errors.js';
import { checkKey } from '../../src/assembly/encryption-keys.js';
import { openStore } from '../../src/assembly/open-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { newChannel } from '../store/contract/harness.js';
import { report } from '../support/nodes.js';
import { startRedis } from '../support/redis-server.js';
import { startSlowLink, type SlowLink } from '../support/slow-link.js';

const existsBefore = fs.existsSync;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('the embedded store', () => {
  it('makes its own encryption key once, for its owner’s eyes, and reads credentials with it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    const settings = loadConfig({ env: { DATA_DIR: folder }, folder }).store;
    const store = await openStore(settings);
    await store.createChannel({
      name: 'c',
      provider: 'cohere',
      baseUrl: undefined,
      credentials: { apiKey: new Secret('up-secret') },
      models: { m: 'm' },
      tag: undefined,
      ...CHANNEL_DEFAULTS,
      status: 1,
      settings: {},
    });
    await store.close();

    const again = await openStore(settings);
    const { channels, locked } = await again.loadChannels();
    await again.close();

    expect(channels[0]?.credentials.apiKey?.reveal()).toBe('up-secret');
    expect(locked.size).toBe(0);
    expect(statSync(join(folder, 'encryption.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'gateway.db')).includes('up-secret')).toBe(false);
  });

  it('takes the key of a process that made it at the same moment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    const settings = loadConfig({ env: { DATA_DIR: folder }, folder }).store;
    await (await openStore(settings)).close();
    const key = readFileSync(join(folder, 'encryption.key'), 'utf8');
    fs.existsSync = () => false;
    syncBuiltinESMExports();

    const opening = openStore(settings).finally(() => {
      fs.existsSync = existsBefore;
      syncBuiltinESMExports();
    });

    await (await opening).close();
    const files = readdirSync(folder).filter((name) => name.startsWith('encryption.key'));
    expect(files).toEqual(['encryption.key']);
    expect(readFileSync(join(folder, 'encryption.key'), 'utf8')).toBe(key);
  });

  it('refuses an encryption key that is empty', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    writeFileSync(join(folder, 'encryption.key'), '\n');
    const settings = loadConfig({ env: { DATA_DIR: folder }, folder }).store;

    await expect(openStore(settings)).rejects.toThrow(/encryption\.key is empty/);
  });
});

describe('the encryption key of a store', () => {
  type Env = Readonly<Record<string, string>>;

  function freshFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    return join(folder, 'data');
  }

  /** What a gateway, or a command, does with the store in a folder. */
  async function use<T>(
    folder: string,
    env: Env,
    work: (store: Store) => Promise<T>,
    asGateway = true,
  ): Promise<T> {
    const settings = loadConfig({ env: { DATA_DIR: folder, ...env }, folder }).store;
    const store = await openStore(settings, { asGateway });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const start = () => Promise.resolve('started');
  const refused = { name: 'EncryptionKeyError' };
  const ONE = { ENCRYPTION_KEY: 'the-first-key' };
  const OTHER = { ENCRYPTION_KEY: 'the-second-key' };
  const addChannel = (store: Store) =>
    store.createChannel(newChannel({ credentials: { apiKey: new Secret('up-secret') } }));
  const keyIn = async (store: Store) =>
    (await store.loadChannels()).channels[0]?.credentials.apiKey?.reveal();

  it('may not be another one than the folder’s own once that has sealed, unless both are named', async () => {
    const folder = freshFolder();
    await use(folder, {}, addChannel);
    const own = readFileSync(join(folder, 'encryption.key'), 'utf8');

    await expect(use(folder, ONE, start)).rejects.toMatchObject(refused);
    await expect(use(folder, ONE, addChannel, false)).rejects.toMatchObject(refused);
    for (const keys of [`new:the-first-key,own:${own}`, ` new: the-first-key , own: ${own}`]) {
      expect(await use(folder, { ENCRYPTION_KEYS: keys }, keyIn)).toBe('up-secret');
    }
    const spaced = { ENCRYPTION_KEYS: ` new: the-first-key,own:${own}` };
    await use(folder, spaced, (store) => store.resealCredentials(store.keyMarks()[0] ?? ''));
    expect(await use(folder, { ENCRYPTION_KEYS: 'new:the-first-key' }, keyIn)).toBe('up-secret');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is not made in the folder if one is set', async () => {
    const folder = freshFolder();
    await use(folder, ONE, addChannel);

    expect(existsSync(join(folder, 'encryption.key'))).toBe(false);
  });

  it('may be another one as long as nothing is sealed, for a gateway that runs alone', async () => {
    const folder = freshFolder();
    await use(folder, ONE, start);

    await expect(use(folder, OTHER, addChannel, false)).rejects.toMatchObject(refused);
    expect(await use(folder, OTHER, addChannel)).toMatchObject({ kind: 'updated' });
    await expect(use(folder, ONE, start)).rejects.toMatchObject(refused);
  });

  it('may not be another one while a gateway runs', async () => {
    const folder = freshFolder();
    await use(folder, ONE, async (store) => {
      await store.begin();
      await report(store, 'a', await store.channelsVersion(), Date.now(), 60_000);
    });

    await expect(use(folder, OTHER, start)).rejects.toMatchObject(refused);
    expect(await use(folder, ONE, start)).toBe('started');
  });

  it('is that of the credentials in a store of a release that noted none', async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    const earlier = openSqliteStore({
      file: join(folder, 'gateway.db'),
      vault: createVault(new Secret(ONE.ENCRYPTION_KEY)),
    });
    await addChannel(earlier);
    await earlier.close();

    await expect(use(folder, OTHER, addChannel, false)).rejects.toMatchObject(refused);
    await expect(use(folder, OTHER, start)).rejects.toMatchObject(refused);
    expect(await use(folder, ONE, keyIn)).toBe('up-secret');
  });

  it('is that of the first command that writes a channel, before any gateway has run', async () => {
    const folder = freshFolder();
    await use(folder, ONE, addChannel, false);

    await expect(use(folder, OTHER, addChannel, false)).rejects.toMatchObject(refused);
    await expect(use(folder, OTHER, start)).rejects.toMatchObject(refused);
    expect(await use(folder, ONE, keyIn)).toBe('up-secret');
  });
});

describe('the key of a gateway that starts', () => {
  /** A store without credentials, of which another gateway has noted a key meanwhile, or runs with others. */
  const storeWith = (parts: object): Store =>
    ({
      keyMarks: () => ['own'],
      encryptionMark: (claim?: string) => Promise.resolve(claim),
      loadChannels: () => Promise.resolve({ channels: [], locked: new Set() }),
      listNodes: () => Promise.resolve([]),
      ...parts,
    }) as unknown as Store;
  const about = { name: 'other', keyMarks: ['another'] };
  const running = (version: number | undefined) => ({
    encryptionMark: () => Promise.resolve('own'),
    listNodes: () => Promise.resolve([{ version, about }]),
  });

  it.each([
    ['is noted', storeWith({}), undefined],
    [
      'must be the one that another has noted a moment ago',
      storeWith({ encryptionMark: (claim?: string) => Promise.resolve(claim && 'another') }),
      'not the one that the credentials',
    ],
    [
      'must be among those of gateways that run',
      storeWith(running(1)),
      'unknown to running gateways (other)',
    ],
    ['may be unknown to one that is silent', storeWith(running(undefined)), undefined],
  ])('%s', async (_, store, refused) => {
    const why = await checkKey(store, []).then(() => undefined, messageOf);

    expect(why).toEqual(refused && expect.stringContaining(refused));
  });
});

describe('a gateway that starts', () => {
  it.each([
    ['says nothing', (link: SlowLink) => link.hold(), /cannot be used yet \(.*\); retrying$/],
    [
      'is too slow',
      (link: SlowLink) => link.roundTrip(300),
      /^The store cannot be used yet \(.*\); retrying$/,
    ],
  ])('waits for a Redis that %s, and says so', async (_why, disturb, message) => {
    const redis = await startRedis();
    const link = await startSlowLink(redis.port);
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    writeFileSync(join(folder, 'gateway.yaml'), 'store: { command_timeout_ms: 200 }');
    const env = {
      CONFIG: join(folder, 'gateway.yaml'),
      REDIS_URL: `redis://127.0.0.1:${link.port}`,
    };
    const told: string[] = [];
    disturb(link);

    const store = await openStore(loadConfig({ env, folder }).store, {
      asGateway: true,
      onWaiting: (why) => {
        told.push(why);
        if (!message.test(why)) return;
        link.roundTrip(0);
        link.release();
      },
    });
    await store.close();
    await link.close();
    await redis.stop();

    expect(told.at(-1)).toMatch(message);
  });
});
