import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readNewApi } from '../../src/cli/elsewhere/new-api-file.js';
import { planOfNewApi } from '../../src/cli/elsewhere/new-api.js';
import type { NewApiRows } from '../../src/cli/elsewhere/new-api-rows.js';
import type { Plan } from '../../src/cli/elsewhere/plan.js';
import { openDriver } from '../../src/store/sqlite/driver.js';
import { sha256, T0 } from '../store/contract/harness.js';

const FIXTURES = join(import.meta.dirname, '../fixtures/elsewhere');
/** Says that it has locked the file, which it does for a moment. */
const WRITER = `
  const Database = process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? require('libsql');
  const database = new Database(process.argv[1]);
  database.exec('BEGIN EXCLUSIVE');
  console.log('locked');
  setTimeout(() => database.exec('COMMIT'), 300);
`;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'new-api-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(fixture: string): string {
  const file = join(folder, 'one-api.db');
  const database = openDriver(file);
  database.exec(readFileSync(join(FIXTURES, fixture), 'utf8'));
  database.close();
  return file;
}

/** The plan of a database that has these tables and rows. */
function planOf(fixture: string): Plan {
  return planOfNewApi(readNewApi(fileOf(fixture)), T0);
}

function keysOf({ keys }: Plan) {
  return Object.fromEntries(keys.map((key) => [key.draft.name, key]));
}

describe('a database that new-api wrote', () => {
  it('gives each server the path and the model that it got from new-api', () => {
    const { channels } = planOf('new-api-2026.sql');

    expect(channels).toMatchObject([
      { name: 'Cohere main', provider: 'cohere-v1', weight: 3, priority: 5, tag: 'default+vip' },
      { name: 'Cohere main-2', provider: 'cohere', status: 2, weight: 1, tag: 'vip' },
      { name: 'Jina', api_keys: ['jina-1', 'jina-3'], base_url: 'https://rerank.example.com/jina' },
      { name: 'TEI behind OpenAI', provider: 'openai-compatible', tag: 'default' },
      { name: 'Xinference', weight: 1_000_000, tag: 'svip+内部' },
    ]);
    expect(channels[0]?.models).toEqual({
      'rerank-v3.5': 'rerank-v3.5',
      'rerank-english-v3.0': 'rerank-v3.5',
    });
    expect(channels[3]?.models).toEqual({
      search: 'bge-reranker-v2-m3',
      chain: 'bge-reranker-v2-gemma',
      'bge-reranker-base': 'bge-reranker-base',
    });
  });

  it('keeps accounts apart whose names differ in capitals, and makes names that an account can have', () => {
    const plan = planOf('new-api-2026.sql');
    const keys = keysOf(plan);

    const accounts = plan.users.map(({ username, quota }) => [username, quota]);
    expect(accounts).toEqual([
      ['carol', 2_625_000],
      ['Bob', 1_500_000],
      ['bob-2', 500_000],
      ['lone', 500_000],
      ['a-b', 500_000],
    ]);
    expect(keys['of Bob']?.owner).toBe('Bob');
    expect(keys['of bob']?.owner).toBe('bob-2');
    expect(keys['of bob']?.secret.keyHash).toBe(sha256(`sk-${'ofbob'.repeat(10).slice(0, 48)}`));
    expect(keys['of a b']?.owner).toBe('a-b');
    expect(plan.toDo.join()).toContain('Tell "a b" that the account is called "a-b" here.');
  });

  it('binds keys to the groups that new-api let them use', () => {
    const plan = planOf('new-api-2026.sql');
    const keys = keysOf(plan);

    expect(keys.plain?.draft.policy?.tags).toEqual(['default+vip', 'vip']);
    expect(keys.auto?.draft.policy?.tags).toEqual(['default+vip', 'vip', 'default']);
    expect(keys['of lone']?.draft.policy?.tags).toEqual(['lonely']);
    expect(keys['not mine']).toBeUndefined();
    expect(plan.notCarried).toContainEqual({
      what: 'key not mine',
      why: 'its account may not use its group',
    });
  });

  it('passes over what new-api passed over in a list of addresses', () => {
    const { 'junk ip': key } = keysOf(planOf('new-api-2026.sql'));

    expect(key?.draft.policy?.allowIps).toEqual(['127.0.0.1']);
  });
});

