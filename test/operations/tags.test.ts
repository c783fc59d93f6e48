import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

interface SwitchedWire {
  readonly version: number;
  readonly in_force: string;
  readonly channels: readonly { readonly id: number; readonly live: boolean }[];
}

interface TagWire {
  readonly tag: string;
  readonly disabled: boolean;
  readonly channel_count: number;
  readonly live_count: number;
}

let gateway: TestGateway;
let admin: Account;
let key = '';
let ids: number[] = [];

beforeAll(async () => {
  // Long enough for this gateway to confirm a switch on a busy machine.
  gateway = await startGateway({ gateway: { staleness_ms: 20_000 } });
  admin = await createAccount(gateway.store, { role: 10 });
  ({ key } = await gateway.createKey());
});
afterAll(() => gateway.close());

beforeEach(async () => {
  const make = async (name: string, tag: string, model: string, status: number) => {
    const body = { name, tag, status, provider: 'local', models: [model] };
    return (await call<{ id: number }>('POST', '/api/channel/', body)).body.data.id;
  };
  ids = [
    await make('one', 'eu', 'both', 1),
    await make('two', 'eu', 'eu-only', 2),
    await make('three', 'us', 'both', 1),
  ];
});
afterEach(async () => {
  await call('POST', '/api/channel/batch', { ids });
  for (const tag of ['eu', 'us', 'asia']) await gateway.store.deleteTagSwitch(tag);
});

function call<T = SwitchedWire>(
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiReply<T>> {
  return callApi<T>(gateway.url, method, path, {
    token: admin.token,
    ...(body === undefined ? {} : { body }),
  });
}

function rerank(model: string) {
  return gateway.post(key, { model, query: 'apple', documents: ['apple', 'pear'] });
}

async function tags(): Promise<Record<string, TagWire>> {
  const { body } = await call<TagWire[]>('GET', '/api/channel/tag/');
  return Object.fromEntries(body.data.map((entry) => [entry.tag, entry]));
}

describe('switching a tag', () => {
  it('off covers its channels and says how many were live; on puts them back', async () => {
    const off = await call('POST', '/api/channel/tag/disabled', { tag: 'us', reason: 'slow' });
    const eu = await call('POST', '/api/channel/tag/disabled/', { tag: 'eu' });
    const refused = await rerank('both');
    const on = await call('POST', '/api/channel/tag/enabled', { tag: 'eu' });
    const served = await rerank('both');
    const stillOff = await rerank('eu-only');

    expect(off.body.data).toEqual({
      tag: 'us',
      disabled: true,
      reason: 'slow',
      channels: [
        { id: ids[2], name: 'three', live: false, because: 'tag_disabled', was_live: true },
      ],
      channel_count: 1,
      was_live_count: 1,
      live_count: 0,
      version: expect.any(Number) as unknown,
      in_force: 'confirmed',
      nodes: { confirmed: 1, total: 1, late: [] },
      waited_ms: expect.any(Number) as unknown,
    });
    expect(eu.body.data).toMatchObject({ channel_count: 2, was_live_count: 1, live_count: 0 });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'no_channel_available']);
    expect(refused.body.error.message).not.toMatch(/one|three|eu|us/);
    expect(on.body.data).toMatchObject({ channel_count: 2, was_live_count: 0, live_count: 1 });
    expect(served.status).toBe(200);
    expect(stillOff.status).toBe(503);
  });

  it('is in force on this node when it returns, each of a hundred times', async () => {
    await call('POST', '/api/channel/tag/disabled', { tag: 'eu' });
    const statuses: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      for (const verb of ['disabled', 'enabled']) {
        await call('POST', `/api/channel/tag/${verb}`, { tag: 'us' });
        statuses.push((await rerank('both')).status);
      }
    }

    expect(statuses).toEqual(Array.from({ length: 50 }, () => [503, 200]).flat());
  }, 120_000);

  it('covers a channel that gets the tag later, and shows in listings', async () => {
    await call('POST', '/api/channel/tag/disabled', { tag: 'eu', reason: 'maintenance' });

    await call('PUT', '/api/channel', { id: ids[2], tag: 'eu' });
    const { body } = await call<unknown>('GET', `/api/channel/${ids[2] ?? 0}`);

    expect(body.data).toMatchObject({
      status: 1,
      effective: { live: false, because: 'tag_disabled', reason: 'maintenance' },
    });
    expect((await rerank('both')).status).toBe(503);
  });

  it('refuses a tag that no channel has, and asks for one', async () => {
    const unknown = await call('POST', '/api/channel/tag/disabled', { tag: 'nowhere' });
    const missing = await call('POST', '/api/channel/tag/disabled', {});

    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    expect([missing.status, missing.body.param]).toEqual([400, 'tag']);
  });

  it('is audited with who, what and why', async () => {
    await call('POST', '/api/channel/tag/disabled', { tag: 'eu', reason: 'bad scores' });
    await call('POST', '/api/channel/tag/enabled', { tag: 'eu', reason: 'mended' });

    const { items } = await gateway.store.listAudit({ target: 'tag:eu', offset: 0, limit: 2 });
    expect(items).toMatchObject([
      { action: 'tag.enable', actorId: admin.user.id, detail: { reason: 'mended' } },
      { action: 'tag.disable', detail: { reason: 'bad scores', channels: [ids[0], ids[1]] } },
    ]);
  });
});

