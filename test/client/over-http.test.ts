import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { filterOf } from '../../src/cli/log-filters.js';
import { createApiClient } from '../../src/client/api-client.js';
import { listPart, type Client } from '../../src/client/client.js';
import { clientOverHttp } from '../../src/client/over-http.js';
import { Secret } from '../../src/core/secret.js';
import { createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

describe('an account at a gateway', () => {
  let gateway: TestGateway;
  let owner: Account;
  let client: Client;
  beforeAll(async () => {
    gateway = await startGateway({});
    owner = await createAccount(gateway.store, { quota: 1_000 });
    client = clientOverHttp(createApiClient(gateway.url, new Secret(owner.token)));
  });
  afterAll(() => gateway.close());

  it('makes a key that is disabled from the beginning', async () => {
    const body = { name: 'made', remain_quota: 10, status: 2 as const };

    const { id, status } = await client.call('createToken', { body });

    expect(status).toBe(2);
    expect((await gateway.store.getToken(id, Date.now()))?.enabled).toBe(false);
  });

  it('keeps the old key for as long as it asks', async () => {
    const { id } = await client.call('createToken', { body: { name: 'rolled' } });
    const before = Date.now() / 1_000;

    const rolled = await client.call('rollToken', { params: { id }, body: { keep_old_s: 3_600 } });

    expect(rolled.old_key_until - before).toBeGreaterThan(3_590);
    expect(rolled.old_key_until - before).toBeLessThan(3_660);
  });

  it.each([{ channel: '3' }, { provider: 'cohere' }, { tag: 'eu' }])(
    'may not filter requests by %j, and is not answered without the filter',
    async (filter) => {
      await expect(filterOf(client, filter)).rejects.toThrow('only see its own requests');
    },
  );
});

it.each([
  [0, 2, 1],
  [150, 3, 1],
  [198, 4, 2],
  [249, 9, 1],
])(
  'a part of a list is what begins at %i, of %i at most, from as few pages as hold it',
  async (offset, limit, pages) => {
    const asked: number[] = [];
    const call = (_id: string, { query }: { query: { p: number; page_size: number } }) => {
      asked.push(query.p);
      const from = (query.p - 1) * query.page_size;
      const left = Math.min(query.page_size, 250 - from);
      return Promise.resolve({
        items: Array.from({ length: left }, (_, at) => from + at),
        total: 250,
      });
    };

    const part = await listPart({ call } as unknown as Client, 'listUsers', {}, { offset, limit });

    const length = Math.min(limit, 250 - offset);
    expect(part).toEqual({ items: Array.from({ length }, (_, at) => offset + at), total: 250 });
    expect(asked).toHaveLength(pages);
  },
);

it('a path has what it names, whatever is in it', async () => {
  const asked: string[] = [];
  const client = clientOverHttp({
    url: '',
    call: (_method, path) => {
      asked.push(path);
      return Promise.reject(new Error('enough'));
    },
    callForCookie: () => Promise.resolve(''),
  });

  const asking = client.call('getRequest', { params: { request_id: 'a/b ?c' } });

  await expect(asking).rejects.toThrow('enough');
  expect(asked).toEqual(['/api/log/request/a%2Fb%20%3Fc']);
});
