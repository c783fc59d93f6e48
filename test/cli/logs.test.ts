import { expect, it } from '@jest/globals';
import type { Client } from '../../src/client/client.js';
import { requestsOf } from '../../src/cli/log-all.js';

it('a list of requests ends where they do, even if some are dropped while it is read', async () => {
  const ids = Array.from({ length: 100 }, (_, at) => `${at}--`);
  const asked: unknown[] = [];
  const client: Client = {
    ...{ place: 'http://a-gateway', isOperator: true, close: () => Promise.resolve() },
    call: (_, { query } = {}) => {
      asked.push((query as { readonly before?: string }).before);
      // All others are gone when the second page is read.
      const items = asked.length === 1 ? ids.map((id) => ({ id })) : [];
      if (asked.length > 2) throw new Error('is not asked for');
      return Promise.resolve({ items, total: asked.length === 1 ? 150 : 0 } as never);
    },
  };

  const { items } = await requestsOf(client, { own: false, filter: {} }, { limit: 1_000 });

  expect(items.map(({ id }) => id)).toEqual(ids);
  expect(asked).toEqual([undefined, '99--']);
});
