import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  setChannelEnabled,
  updateChannel,
  type ChannelDraft,
  type ChannelEdit,
} from '../../src/management/channels.js';
import type { DeclaredChannel, Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { freshManagement, OPERATOR } from '../support/management.js';

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
      priority: 0,
      weight: 1,
      timeoutMs: undefined,
      maxConcurrency: 0,
      status: 1,
      scores: 'raw',
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

  it.each<[string, string, Partial<ChannelDraft>]>([
    ['an unknown provider', 'provider', { provider: 'nobody' }],
    ['no models', 'models', { models: {} }],
    ['a model without a name', 'models', { models: { '': 'rerank' } }],
    ['no credentials where the provider needs them', 'credentials', { credentials: {} }],
    [
      'a credential of another provider',
      'credentials',
      {
        credentials: { apiKey: new Secret('a'), secretKey: new Secret('b') },
      },
    ],
    ['a setting of another provider', 'settings', { settings: { region: 'eu' } }],
    ['an address that is no URL', 'base_url', { baseUrl: 'rerank.example.com' }],
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

  it('may lie inside only where that is allowed', async () => {
    const inside = draft({ baseUrl: 'http://127.0.0.1:9000' });
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
      { priority: 5, tag: undefined, baseUrl: undefined },
      OPERATOR,
    );

    expect(moved.channel).toEqual({
      ...channel,
      priority: 5,
      tag: undefined,
      baseUrl: undefined,
    });
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

  it('move to another provider without the settings and credentials of the old one', async () => {
    const { deps } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    const moved = await updateChannel(deps, channel.id, { provider: 'local' }, OPERATOR);

    expect(moved.channel).toMatchObject({ provider: 'local', credentialNames: [] });
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
    await expect(copyChannel(deps, id, {}, OPERATOR)).rejects.toMatchObject({ code: 'conflict' });
    const { channel } = await setChannelEnabled(deps, id, false, OPERATOR);

    expect(channel).toMatchObject({
      status: 2,
      origin: 'config',
      state: { live: false, because: 'disabled' },
    });
  });

  it('are copied with their credentials, under a free name', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft({ tag: 'eu', priority: 3 }), OPERATOR);

    const first = await copyChannel(deps, channel.id, {}, OPERATOR);
    const second = await copyChannel(deps, channel.id, { status: 2 }, OPERATOR);

    expect(first.channel).toEqual({ ...channel, id: first.channel.id, name: 'primary-copy' });
    expect(second.channel).toMatchObject({ name: 'primary-copy-2', status: 2 });
    const { channels } = await store.loadChannels();
    expect(channels.map(({ credentials }) => credentials.apiKey?.reveal())).toEqual(
      Array.from({ length: 3 }, () => UPSTREAM_KEY),
    );
  });

  it('are gone once deleted', async () => {
    const { deps, store } = management;
    const { channel } = await createChannel(deps, draft(), OPERATOR);

    expect(await deleteChannel(deps, channel.id, OPERATOR)).toBe(await store.channelsVersion());

    await expect(getChannel(deps, channel.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(deleteChannel(deps, channel.id, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(setChannelEnabled(deps, channel.id, true, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
    });
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
    ).rejects.toMatchObject({ code: 'conflict', param: 'credentials' });
    await expect(copyChannel(deps, id, {}, OPERATOR)).rejects.toMatchObject({ code: 'conflict' });
    await updateChannel(deps, id, { priority: 2 }, OPERATOR);
    const mended = await updateChannel(
      deps,
      id,
      { credentials: { apiKey: new Secret('entered again') } },
      OPERATOR,
    );

    expect(mended.channel).toMatchObject({ priority: 2, state: { live: true } });
  });

  it('with credentials are refused where no encryption key is configured', async () => {
    const deps = { ...management.deps, store: management.reopen(createVault(undefined)) };

    await expect(createChannel(deps, draft(), OPERATOR)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ENCRYPTION_KEY') as unknown,
    });
  });
});
