import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../../support/accounts.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { eventually } from '../../support/redis-server.js';

interface Ranked {
  readonly request_id: string;
  readonly model: string;
  readonly channel: { readonly name: string; readonly tag: string | null } | null;
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly quota: number;
  readonly warnings: readonly string[];
}

const BODY = { query: 'apple', documents: ['a pear', 'an apple', 'a plum'], model: 'local' };

let gateway: TestGateway;
let admin: Account;
let user: Account;

beforeAll(async () => {
  gateway = await startGateway({
    prices: { default: { per_search_unit: 1000 } },
    channels: [{ name: 'inside', provider: 'local', models: ['local'], tag: 'own' }],
  });
  admin = await createAccount(gateway.store, { role: 10, quota: 1_000_000 });
  user = await createAccount(gateway.store, { quota: 1_000_000 });
});
afterAll(() => gateway.close());

function rank(account: Account, change: object = {}) {
  return callApi<Ranked>(gateway.url, 'POST', '/api/playground/rank', {
    token: account.token,
    body: { ...BODY, ...change },
  });
}

const consoleKeys = async (account: Account) =>
  (await gateway.store.listTokens({ userId: account.user.id, offset: 0, limit: 10 }, Date.now()))
    .items;

describe('the playground', () => {
  it('ranks by one’s login, and charges the account by a key that nobody has', async () => {
    const { body } = await rank(user);

    expect(body.data.results.map(({ index }) => index)[0]).toBe(1);
    expect(body.data).toMatchObject({ model: 'local', quota: 1_000 });
    await eventually(
      'it is settled',
      async () => (await consoleKeys(user))[0]?.usedQuota === 1_000,
    );
    expect(await consoleKeys(user)).toMatchObject([
      { name: 'console', policy: { rateLimit: 60, maxConcurrency: 4 } },
    ]);
    const { usedQuota } = (await gateway.store.getUser(user.user.id, Date.now())) ?? {};
    expect(usedQuota).toBe(1_000);
  });

  it('makes that key once, however many lanes begin at the same time', async () => {
    const newcomer = await createAccount(gateway.store, { quota: 1_000_000 });

    const replies = await Promise.all([1, 2, 3, 4].map(() => rank(newcomer)));

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await consoleKeys(newcomer)).toHaveLength(1);
  });

  it('tells admins alone which channel it was', async () => {
    expect((await rank(user)).body.data.channel).toBeNull();
    expect((await rank(admin)).body.data.channel).toMatchObject({ name: 'inside', tag: 'own' });
    expect((await rank(admin, { model: 'local@own' })).status).toBe(200);
  });

  it('fails with the codes of the rerank API, and is in the log either way', async () => {
    const unknown = await rank(user, { model: 'no such model' });
    const blank = await rank(user, { query: ' ' });
    const empty = await rank(user, { documents: [' ', '  '] });
    const poor = await rank(await createAccount(gateway.store));

    expect([unknown.status, unknown.body.code]).toEqual([404, 'model_not_found']);
    expect([blank.status, blank.body.code]).toEqual([400, 'invalid_query']);
    expect([empty.status, empty.body.code]).toEqual([400, 'invalid_documents']);
    expect([poor.status, poor.body.code]).toEqual([403, 'insufficient_user_quota']);
    const { request_id: id } = (await rank(user, { top_n: 1 })).body.data;
    await eventually('it is logged', async () => {
      const { usage } = await gateway.store.findRequest(id);
      return usage?.detail?.source === 'console' && usage.tokenName === 'console';
    });
  });

  it('is bounded by the limits of that key, which admins may change', async () => {
    const [key] = await consoleKeys(user);
    await callApi(gateway.url, 'PUT', '/api/token', {
      token: admin.token,
      body: { id: key?.id, rate_limit: 1 },
    });

    const replies = [await rank(user), await rank(user), await rank(user)];

    expect(replies.at(-1)?.body.code).toBe('rate_limited');
  });
});
