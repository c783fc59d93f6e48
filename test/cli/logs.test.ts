import { expect, it } from '@jest/globals';
import { GatewayUnreachableError } from '../../src/client/api-client.js';
import { PAGE_SIZE, type Client } from '../../src/client/client.js';
import { follow } from '../../src/cli/follow.js';
import { followRequests, requestsOf } from '../../src/cli/log-all.js';
import type { Session } from '../../src/cli/session.js';
import type { ListedRequestWire } from '../../src/shapes/request.js';

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

it('following requests finds what came while the gateway was away, behind what has been shown', async () => {
  const entry = (id: string) => ({ request_id: id, id, created_at: 100 }) as ListedRequestWire;
  const shown = Array.from({ length: PAGE_SIZE }, (_, at) => entry(`shown ${at}`));
  const interrupt = new AbortController();
  const printed: string[] = [];
  const errors: string[] = [];
  const session = {
    io: {
      now: () => 100_000,
      interrupted: () => interrupt.signal,
      writeError: (text: string) => errors.push(text),
    },
    stream: () => (rows: readonly ListedRequestWire[]) => {
      printed.push(...rows.map(({ request_id: id }) => id));
      if (printed.at(-1) === 'missed') interrupt.abort();
    },
  };
  let looks = 0;
  const readPage = (_since: number, before: string | undefined) => {
    if (before !== undefined) return Promise.resolve(looks < 4 ? [] : [entry('missed')]);
    looks += 1;
    // The first two are made at once, and the third finds the gateway away.
    if (looks === 3) return Promise.reject(new GatewayUnreachableError('It is away.'));
    if (looks > 8) interrupt.abort();
    return Promise.resolve(shown);
  };

  await follow(session as unknown as Session, {}, 1, readPage);

  expect([printed, looks]).toEqual([['shown 0', 'missed'], 4]);
  expect(errors).toEqual(['It is away. Waiting.\n']);
});

it('an ordinary account follows no addresses', async () => {
  const own = { own: true, filter: {} } as const;
  const options = { address: '192.0.2.1', limit: 1 };

  await expect(followRequests({} as Session, own, options)).rejects.toThrow(
    'Your account may only see its own requests.',
  );
});