describe('editing the channels of a tag', () => {
  it('changes all of them at once and no others', async () => {
    const edit = { tag: 'eu', models: { both: 'upstream' }, priority: 7, timeout_ms: 500 };

    const reply = await call('PUT', '/api/channel/tag', edit);

    expect(reply.body.data).toMatchObject({ ids: [ids[0], ids[1]], in_force: 'confirmed' });
    const { channels } = await gateway.store.loadChannels();
    const read = channels.map(({ models, priority, timeoutMs }) => [models, priority, timeoutMs]);
    expect(read).toEqual([
      [{ both: 'upstream' }, 7, 500],
      [{ both: 'upstream' }, 7, 500],
      [{ both: 'both' }, 0, undefined],
    ]);
  });

  it('renames a tag that is off without letting its channels out', async () => {
    await call('POST', '/api/channel/tag/disabled', { tag: 'eu', reason: 'broken' });

    await call('PUT', '/api/channel/tag', { tag: 'eu', new_tag: 'asia' });

    const after = await tags();
    expect(after.eu).toBeUndefined();
    expect(after.asia).toMatchObject({
      disabled: true,
      reason: 'broken',
      channel_count: 2,
      live_count: 0,
    });
  });

  it.each(['', null])('takes it away from all of them: %j', async (none) => {
    const reply = await call('PUT', '/api/channel/tag', { tag: 'eu', new_tag: none });

    expect(reply.body.data).toMatchObject({ ids: [ids[0], ids[1]] });
    const { channels } = await gateway.store.loadChannels();
    expect(channels.map(({ tag }) => tag)).toEqual([undefined, undefined, 'us']);
  });

  it('refuses what it cannot do for all of them, and then does nothing', async () => {
    const replies = [
      await call('PUT', '/api/channel/tag', { tag: 'nowhere', priority: 1 }),
      await call('PUT', '/api/channel/tag', { tag: 'eu' }),
      await call('PUT', '/api/channel/tag', { tag: 'eu', models: {} }),
    ];

    expect(replies.map(({ status, body }) => [status, body.param])).toEqual([
      [404, 'tag'],
      [400, 'tag'],
      [400, 'models'],
    ]);
  });
});

describe('retagging', () => {
  it('moves many channels in one write', async () => {
    const before = await gateway.store.channelsVersion();

    const moved = await call('POST', '/api/channel/batch/tag', { ids: ids.slice(1), tag: 'asia' });
    const bare = await call('POST', '/api/channel/batch/tag', { ids: [ids[1]], tag: null });

    expect(moved.body.data).toMatchObject({ count: 2 });
    expect(moved.body.data.version).toBeGreaterThan(before);
    expect(bare.status).toBe(200);
    const after = await tags();
    expect([after.eu?.channel_count, after.asia?.channel_count, after.us]).toEqual([
      1,
      1,
      undefined,
    ]);
  });

  it('does nothing if one of them does not exist', async () => {
    const unknown = [ids[0], 999_999_999];

    const reply = await call('POST', '/api/channel/batch/tag', { ids: unknown, tag: 'asia' });

    expect(reply.status).toBe(404);
    expect((await tags()).eu?.channel_count).toBe(2);
  });
});

describe('switching many channels', () => {
  const status = async () => {
    const { channels } = await gateway.store.loadChannels();
    return ids.map((id) => channels.find((channel) => channel.id === id)?.status);
  };
  const switchTo = (wanted: 1 | 2, of: readonly (number | undefined)[]) =>
    call<{ ids: number[]; count: number; auto_disabled: number[]; in_force: string }>(
      ...(['POST', '/api/channel/batch/status'] as const),
      { ids: of, status: wanted, reason: 'a test' },
    );

  it('says which it has changed, so that switching those back is the exact undo', async () => {
    const off = await switchTo(2, ids);

    expect(off.body.data).toMatchObject({ ids: [ids[0], ids[2]], count: 2, auto_disabled: [] });
    expect(off.body.data.in_force).toBe('confirmed');
    expect(await status()).toEqual([2, 2, 2]);
    expect((await rerank('both')).status).toBe(503);

    await switchTo(1, off.body.data.ids);

    expect(await status()).toEqual([1, 2, 1]);
    expect((await rerank('both')).status).toBe(200);
    const { items } = await gateway.store.listAudit({
      ...{ action: 'channel.update', target: `channel:${String(ids[0])}`, offset: 0, limit: 2 },
    });
    expect(items.map(({ detail }) => detail)).toEqual([
      { status: 1, reason: 'a test' },
      { status: 2, reason: 'a test' },
    ]);
  });

  it('overrules the gateway, and says which channels the gateway had disabled', async () => {
    const outage = { reason: 'no_credit', message: '402', sinceMs: 1 } as const;
    await gateway.store.updateChannel(ids[0] ?? 0, { status: 3, outage });

    const off = await switchTo(2, ids);

    expect(off.body.data).toMatchObject({ ids: [ids[0], ids[2]], auto_disabled: [ids[0]] });
    const { channels } = await gateway.store.loadChannels();
    expect(channels.find(({ id }) => id === ids[0])?.outage).toBeUndefined();
  });

  it('changes nothing if there is nothing to change, or one of them does not exist', async () => {
    const before = await gateway.store.channelsVersion();

    const none = await switchTo(1, [ids[0]]);
    const unknown = await switchTo(2, [ids[0], 999_999_999]);

    expect(none.body.data).toMatchObject({ ids: [], count: 0 });
    expect(unknown.status).toBe(404);
    expect(await gateway.store.channelsVersion()).toBe(before);
  });
});
