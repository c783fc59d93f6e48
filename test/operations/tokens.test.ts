import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

interface TokenWire {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly key: string;
  readonly key_hint: string;
  readonly status: number;
  readonly expired_time: number;
  readonly remain_quota: number;
  readonly used_quota: number;
  readonly unlimited_quota: boolean;
  readonly model_limits_enabled: boolean;
  readonly model_limits: readonly string[];
  readonly allow_ips: readonly string[];
  readonly tags: readonly string[];
  readonly default_model: string | null;
  readonly aliases: Readonly<Record<string, string>>;
  readonly fallbacks: readonly string[];
}

interface ListWire {
  readonly items: readonly TokenWire[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
}

let gateway: TestGateway;
let owner: Account;
let other: Account;
let admin: Account;

beforeAll(async () => {
  gateway = await startGateway({
    channels: [{ name: 'local', provider: 'local', models: ['local'] }],
    prices: { models: { local: { per_request: 10 } } },
  });
  owner = await createAccount(gateway.store, { quota: 1_000_000 });
  other = await createAccount(gateway.store, { quota: 1_000_000 });
  admin = await createAccount(gateway.store, { role: 10 });
});
afterAll(() => gateway.close());

function call<T = TokenWire>(
  method: string,
  path: string,
  body?: unknown,
  who: Account = owner,
): Promise<ApiReply<T>> {
  return callApi<T>(gateway.url, method, path, {
    token: who.token,
    ...(body === undefined ? {} : { body }),
  });
}

async function create(fields: object = {}, who: Account = owner): Promise<TokenWire> {
  const reply = await call('POST', '/api/token/', { name: 'a key', ...fields }, who);
  if (reply.status !== 200) throw new Error(reply.body.message);
  return reply.body.data;
}

function rerank(key: string) {
  return gateway.post(key, { model: 'local', query: 'apple', documents: ['apple', 'pear'] });
}

describe('another secret for a key', () => {
  const roll = (id: number, body: object = {}, who: Account = owner) =>
    call('POST', `/api/token/${id}/roll`, body, who);

  it('ends the old one at once, and keeps all else', async () => {
    const made = await create({ name: 'leaked', remain_quota: 1_000 });
    expect((await rerank(made.key)).status).toBe(200);

    const rolled = await roll(made.id, { reason: 'it was in a log' });

    expect(rolled.status).toBe(200);
    expect(rolled.body.data).toMatchObject({
      ...{ id: made.id, name: 'leaked', remain_quota: 990, used_quota: 10, old_key_until: 0 },
    });
    expect(rolled.body.data.key).not.toBe(made.key);
    expect(rolled.body.data.key_hint).not.toBe(made.key_hint);
    expect((await rerank(made.key)).status).toBe(401);
    expect((await rerank(rolled.body.data.key)).status).toBe(200);
    const audit = await call<{ items: { detail: object }[] }>(
      ...(['GET', `/api/audit?action=token.roll`, undefined, admin] as const),
    );
    expect(audit.body.data.items[0]?.detail).toMatchObject({
      ...{ reason: 'it was in a log', before: made.key_hint },
    });
    expect(JSON.stringify(audit.body.data)).not.toContain(rolled.body.data.key);
  });

  it('lets the old one work for a while if that is asked for', async () => {
    const made = await create();

    const rolled = await roll(made.id, { keep_old_s: 3_600 });

    const { old_key_until: untilS } = rolled.body.data as { readonly old_key_until?: number };
    expect(Math.abs((untilS ?? 0) - Date.now() / 1_000 - 3_600)).toBeLessThan(60);
    for (const key of [made.key, rolled.body.data.key]) {
      expect((await rerank(key)).status).toBe(200);
    }
    const last = await roll(made.id);
    for (const key of [made.key, rolled.body.data.key]) {
      expect((await rerank(key)).status).toBe(401);
    }
    expect((await rerank(last.body.data.key)).status).toBe(200);
  });

  it('is for its owner, and for admins, and not for the key of the playground', async () => {
    const made = await create();
    expect((await roll(made.id, {}, other)).status).toBe(404);
    expect((await roll(made.id, {}, admin)).status).toBe(200);
    expect((await roll(made.id, { keep_old_s: 30 * 86_400 + 1 })).status).toBe(400);
    const body = { query: 'apple', documents: ['apple'], model: 'local' };
    await call('POST', '/api/playground/rank', body, other);
    const listed = await call<ListWire>('GET', '/api/token', undefined, other);
    const inside = listed.body.data.items.find(({ name }) => name === 'console');

    expect((await roll(inside?.id ?? 0, {}, other)).status).toBe(409);
  });
});

describe('whether a key may ask for explanations', () => {
  it('is for admins to set, and stays if its owner sends it back', async () => {
    const own = await create();
    const refused = await call('PUT', '/api/token/', { id: own.id, may_explain: true });
    const atOnce = await call('POST', '/api/token/', { name: 'x', may_explain: true });
    const granted = await call('PUT', '/api/token/', { id: own.id, may_explain: true }, admin);
    const kept = await call('PUT', '/api/token/', { ...granted.body.data, name: 'renamed' });

    expect([refused.status, atOnce.status, granted.status]).toEqual([403, 403, 200]);
    expect([kept.status, kept.body.data]).toEqual([
      200,
      expect.objectContaining({ name: 'renamed', may_explain: true }),
    ]);
  });
});

const past = (): number => Math.floor(Date.now() / 1000) - 10;

describe('what a request for a key cannot hold', () => {
  it('is refused, every mistake at once and each with the name that was meant', async () => {
    const { id, remain_quota: before } = await create({ remain_quota: 50 });

    const reply = await call('PUT', '/api/token/', {
      id,
      quota: 5,
      remainQuota: 7,
      rate_limit: -1,
    });

    expect(reply.status).toBe(400);
    expect(reply.body.message).toContain(
      'quota is unknown; did you mean remain_quota or add_quota or unlimited_quota?',
    );
    expect(reply.body.message).toContain('remainQuota is unknown; did you mean remain_quota?');
    expect(reply.body.message).toContain('rate_limit must be greater than or equal to 0');
    expect((await call('GET', `/api/token/${id}`)).body.data.remain_quota).toBe(before);
  });

  it('includes a query parameter that nobody knows', async () => {
    const reply = await call('GET', '/api/token/?pagesize=5');

    expect(reply.status).toBe(400);
    expect(reply.body.message).toBe('pagesize is unknown; did you mean page_size?');
  });

  it.each([
    ['p=0&size=2', { page: 1, page_size: 2 }],
    ['p=1&ps=3', { page: 1, page_size: 3 }],
    ['size=2&page_size=4', /^size is unknown/],
  ])('is not what New API calls a page: %s', async (query, expected) => {
    const { body } = await call('GET', `/api/token/?${query}`);

    if (expected instanceof RegExp) expect(body.message).toMatch(expected);
    else expect(body).toMatchObject({ success: true, data: expected });
  });

  it('does not include a key sent back as it was read, with one member changed', async () => {
    const { key: _, ...token } = await create();

    const reply = await call('PUT', '/api/token/', { ...token, name: 'another', group: 'default' });

    expect(reply.status).toBe(200);
    expect(reply.body.data.name).toBe('another');
  });

  it.each([
    ['a quota to set and one to add', { remain_quota: 1, add_quota: 2 }, /not both/],
    ['milliseconds', { expired_time: 1_900_000_000_000 }, /milliseconds.*such as 1900000000/],
  ])('is %s', async (_, fields, words) => {
    const { id } = await create();

    const reply = await call('PUT', '/api/token/', { id, ...fields });

    expect(reply.status).toBe(400);
    expect(reply.body.message).toMatch(words);
  });

  it('includes a new key that has expired, with both times in the answer', async () => {
    const reply = await call('POST', '/api/token/', { name: 'late', expired_time: past() });

    expect(reply.status).toBe(400);
    expect(reply.body.message).toMatch(/in the past: \d{4}-.*, and it is \d{4}-/);
  });
});

describe('making a key', () => {
  it('shows the key once, and never again', async () => {
    const { key, ...token } = await create();

    expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    expect((await rerank(key)).status).toBe(200);
    const read = await call('GET', `/api/token/${token.id}`);
    const list = await call<ListWire>('GET', '/api/token/');
    expect(read.body.data).toMatchObject({ name: 'a key', unlimited_quota: true, status: 1 });
    expect(JSON.stringify([read.body, list.body])).not.toContain(key);
    expect(list.body.data).toMatchObject({ page: 1, page_size: 20 });
  });

  it('is done once for each idempotency key', async () => {
    const make = () =>
      callApi<TokenWire>(gateway.url, 'POST', '/api/token', {
        token: owner.token,
        body: { name: 'once' },
        headers: { 'idempotency-key': 'make-once' },
      });

    const made = async (): Promise<number> =>
      (await gateway.store.listTokens({ userId: owner.user.id, offset: 0, limit: 1 }, Date.now()))
        .total;
    const before = await made();

    const [first, again] = [await make(), await make()];

    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body).toEqual(first.body);
    expect(await made()).toBe(before + 1);
  });

  it('is done besides what the same idempotency key has done for another operation', async () => {
    const { token } = await createAccount(gateway.store, { quota: 1 });
    const headers = { 'idempotency-key': 'for two operations' };
    const post = (path: string, body: object) =>
      callApi<TokenWire>(gateway.url, 'POST', path, { token, body, headers });

    const key = await post('/api/token', { name: 'beside an access token' });
    // It takes the place of the one that asks for it.
    const access = await post('/api/user/token', {});

    expect([key.status, key.body.data.name]).toEqual([200, 'beside an access token']);
    expect(access.status).toBe(200);
    expect(access.body.data).not.toEqual(key.body.data);
  });

  it('keeps aliases until null takes them away', async () => {
    const { id } = await create({ aliases: { ' rerank-v3.5 ': 'local' } });
    const update = async (body: object) =>
      (await call('PUT', '/api/token/', { id, ...body })).body.data.aliases;

    expect(await update({ name: 'renamed' })).toEqual({ 'rerank-v3.5': 'local' });
    expect(await update({ aliases: { a: 'local', b: 'other' } })).toEqual({
      a: 'local',
      b: 'other',
    });
    expect(await update({ aliases: null })).toEqual({});
  });

  it('keeps a chain of models in its order until none takes it away', async () => {
    const { id, fallbacks } = await create({ fallbacks: [' voyage ', 'local', 'voyage'] });
    const update = async (body: object) =>
      (await call('PUT', '/api/token/', { id, ...body })).body.data.fallbacks;

    expect(fallbacks).toEqual(['voyage', 'local']);
    expect(await update({ fallbacks: 'local, voyage' })).toEqual(['local', 'voyage']);
    expect(await update({ name: 'renamed again' })).toEqual(['local', 'voyage']);
    expect(await update({ fallbacks: [] })).toEqual([]);
  });

  it('takes lists as arrays and as texts', async () => {
    const token = await create({
      model_limits_enabled: true,
      model_limits: 'local,other',
      allow_ips: '127.0.0.1\n10.0.0.0/8',
      tags: ['eu'],
      default_model: 'local',
      remain_quota: 5,
    });

    expect(token).toMatchObject({
      model_limits: ['local', 'other'],
      allow_ips: ['127.0.0.1', '10.0.0.0/8'],
      tags: ['eu'],
      default_model: 'local',
      unlimited_quota: false,
      remain_quota: 5,
    });
  });

  it.each([
    ['name', {}],
    ['expired_time', { name: 'a', expired_time: 1 }],
    ['model_limits', { name: 'a', model_limits_enabled: true }],
    ['allow_ips', { name: 'a', allow_ips: 'anywhere' }],
    ['remain_quota', { name: 'a', remain_quota: -1 }],
  ])('refuses what is wrong with %s', async (param, body) => {
    const reply = await call('POST', '/api/token', body);

    expect([reply.status, reply.body.code, reply.body.param]).toEqual([
      400,
      'invalid_request',
      param,
    ]);
  });

  it('is for oneself, and as an admin for anybody', async () => {
    const foreign = await call('POST', '/api/token', { name: 'a', user_id: other.user.id });
    const token = await create({ user_id: other.user.id }, admin);

    expect(foreign.status).toBe(404);
    expect(token.user_id).toBe(other.user.id);
  });
});

