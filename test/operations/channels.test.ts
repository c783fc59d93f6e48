import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { mapValues, snakeKeys } from '../../src/core/records.js';
import { callApi, createAccount, type Account, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

interface ChannelWire {
  readonly id: number;
  readonly name: string;
  readonly tag: string | null;
  readonly models: Readonly<Record<string, string>>;
  readonly status: number;
  readonly effective: { readonly live: boolean; readonly because: string | null };
  readonly version: number;
  readonly in_force: string;
  readonly nodes: unknown;
  readonly waited_ms: number;
}

interface ListWire {
  readonly items: readonly ChannelWire[];
  readonly total: number;
}

const SECRET = 'a-credential-of-the-upstream';

let gateway: TestGateway;
let upstream: TestUpstream;
let admin: Account;
let key = '';

beforeAll(async () => {
  gateway = await startGateway(
    {
      // Long enough for this gateway to confirm a change on a busy machine.
      gateway: { staleness_ms: 20_000 },
      channels: [
        { name: 'declared', provider: 'local', models: ['declared'], tag: 'fixed' },
        {
          name: 'declared with a key',
          provider: 'cohere',
          models: ['hosted'],
          credentials: { api_key: SECRET },
          enabled: false,
        },
      ],
    },
    { ENCRYPTION_KEY: 'an encryption key of the tests' },
  );
  admin = await createAccount(gateway.store, { role: 10 });
  ({ key } = await gateway.createKey());
});
afterAll(() => gateway.close());

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  const { channels } = await gateway.store.loadChannels();
  const made = channels.filter(({ origin }) => origin === 'store');
  for (const { id } of made) await gateway.store.deleteChannel(id);
  await upstream.close();
});

function call<T = ChannelWire>(method: string, path: string, body?: unknown): Promise<ApiReply<T>> {
  return callApi<T>(gateway.url, method, path, {
    token: admin.token,
    ...(body === undefined ? {} : { body }),
  });
}

async function create(fields: object = {}): Promise<ChannelWire> {
  const reply = await call('POST', '/api/channel/', {
    name: 'made',
    provider: 'cohere',
    base_url: upstream.url,
    api_key: SECRET,
    models: ['served'],
    ...fields,
  });
  if (reply.status !== 200) throw new Error(reply.body.message);
  return reply.body.data;
}

function rerank(model = 'served') {
  return gateway.post(key, { model, query: 'apple', documents: ['pear', 'apple'] });
}

async function declaredId(name = 'declared'): Promise<number> {
  const { channels } = await gateway.store.loadChannels();
  return channels.find((channel) => channel.name === name)?.id ?? 0;
}

