import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Secret } from '../../src/core/secret.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Credential, Store } from '../../src/store/store.js';
import { admitRequest, createToken, newChannel, sha256, VAULT } from '../store/contract/harness.js';
import { PATIENT, startRedis } from '../support/redis-server.js';
import { build } from './fleet.js';

/** The commands as the manual has them, by the comment that they begin with. */
function commands(name: string): string {
  const manual = readFileSync('docs/operations.md', 'utf8');
  const block = new RegExp(`\`\`\`sh\\n# ${name}\\n([^\`]*)\`\`\``).exec(manual)?.[1];
  if (block === undefined) throw new Error(`docs/operations.md has no commands for a ${name}`);
  return block;
}

async function runCommands(name: string, env: Readonly<Record<string, string>>): Promise<void> {
  build();
  const built = `${process.execPath} dist`;
  const program = commands(name).replace('npm run --silent cli --', `${built}/cli.js`);
  await promisify(execFile)('sh', ['-eu', '-c', program], {
    env: { ENV_FILE: '', PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    timeout: 300_000,
  });
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Something of each kind. */
async function fill(store: Store): Promise<Credential> {
  await store.begin();
  await store.createChannel(
    newChannel({ name: 'kept', tag: 'eu', credentials: { apiKey: new Secret('upstream key') } }),
  );
  await store.setTagSwitch({
    ...{ tag: 'eu', disabled: true, reason: 'incident', changedTime: 1, changedBy: 'ada' },
  });
  return createToken(store, { userQuota: 1_000, remainQuota: 1_000 });
}

/** What the backup must not have. */
async function goOn(store: Store, credential: Credential): Promise<void> {
  const request = admitRequest(credential, { amount: 400, nowMs: Date.now() });
  await store.admit(request);
  await store.settle({ ...request, cost: 400, served: true });
  await store.setTagSwitch({
    ...{ tag: 'eu', disabled: false, reason: undefined, changedTime: 2, changedBy: 'ada' },
  });
  await createToken(store, { keyHash: sha256('made after the backup') });
}

async function expectOnlyTheBackup(store: Store, { keyHash, token }: Credential): Promise<void> {
  const found = await store.findToken(keyHash);
  expect(found?.token).toMatchObject({ id: token.id, remainQuota: 1_000, usedQuota: 0 });
  expect((await store.getUser(token.userId, Date.now()))?.quota).toBe(1_000);
  expect(await store.findToken(sha256('made after the backup'))).toBeUndefined();
  const { channels, switches, locked } = await store.loadChannels();
  expect(channels.map(({ name }) => name)).toEqual(['kept']);
  expect(channels[0]?.credentials.apiKey?.reveal()).toBe('upstream key');
  expect(locked.size).toBe(0);
  expect(switches).toMatchObject([{ tag: 'eu', disabled: true, reason: 'incident' }]);
}

describe('a backup as the manual has it', () => {
  it('brings a Redis with append-only files back to its moment, and a gateway notices', async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    const [, dir = ''] = await client.config('GET', 'dir');
    client.disconnect();
    const env = {
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(server.port),
      REDIS_DIR: dir,
      BACKUP: join(folder, 'backup.rdb'),
    };
    const store = await openRedisStore({ url: server.url, vault: VAULT, ...PATIENT });
    try {
      const credential = await fill(store);
      const node = { nodeId: 'a', version: -1, nowMs: Date.now(), ttlMs: 3_600_000 };
      await store.syncNode({ ...node, serial: 1, heardSerial: 0 });
      await runCommands('backup of Redis', env);
      await goOn(store, credential);
      await store.syncNode({ ...node, serial: 2, heardSerial: 1 });
      const before = await store.channelsVersion();
      await server.kill();

      await runCommands('restore of Redis', env);
      await server.restart();

      const restored = await openRedisStore({ url: server.url, vault: VAULT, ...PATIENT });
      await expectOnlyTheBackup(restored, credential);
      // The gateway that had gone on is told that it knows too much.
      const news = await restored.syncNode({
        ...{ ...node, version: before },
        ...{ serial: 3, heardSerial: 2 },
      });
      expect(news.memory).toBe('lost');
      expect(news.snapshot?.switches).toMatchObject([{ tag: 'eu', disabled: true }]);
      await restored.close();
    } finally {
      await store.close();
      await server.stop();
    }
  }, 300_000);

  it('brings the embedded store back to its moment', async () => {
    const dataDir = join(folder, 'data');
    const env = { DATA_DIR: dataDir, BACKUP: join(folder, 'backup') };
    const open = (where: string): Store =>
      openSqliteStore({ file: join(where, 'gateway.db'), vault: VAULT });
    const store = open(dataDir);
    const credential = await fill(store);

    await runCommands('backup of the embedded store', env);
    await goOn(store, credential);
    await store.close();
    // What is left of a gateway that has ended elsewhere: the driver lets go of a file only with its process.
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    for (const name of ['', '-wal', '-shm']) {
      writeFileSync(join(elsewhere, `gateway.db${name}`), 'left over');
    }
    await runCommands('restore of the embedded store', { ...env, DATA_DIR: elsewhere });

    const [aside = ''] = readdirSync(elsewhere).filter((name) =>
      name.startsWith('before-restore-'),
    );
    expect(readFileSync(join(elsewhere, aside, 'gateway.db'), 'utf8')).toBe('left over');
    expect(statSync(join(env.BACKUP, 'gateway.db')).mode & 0o077).toBe(0);
    const restored = open(elsewhere);
    await expectOnlyTheBackup(restored, credential);
    await restored.close();
    // A second one does not write over the first.
    await expect(runCommands('backup of the embedded store', env)).rejects.toThrow(
      /exists: name a new folder/,
    );
  }, 300_000);

  it('is not restored under a running gateway, nor from what is no backup', async () => {
    const env = { DATA_DIR: join(folder, 'data'), BACKUP: join(folder, 'backup') };
    const file = join(env.DATA_DIR, 'gateway.db');
    const store = openSqliteStore({ file, vault: VAULT });
    await fill(store);
    await runCommands('backup of the embedded store', env);
    const node = { nodeId: 'a', version: -1, nowMs: Date.now(), ttlMs: 3_600_000 };
    await store.syncNode({ ...node, serial: 1, heardSerial: 0 });
    const restore = (BACKUP = env.BACKUP) =>
      runCommands('restore of the embedded store', { ...env, BACKUP });

    await expect(restore()).rejects.toThrow(/A gateway uses this store/);

    await store.forgetNode('a');
    await store.close();
    writeFileSync(join(folder, 'gateway.db'), 'not a database, but long enough to be read as one');
    await expect(restore(folder)).rejects.toThrow(/it is not a database/);
    await expect(restore(join(folder, 'nowhere'))).rejects.toThrow(/name a backup/);
    expect(readdirSync(env.DATA_DIR).filter((name) => name.includes('restore'))).toEqual([]);
  }, 300_000);
});