it.each([
  ['some of its keys: the others are carried over', { 1: 2 }, ['a', 'c'], 1],
  [
    'all of its keys: they are carried over, for people to look at',
    { 0: 2, 1: 3, 2: 2 },
    ['a', 'b', 'c'],
    0,
  ],
])('of a channel new-api has disabled %s', (_, statuses, apiKeys, left) => {
  const channel = {
    ...{ type: 38, key: 'a\nb\nc', models: 'jina-reranker-m0', auto_ban: 1, name: 'keys' },
    channel_info: JSON.stringify({ multi_key_status_list: statuses }),
  };
  const none = { tokens: [], users: [], redemptions: [], options: [] };

  const { channels, notCarried } = planOfNewApi({ channels: [channel], ...none }, T0);

  expect(channels).toMatchObject([{ api_keys: apiKeys }]);
  expect(notCarried).toHaveLength(left);
});

describe('groups of new-api', () => {
  const TOKEN = { user_id: 1, key: 'k', status: 1, expired_time: -1, model_limits_enabled: 0 };

  function plan(channelGroups: readonly string[], key: object, options: object = {}): Plan {
    const channel = { type: 38, key: 'k', models: 'jina-reranker-m0', auto_ban: 1, tag: 'own' };
    return planOfNewApi(
      {
        channels: channelGroups.map((group, at) => ({ ...channel, name: `c${at}`, group })),
        tokens: [{ ...TOKEN, name: 'key', ...key }],
        users: [{ id: 1, username: 'ann', role: 1, group: 'vip' }],
        redemptions: [],
        options: Object.entries(options).map(([name, value]) => ({
          key: name,
          value: JSON.stringify(value),
        })),
      },
      T0,
    );
  }

  it('do not bind keys where all channels have the same that a key may use', () => {
    const { channels, keys } = plan(['default,vip', 'vip,default'], { group: '' });

    expect(channels.map(({ tag }) => tag)).toEqual(['own', 'own']);
    expect(keys[0]?.draft.policy).not.toHaveProperty('tags');
  });

  it('keep a key from channels that are all of another group', () => {
    const { keys } = plan(['default', 'default'], { group: '' });

    expect(keys[0]?.draft.policy?.tags).toEqual(['vip']);
  });

  it('may be more, or fewer, for the accounts of a group', () => {
    const special = { vip: { '+:extra': 'e', '-:default': 'd' } };
    const options = { 'group_ratio_setting.group_special_usable_group': special };

    const more = plan(['extra', 'vip'], { group: 'extra' }, options);
    const fewer = plan(['default', 'vip'], { group: 'default' }, options);

    expect(more.keys[0]?.draft.policy?.tags).toEqual(['extra']);
    expect(fewer.keys).toEqual([]);
  });
});