describe('the models of a channel’s server', () => {
  const list = (id: number) => call<string[]>('GET', `/api/channel/${id}/upstream-models`);

  it('are asked for with the credentials of the channel', async () => {
    const { id } = await create({ status: 2 });
    upstream.answer(({ path }, res) =>
      path === '/v1/models'
        ? sendJson(res, { data: [{ id: 'rerank-a' }, { id: 'rerank-b' }] })
        : sendJson(res, {}, 404),
    );

    const listed = await list(id);

    expect([listed.status, listed.body.data]).toEqual([200, ['rerank-a', 'rerank-b']]);
    const asked = upstream.seen.find(({ path }) => path === '/v1/models');
    expect(asked?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it('are none if it lists none, and a refusal if nothing answers or nobody is asked', async () => {
    const { id } = await create();
    upstream.answer((_request, res) => sendJson(res, {}, 404));

    expect((await list(id)).body.data).toEqual([]);
    await upstream.close();
    expect((await list(id)).status).toBe(502);
    expect((await list(await declaredId())).status).toBe(409);
    expect((await list(999_999)).status).toBe(404);
    upstream = await startUpstream();
  });
});

describe('adding a channel', () => {
  it('takes effect before it returns, and never shows the credentials', async () => {
    const beganMs = performance.now();
    const { version, in_force, nodes, waited_ms, ...made } = await create({
      tag: 'eu',
      models: { served: 'v3' },
    });

    const tookMs = Math.ceil(performance.now() - beganMs);
    const served = await rerank();

    expect(served.status).toBe(200);
    expect(upstream.seen[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({ model: 'v3' });
    expect([version, in_force]).toEqual([await gateway.store.channelsVersion(), 'confirmed']);
    expect(nodes).toEqual({ confirmed: 1, total: 1, late: [] });
    expect(waited_ms).toBeGreaterThanOrEqual(0);
    expect(waited_ms).toBeLessThanOrEqual(tookMs);
    expect(made).toEqual({
      id: made.id,
      name: 'made',
      provider: 'cohere',
      base_url: upstream.url,
      credential_names: ['api_key'],
      key_count: 1,
      settings: {},
      models: { served: 'v3' },
      tag: 'eu',
      ...snakeKeys(mapValues(CHANNEL_DEFAULTS, (value) => value ?? null)),
      status: 1,
      effective: {
        ...{ live: true, because: null, reason: null },
        ...{ since: null, next_try: null, paused: [] },
      },
      origin: 'store',
      revision: expect.any(String),
    });
    const shown = await Promise.all(
      [`/api/channel/${made.id}`, '/api/channel', '/api/channel/search?keyword=made'].map((path) =>
        call<unknown>('GET', path),
      ),
    );
    const audit = await gateway.store.listAudit({ offset: 0, limit: 100 });
    expect(JSON.stringify([shown, audit])).not.toContain(SECRET);
  });

  it('takes settings and credentials as a configuration file names them', async () => {
    const body = {
      name: 'xin',
      provider: 'xinference',
      credentials: { api_key: SECRET },
      api_key: undefined,
      settings: { count_tokens: true },
    };

    const made = await create(body);

    expect(made).toMatchObject({
      credential_names: ['api_key'],
      settings: { count_tokens: true },
    });
  });

  it.each([
    ['provider', { provider: 'nobody' }],
    ['settings', { settings: { color: 'red' } }],
    ['credentials', { credentials: { secret_key: 'a' } }],
    ['base_url', { base_url: 'ftp://127.0.0.1' }],
    ['models', { models: '' }],
    ['weight', { weight: -1 }],
  ])('refuses a wrong %s', async (param, fields) => {
    const body = { name: 'a', provider: 'cohere', api_key: SECRET, models: 'm', ...fields };

    const reply = await call('POST', '/api/channel', body);

    expect([reply.status, reply.body.param]).toEqual([400, param]);
    expect(JSON.stringify(reply.body)).not.toContain(SECRET);
  });

  it('refuses a name that is taken', async () => {
    await create();
    const body = { name: 'made', provider: 'local', models: 'm' };

    const reply = await call('POST', '/api/channel', body);

    expect([reply.status, reply.body.code, reply.body.param]).toEqual([409, 'conflict', 'name']);
  });
});

describe('changing a channel', () => {
  it('accepts a whole one as it was read, with one member changed', async () => {
    const { id } = await create({ tag: 'eu', settings: {}, timeout_ms: 900 });
    const { body } = await call<object>('GET', `/api/channel/${id}`);

    const reply = await call<object>('PUT', '/api/channel/', { ...body.data, priority: 9 });

    expect(reply.body.data).toMatchObject({
      ...{ ...body.data, priority: 9 },
      revision: expect.any(String),
    });
    expect((await rerank()).status).toBe(200);
    const { items } = await gateway.store.listAudit({
      target: `channel:${id}`,
      offset: 0,
      limit: 1,
    });
    expect(items[0]).toMatchObject({ action: 'channel.update', detail: { priority: 9 } });
    expect(Object.keys(items[0]?.detail ?? {})).toEqual(['priority']);
  });

  it('changes the key, keeps what is not named, and takes away what is null', async () => {
    const { id } = await create({ tag: 'eu', timeout_ms: 900 });

    const edit = { id, api_key: 'another-credential', tag: null, timeout_ms: null };
    const reply = await call('PUT', '/api/channel', edit);
    await rerank();

    expect(reply.body.data).toMatchObject({ tag: null, timeout_ms: null, name: 'made' });
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer another-credential');
  });

  it('switches it off and on, in force when it returns', async () => {
    const { id } = await create();

    const path = '/api/channel?status_only=true';
    const off = await call('PUT', path, { id, status: 2, name: 'ignored', reason: 'too slow' });
    const refused = await rerank();
    const on = await call('PUT', path, { id, status: 1 });
    const served = await rerank();

    expect(off.body.data).toMatchObject({
      name: 'made',
      effective: { live: false, because: 'disabled' },
    });
    expect([refused.status, on.status, served.status]).toEqual([503, 200, 200]);
    const target = `channel:${id}`;
    const { items } = await gateway.store.listAudit({ target, offset: 1, limit: 1 });
    expect(items[0]).toMatchObject({
      actor: admin.user.username,
      detail: { status: 2, reason: 'too slow' },
    });
  });

  it('leaves it to the gateway to disable one by itself', async () => {
    const { id } = await create();
    const refused = await call('PUT', '/api/channel', { id, status: 3 });
    await gateway.store.updateChannel(id, { status: 3 });

    const read = await call('GET', `/api/channel/${id}`);
    const back = await call('PUT', '/api/channel', { ...read.body.data, name: 'same status' });

    expect([refused.status, refused.body.param]).toEqual([400, 'status']);
    expect(back.body.data).toMatchObject({
      name: 'same status',
      status: 3,
      effective: { live: false, because: 'auto_disabled' },
    });
  });

  it('changes of a declared one the status alone', async () => {
    const id = await declaredId();
    const { body } = await call('GET', `/api/channel/${id}`);

    const refused = await call('PUT', '/api/channel', { id, priority: 3 });
    const off = await call('PUT', '/api/channel', { ...body.data, status: 2 });
    const on = await call('PUT', '/api/channel', { id, status: 1 });

    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(off.body.data).toMatchObject({ status: 2, effective: { because: 'disabled' } });
    expect(on.body.data.effective.live).toBe(true);
  });

  it('says what does not exist', async () => {
    const reply = await call('PUT', '/api/channel', { id: 999_999_999, name: 'x' });

    expect([reply.status, reply.body.code]).toEqual([404, 'not_found']);
  });
});

describe('finding channels', () => {
  it('filters, searches and pages', async () => {
    await create({ name: 'Alpha', tag: 'eu', models: { served: 'needle-v3' } });
    await create({ name: 'beta', tag: 'us', status: 2 });
    const names = async (path: string) =>
      (await call<ListWire>('GET', path)).body.data.items.map(({ name }) => name);

    expect(await names('/api/channel?tag=eu')).toEqual(['Alpha']);
    expect(await names('/api/channel?model=served&live=false')).toEqual(['beta']);
    expect(await names('/api/channel?provider=local')).toEqual(['declared']);
    expect(await names('/api/channel/search?keyword=ALPHA')).toEqual(['Alpha']);
    expect(await names('/api/channel/search?keyword=needle')).toEqual(['Alpha']);
    const page = await call<ListWire>('GET', '/api/channel/?p=2&page_size=3');
    expect(page.body.data).toMatchObject({ total: 4, items: [{ name: 'beta' }] });
  });

  it('lists models with the channels that serve them', async () => {
    await create({ models: 'shared,served' });
    await create({ name: 'off', models: 'shared', status: 2 });

    const { body } = await call<{ id: string; live: boolean; channels: object[] }[]>(
      'GET',
      '/api/channel/models',
    );

    expect(body.data.map(({ id, live }) => [id, live])).toEqual([
      ['declared', true],
      ['hosted', false],
      ['served', true],
      ['shared', true],
    ]);
    expect(body.data[3]?.channels).toMatchObject([
      { name: 'made', live: true },
      { name: 'off', live: false },
    ]);
  });

  it('filters by why a channel takes no traffic, and sorts as channels are tried', async () => {
    await create({ name: 'light', weight: 1, models: 'shared', tag: 'eu' });
    await create({ name: 'heavy', weight: 3, models: { shared: 'v3' }, tag: 'eu' });
    await create({ name: 'first', priority: 10, models: 'shared', status: 2, tag: 'eu' });
    await create({ name: 'other', provider: 'voyage', models: 'shared', tag: 'Far East' });
    const found = async (query: string) =>
      (await call<ListWire>('GET', `/api/channel/search?${query}`)).body.data.items.map(
        ({ name }) => name,
      );
    const names = (query: string) => found(`tag=eu&${query}`);

    for (const [sort, sorted] of Object.entries({
      tried: 'first heavy light other',
      name: 'first heavy light other',
      '-name': 'other light heavy first',
      provider: 'light heavy first other',
      tag: 'light heavy first other',
      '-priority': 'first other heavy light',
      '-weight': 'heavy other first light',
      status: 'light heavy other first',
    })) {
      expect([sort, (await found(`keyword=shared&sort=${sort}`)).join(' ')]).toEqual([
        sort,
        sorted,
      ]);
    }
    expect(await names('origin=store')).toEqual(await names(''));
    expect(await names('origin=config')).toEqual([]);
    expect(await names('')).toEqual(['light', 'heavy', 'first']);
    expect(await names('because=disabled')).toEqual(['first']);
    expect(await names('because=tag_disabled')).toEqual([]);
    const unknown = await call('GET', '/api/channel?because=bored');
    expect([unknown.status, unknown.body.param]).toEqual([400, 'because']);
    const { body } = await call<{ id: string; channels: object[] }[]>('GET', '/api/channel/models');
    expect(body.data.find(({ id }) => id === 'shared')?.channels).toMatchObject([
      { name: 'first', priority: 10, because: 'disabled' },
      { name: 'heavy', weight: 3, upstream_model: 'v3', provider: 'cohere', because: null },
      { name: 'light', weight: 1, upstream_model: 'shared' },
      { name: 'other', tag: 'Far East' },
    ]);
  });

  it('lists what providers take', async () => {
    const { body } = await call<
      { id: string; settings: readonly { name: string; required: boolean }[] }[]
    >('GET', '/api/channel/providers');
    const google = body.data.find(({ id }) => id === 'google')?.settings ?? [];

    expect(body.data.find(({ id }) => id === 'cohere')).toMatchObject({
      inside: false,
      credentials: [{ name: 'api_key', required: true }],
    });
    expect(google.filter(({ required }) => required)).toMatchObject([{ name: 'project' }]);
    expect(google.length).toBeGreaterThan(1);
  });
});

describe('copying and deleting', () => {
  it('copies without the credentials, and takes those of the copy', async () => {
    const { id } = await create();
    await call('PUT', '/api/channel', { id, status: 2 });

    const bare = await call('POST', `/api/channel/copy/${id}`, { status: 1 });
    const unserved = await rerank();
    const copy = await call('POST', `/api/channel/copy/${id}`, { status: 1, api_key: 'its own' });

    expect(bare.body.data).toMatchObject({
      name: 'made-copy',
      credential_names: [],
      effective: { live: false, because: 'unusable' },
    });
    expect(unserved.status).toBeGreaterThanOrEqual(404);
    expect(copy.body.data).toMatchObject({ name: 'made-copy-2', status: 1 });
    expect((await rerank()).status).toBe(200);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer its own']);
  });

  it('deletes one, in force when it returns', async () => {
    const { id } = await create();

    const gone = await call('DELETE', `/api/channel/${id}`);
    const refused = await rerank();
    const again = await call('DELETE', `/api/channel/${id}`);
    const declared = await call('DELETE', `/api/channel/${await declaredId()}`);

    expect(gone.body.data).toMatchObject({ id, in_force: 'confirmed' });
    expect([refused.status, again.status, declared.status]).toEqual([404, 404, 409]);
  });

  it('deletes many, and none when one of them is declared', async () => {
    const [a, b] = [await create(), await create({ name: 'second' })];

    const ids = [a.id, await declaredId(), b.id];
    const refused = await call('POST', '/api/channel/batch', { ids });
    const kept = await call<ListWire>('GET', '/api/channel');
    const gone = await call<object>('POST', '/api/channel/batch', {
      ids: [a.id, b.id, 999_999_999],
    });

    expect(refused.status).toBe(409);
    expect(kept.body.data.total).toBe(4);
    expect(gone.body.data).toMatchObject({ ids: [a.id, b.id], count: 2 });
  });
});

describe('testing a channel', () => {
  it('reports order, scores, scale and usage of a real request, also when it is off', async () => {
    const { id } = await create({ status: 2 });

    const reply = await call('POST', `/api/channel/test/${id}`, {});

    expect(reply.body.data).toMatchObject({
      ok: true,
      model: 'served',
      url: `${upstream.url}/v2/rerank`,
      status: 200,
      order: 'right',
      score_scale: { expected: 'probability', observed: 'probability', fits: true },
      usage: { search_units: 1, input_tokens: null },
      problem: null,
      warnings: [],
    });
    const { items } = await gateway.store.listAudit({
      target: `channel:${id}`,
      offset: 0,
      limit: 1,
    });
    expect(items[0]).toMatchObject({ action: 'channel.test', detail: { outcome: 'ok' } });
  });

  it('says in words what is wrong', async () => {
    const { id } = await create();
    upstream.answer((_, res) => sendJson(res, { message: `bad key ${SECRET}` }, 401));

    const reply = await call<{ problem: object }>('POST', `/api/channel/test/${id}`, {
      model: 'served',
    });

    expect(reply.status).toBe(200);
    expect(reply.body.data).toMatchObject({
      ok: false,
      status: 401,
      order: null,
      problem: { code: 'wrong_key' },
    });
    expect(JSON.stringify(reply.body)).not.toContain(SECRET);
  });

  it('refuses a model that the channel does not serve, and a channel that does not exist', async () => {
    const { id } = await create();

    const model = await call('POST', `/api/channel/test/${id}`, { model: 'another' });
    const missing = await call('POST', '/api/channel/test/999999999', {});

    expect([model.status, model.body.param]).toEqual([400, 'model']);
    expect(missing.status).toBe(404);
  });
});

describe('testing a channel that is yet to be added', () => {
  const draft = (fields: object = {}) => ({
    name: 'to be',
    provider: 'cohere',
    base_url: upstream.url,
    api_key: SECRET,
    models: { served: 'v3', other: 'v4' },
    ...fields,
  });

  it('sends a real request, and stores nothing but an entry of the audit log', async () => {
    const before = await gateway.store.loadChannels();

    const reply = await call<{ ok: boolean }>(
      'POST',
      '/api/channel/test',
      draft({ reason: 'new' }),
    );
    const other = await call('POST', '/api/channel/test', draft({ model: 'other' }));

    expect(reply.body.data).toMatchObject({ ok: true, model: 'served', upstream_model: 'v3' });
    expect(other.body.data).toMatchObject({ model: 'other', upstream_model: 'v4' });
    const after = await gateway.store.loadChannels();
    expect([after.version, after.channels.length]).toEqual([
      before.version,
      before.channels.length,
    ]);
    const { items } = await gateway.store.listAudit({
      ...{ action: 'channel.test_draft', target: 'channel:draft', offset: 0, limit: 2 },
    });
    expect(items[1]?.detail).toMatchObject({ name: 'to be', outcome: 'ok', reason: 'new' });
    expect(JSON.stringify(items)).not.toContain(SECRET);
  });

  it('says what is wrong with the draft, and with what the upstream answers', async () => {
    const missing = await call('POST', '/api/channel/test', draft({ api_key: '' }));
    const model = await call('POST', '/api/channel/test', draft({ model: 'another' }));
    upstream.answer((_, res) => sendJson(res, { message: `bad key ${SECRET}` }, 401));
    const refused = await call('POST', '/api/channel/test', draft());

    expect([missing.status, missing.body.param]).toEqual([400, 'credentials']);
    expect([model.status, model.body.param]).toEqual([400, 'model']);
    expect(refused.body.data).toMatchObject({ ok: false, problem: { code: 'wrong_key' } });
    expect(JSON.stringify(refused.body)).not.toContain(SECRET);
  });
});