describe('changing a key', () => {
  it('merges, and answers with the key as it is then, without the key itself', async () => {
    const { key, ...token } = await create({ tags: ['eu'], remain_quota: 10 });

    const reply = await call('PUT', '/api/token/', { id: token.id, name: 'renamed' });

    expect(reply.status).toBe(200);
    expect(reply.body.data).toEqual({
      ...{ ...token, name: 'renamed' },
      revision: expect.any(String),
    });
    expect(JSON.stringify(reply.body)).not.toContain(key);
  });

  it('accepts a whole key as it was read, with one member changed', async () => {
    const { id } = await create({ model_limits: 'local', remain_quota: 10 });
    const { body } = await call('GET', `/api/token/${id}`);

    const reply = await call('PUT', '/api/token', { ...body.data, name: 'sent back' });

    expect(reply.body.data).toEqual({
      ...{ ...body.data, name: 'sent back' },
      revision: expect.any(String),
    });
  });

  it('changes the status alone if that is asked for', async () => {
    const { id, key } = await create();
    const path = '/api/token/?status_only=true';

    const ignored = { name: 'ignored', model_limits_enabled: true };
    const off = await call('PUT', path, { id, status: 2, ...ignored });
    const refused = await rerank(key);
    const on = await call('PUT', path, { id, status: 1 });
    const missing = await call('PUT', path, { id, name: 'no status' });

    expect(off.body.data).toMatchObject({ status: 2, name: 'a key' });
    expect(refused.body.error.code).toBe('token_disabled');
    expect(on.body.data.status).toBe(1);
    expect((await rerank(key)).status).toBe(200);
    expect([missing.status, missing.body.param]).toEqual([400, 'status']);
  });

  it('enables an exhausted key only together with what mends it', async () => {
    const { id } = await create({ remain_quota: 0 });

    const read = await call('GET', `/api/token/${id}`);
    const refused = await call('PUT', '/api/token', { id, status: 1 });
    const mended = await call('PUT', '/api/token', { id, status: 1, add_quota: 50 });

    expect(read.body.data.status).toBe(4);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(mended.body.data).toMatchObject({ status: 1, remain_quota: 50 });
  });

  it('enables an expired key only together with what mends it', async () => {
    const { id } = await create();
    const end = past();
    const ending = await call('PUT', '/api/token', { id, expired_time: end });
    await gateway.store.updateToken(id, { expiredTime: end }, Date.now());
    const expired = await call('PUT', '/api/token', { id, name: 'sent back', expired_time: end });

    expect([ending.status, ending.body.message]).toEqual([
      400,
      expect.stringContaining('in the past'),
    ]);
    const refused = await call('PUT', '/api/token?status_only=1', { id, status: 1 });
    const mended = await call('PUT', '/api/token', { id, status: 1, expired_time: -1 });

    expect(expired.body.data.status).toBe(3);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(mended.body.data.status).toBe(1);
  });

  it('leaves the status alone when it comes back as it is', async () => {
    const { id } = await create({ remain_quota: 0 });

    const same = await call('PUT', '/api/token', { id, status: 4, remain_quota: 9 });
    const other = await call('PUT', '/api/token', { id, status: 3 });

    expect(same.body.data).toMatchObject({ status: 1, remain_quota: 9 });
    expect([other.status, other.body.param]).toEqual([400, 'status']);
  });

  it('moves quota, and never below zero', async () => {
    const { id } = await create({ remain_quota: 10 });

    const less = await call('PUT', '/api/token', { id, add_quota: -4 });
    const tooMuch = await call('PUT', '/api/token', { id, add_quota: -7 });
    const both = await call('PUT', '/api/token', { id, add_quota: 1, remain_quota: 1 });

    expect(less.body.data.remain_quota).toBe(6);
    expect([tooMuch.status, tooMuch.body.code]).toEqual([409, 'conflict']);
    expect(both.status).toBe(400);
    expect((await call('GET', `/api/token/${id}`)).body.data.remain_quota).toBe(6);
  });

  it('adds up against traffic that runs meanwhile', async () => {
    const { id, key } = await create({ remain_quota: 1_000 });

    const runs = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? rerank(key) : call('PUT', '/api/token', { id, add_quota: 5 }),
    );
    const statuses = (await Promise.all(runs)).map(({ status }) => status);
    await gateway.app.gateway.settlements.drained();

    expect(new Set(statuses)).toEqual(new Set([200]));
    const { body } = await call('GET', `/api/token/${id}`);
    expect(body.data).toMatchObject({ remain_quota: 1_000 + 50 - 100, used_quota: 100 });
  });

  it('lifts and sets the limit to certain models', async () => {
    const { id } = await create({ model_limits: ['local'] });
    const change = async (fields: object) => {
      const { status, body } = await call('PUT', '/api/token', { id, ...fields });
      return status === 200 ? body.data.model_limits : body.param;
    };

    expect(await change({ model_limits_enabled: true })).toEqual(['local']);
    expect(await change({ model_limits_enabled: false, model_limits: ['local'] })).toEqual([]);
    expect(await change({ model_limits_enabled: true })).toBe('model_limits');
    expect(await change({ model_limits: 'a, b' })).toEqual(['a', 'b']);
    expect(await change({ model_limits: '' })).toEqual([]);
  });

  it('knows nothing of the keys of others, but for admins', async () => {
    const { id } = await create();
    const unknown = { id: 999_999_999, name: 'x' };

    const foreign = await call('PUT', '/api/token', { id, name: 'x' }, other);
    const foreignStatus = await call('PUT', '/api/token', { id, status: 3 }, other);
    const missing = await call('PUT', '/api/token', unknown, other);
    const byAdmin = await call('PUT', '/api/token', { id, name: 'by admin' }, admin);

    expect([foreign.status, foreignStatus.status, missing.status]).toEqual([404, 404, 404]);
    expect(foreign.body.code).toBe(missing.body.code);
    expect(byAdmin.body.data.name).toBe('by admin');
  });

  it('is audited with who, what and why', async () => {
    const { id } = await create();

    await call('PUT', '/api/token', { id, name: 'audited', reason: ' a ticket ' });

    const { items } = await gateway.store.listAudit({ target: `token:${id}`, offset: 0, limit: 1 });
    expect(items[0]).toMatchObject({
      actorId: owner.user.id,
      actor: owner.user.username,
      action: 'token.update',
      detail: { name: 'audited', reason: 'a ticket' },
      address: '127.0.0.1',
    });
  });
});

