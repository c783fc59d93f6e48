import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RefusedEntry, UsageEntry } from '../../src/store/store.js';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { usageEntry } from '../support/events.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';

interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
}

const AT_SECONDS = 1_700_000_000;

let gateway: TestGateway;
let admin: Account;
let user: Account;
let other: Account;

beforeAll(async () => {
  gateway = await startGateway({
    log: { retention_days: 36_500 },
    channels: [{ name: 'local', provider: 'local', models: ['local'], tag: 'house' }],
  });
  admin = await createAccount(gateway.store, { role: 10 });
  user = await createAccount(gateway.store);
  other = await createAccount(gateway.store);
  await gateway.store.appendUsage(
    [
      entry({ userId: user.user.id, requestId: 'first', tokenName: '=1+1' }),
      entry({ userId: other.user.id, requestId: 'second', model: 'b', atMs: at(1) }),
      entry({ userId: user.user.id, requestId: 'third', outcome: 'upstream_error', atMs: at(2) }),
    ],
    1_000,
  );
});
afterAll(() => gateway.close());

const REFUSED: RefusedEntry = {
  ...{ atMs: 0, requestId: 'turned away', userId: undefined, tokenId: 7, tokenName: 'search' },
  ...{ model: 'a', outcome: 'rate_limited', status: 429, message: 'Too many requests.' },
  ...{ address: '192.0.2.1', node: 'node-a', documents: 0, durationMs: 1, repeated: 0 },
};

function at(seconds: number): number {
  return (AT_SECONDS + seconds) * 1000;
}

function entry(fields: Partial<UsageEntry>): UsageEntry {
  return usageEntry({
    ...{ atMs: at(0), requestId: 'r', tokenId: 7, tokenName: 'search', model: 'a', tag: 'blue' },
    ...{ documents: 5, inputTokens: 10, quota: 1_000, durationMs: 7 },
    ...fields,
  });
}

async function get<T>(path: string, account: Account): Promise<T> {
  const { status, body } = await callApi<T>(gateway.url, 'GET', path, { token: account.token });
  if (status !== 200) throw new Error(`${path}: ${status} ${body.message}`);
  return body.data;
}

async function found(path: string, account = admin): Promise<unknown[]> {
  return (await get<Listed>(path, account)).items.map(({ request_id: id }) => id);
}

