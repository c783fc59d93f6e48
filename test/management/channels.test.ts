import { describe, expect, it } from '@jest/globals';
import { makeRoute } from '../../src/gateway/channels/route.js';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { returnDuty } from '../../src/core/outage.js';
import { Secret } from '../../src/core/secret.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  deleteChannels,
  editChannels,
  switchChannels,
  updateChannel,
} from '../../src/management/channels.js';
import { listUpstreamModels as listModels } from '../../src/management/channel-trials.js';
import { getChannel, listChannels } from '../../src/management/channel-views.js';
import type { ChannelDraft, ChannelEdit } from '../../src/management/channel-edits.js';
import { disableChannel } from '../../src/management/outages.js';
import type { DeclaredChannel, Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { report } from '../support/nodes.js';
import { freshManagement, NOW, OPERATOR } from '../support/management.js';

const UPSTREAM_KEY = 'the key of the upstream';

function draft(given: Partial<ChannelDraft> = {}): ChannelDraft {
  return {
    name: 'primary',
    provider: 'cohere',
    models: { 'rerank-v3.5': 'rerank-v3.5' },
    credentials: { apiKey: new Secret(UPSTREAM_KEY) },
    ...given,
  };
}

async function declare(store: Store, given: Partial<DeclaredChannel> = {}): Promise<number> {
  await store.declareChannels([
    {
      name: 'declared',
      provider: 'cohere',
      baseUrl: undefined,
      models: { 'rerank-v3.5': 'rerank-v3.5' },
      tag: undefined,
      ...CHANNEL_DEFAULTS,
      status: 1,
      settings: {},
      ...given,
    },
  ]);
  const { channels } = await store.loadChannels();
  return channels.find(({ origin }) => origin === 'config')?.id ?? 0;
}

describe('channels', () => {
  const management = freshManagement();

  it('are created with defaults, take traffic, and never show their credentials', async () => {
    const { deps, store } = management;

    const { channel, version } = await createChannel(deps, draft(), OPERATOR);

    expect(channel).toMatchObject({
      name: 'primary',
      priority: 0,
      weight: 1,
      status: 1,
      origin: 'store',
      credentialNames: ['apiKey'],
      state: { live: true },
    });
    expect(version).toBe(await store.channelsVersion());
    expect(channel).not.toHaveProperty('credentials');
    expect(JSON.stringify(await management.audited())).not.toContain(UPSTREAM_KEY);
    const [kept] = (await store.loadChannels()).channels;
    expect(kept?.credentials.apiKey?.reveal()).toBe(UPSTREAM_KEY);
  });

  it('show every pause that a gateway reports, as long as it lasts', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);
    const { id } = channel;
    const of = { id, name: channel.name, why: 'timeout', sinceMs: NOW } as const;
    await report(store, 'a', 0, NOW, 60_000);
    await store.describeNode(
      {
        ...{ nodeId: 'a', name: 'gateway-a', release: '1', pid: 1, startedMs: NOW, atMs: NOW },
        ...{ inFlight: 0, maxInFlight: 1, pendingSettlements: 0, faults: 0 },
        channels: [
          { ...of, state: 'open', untilMs: NOW - 1 },
          { ...of, key: '…1234', state: 'cooling', untilMs: NOW + 1_000 },
          { ...of, key: '…5678', state: 'cooling', untilMs: NOW - 1 },
        ],
      },
      60_000,
    );

    expect((await getChannel(deps, id)).sighted.pauses).toMatchObject([
      { node: 'gateway-a', state: 'open', reason: 'timeout' },
      { node: 'gateway-a', key: '…1234', state: 'cooling' },
    ]);
  });

  it('are audited one by one when many are edited at once', async () => {
    const { deps } = management;
    const one = await createChannel(deps, draft({ tag: 'eu' }), OPERATOR);
    const two = await createChannel(deps, draft({ name: 'second' }), OPERATOR);

    await editChannels(deps, [one.channel.id, two.channel.id], { tag: 'us' }, OPERATOR);

    await expect(editChannels(deps, [99], { tag: 'us' }, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
    });
    const edits = (await management.audited()).filter(({ action }) => action === 'channel.update');
    expect(edits).toMatchObject([
      { name: 'primary', detail: { tag: 'us' } },
      { name: 'second', detail: { tag: 'us' } },
    ]);
  });

  it('says which provider was probably meant', async () => {
    const { deps } = management;

    await expect(createChannel(deps, draft({ provider: 'coher' }), OPERATOR)).rejects.toThrow(
      /^"coher" is not a provider; did you mean cohere\?$/,
    );
  });

  it.each<[string, string, Partial<ChannelDraft>]>([
    ['an unknown provider', 'provider', { provider: 'nobody' }],
    ['no models', 'models', { models: {} }],
    ['a model without a name', 'models', { models: { '': 'rerank' } }],
    [
      'a key that is the name of a variable',
      'credentials',
      { credentials: { apiKey: new Secret('$COHERE_API_KEY') } },
    ],
    [
      'a key with the word that stands before it in the header',
      'credentials',
      { credentials: { apiKey: new Secret(`Bearer ${UPSTREAM_KEY}`) } },
    ],
    ['no credentials where the provider needs them', 'credentials', { credentials: {} }],
    [
      'a credential of another provider',
      'credentials',
      {
        credentials: { apiKey: new Secret('a'), secretKey: new Secret('b') },
      },
    ],
    ['a setting of another provider', 'settings', { settings: { region: 'eu' } }],
    [
      'a setting of another provider, and no credentials',
      'settings',
      { settings: { region: 'eu' }, credentials: {} },
    ],
    ['an address that is not a URL', 'base_url', { baseUrl: 'rerank.example.com' }],
    ['an address of another scheme', 'base_url', { baseUrl: 'file:///etc/passwd' }],
    ['secrets in the address', 'base_url', { baseUrl: 'https://a:b@rerank.example.com' }],
    ['a query in the address', 'base_url', { baseUrl: 'https://rerank.example.com/?a=1' }],
    [
      'an address for a provider inside the process',
      'base_url',
      {
        provider: 'local',
        credentials: {},
        baseUrl: 'https://rerank.example.com',
      },
    ],
    ['no address where the provider has none', 'base_url', { provider: 'tei', credentials: {} }],
    ['a negative weight', 'weight', { weight: -1 }],
    ['half a priority', 'priority', { priority: 0.5 }],
    ['no time at all', 'timeout_ms', { timeoutMs: 0 }],
    ['a negative bound', 'max_concurrency', { maxConcurrency: -1 }],
    ['an empty tag', 'tag', { tag: ' ' }],
  ])('are refused with %s', async (_, param, given) => {
    const { deps, store } = management;

    await expect(createChannel(deps, draft(given), OPERATOR)).rejects.toMatchObject({
      code: 'invalid_request',
      param,
    });

    expect((await store.loadChannels()).channels).toHaveLength(0);
  });

  it('may be private only if that is allowed', async () => {
    const inside = draft({ baseUrl: 'http://127.0.0.1:9000/' });
    const deps = { ...management.deps, allowPrivateUpstreams: false };

    await expect(createChannel(deps, inside, OPERATOR)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'base_url',
    });
    await expect(
      createChannel(deps, draft({ baseUrl: 'http://[::ffff:10.0.0.1]/' }), OPERATOR),
    ).rejects.toMatchObject({ param: 'base_url' });
    const { channel } = await createChannel(management.deps, inside, OPERATOR);

    expect(channel.baseUrl).toBe('http://127.0.0.1:9000');
  });

  it.each([
    ['http://127.0.0.1/token', 'is private, which gateway.allow_private_upstreams: false forbids'],
    ['http://localhost:81/token', 'is private'],
    ['http://169.254.169.254/token', 'is link-local or belongs to a cloud metadata service'],
    [
      'http://metadata.google.internal./token',
      'is link-local or belongs to a cloud metadata service',
    ],
    ['ftp://login.example.com', 'must be a URL such as https://login.example.com/token'],
  ])('get their tokens inside only where that is allowed: %s', async (tokenUrl, why) => {
    const deps = { ...management.deps, allowPrivateUpstreams: false };
    const entra = draft({
      ...{ provider: 'azure-foundry', baseUrl: 'https://rerank.example.com' },
      settings: { tenant: 't', clientId: 'c', tokenUrl },
      credentials: { clientSecret: new Secret('s') },
    });

    await expect(createChannel(deps, entra, OPERATOR)).rejects.toMatchObject({
      param: 'settings',
      message: expect.stringContaining(`settings.token_url ${why}`) as unknown,
    });
  });

  it('are warned about a forbidden address inside a key file', async () => {
    const { deps } = management;
    const key = {
      ...{ type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' },
      token_uri: 'http://100.100.100.200/token',
    };
    const google = draft({
      ...{ provider: 'google', settings: { project: 'p' } },
      credentials: { credentialsJson: new Secret(JSON.stringify(key)) },
    });

    await expect(createChannel(deps, google, OPERATOR)).rejects.toMatchObject({
      param: 'credentials',
      message: expect.stringContaining(
        'credentials.credentials_json names an address that is link-local',
      ) as unknown,
    });
  });

  it('have names of their own', async () => {
    const { deps } = management;
    await createChannel(deps, draft(), OPERATOR);
    const { channel } = await createChannel(deps, draft({ name: 'second' }), OPERATOR);

    await expect(createChannel(deps, draft(), OPERATOR)).rejects.toMatchObject({
      code: 'conflict',
      param: 'name',
    });
    await expect(
      updateChannel(deps, channel.id, { name: 'primary' }, OPERATOR),
    ).rejects.toMatchObject({ code: 'conflict', param: 'name' });
  });

  it('change by merging, and keep the credentials that are not named', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(
      deps,
      draft({ tag: 'eu', baseUrl: 'https://eu.example.com' }),
      OPERATOR,
    );

    const moved = await updateChannel(
      deps,
      channel.id,
      { priority: 5, tag: undefined, baseUrl: 'https://eu.example.com/' },
      OPERATOR,
    );

    expect(moved.channel).toEqual({ ...channel, priority: 5, tag: undefined });
    const [kept] = (await store.loadChannels()).channels;
    expect(kept?.credentials.apiKey?.reveal()).toBe(UPSTREAM_KEY);
  });

  it('rotate a credential, and cannot lose one that is needed', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    await updateChannel(
      deps,
      channel.id,
      { credentials: { apiKey: new Secret('another key') } },
      OPERATOR,
    );
    await expect(
      updateChannel(deps, channel.id, { credentials: { apiKey: null } }, OPERATOR),
    ).rejects.toMatchObject({ code: 'invalid_request', param: 'credentials' });

    const [kept] = (await store.loadChannels()).channels;
    expect(kept?.credentials.apiKey?.reveal()).toBe('another key');
    expect(JSON.stringify(await management.audited())).not.toContain('another key');
  });

  it('move to a provider that takes none without the settings and credentials of the old one', async () => {
    const { deps } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    const moved = await updateChannel(deps, channel.id, { provider: 'local' }, OPERATOR);

    expect(moved.channel).toMatchObject({ provider: 'local', credentialNames: [] });
  });

  it('move without the settings of the old provider, though the new one has some of the same name', async () => {
    const { deps } = management;
    const baseUrl = 'https://eu.example.com';
    const settings = { maxDocuments: 7 };
    const server = { provider: 'tei', baseUrl, credentials: {}, settings };
    const { channel } = await createChannel(deps, draft(server), OPERATOR);

    const moved = await updateChannel(deps, channel.id, { provider: 'vllm' }, OPERATOR);

    expect(moved.channel).toMatchObject({ provider: 'vllm', settings: {} });
  });

  it.each<[string, ChannelEdit]>([
    ['another address', { baseUrl: 'https://elsewhere.example.com' }],
    ['its provider’s own address', { baseUrl: undefined }],
    ['another provider', { provider: 'jina', baseUrl: 'https://elsewhere.example.com' }],
    ['another path', { settings: { path: '/elsewhere' } }],
    ['another header for the key', { settings: { authorization_header: 'x-other' } }],
    ['a header without its word', { settings: { authorizationScheme: '' } }],
  ])('ask for the credentials anew when they get %s', async (_what, edit) => {
    const { deps, store } = management;
    const { channel } = await createChannel(
      deps,
      draft({ provider: 'openai-compatible', baseUrl: 'https://eu.example.com' }),
      OPERATOR,
    );
    const wanted: ChannelEdit = { baseUrl: 'https://eu.example.com', ...edit };

    await expect(updateChannel(deps, channel.id, edit, OPERATOR)).rejects.toMatchObject({
      code: 'invalid_request',
      param: expect.stringMatching(/^(credentials|base_url)$/) as unknown,
    });

    const [kept] = (await store.loadChannels()).channels;
    expect(kept?.credentials.apiKey?.reveal()).toBe(UPSTREAM_KEY);
    expect(kept).toMatchObject({ baseUrl: 'https://eu.example.com', settings: {} });
    if (wanted.baseUrl === undefined) return;
    const credentials = { apiKey: new Secret('given again') };
    await updateChannel(deps, channel.id, { ...wanted, credentials }, OPERATOR);
    const [moved] = (await store.loadChannels()).channels;
    expect(moved?.credentials.apiKey?.reveal()).toBe('given again');
  });

  it('keep their credentials when what changes cannot send them elsewhere', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(
      deps,
      draft({ provider: 'nim', baseUrl: 'https://eu.example.com' }),
      OPERATOR,
    );

    await updateChannel(deps, channel.id, { settings: { maxDocuments: 7 }, weight: 3 }, OPERATOR);

    const [kept] = (await store.loadChannels()).channels;
    expect(kept?.credentials.apiKey?.reveal()).toBe(UPSTREAM_KEY);
    expect(kept).toMatchObject({ settings: { maxDocuments: 7 }, weight: 3 });
  });

  it('never send credentials to an address that was changed while they were stored', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(
      deps,
      draft({ provider: 'tei', baseUrl: 'https://eu.example.com', credentials: {} }),
      OPERATOR,
    );
    const credentials = { apiKey: new Secret(UPSTREAM_KEY) };
    const during = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          if (name === 'updateChannel') await store.updateChannel(channel.id, { credentials });
          return Reflect.apply(value, target, args) as unknown;
        };
      },
    });

    await updateChannel(
      { ...deps, store: during },
      channel.id,
      { baseUrl: 'https://elsewhere.example.com' },
      OPERATOR,
    );

    const [moved] = (await store.loadChannels()).channels;
    expect(moved).toMatchObject({ baseUrl: 'https://elsewhere.example.com', credentials: {} });
  });

  it('of the configuration change their status alone', async () => {
    const { deps, store } = management;
    const id = await declare(store);
    const edits: ChannelEdit[] = [{ priority: 5 }, { tag: 'eu' }, { status: 2, name: 'other' }];

    for (const edit of edits) {
      await expect(updateChannel(deps, id, edit, OPERATOR)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('configuration') as unknown,
      });
    }
    await expect(deleteChannel(deps, id, OPERATOR)).rejects.toMatchObject({ code: 'conflict' });
    const { channel } = await updateChannel(deps, id, { status: 2 }, OPERATOR);

    expect(channel).toMatchObject({
      status: 2,
      origin: 'config',
      state: { live: false, because: 'disabled' },
    });
  });

  it('are copied without their credentials, under a free name', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft({ tag: 'eu', priority: 3 }), OPERATOR);

    const first = await copyChannel(deps, channel.id, {}, OPERATOR);
    const second = await copyChannel(
      deps,
      channel.id,
      { status: 2, credentials: { api_key: new Secret('its own') } },
      OPERATOR,
    );

    expect(first.channel).toEqual({
      ...channel,
      id: first.channel.id,
      name: 'primary-copy',
      credentialNames: [],
      keyCount: 0,
      state: {
        live: false,
        because: 'unusable',
        reason: expect.stringContaining('credentials.api_key') as unknown,
      },
    });
    expect(second.channel).toMatchObject({ name: 'primary-copy-2', status: 2 });
    const { channels } = await store.loadChannels();
    expect(channels.map(({ credentials }) => credentials.apiKey?.reveal())).toEqual([
      UPSTREAM_KEY,
      undefined,
      'its own',
    ]);
  });

  it('that the gateway has disabled are copied as if they worked, and switched on without the duty to try them', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);
    const outage = { reason: 'credentials_refused', message: 'invalid key', sinceMs: NOW } as const;
    await store.updateChannels([{ id: channel.id, change: { status: 3, outage } }]);
    const duty = returnDuty(channel.id, outage);
    await store.endDuty(duty, '2', NOW, 60_000);

    const copied = await copyChannel(deps, channel.id, {}, OPERATOR);
    const switched = await switchChannels(deps, [channel.id], true, OPERATOR);

    const { channels } = await store.loadChannels();
    expect(channels.map(({ id, status, outage }) => [id, status, outage])).toEqual([
      [channel.id, 1, undefined],
      [copied.channel.id, 1, undefined],
    ]);
    expect(switched).toMatchObject({ ids: [channel.id], autoDisabled: [channel.id] });
    expect(await store.readDuty(duty)).toBeUndefined();
  });

  it('are not disabled for what an earlier key was refused for, even if the new one comes at the last moment', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);
    const [known] = (await store.loadChannels()).channels;
    const outage = { reason: 'credentials_refused', message: 'invalid key', sinceMs: NOW } as const;
    const mended: typeof store = {
      ...store,
      updateChannel: async (id, change, when) => {
        await store.updateChannel(id, { credentials: { apiKey: new Secret('a new key') } });
        return store.updateChannel(id, change, when);
      },
    };
    if (known === undefined) throw new Error('the channel is there');

    expect(await disableChannel({ ...deps, store: mended }, known, outage)).toBe(false);
    expect(await getChannel(deps, channel.id)).toMatchObject({ status: 1 });
    const [present] = (await store.loadChannels()).channels;
    expect(await disableChannel(deps, present ?? known, outage)).toBe(true);
  });

  it('that the gateway has disabled are out of order no more once somebody switches them', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);
    const outage = { reason: 'credentials_refused', message: 'invalid key', sinceMs: NOW } as const;
    await store.updateChannels([{ id: channel.id, change: { status: 3, outage } }]);

    await updateChannel(deps, channel.id, { status: 2 }, OPERATOR);

    const [stored] = (await store.loadChannels()).channels;
    expect(stored).toMatchObject({ status: 2, outage: undefined });
  });

  it('of the configuration are copied without the credentials that are there alone', async () => {
    const { deps } = management;
    const id = await declare(management.store);

    const { channel } = await copyChannel(deps, id, {}, OPERATOR);

    expect(channel).toMatchObject({ origin: 'store', credentialNames: [], state: { live: false } });
  });

  describe('with settings that may hold secrets', () => {
    const CONSTANTS = '{"token":"hush","truncate":true}';
    const configurable = (given: Partial<ChannelDraft> = {}): ChannelDraft =>
      draft({
        provider: 'openai-compatible',
        baseUrl: 'https://rerank.example.com',
        settings: { constants: CONSTANTS, topNKey: 'limit' },
        ...given,
      });

    it('keep and show them as credentials, and use them as settings', async () => {
      const { deps, store } = management;

      const { channel } = await createChannel(deps, configurable(), OPERATOR);

      expect(channel.settings).toEqual({ topNKey: 'limit' });
      expect(channel.credentialNames).toEqual(['apiKey', 'constants']);
      const [stored] = (await store.loadChannels()).channels;
      expect(stored?.settings).toEqual({ topNKey: 'limit' });
      expect(stored?.credentials.constants?.reveal()).toBe(CONSTANTS);
      expect(JSON.stringify(await management.audited())).not.toContain('hush');
      const made = stored === undefined ? undefined : makeRoute(stored, new Map(), new Map());
      expect(made).toMatchObject({
        kind: 'route',
        route: { endpoint: { settings: { constants: CONSTANTS, topNKey: 'limit' } } },
      });
      expect(Object.keys(made?.kind === 'route' ? made.route.endpoint.credentials : {})).toEqual([
        'apiKey',
      ]);
    });

    it('change and lose them under either name', async () => {
      const { deps, store } = management;
      const { channel } = await createChannel(deps, configurable(), OPERATOR);
      const constants = async (): Promise<string | undefined> =>
        (await store.loadChannels()).channels[0]?.credentials.constants?.reveal();

      await updateChannel(deps, channel.id, { settings: { constants: '{"a":1}' } }, OPERATOR);
      expect(await constants()).toBe('{"a":1}');
      await updateChannel(
        deps,
        channel.id,
        { credentials: { constants: new Secret('{"a":2}') } },
        OPERATOR,
      );
      expect(await constants()).toBe('{"a":2}');
      const { channel: last } = await updateChannel(
        deps,
        channel.id,
        { settings: { constants: '' } },
        OPERATOR,
      );

      expect(await constants()).toBeUndefined();
      expect(last.credentialNames).toEqual(['apiKey']);
    });

    it('do not show those of older releases, and seal them at the next change', async () => {
      const { deps, store } = management;
      const { channel } = await createChannel(deps, configurable(), OPERATOR);
      await store.updateChannel(channel.id, {
        settings: { constants: CONSTANTS },
        credentials: { apiKey: new Secret(UPSTREAM_KEY) },
      });

      expect(await getChannel(deps, channel.id)).toMatchObject({
        settings: {},
        credentialNames: ['apiKey', 'constants'],
        state: { live: true },
      });
      await updateChannel(deps, channel.id, { settings: { indexBase: 1 } }, OPERATOR);

      const [stored] = (await store.loadChannels()).channels;
      expect(stored?.settings).toEqual({ indexBase: 1 });
      expect(Object.keys(stored?.credentials ?? {})).toEqual(['apiKey', 'constants']);
    });

    it('are still refused if they are wrong', async () => {
      const wrong = configurable({ settings: { constants: 'no object' } });

      await expect(createChannel(management.deps, wrong, OPERATOR)).rejects.toThrow(
        'settings.constants must be a JSON object',
      );
    });
  });

  it('are gone once deleted', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    expect(await deleteChannel(deps, channel.id, OPERATOR)).toBe(await store.channelsVersion());

    await expect(getChannel(deps, channel.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(deleteChannel(deps, channel.id, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(updateChannel(deps, channel.id, { status: 1 }, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('are audited one by one when many are deleted at once', async () => {
    const { deps } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    await deleteChannels(deps, [channel.id, 999], OPERATOR);

    const [entry] = (await management.audited()).slice(-1);
    expect(entry).toMatchObject({ action: 'channel.delete', target: `channel:${channel.id}` });
  });

  it('are listed by tag, provider and model', async () => {
    const { deps } = management;
    await createChannel(deps, draft({ tag: 'eu' }), OPERATOR);
    await createChannel(
      deps,
      draft({ name: 'inside', provider: 'local', credentials: {}, models: { local: 'local' } }),
      OPERATOR,
    );
    const names = async (filter: Parameters<typeof listChannels>[1]) =>
      (await listChannels(deps, filter)).map(({ name }) => name);

    expect(await names({})).toEqual(['primary', 'inside']);
    expect(await names({ tag: 'eu' })).toEqual(['primary']);
    expect(await names({ provider: 'local' })).toEqual(['inside']);
    expect(await names({ model: 'local' })).toEqual(['inside']);
    expect(await names({ model: 'toString' })).toEqual([]);
  });

  it('whose credentials cannot be read say so, and can still be switched or mended', async () => {
    const { channel } = await createChannel(management.deps, draft(), OPERATOR);
    const store = management.reopen(createVault(new Secret('another encryption key')));
    const deps = { ...management.deps, store };
    const { id } = channel;

    expect((await getChannel(deps, id)).state).toEqual({
      live: false,
      because: 'credentials_locked',
    });
    await expect(
      updateChannel(deps, id, { baseUrl: 'https://eu.example.com' }, OPERATOR),
    ).rejects.toMatchObject({ param: 'credentials' });
    const locked = { code: 'conflict', message: expect.stringContaining('primary') as unknown };
    await expect(
      updateChannel(deps, id, { settings: { maxTokensPerDoc: 9 } }, OPERATOR),
    ).rejects.toMatchObject(locked);
    const listUpstreamModels = () => Promise.resolve([]);
    await expect(listModels({ ...deps, listUpstreamModels }, id)).rejects.toMatchObject(locked);
    await updateChannel(deps, id, { priority: 2 }, OPERATOR);
    const mended = await updateChannel(
      deps,
      id,
      { credentials: { apiKey: new Secret('entered again') } },
      OPERATOR,
    );

    expect(mended.channel).toMatchObject({ priority: 2, state: { live: true } });
  });

  it('with credentials are refused if no encryption key is configured', async () => {
    const deps = { ...management.deps, store: management.reopen(createVault(undefined)) };

    await expect(createChannel(deps, draft(), OPERATOR)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ENCRYPTION_KEY') as unknown,
    });
  });
});