describe('finding and deleting keys', () => {
  it('lists one’s own, newest first, and everybody’s for admins', async () => {
    const mine = await createAccount(gateway.store);
    const [first, second] = [await create({}, mine), await create({}, mine)];

    const list = await call<ListWire>('GET', '/api/token?page_size=1', undefined, mine);
    const asked = `/api/token?user_id=${mine.user.id}`;
    const forAdmin = await call<ListWire>('GET', asked, undefined, admin);
    const forOther = await call<ListWire>('GET', asked, undefined, other);

    expect(list.body.data).toMatchObject({ total: 2, items: [{ id: second.id }] });
    expect(forAdmin.body.data.items.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(forOther.body.data.items.every(({ user_id: id }) => id === other.user.id)).toBe(true);
  });

  it('names owners, and is a file too', async () => {
    const mine = await createAccount(gateway.store);
    await create({ name: 'listed, with its owner' }, mine);

    const list = await call<ListWire>('GET', '/api/token', undefined, mine);
    const file = await fetch(`${gateway.url}/api/token/search?format=csv&keyword=listed`, {
      headers: { authorization: `Bearer ${mine.token}` },
    });

    expect(list.body.data.items).toMatchObject([{ owner: mine.user.username }]);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="keys.csv"');
    const [heading = '', row = '', ...rest] = (await file.text()).split('\r\n');
    expect([heading.split(',')[2], heading.split(',').at(-1)]).toEqual(['name', 'owner']);
    expect(row).toContain('"listed, with its owner"');
    expect(row.split(',').at(-1)).toBe(mine.user.username);
    expect(rest).toEqual(['']);
  });

  it('is sent back as a list has it, with one member changed', async () => {
    const mine = await createAccount(gateway.store);
    await create({ name: 'before' }, mine);
    const { body } = await call<ListWire>('GET', '/api/token', undefined, mine);

    const changed = await call('PUT', '/api/token', { ...body.data.items[0], name: 'after' }, mine);

    expect([changed.status, changed.body.data.name]).toEqual([200, 'after']);
  });

  it('sorts by what is asked for, the greatest first with a minus', async () => {
    const mine = await createAccount(gateway.store);
    const rich = await create({ name: 'b', remain_quota: 9 }, mine);
    const poor = await create({ name: 'a', remain_quota: 1 }, mine);
    const sorted = async (sort: string, path = '/api/token') => {
      const reply = await call<ListWire>('GET', `${path}?sort=${sort}`, undefined, mine);
      return reply.body.data.items.map(({ id }) => id);
    };

    expect(await sorted('name')).toEqual([poor.id, rich.id]);
    expect(await sorted('-remain_quota')).toEqual([rich.id, poor.id]);
    expect(await sorted('remain_quota', '/api/token/search')).toEqual([poor.id, rich.id]);
    const unknown = await call('GET', '/api/token?sort=remainQuota', undefined, mine);
    expect([unknown.status, unknown.body.param]).toEqual([400, 'sort']);
  });

  it('finds by part of the name and by the whole key', async () => {
    const mine = await createAccount(gateway.store);
    const { id, key } = await create({ name: 'Needle in hay' }, mine);
    await create({ name: 'straw' }, mine);
    const found = async (query: string) => {
      const reply = await call<ListWire>('GET', `/api/token/search?${query}`, undefined, mine);
      return reply.body.data.items.map((token) => token.id);
    };

    expect(await found('keyword=needle')).toEqual([id]);
    expect(await found(`token=${key}`)).toEqual([id]);
    expect(await found(`token=${key.slice(3)}`)).toEqual([id]);
    expect(await found(`token=${key.slice(0, 10)}`)).toEqual([]);
  });

  it('shows everybody’s to an auditor, who changes none but their own', async () => {
    const auditor = await createAccount(gateway.store, { role: 5, quota: 100 });
    const theirs = await create({ name: 'of a user' });
    const own = await create({ name: 'of the auditor' }, auditor);
    const as = (method: string, path: string, body?: object) => call(method, path, body, auditor);

    const read = await as('GET', `/api/token/${theirs.id}`);
    const refused = [
      await as('PUT', '/api/token', { id: theirs.id, status: 2 }),
      await as('DELETE', `/api/token/${theirs.id}`),
      await as('POST', '/api/token/batch', { ids: [theirs.id] }),
      await as('POST', `/api/token/${theirs.id}/roll`, {}),
      await as('POST', '/api/token', { name: 'for another', user_id: owner.user.id }),
    ];
    const changed = await as('PUT', '/api/token', { id: own.id, name: 'renamed' });

    expect([read.status, read.body.data.name]).toEqual([200, 'of a user']);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect(changed.body.data.name).toBe('renamed');
    expect((await call('GET', `/api/token/${theirs.id}`)).body.data).toEqual({
      ...theirs,
      key: undefined,
    });
  });

  it('says whose a key is, without the key in an address', async () => {
    const mine = await createAccount(gateway.store);
    const stranger = await createAccount(gateway.store);
    const { id, key } = await create({ name: 'found' }, mine);
    const find = (given: string, as: Account) =>
      call('POST', '/api/token/find', { key: given }, as);

    const [whole, bare, theirs, part] = [
      await find(key, mine),
      await find(key.slice(3), admin),
      await find(key, stranger),
      await find(key.slice(0, 20), mine),
    ];

    expect([whole.body.data.id, bare.body.data.id]).toEqual([id, id]);
    expect([theirs.status, part.status]).toEqual([404, 404]);
  });

  it('deletes one', async () => {
    const { id, key } = await create();

    const foreign = await call('DELETE', `/api/token/${id}`, undefined, other);
    const gone = await call('DELETE', `/api/token/${id}?reason=leaked`);
    const again = await call('DELETE', `/api/token/${id}`);

    expect([foreign.status, gone.status, again.status]).toEqual([404, 200, 404]);
    expect((await rerank(key)).status).toBe(401);
  });

  it('deletes many, and passes over those of others', async () => {
    const [a, b] = [await create(), await create()];
    const foreign = await create({}, other);

    const reply = await call<number>('POST', '/api/token/batch', {
      ids: [a.id, b.id, b.id, foreign.id, 999_999_999],
    });

    expect(reply.body.data).toBe(2);
    expect((await call('GET', `/api/token/${foreign.id}`, undefined, other)).status).toBe(200);
  });
});

it('an account has so many keys and no more', async () => {
  const own = await startGateway({ accounts: { keys_per_account: 2 } });
  const { cookie } = await createAccount(own.store);
  const make = () => callApi(own.url, 'POST', '/api/token/', { cookie, body: { name: 'one' } });

  const statuses = (await Promise.all([make(), make(), make(), make()])).map(
    ({ status }) => status,
  );
  await own.close();

  expect(statuses.sort()).toEqual([200, 200, 409, 409]);
});

describe('usage of a key', () => {
  it('is shown to the key itself, as the store has it now', async () => {
    const { key, name } = await create({ remain_quota: 100, model_limits: 'local' });
    await rerank(key);
    await gateway.app.gateway.settlements.drained();

    const reply = await callApi(gateway.url, 'GET', '/api/usage/token/', { token: key });

    expect(reply.body.data).toEqual({
      object: 'token_usage',
      name,
      status: 1,
      total_granted: 100,
      total_used: 10,
      total_available: 90,
      budget: 0,
      budget_spent: 0,
      budget_renews_at: null,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: ['local'],
      expires_at: 0,
    });
  });

  it('is shown to the key’s own addresses alone, by what the store knows now', async () => {
    const mine = await createAccount(gateway.store);
    const { id, key } = await create({}, mine);
    const ask = () => callApi(gateway.url, 'GET', '/api/usage/token', { token: key });

    const before = await ask();
    await gateway.store.updateToken(id, { policy: { allowIps: ['192.0.2.0/24'] } }, Date.now());
    const elsewhere = await ask();
    await gateway.store.updateToken(id, { policy: { allowIps: ['127.0.0.0/8'] } }, Date.now());
    const here = await ask();
    await gateway.store.updateUser(mine.user.id, { enabled: false }, Date.now());
    const disabled = await ask();

    expect(before.status).toBe(200);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, 'ip_not_allowed']);
    expect(here.status).toBe(200);
    expect([disabled.status, disabled.body.code]).toEqual([403, 'user_disabled']);
  });

  it('of an unlimited key is bounded by its user, and of a deleted one is not shown', async () => {
    const mine = await createAccount(gateway.store, { quota: 77 });
    const { id, key } = await create({}, mine);
    const ask = () =>
      callApi<{ total_available: number }>(gateway.url, 'GET', '/api/usage/token', { token: key });

    const before = await ask();
    await call('DELETE', `/api/token/${id}`, undefined, mine);
    const after = await ask();

    expect(before.body.data.total_available).toBe(77);
    expect([after.status, after.body.code]).toEqual([401, 'invalid_api_key']);
  });
});
