import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/assembly/open-store.js';
import { reportText } from '../../src/cli/elsewhere/carry.js';
import { serverOf } from '../../src/cli/elsewhere/litellm-providers.js';
import { addLitellmKeys } from '../../src/cli/elsewhere/litellm-keys.js';
import { carryOver } from '../../src/cli/elsewhere/carry.js';
import { planOfLitellm } from '../../src/cli/elsewhere/litellm.js';
import { emptyPlan, type Plan } from '../../src/cli/elsewhere/plan.js';
import { runCli } from '../../src/cli/program.js';
import type { Client } from '../../src/client/client.js';
import { GatewayError, type ErrorCode } from '../../src/core/errors.js';
import { loadConfig } from '../../src/config/load-config.js';
import { NO_PASSWORD } from '../../src/management/passwords.js';
import { hashRedemptionCode } from '../../src/management/redeem.js';
import { openDriver } from '../../src/store/sqlite/driver.js';
import type { Store } from '../../src/store/store.js';
import { createUser, sha256, T0 } from '../store/contract/harness.js';
import { createAccount } from '../support/accounts.js';
import { startGateway } from '../support/gateway.js';

const FIXTURES = join(import.meta.dirname, '../fixtures/elsewhere');
const CONFIG = join(FIXTURES, 'litellm.yaml');
let folder = '';
let env: Record<string, string> = {};