describe('rows of new-api', () => {
  const CHANNEL = { type: 34, key: 'k', models: 'rerank-v3.5', auto_ban: 1, status: 1 };
  const TOKEN = { user_id: 1, key: 'k', status: 1, expired_time: -1, model_limits_enabled: 0 };

  function plan(rows: Partial<NewApiRows>): Plan {
    const users = [{ id: 1, username: 'ann', role: 1, group: 'default' }];
    return planOfNewApi(
      { ...{ channels: [], tokens: [], redemptions: [], options: [], users }, ...rows },
      T0,
    );
  }

  it('that owe something have nothing left here', () => {
    const { users, keys } = plan({
      users: [{ id: 1, username: 'ann', role: 1, group: 'default', quota: -5 }],
      tokens: [{ ...TOKEN, name: 'owes', remain_quota: -5 }],
    });

    expect([users[0]?.quota, keys[0]?.draft.remainQuota]).toEqual([0, 0]);
  });

  it('that are over are left out, whatever says so', () => {
    const past = T0 / 1_000 - 1;
    const { keys, codes, notCarried } = plan({
      tokens: [{ ...TOKEN, name: 'over', status: 3 }],
      redemptions: [
        { name: 'late', key: 'c1', status: 1, quota: 5, expired_time: past },
        { name: 'good', key: 'c2', status: 1, quota: 5, expired_time: past + 2 },
      ],
    });

    expect([keys.length, codes.map(({ name }) => name)]).toEqual([0, ['good']]);
    const why = 'it has expired';
    expect(notCarried).toEqual([
      { what: 'key over', why },
      { what: 'code late', why },
    ]);
  });

  it('of a channel name what has no counterpart here', () => {
    const { notCarried } = plan({
      channels: [{ ...CHANNEL, name: 'c', model_mapping: '{', param_override: '{"a":1}' }],
    });

    expect(notCarried).toEqual([
      { what: 'model_mapping of channel c', why: 'it is not a JSON object' },
      { what: 'param_override of channel c', why: 'there is no such setting here' },
    ]);
  });

  it('with a limit to no models are a disabled key, and a number is no name of an account', () => {
    const none = { ...TOKEN, name: 'none', model_limits_enabled: 1, model_limits: '' };
    const { keys, users, toDo } = plan({
      tokens: [none],
      users: [{ id: 1, username: '123', role: 1, group: 'default' }],
    });

    expect([keys[0]?.draft.enabled, users[0]?.username]).toEqual([false, 'user-123']);
    expect(toDo).toEqual(
      expect.arrayContaining([
        'Set the models of key none, and enable it: it had none.',
        'Tell "123" that the account is called "user-123" here.',
      ]),
    );
  });

  it('with the beginning of a key keep it', () => {
    const { keys } = plan({ tokens: [{ ...TOKEN, name: 'whole', key: 'sk-whole' }] });

    expect(keys[0]?.secret.keyHash).toBe(sha256('sk-whole'));
  });

  it('of a channel that new-api disabled itself, and of no other, are left to test', () => {
    const { toDo } = plan({
      channels: [
        { ...CHANNEL, name: 'by hand', status: 2 },
        { ...CHANNEL, name: 'by itself', status: 3 },
      ],
      users: [],
    });

    expect(toDo).toEqual(['Test and enable channel by itself: new-api had disabled it.']);
  });

  it("are Cohere's own by either of its names", () => {
    const { channels } = plan({
      channels: ['https://api.cohere.ai', 'https://api.cohere.com/', 'https://my.example.com'].map(
        (base_url, at) => ({ ...CHANNEL, name: `c${at}`, base_url }),
      ),
    });

    expect(channels.map(({ provider }) => provider)).toEqual(['cohere', 'cohere', 'cohere-v1']);
  });
});

it('a database that one-api wrote keeps the limits of its keys, and has no rerankers', () => {
  const plan = planOf('one-api.sql');
  const keys = keysOf(plan);

  expect(plan.users.map(({ username }) => username)).toEqual(['ann', 'bea']);
  expect(keys.models?.draft.policy?.models).toEqual(['rerank-v3.5', 'gpt-4o']);
  expect(keys.net?.draft.policy?.allowIps).toEqual(['10.0.0.0/8', '203.0.113.0/24']);
  expect(keys.net?.draft.policy).not.toHaveProperty('models');
  expect(plan.notCarried).toEqual([
    { what: 'channel Doubao', why: 'it is of one-api, which does not rerank' },
    expect.objectContaining({ what: 'root account root' }),
    { what: 'key of cut', why: 'its account is gone' },
  ]);
});

it('waits while a running new-api writes', async () => {
  const file = fileOf('new-api-2026.sql');
  const writer = spawn(process.execPath, ['--no-warnings', '-e', WRITER, file]);
  const ended = once(writer, 'exit');
  await once(writer.stdout, 'data');

  expect(readNewApi(file).tokens).toHaveLength(8);
  await ended;
});
