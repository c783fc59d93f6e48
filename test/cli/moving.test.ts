import {
  existsSync,
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
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/assembly/open-store.js';
import { runCli } from '../../src/cli/program.js';
import { keyFile, storeFile } from '../../src/config/data-files.js';
import { loadConfig } from '../../src/config/load-config.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { createVault } from '../../src/store/vault.js';
import { createUser, newChannel, newToken, sha256, T0 } from '../store/contract/harness.js';
import { Secret } from '../../src/core/secret.js';
import { report } from '../support/nodes.js';

let folder = '';
let env: Record<string, string> = {};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-moving-'));
  env = {
    ...{ DATA_DIR: join(folder, 'old'), ENCRYPTION_KEY: 'the key of the old house' },
    RERANK_GATEWAY_PASSPHRASE: 'a passphrase',
  };
  const store = await openStore(loadConfig({ env }).store);
  const userId = await createUser(store, { username: 'root', role: 100 });
  await store.createToken(newToken(userId, { name: 'prod', keyHash: sha256('the key') }), T0);
  await store.createChannel(
    newChannel({
      ...{ name: 'eu 1', tag: 'hosted', weight: 7, models: { a: 'a', b: 'c' } },
      credentials: { apiKey: new Secret('key-alpha\nkey-beta') },
    }),
  );
  await store.createChannel(
    newChannel({
      ...{ name: 'tei', provider: 'tei', baseUrl: 'http://127.0.0.1:9/', credentials: {} },
      status: 2,
    }),
  );
  const off = { tag: 'hosted', disabled: true, reason: 'a ${TEST}', changedTime: 1 };
  await store.setTagSwitch({ ...off, changedBy: undefined });
  await store.close();
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(
  args: readonly string[],
  more: Record<string, string> = {},
  ask?: () => Promise<string>,
) {
  const [out, error]: [string[], string[]] = [[], []];
  const code = await runCli(args, {
    env: { ...env, ...more },
    ...{ user: 'alice', now: () => T0, ask, readInput: () => Promise.resolve('') },
    writeOut: (text) => out.push(text),
    writeError: (text) => error.push(text),
  });
  return { code, out: out.join(''), error: error.join('') };
}

/** Adds a channel whose credentials none of the keys opens. */
async function sealWithLostKey(dataDir: string): Promise<void> {
  const vault = createVault(new Secret('a lost key'));
  const store = openSqliteStore({ file: storeFile(dataDir), vault });
  await store.createChannel(newChannel({ name: 'lost', credentials: { apiKey: new Secret('k') } }));
  await store.close();
}

it('encryption rotate ends with exit code 1 where credentials are left that no key opens', async () => {
  await sealWithLostKey(env.DATA_DIR ?? '');

  const { code, out, error } = await run(['encryption', 'rotate']);

  expect([code, out]).toEqual([1, 'Re-encrypted the credentials of 1 channel.\n']);
  expect(error).toContain('The credentials of 1 channel cannot be read');
});

it('a backup that fails leaves no folder behind', async () => {
  const dataDir = join(folder, 'no store');
  mkdirSync(dataDir);
  writeFileSync(storeFile(dataDir), 'not a database, but long enough to be read as one');

  const { code } = await run(['backup', join(folder, 'backup')], { DATA_DIR: dataDir });

  expect([code, existsSync(join(folder, 'backup'))]).toEqual([69, false]);
});

it('a backup brings the key of its store back, too', async () => {
  const [old, anew, backup] = ['keyless', 'restored', 'backups/today'].map((name) =>
    join(folder, name),
  );
  if (old === undefined || anew === undefined || backup === undefined) throw new Error('are there');
  await (await openStore(loadConfig({ env: { DATA_DIR: old } }).store)).close();
  const key = readFileSync(keyFile(old), 'utf8');

  const made = await run(['backup', backup], { DATA_DIR: old });
  const restored = await run(['restore', backup], { DATA_DIR: anew });

  expect([made.code, restored.code]).toEqual([0, 0]);
  expect(readFileSync(keyFile(anew), 'utf8')).toBe(key);
});

it.each([
  ['backup b', { REDIS_URL: 'redis://127.0.0.1:9' }, 'explains how to back it up.'],
  ['restore b', { REDIS_URL: 'redis://127.0.0.1:9' }, 'explains how to restore it.'],
  ['backup b', { DATA_DIR: '/nowhere' }, '/nowhere/gateway.db does not exist: nothing to back up.'],
  ['backup .', {}, '. exists: name a new folder.'],
  ['restore /nowhere', {}, '/nowhere/gateway.db does not exist: name a backup.'],
  ['import /nowhere', {}, 'There is no such file.'],
  ['import new-api /nowhere', {}, 'There is no such file.'],
])('%s with %j is refused, and says why', async (line, more, why) => {
  const { code, error } = await run(line.split(' '), more);

  expect([code, error]).toEqual([1, expect.stringContaining(why)]);
});

it('a restore keeps the data from before, and waits for a gateway to stop', async () => {
  const dataDir = env.DATA_DIR ?? '';
  const backup = join(folder, 'backup');
  await run(['backup', backup]);
  const broken = join(folder, 'broken');
  mkdirSync(broken);
  writeFileSync(storeFile(broken), 'not a database, but long enough to be read as one');
  const names = (): string[] => readdirSync(dataDir).filter((name) => name.includes('restore'));

  const failed = await run(['restore', broken]);
  expect([failed.code, names()]).toEqual([69, []]);

  const { code, out } = await run(['restore', backup]);
  const [kept = ''] = names();
  expect([code, out]).toEqual([
    0,
    `Restored ${backup}. The data from before is in ${join(dataDir, kept)}.\n`,
  ]);
  expect(existsSync(storeFile(join(dataDir, kept)))).toBe(true);

  const store = await openStore(loadConfig({ env }).store);
  await report(store, 'a node', await store.channelsVersion(), T0, 60_000);
  await store.close();
  const used = await run(['restore', backup]);
  expect([used.code, used.error]).toEqual([1, expect.stringContaining('A gateway uses this')]);
  expect(names()).toHaveLength(1);
});

describe('export and import', () => {
  const newHouse = (): Record<string, string> => ({
    ...{ DATA_DIR: join(folder, 'new'), ENCRYPTION_KEY: 'another key' },
  });

  it('fill another store, whose key seals the credentials anew', async () => {
    const [file, passphrase] = [join(folder, 'house.ndjson'), join(folder, 'passphrase')];
    writeFileSync(passphrase, 'a passphrase\n');

    const written = await run(['export', file, '--passphrase-file', passphrase]);
    const read = await run(['import', file], newHouse());
    const again = await run(['import', file, '--json'], newHouse());

    expect(written).toMatchObject({ code: 0, error: '' });
    expect(written.out).toContain('Exported 1 account, 1 key, 0 codes, 2 channels');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toMatch(/key-alpha|key-beta/);
    expect(read).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(again.out)).toMatchObject({ users: 1, tokens: 1, channels: 2 });
    const store = await openStore(loadConfig({ env: { ...env, ...newHouse() } }).store);
    try {
      expect((await store.findToken(sha256('the key')))?.token.name).toBe('prod');
      const { channels, locked } = await store.loadChannels();
      expect([channels[0]?.credentials.apiKey?.reveal(), locked.size]).toEqual([
        'key-alpha\nkey-beta',
        0,
      ]);
    } finally {
      await store.close();
    }
  });

  it('take back the line of their progress on a terminal', async () => {
    const file = join(folder, 'house.ndjson');
    const terminal = (): Promise<string> => Promise.resolve('');

    const written = await run(['export', file], {}, terminal);
    const read = await run(['import', file], newHouse(), terminal);

    expect(written.error).toMatch(/exported .*, 0 statistics rows, /);
    expect(read.error).toMatch(/imported .*, 0 statistics rows, /);
    const ends = [written, read].map(({ error }) => error.slice(error.lastIndexOf('\r')));
    expect(ends).toEqual(['\r\x1b[K', '\r\x1b[K']);
  });

  it('leave a store alone that a gateway uses, unless they are told to go on', async () => {
    const store = await openStore(loadConfig({ env }).store);
    await report(store, 'a node', await store.channelsVersion(), T0, 60_000);
    await store.close();
    const file = join(folder, 'house.ndjson');

    const refused = await run(['export', file]);
    const told = await run(['export', file, '--while-running']);

    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('A gateway uses') });
    expect(told).toMatchObject({ code: 0 });
  });

  it('leave no half of a file where the credentials of a channel cannot be read', async () => {
    await sealWithLostKey(env.DATA_DIR ?? '');
    const file = join(folder, 'house.ndjson');

    const { code, error } = await run(['export', file]);

    expect([code, existsSync(file)]).toEqual([1, false]);
    expect(error).toContain('lost');
  });

  it('make no file of a store without accounts, as where its folder is mistyped', async () => {
    const file = join(folder, 'house.ndjson');

    const DATA_DIR = join(folder, 'odl');

    const { code, error } = await run(['export', file], { DATA_DIR });

    expect([code, existsSync(file)]).toEqual([1, false]);
    expect(error).toContain('This store is empty: check DATA_DIR');
    const store = await openStore(loadConfig({ env: { ...env, DATA_DIR } }).store);
    await createUser(store);
    await store.close();
    expect(await run(['export', file], { DATA_DIR })).toMatchObject({ code: 0 });
  });

  it('say what is wrong, and write nothing', async () => {
    const file = join(folder, 'house.ndjson');
    const unsealed = await run(['export', file], { RERANK_GATEWAY_PASSPHRASE: '' });
    await run(['export', file]);
    const twice = await run(['export', file]);
    const wrong = await run(['import', file], {
      ...newHouse(),
      RERANK_GATEWAY_PASSPHRASE: 'another',
    });
    const half = join(folder, 'half.ndjson');
    writeFileSync(half, readFileSync(file, 'utf8').split('\n').slice(0, 5).join('\n'));
    const cut = await run(['import', half], newHouse());

    expect(unsealed).toMatchObject({ code: 2, error: expect.stringContaining('passphrase') });
    expect(twice).toMatchObject({ code: 1, error: 'The file exists: name a new one.\n' });
    expect(wrong).toMatchObject({ code: 1, error: expect.stringContaining('not the one') });
    expect(cut).toMatchObject({ code: 1, error: expect.stringContaining('in the middle') });
    const { store } = loadConfig({ env: { ...env, ...newHouse() } });
    await expect(openStore(store, { asGateway: true })).rejects.toThrow('a part of an export');
    for (const command of [
      ['export', `${file}.2`],
      ['keys', 'list', '--local'],
    ]) {
      const refused = await run(command, newHouse());
      expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('a part of an') });
    }
  });
});