async function onStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(loadConfig({ env }).store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-elsewhere-'));
  env = { DATA_DIR: join(folder, 'data'), ENCRYPTION_KEY: 'the key of this house', HOME: folder };
  await onStore((store) => createUser(store, { username: 'root', role: 100, quota: 10_000_000 }));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(args: readonly string[], more: Record<string, string> = {}) {
  const [out, error]: [string[], string[]] = [[], []];
  const code = await runCli(args, {
    env: { ...env, ...more },
    ...{ user: 'alice', now: () => T0, ask: undefined, readInput: () => Promise.resolve('') },
    writeOut: (text) => out.push(text),
    writeError: (text) => error.push(text),
  });
  return { code, out: out.join(''), error: error.join('') };
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const KEY = {
  token: sha256('sk-the-key-of-a-caller'),
  ...{ key_name: 'sk-...ller', key_alias: 'search-team', spend: 1.5, max_budget: 4 },
  ...{ expires: null, models: ['jina'], rpm_limit: 30, blocked: null, metadata: {} },
};

it('an import ends when the store is away, and notes what is refused', async () => {
  const channel = { name: 'eu', provider: 'local', models: { m: 'm' } };
  const carried = (code: ErrorCode) => {
    const call = (id: string): Promise<unknown> =>
      id === 'createChannel'
        ? Promise.reject(new GatewayError(code, 'said'))
        : Promise.resolve({ items: [], total: 0 });
    const plan = { ...emptyPlan(), channels: [channel] };
    return carryOver({ call } as unknown as Client, plan, { dryRun: false, owner: 1 });
  };

  await expect(carried('store_unavailable')).rejects.toThrow('said');
  expect((await carried('conflict')).not_carried).toEqual([{ what: 'channel eu', why: 'said' }]);
});

describe('import litellm', () => {
  it.each([
    [[1, 2], []],
    [[2], ['These are 1 of 2 pages of keys: give --keys the files of all pages.']],
  ])('asks for pages of keys that it was not given: pages %p', (given, toDo) => {
    const plan = emptyPlan();
    const pages = given.map((page) => ({ keys: [KEY], current_page: page, total_pages: 2 }));

    addLitellmKeys(plan, pages, T0);

    expect(plan.keys).toHaveLength(given.length);
    expect(plan.toDo).toEqual(toDo);
  });

  it('makes channels and keys once, and names what it left', async () => {
    const keys = file('keys.json', {
      keys: [KEY],
      total_count: 1,
      current_page: 1,
      total_pages: 1,
    });
    const more = { COHERE_API_KEY: 'co-env' };
    const command = ['import', 'litellm', CONFIG, '--keys', keys, '--json'];

    const dry = await run([...command, '--dry-run'], more);
    const before = await onStore((store) => store.loadChannels());
    const first = await run(command, more);
    const again = await run(command, more);

    expect(before.channels).toEqual([]);
    const names = ['rerank-english-v3.0', 'rerank-english-v3.0-2', 'local', 'jina', 'bedrock'];
    const carried = { channels: names, accounts: [], keys: ['search-team'], codes: [] };
    expect(JSON.parse(dry.out)).toMatchObject({ dry_run: true, carried });
    expect(first.error).toBe('');
    expect(JSON.parse(first.out)).toMatchObject({ carried, already_there: { channels: [] } });
    expect(JSON.parse(again.out)).toMatchObject({
      carried: { channels: [], keys: [] },
      already_there: carried,
    });
    const { not_carried: left, to_do: toDo } = JSON.parse(first.out) as {
      not_carried: { what: string }[];
      to_do: string[];
    };
    expect(left.map(({ what }) => what)).toEqual([
      'model voyage (voyage/rerank-2)',
      'model gpt-4o (openai/gpt-4o)',
      'model embed (cohere/embed-english-v3.0)',
      'router_settings.routing_strategy',
      'litellm_settings.drop_params',
      'general_settings.master_key',
    ]);
    expect(toDo.join('\n')).toMatch(/Set UNSET_KEY[^]*fallbacks: \[local\][^]*rerank-v3.5/);
    await onStore(async (store) => {
      const { channels } = await store.loadChannels();
      const seen = channels.map(({ provider, baseUrl, models, credentials }) => [
        provider,
        baseUrl,
        Object.values(models)[0],
        credentials.apiKey?.reveal(),
      ]);
      expect(seen).toEqual([
        ['cohere', undefined, 'rerank-english-v3.0', 'co-env'],
        ['cohere', 'https://eu.example.com', 'rerank-english-v3.0', 'sk-second'],
        ['vllm', 'http://10.0.0.5:8000', 'BAAI/bge-reranker-v2-m3', undefined],
        ['jina', undefined, 'jina-reranker-v2-base-multilingual', 'jina-from-the-file'],
        ['bedrock', undefined, expect.stringContaining('arn:aws'), undefined],
      ]);
      expect(channels[0]).toMatchObject({ requestsPerMinute: 60, priority: -2 });
      expect(channels[1]).toMatchObject({ weight: 3, tokensPerMinute: 20_000 });
      expect(channels[2]).toMatchObject({ timeoutMs: 2_500 });
      const found = await store.findToken(sha256('sk-the-key-of-a-caller'));
      expect(found?.token).toMatchObject({
        ...{ name: 'search-team', keyHint: 'sk-…ller', enabled: true },
        ...{ unlimitedQuota: false, remainQuota: 1_250_000 },
        policy: { models: ['jina'], rateLimit: 30 },
      });
    });
  });

  it('says in words what it did, and that a file is missing', async () => {
    const { out } = await run(['import', 'litellm', CONFIG, '--dry-run']);
    const missing = await run(['import', 'litellm', join(folder, 'no.yaml')]);

    expect(out).toContain('4 channels would be carried over: rerank-english-v3.0, local');
    expect(out).toContain('- model gpt-4o (openai/gpt-4o): it does not look like a reranker');
    expect(out).toContain('Nothing was written: this was a dry run.');
    expect(missing).toMatchObject({ code: 1, error: expect.stringContaining('There is no file') });
  });
});

describe('keys of LiteLLM', () => {
  const planned = (key: object): Plan => {
    const plan = emptyPlan();
    addLitellmKeys(plan, [[{ ...KEY, ...key }]], T0);
    return plan;
  };

  it.each([
    ['no budget', { max_budget: null }, { unlimitedQuota: true, policy: expect.anything() }],
    ['a spent budget', { spend: 9 }, { unlimitedQuota: false, remainQuota: 0 }],
    [
      'a budget that renews',
      { budget_duration: '30d' },
      { unlimitedQuota: true, policy: { budget: 2_000_000, budgetPeriod: 'month' } },
    ],
    [
      'another period',
      { budget_duration: '3h' },
      { unlimitedQuota: false, remainQuota: 1_250_000 },
    ],
    [
      'a renewing budget of nothing',
      { max_budget: 0, budget_duration: '1d' },
      { unlimitedQuota: false, remainQuota: 0 },
    ],
    ['a blocked key', { blocked: true }, { enabled: false }],
    ['the models of a team', { models: ['all-team-models'] }, { enabled: false }],
    [
      'every model',
      { models: ['all-proxy-models'] },
      { policy: expect.not.objectContaining({ models: expect.anything() }) },
    ],
  ])('%s', (_, key, draft) => {
    expect(planned(key).keys[0]?.draft).toMatchObject(draft);
  });

  it('end by UTC where they say no zone, wherever the machine is', () => {
    const before = process.env.TZ;
    process.env.TZ = 'Asia/Tokyo';
    try {
      const [key] = planned({ expires: '2999-01-01T00:00:00' }).keys;
      expect(key?.draft.expiredTime).toBe(32_472_144_000);
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it('lose limits that keys do not have here, and have a name without one', () => {
    const { keys, notCarried } = planned({ key_alias: null, tpm_limit: 500, team_id: 't' });

    expect(keys[0]?.draft.name).toBe('sk-...ller');
    expect(notCarried.map(({ what }) => what)).toEqual([
      'tpm_limit of key sk-...ller',
      'team_id of key sk-...ller',
    ]);
  });

  it.each([
    ['an expired key', { expires: '2001-01-01T00:00:00Z' }],
    ['a key without a hash', { token: 'sk-plain' }],
  ])('leaves out %s', (_, key) => {
    const plan = planned(key);
    expect([plan.keys, plan.notCarried.length]).toEqual([[], 1]);
  });
});

describe('deployments of LiteLLM', () => {
  it.each([
    ['infinity/bge-reranker', 'http://i:7997/v1/', 'infinity', 'http://i:7997/v1'],
    ['huggingface/my-reranker', 'http://tei:80/rerank', 'tei', 'http://tei:80'],
    ['azure_ai/rerank', 'https://a.eastus.models.ai.azure.com', 'azure-serverless-v1', undefined],
    ['azure_ai/rerank', 'https://a.services.ai.azure.com/v1', 'azure-foundry', undefined],
    ['nvidia_nim/nvidia/rerank-1b', undefined, 'nvidia-retrieval', undefined],
    ['nvidia_nim/ranking/nvidia/rerank-1b', 'http://n:8000/v1', 'nim', 'http://n:8000'],
    ['deepinfra/Qwen/Reranker', 'https://api.deepinfra.com/v1/openai', 'deepinfra', undefined],
  ])('%s at %s is a channel of %s', (model, api_base, provider, url) => {
    const entry = { model_name: 'm', litellm_params: { model, api_base, api_key: 'k' } };
    const [channel] = planOfLitellm({ model_list: [entry] }, {}).channels;
    expect(channel).toMatchObject({ provider, ...(url === undefined ? {} : { base_url: url }) });
  });

  it.each([
    ['cohere/rerank-*', 'a wildcard names no model'],
    ['nobody/rerank-1', 'LiteLLM\'s provider "nobody" has no counterpart here that is known'],
    ['bge-reranker', 'LiteLLM\'s provider "bge-reranker" has no counterpart here that is known'],
  ])('%s is left out: %s', (model, why) => {
    const entry = { model_name: 'm', litellm_params: { model, api_key: 'k' } };
    const { channels, notCarried } = planOfLitellm({ model_list: [entry] }, {});
    expect([channels, notCarried]).toEqual([[], [{ what: `model m (${model})`, why }]]);
  });

  it("are Cohere's where the name is bare, and keep tags and aliases", () => {
    const params = { model: 'rerank-v3.5', api_key: 'k', tags: ['eu', 'fast'] };
    const { channels, toDo } = planOfLitellm(
      {
        model_list: [{ model_name: 'm', litellm_params: params }],
        router_settings: { model_group_alias: { ours: 'm', other: 'gone' } },
      },
      {},
    );

    expect(channels).toMatchObject([{ provider: 'cohere', models: { m: 'rerank-v3.5' } }]);
    expect(channels[0]?.tag).toBe('eu+fast');
    expect(toDo).toEqual([
      'Put the alias ours into the configuration: callers: {aliases: {ours: m}}.',
    ]);
  });

  it('may name their provider beside the model, and their limit beside its parameters', () => {
    const params = { custom_llm_provider: 'jina_ai', api_key: 'k' };
    const model_list = ['jina_ai/jina-reranker-m0', 'jina-reranker-m0'].map((model) => ({
      ...{ model_name: 'm', rpm: 7, litellm_params: { ...params, model } },
    }));

    const { channels } = planOfLitellm({ model_list }, {});

    const expected = { models: { m: 'jina-reranker-m0' }, requests_per_minute: 7 };
    expect(channels).toMatchObject([expected, expected]);
  });

  it.each([
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'https://dashscope.aliyuncs.com'],
    ['https://api.fireworks.ai/inference/v1/rerank', 'https://api.fireworks.ai'],
    ['https://x.services.ai.azure.com/providers/cohere/v2', 'https://x.services.ai.azure.com'],
  ])('%s is the server %s', (base, server) => {
    expect(serverOf(base)).toBe(server);
  });
});

it('a report shows the first names, and how many more there are', () => {
  const none = { channels: [], accounts: [], keys: [], codes: [] };
  const carried = { ...none, keys: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] };
  const report = { dry_run: false, carried, already_there: none, not_carried: [], to_do: [] };

  expect(reportText(report)).toBe('7 keys carried over: a, b, c, d, e and 2 more');
});

describe('import new-api', () => {
  beforeEach(() => {
    const database = openDriver(join(folder, 'one-api.db'));
    database.exec(readFileSync(join(FIXTURES, 'new-api.sql'), 'utf8'));
    database.close();
  });

  it('makes channels, accounts, keys and codes once', async () => {
    const command = ['import', 'new-api', join(folder, 'one-api.db'), '--json'];

    const dry = await run([...command, '--dry-run']);
    const first = await run(command);
    const again = await run(command);

    const carried = {
      channels: ['Cohere', 'SiliconFlow'],
      accounts: ['carol', 'dave'],
      keys: ['of root', 'prod'],
      codes: ['spring'],
    };
    expect(first.error).toBe('');
    expect(JSON.parse(dry.out)).toMatchObject({ carried });
    expect(JSON.parse(first.out)).toMatchObject({ carried });
    expect(JSON.parse(again.out)).toMatchObject({ already_there: carried });
    const { not_carried: left } = JSON.parse(first.out) as { not_carried: { what: string }[] };
    expect(left.map(({ what }) => what)).toEqual([
      'channel OpenAI',
      'channel Other rerank',
      'command-r of channel Cohere',
      'proxy of channel SiliconFlow',
      '1 key of channel SiliconFlow',
      'root account root',
      'key old',
      'code spring',
    ]);
    await onStore(async (store) => {
      const { channels } = await store.loadChannels();
      expect(channels).toMatchObject([
        { provider: 'cohere', tag: 'default+vip', priority: 5, weight: 1, status: 1 },
        { provider: 'siliconflow', tag: 'vip', weight: 4, status: 2 },
      ]);
      expect(channels[0]?.models).toEqual({ 'rerank-v3.5': 'rerank-v3.5-eu' });
      expect(channels[1]?.credentials.apiKey?.reveal()).toBe('sf-1\nsf-3');
      const carol = await store.findUser('carol', T0);
      // Hashing passwords that nobody has would take minutes for a thousand accounts.
      expect(await store.getPasswordHash(carol?.id ?? 0)).toBe(NO_PASSWORD);
      expect(carol).toMatchObject({ quota: 750_000, email: 'carol@example.com', role: 1 });
      expect(await store.findUser('dave', T0)).toMatchObject({ role: 10, enabled: false });
      const key = 'sk-carolcarolcarolcarolcarolcarolcarolcarolcarolcar';
      expect((await store.findToken(sha256(key)))?.token).toMatchObject({
        ...{ userId: carol?.id, remainQuota: 500_000, unlimitedQuota: false },
        policy: {
          models: ['rerank-v3.5'],
          allowIps: ['10.0.0.0/8', '192.0.2.7'],
          tags: ['default+vip', 'vip'],
        },
      });
      const of = await store.findToken(sha256(`sk-${'root'.repeat(12)}`));
      expect(of?.token.policy.tags).toEqual(['default+vip']);
      const code = hashRedemptionCode('0123456789abcdef0123456789abcdef');
      expect(await store.redeem(code, carol?.id ?? 0, T0)).toMatchObject({ quota: 1_000_000 });
    });
  });

  it('gives keys of somebody whose account could not be made to nobody else', async () => {
    const database = openDriver(join(folder, 'one-api.db'));
    database.exec("UPDATE users SET username = 'boss' WHERE role = 100");
    database.exec("UPDATE users SET username = 'root' WHERE username = 'carol'");
    database.close();

    const { out } = await run(['import', 'new-api', join(folder, 'one-api.db'), '--json']);

    const report = JSON.parse(out) as {
      carried: { keys: string[] };
      not_carried: { what: string }[];
    };
    expect(report.carried.keys).toEqual(['of root']);
    expect(report.not_carried.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['account root', 'key prod']),
    );
  });

  it('carries no secrets over HTTP, where an admin could plant them', async () => {
    const gateway = await startGateway({});
    try {
      const { token } = await createAccount(gateway.store, { role: 100, username: 'root' });
      const there = ['--url', gateway.url, '--access-token', 'env:TOKEN', '--json'];
      const command = ['import', 'new-api', join(folder, 'one-api.db'), ...there];

      const { code, out, error } = await run(command, { TOKEN: token });

      expect([code, error]).toEqual([0, '']);
      const report = JSON.parse(out) as { not_carried: object[] };
      const accounts = ['carol', 'dave'];
      expect(report).toMatchObject({
        carried: { channels: ['Cohere', 'SiliconFlow'], accounts, keys: [], codes: [] },
      });
      expect(report.not_carried).toContainEqual({
        what: '2 keys and 1 code',
        why: expect.stringContaining('only a command on the store itself can carry secrets over'),
      });
      expect((await gateway.store.findUser('carol', T0))?.quota).toBe(750_000);
      expect((await gateway.store.listTokens({ offset: 0, limit: 1 }, T0)).total).toBe(0);
    } finally {
      await gateway.close();
    }
  });

  it('refuses a database of something else, and changes nothing in it', async () => {
    const other = join(folder, 'other.db');
    openDriver(other).close();

    const { code, error } = await run(['import', 'new-api', other]);

    expect([code, error]).toEqual([1, expect.stringContaining('no table "channels"')]);
  });
});

it('an address in a variable that is not set is reported by the name of the variable', () => {
  const params = { model: 'cohere/rerank-v3.5', api_base: 'os.environ/UNSET_BASE', api_key: 'k' };
  const entry = { model_name: 'x', litellm_params: params, model_info: { mode: 'rerank' } };
  const { channels, notCarried, toDo } = planOfLitellm({ model_list: [entry] }, {});

  expect(channels).toEqual([]);
  expect(notCarried).toEqual([
    { what: 'model x (cohere/rerank-v3.5)', why: 'UNSET_BASE is not set' },
  ]);
  expect(toDo.join()).toContain('Set UNSET_BASE');
});
