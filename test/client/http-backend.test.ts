import { expect, it } from '@jest/globals';
import type { ApiClient } from '../../src/client/api-client.js';
import { createHttpBackend } from '../../src/client/http-backend.js';
import { Json } from '../../src/core/json.js';

const ADMIN = {
  ...{ id: 2, username: 'ada', email: '', display_name: '', role: 10, status: 1 },
  ...{ quota: 0, used_quota: 0, request_count: 0, created_time: 0 },
  ...{ budget: 0, budget_period: 'month', budget_time_zone: 'UTC' },
  ...{ budget_spent: 0, budget_renews_at: null },
};
const never = (): never => {
  throw new Error('is not asked for');
};

it('a list of requests ends where they do, even if some are dropped while it is read', async () => {
  const ids = Array.from({ length: 100 }, (_, at) => `${at}--`);
  const asked: unknown[] = [];
  const api: ApiClient = {
    ...{ url: 'http://a-gateway', list: never, callForCookie: never },
    call: (_, path, { query = {} } = {}) => {
      if (path === '/api/user/self') return Promise.resolve(new Json(ADMIN));
      asked.push(query.before);
      // All others are gone when the second page is read.
      const items = asked.length === 1 ? ids.map((id) => ({ id })) : [];
      if (asked.length > 2) never();
      return Promise.resolve(new Json({ items, total: asked.length === 1 ? 150 : 0 }));
    },
  };

  const { items } = await createHttpBackend(api).listRequests({}, { limit: 1_000 });

  expect(items.map(({ id }) => id)).toEqual(ids);
  expect(asked).toEqual([undefined, '99--']);
});
