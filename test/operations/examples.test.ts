import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

interface Example {
  readonly id: number;
  readonly name: string;
  readonly shared: boolean;
  readonly own: boolean;
  readonly content: unknown;
}

const CONTENT = { query: 'moons', documents: 'Saturn\nJupiter', lanes: [{ model: 'local' }] };

interface Got<T> {
  readonly status: number;
  readonly data: T;
  readonly code: string;
}

let gateway: TestGateway;
let ada: Account;
let bob: Account;
let admin: Account;
beforeAll(async () => {
  gateway = await startGateway({
    prices: { default: { per_request: 3 }, models: { local: { per_search_unit: 1000 } } },
  });
  ada = await createAccount(gateway.store);
  bob = await createAccount(gateway.store);
  admin = await createAccount(gateway.store, { role: 10 });
});
afterAll(() => gateway.close());

async function call<T>(
  as: Account,
  method: string,
  path: string,
  body?: object,
  url = gateway.url,
): Promise<Got<T>> {
  const given = body === undefined ? {} : { body };
  const reply = await callApi<T>(url, method, `/api/${path}`, { cookie: as.cookie, ...given });
  return { status: reply.status, data: reply.body.data, code: reply.body.code };
}

const save = (as: Account, given: object = {}) =>
  call<Example>(as, 'POST', 'playground/example', { name: 'planets', content: CONTENT, ...given });
const names = async (as: Account) =>
  (await call<Example[]>(as, 'GET', 'playground/example')).data.map(({ name }) => name);

describe('examples of the playground', () => {
  it('are one’s own until they are shared', async () => {
    const { data: own } = await save(ada, { name: 'mine' });
    const { data: shared } = await save(ada, { name: 'for all', shared: true });

    const hidden = await call(bob, 'GET', `playground/example/${own.id}`);
    const seen = await call<Example>(bob, 'GET', `playground/example/${shared.id}`);

    expect(await names(ada)).toEqual(['for all', 'mine']);
    expect(await names(bob)).toEqual(['for all']);
    expect(hidden.status).toBe(404);
    expect(seen.data).toMatchObject({ name: 'for all', shared: true, own: false });
    expect(seen.data.content).toEqual(CONTENT);
  });

  it('are deleted by who saved them, and shared ones by an admin', async () => {
    const { data: own } = await save(ada);
    const { data: shared } = await save(ada, { shared: true });
    const remove = (as: Account, { id }: Example) =>
      call(as, 'DELETE', `playground/example/${id}`).then(({ status }) => status);

    const statuses = [
      ...[await remove(bob, own), await remove(admin, own)],
      ...[await remove(bob, shared), await remove(admin, shared)],
      ...[await remove(ada, own), await remove(ada, own)],
    ];

    expect(statuses).toEqual([404, 404, 403, 200, 200, 404]);
  });

  it('are of a bounded size and number', async () => {
    const carol = await createAccount(gateway.store);
    const large = await save(carol, { content: { documents: 'x'.repeat(500_001) } });
    for (let count = 0; count < 100; count += 1) await save(carol);
    const more = await save(carol);

    expect([large.status, large.code]).toEqual([400, 'invalid_request']);
    expect([more.status, more.code]).toEqual([409, 'conflict']);
  });

  it('are not kept where the operator wants no documents in the store', async () => {
    const own = await startGateway({ console: { examples: false } });
    const dora = await createAccount(own.store);
    const body = { name: 'planets', content: CONTENT };

    const refused = await call(dora, 'POST', 'playground/example', body, own.url);
    const about = await call<{ playground: unknown }>(dora, 'GET', 'about', undefined, own.url);
    await own.close();

    expect([refused.status, refused.code]).toEqual([403, 'permission_denied']);
    expect(about.data.playground).toEqual({ examples: false });
  });
});

it('tells the prices in force', async () => {
  const { data } = await call(ada, 'GET', 'price');

  expect(data).toEqual({
    units_per_usd: 500_000,
    default: { per: 'request', units: 3 },
    models: { local: { per: 'search_unit', units: 1000 } },
  });
});