describe('the usage log', () => {
  it('tells users ids that say nothing of what others ask, and goes on after them', async () => {
    const ids = async (account: Account, path: string): Promise<number[]> =>
      (await get<{ items: { id: number }[] }>(path, account)).items.map(({ id }) => id);

    const [newest = 0, oldest = 0] = await ids(user, '/api/log/self');
    const seen = await ids(admin, '/api/log');
    expect(seen).not.toContain(newest);
    expect(seen).not.toContain(oldest);
    expect(await ids(user, '/api/log/self')).toEqual([newest, oldest]);
    expect(await found(`/api/log/self?before=${newest}`, user)).toEqual(['first']);
    expect(await found(`/api/log/self?before=${oldest}`, user)).toEqual([]);
  });

  it.each([
    ['', ['third', 'second', 'first']],
    ['&model=b', ['second']],
    ['&outcome=upstream_error', ['third']],
    // As clients of New API ask: with every field of their form, by their names.
    ['&type=0&username=&model_name=&channel=&group=&request_id=', ['third', 'second', 'first']],
    ['&type=0&model_name=b&channel=3', ['second']],
    ['&token_name=%3D1%2B1', ['first']],
    ['&token_id=8', []],
    ['&channel_id=3&model=', ['third', 'second', 'first']],
    ['&request_id=second', ['second']],
    ['&request_id=second&model=a', []],
    ['&before=3', ['second', 'first']],
    ['&min_duration_ms=8', []],
    [`&start_timestamp=${AT_SECONDS + 1}`, ['third', 'second']],
    [`&end_timestamp=${AT_SECONDS + 1}`, ['second', 'first']],
    [`&start_timestamp=${AT_SECONDS + 1}&end_timestamp=${AT_SECONDS + 1}`, ['second']],
  ])('is filtered: "%s"', async (filter, expected) => {
    expect(await found(`/api/log/?page_size=100${filter}`)).toEqual(expected);
  });

  it('is filtered by user, in pages', async () => {
    const path = `/api/log?user_id=${user.user.id}&page_size=1&p=2`;

    expect(await get<Listed>(path, admin)).toMatchObject({
      items: [{ request_id: 'first', channel_id: 3, provider: 'cohere', created_at: AT_SECONDS }],
      total: 2,
      page: 2,
      page_size: 1,
    });
  });

  it('goes on after an entry, and counts no further than asked', async () => {
    const read = (rest: string) =>
      get<Listed & { total: number; items: { id: number }[] }>(
        `/api/log?page_size=1${rest}`,
        admin,
      );
    const first = await read('&count=false');
    const rest = await read(`&count=false&before=${first.items[0]?.id ?? 0}`);

    expect(first).toMatchObject({ items: [{ request_id: 'third' }], total: 2 });
    expect(rest).toMatchObject({ items: [{ request_id: 'second' }], total: 2 });
    expect(await read('&p=3')).toMatchObject({ items: [{ request_id: 'first' }], total: 3 });
    expect(await found(`/api/log/self?request_id=second`, user)).toEqual([]);
  });

  it('shows people only their own requests, and not which channels served them', async () => {
    const path = `/api/log/self?user_id=${other.user.id}`;
    const { items } = await get<Listed>(path, user);

    expect(items.map(({ request_id: id }) => id)).toEqual(['third', 'first']);
    expect(items[0]).not.toHaveProperty('channel_id');
    expect(items[0]).not.toHaveProperty('tag');
  });

  it('lists refused requests among the admitted, to users without what tells of others', async () => {
    await gateway.store.appendRefused([{ ...REFUSED, userId: user.user.id, atMs: at(1.5) }], 1_000);
    const ids = async (path: string, account: Account) =>
      (await get<Listed>(path, account)).items.map(({ id, request_id }) => [id, request_id]);

    const all = await ids('/api/log/request', admin);
    expect(all.map(([, id]) => id)).toEqual(['third', 'turned away', 'second', 'first']);
    const rest = `/api/log/request?before=${String(all[1]?.[0])}`;
    expect(await ids(rest, admin)).toEqual(all.slice(2));
    expect(await found('/api/log/request?kind=refused')).toEqual(['turned away']);
    expect(await found('/api/log/request?address=192.0.2.1')).toEqual(['turned away']);
    expect(await found('/api/log/request?outcome=failed')).toEqual(['third', 'turned away']);
    expect(await found('/api/log/refused?outcome=failed')).toEqual(['turned away']);
    expect(await found('/api/log/request?tag=blue')).toEqual(['third', 'second', 'first']);

    const own = await ids('/api/log/self/request', user);
    expect(own.map(([, id]) => id)).toEqual(['third', 'turned away', 'first']);
    expect(own[0]?.[0]).not.toBe(all[0]?.[0]);
    const ownRest = `/api/log/self/request?page_size=1&before=${String(own[0]?.[0])}`;
    expect(await ids(ownRest, user)).toEqual([own[1]]);
    expect(await found('/api/log/self/request', other)).toEqual(['second']);
    const [first] = (await get<Listed>('/api/log/self/request', user)).items;
    expect(first).not.toHaveProperty('channel_id');
    expect(first).not.toHaveProperty('address');

    const seen = async (id: string, { token }: Account) =>
      (await callApi(gateway.url, 'GET', `/api/log/self/request/${id}`, { token })).status;
    for (const id of ['turned%20away', 'first']) {
      expect([await seen(id, user), await seen(id, other)]).toEqual([200, 404]);
    }

    const wrong = await callApi(gateway.url, 'GET', '/api/log/request?before=7', {
      token: admin.token,
    });
    expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringContaining('"7"') } });
  });

  it('is added up, for all and for oneself', async () => {
    expect(await get('/api/log/stat?model=a', admin)).toMatchObject({
      requests: 2,
      quota: 2_000,
      documents: 10,
      input_tokens: 20,
    });
    expect(await get('/api/log/self/stat', other)).toMatchObject({ requests: 1, quota: 1_000 });
  });

  it('comes as a file whose cells no spreadsheet runs', async () => {
    const response = await fetch(`${gateway.url}/api/log/self?format=csv`, {
      headers: { authorization: `Bearer ${user.token}` },
    });

    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
    expect((await response.text()).split('\r\n')).toEqual([
      'id,created_at,request_id,token_id,token_name,model,attempts,documents,input_tokens,search_units,quota,duration_ms,outcome',
      expect.stringMatching(
        `^\\d{6,},${AT_SECONDS + 2},third,7,search,a,1,5,10,1,1000,7,upstream_error$`,
      ),
      expect.stringMatching(`^\\d{6,},${AT_SECONDS},first,7,'=1\\+1,a,1,5,10,1,1000,7,ok$`),
      '',
    ]);
  });

  it('gets an entry of every admitted request soon after it was answered', async () => {
    const { key, id } = await gateway.createKey();
    const body = { model: 'local', query: 'moon', documents: ['a moon', 'a sun'] };
    const { status, headers } = await gateway.post(key, body);

    const path = `/api/log?token_id=${id}`;
    await eventually('the entry is there', async () => (await found(path)).length > 0);

    expect(status).toBe(200);
    expect((await get<Listed>(path, admin)).items).toMatchObject([
      {
        request_id: headers.get('x-request-id'),
        user_id: gateway.userId,
        model: 'local',
        provider: 'local',
        channel: 'local',
        tag: 'house',
        attempts: 1,
        documents: 2,
        outcome: 'ok',
      },
    ]);
  });

  it.each(['/api/log', '/api/log/stat', '/api/audit'])('%s is for admins', async (path) => {
    const forbidden = await callApi(gateway.url, 'GET', path, { token: user.token });
    const anonymous = await callApi(gateway.url, 'GET', path);

    expect([forbidden.status, anonymous.status]).toEqual([403, 401]);
  });
});

describe('the audit log', () => {
  it('says who did what to what, and from where', async () => {
    const body = { username: 'audited-user', password: 'a password of theirs' };
    await callApi(gateway.url, 'POST', '/api/user', { body, token: admin.token });

    const path = `/api/audit?actor_id=${admin.user.id}&action=user.create`;
    const { items, total } = await get<Listed>(path, admin);

    expect(total).toBe(1);
    expect(items).toMatchObject([
      {
        actor: admin.user.username,
        target: expect.stringMatching(/^user:\d+$/),
        detail: { username: 'audited-user' },
        address: '127.0.0.1',
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('a password of theirs');
  });

  it('comes as a file too', async () => {
    const response = await fetch(`${gateway.url}/api/audit/?format=csv&action=none.such`, {
      headers: { authorization: `Bearer ${admin.token}` },
    });

    expect(await response.text()).toBe(
      'id,created_at,actor_id,actor,action,target,detail,address,name,changes\r\n',
    );
  });
});