describe('channels export', () => {
  it('prints a file that declares the same channels and switches', async () => {
    const store = await openStore(loadConfig({ env }).store);
    const pair = { accessKeyId: new Secret('id-gamma'), secretAccessKey: new Secret('key-gamma') };
    const aws = { name: '1 aws', provider: 'bedrock', settings: { region: 'eu-central-1' } };
    await store.createChannel(newChannel({ ...aws, credentials: pair }));
    const odd = {
      name: 'costs ${HOME}',
      provider: 'local',
      tag: '$${PATH}',
      models: { '${A}': '${A}' },
    };
    await store.createChannel(newChannel({ ...odd, credentials: {} }));
    await store.close();
    const { code, out } = await run(['channels', 'export', '--local']);
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, out);

    const keys = {
      ...{ EU_1_API_KEY_1: 'key-alpha', EU_1_API_KEY_2: 'key-beta' },
      ...{ _1_AWS_ACCESS_KEY_ID: 'id-gamma', _1_AWS_SECRET_ACCESS_KEY: 'key-gamma' },
    };
    const { channels, tags } = loadConfig({ env: { ...env, ...keys, CONFIG: file } });

    expect(code).toBe(0);
    expect(out).not.toMatch(/key-alpha|key-beta|gamma|priority|credentials: {}/);
    expect(out).toMatch(/name: tei\n[^]*models:\n {6}- rerank-v1\n/);
    expect(tags).toEqual([{ tag: 'hosted', disabled: true, reason: 'a ${TEST}' }]);
    expect(channels?.map(({ declared }) => declared)).toMatchObject([
      { name: 'eu 1', provider: 'cohere', weight: 7, models: { a: 'a', b: 'c' }, tag: 'hosted' },
      { name: 'tei', baseUrl: 'http://127.0.0.1:9', status: 2 },
      { name: '1 aws', provider: 'bedrock', settings: { region: 'eu-central-1' } },
      odd,
    ]);
    expect(channels?.[2]?.credentials.secretAccessKey?.reveal()).toBe('key-gamma');
    expect(channels?.[0]?.credentials.apiKey?.reveal()).toBe('key-alpha\nkey-beta');
  });

  it('names a variable of its own for each channel, also where their names look alike in one', async () => {
    const store = await openStore(loadConfig({ env }).store);
    const ids = new Map<string, number>();
    for (const name of ['百度', '阿里', 'eu-1', '2 eu']) {
      const credentials = { apiKey: new Secret(`key of ${name}`) };
      const made = await store.createChannel(newChannel({ name, credentials }));
      if (made.kind === 'updated') ids.set(name, made.channel.id);
    }
    await store.close();

    const { out } = await run(['channels', 'export', '--local']);

    const idOf = (name: string) => ids.get(name) ?? 0;
    expect(out.match(/(?<=api_key: \$\{)\w+/g)).toEqual([
      ...[`CHANNEL_${idOf('百度')}_API_KEY`, `CHANNEL_${idOf('阿里')}_API_KEY`],
      ...[`CHANNEL_${idOf('eu-1')}_API_KEY`, '_2_EU_API_KEY'],
    ]);
  });
});
