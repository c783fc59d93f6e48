import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, PASSWORD, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

interface Item {
  readonly id: number;
  readonly name: string;
  readonly username: string;
  readonly revision: string;
}

interface Got<T> {
  readonly status: number;
  readonly data: T;
  readonly code: string;
  readonly param: string | undefined;
}

let gateway: TestGateway;
let ada: Account;
let bob: Account;
beforeAll(async () => {
  gateway = await startGateway({
    channels: [{ name: 'local', provider: 'local', models: ['local'] }],
    prices: { default: { per_request: 10 } },
  });
  ada = await createAccount(gateway.store, { role: 10, quota: 1_000 });
  bob = await createAccount(gateway.store, { role: 100 });
});
afterAll(() => gateway.close());

async function call<T = Item>(
  method: string,
  path: string,
  body?: object,
  as: Account = ada,
): Promise<Got<T>> {
  const given = body === undefined ? {} : { body };
  const reply = await callApi<T>(gateway.url, method, path, { cookie: as.cookie, ...given });
  const { data, code, param } = reply.body;
  return { status: reply.status, data, code, param };
}

/** Each kind of thing: how it is made, and two members that two people change. */
const KINDS = [
  {
    kind: 'token',
    make: () => call('POST', '/api/token', { name: 'a key' }),
    changes: [{ name: 'mine' }, { rate_limit: 7 }],
  },
  {
    kind: 'channel',
    make: () =>
      call('POST', '/api/channel', { name: 'a channel', provider: 'local', models: ['own'] }),
    changes: [{ tag: 'mine' }, { weight: 3 }],
  },
  {
    kind: 'user',
    make: () => call('POST', '/api/user', { username: 'somebody', password: PASSWORD }),
    changes: [{ display_name: 'mine' }, { budget: 9 }],
  },
  {
    kind: 'redemption',
    make: async () => {
      await call<string[]>('POST', '/api/redemption', { name: 'a code', quota: 5 });
      const { data, ...rest } = await call<{ items: Item[] }>('GET', '/api/redemption');
      const [code] = data.items;
      if (code === undefined) throw new Error('there is no code');
      return { ...rest, data: code };
    },
    changes: [{ name: 'mine' }, { quota: 6 }],
  },
];

describe.each(KINDS)('a $kind that two people change', ({ kind, make, changes }) => {
  it('keeps what the first wrote, and tells the second so', async () => {
    const { data: read } = await make();
    const { id, revision } = read;
    const put = (change: object, as: Account) =>
      call('PUT', `/api/${kind}`, { id, if_revision: revision, ...change }, as);

    const first = await put(changes[0] ?? {}, ada);
    const second = await put(changes[1] ?? {}, bob);
    const { data: now } = await call('GET', `/api/${kind}/${id}`);
    const again = await call(
      'PUT',
      `/api/${kind}`,
      { id, if_revision: now.revision, ...changes[1] },
      bob,
    );

    const empty = await call('PUT', `/api/${kind}`, { id, if_revision: '', ...changes[0] }, bob);
    const blind = await call(
      'PUT',
      `/api/${kind}`,
      { id, revision: 'as it was read', ...changes[0] },
      bob,
    );

    expect([first.status, second.status, again.status]).toEqual([200, 409, 200]);
    expect([empty.status, empty.param]).toEqual([400, 'if_revision']);
    expect([blind.status, blind.data.revision]).toEqual([200, again.data.revision]);
    expect([second.code, second.param]).toEqual(['conflict', 'if_revision']);
    expect(second.data).toEqual(now);
    expect(now.revision).toBe(first.data.revision);
    expect(now).toMatchObject(changes[0] ?? {});
    expect(again.data).toMatchObject({ ...changes[0], ...changes[1] });
    expect(again.data.revision).not.toBe(now.revision);
  });
});

it('is the same revision however much traffic a key has', async () => {
  const made = await call<Item & { key: string }>('POST', '/api/token', {
    ...{ name: 'busy', remain_quota: 500 },
  });
  const { id, key, revision } = made.data;

  const ranked = await gateway.post(key, {
    ...{ model: 'local', query: 'apple', documents: ['apple', 'pear'] },
  });
  const after = await call<Item & { remain_quota: number }>('GET', `/api/token/${id}`);

  expect(ranked.status).toBe(200);
  expect(after.data.remain_quota).toBeLessThan(500);
  expect(after.data.revision).toBe(revision);
});
