import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApiClient, GatewayUnreachableError } from '../../src/client/api-client.js';
import { GatewayError } from '../../src/core/errors.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';

let server: TestUpstream;
beforeAll(async () => {
  server = await startUpstream();
});
afterAll(() => server.close());

const refusal = (code: unknown): string =>
  JSON.stringify({ success: false, code, message: 'In its words.' });
const NO_GATEWAY = 'answers, but is not a rerank gateway';

it.each([
  ['a page', 200, '<html>', GatewayUnreachableError, `${NO_GATEWAY} (status 200)`],
  ['JSON of something else', 404, '{"detail":"x"}', GatewayUnreachableError, NO_GATEWAY],
  ['a redirect', 302, '{"success":true,"data":1}', GatewayUnreachableError, NO_GATEWAY],
  ['an error without its code', 500, refusal(undefined), GatewayUnreachableError, NO_GATEWAY],
  ['a refusal', 404, refusal('not_found'), GatewayError, 'In its words.'],
  [
    'that the store is away',
    503,
    refusal('store_unavailable'),
    GatewayUnreachableError,
    'In its words.',
  ],
  ['a code of a later release', 400, refusal('of_tomorrow'), Error, 'In its words.'],
])('a reply that is %s is told by its kind', async (_, status, text, kind, message) => {
  server.answer((_request, res) => void res.writeHead(status).end(text));

  const failure = await createApiClient(server.url, undefined)
    .call('GET', '/api/x')
    .catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(kind);
  expect((failure as Error).constructor).toBe(kind);
  expect((failure as Error).message).toContain(message);
});

it('an address with https:// is asked with TLS', async () => {
  const api = createApiClient(server.url.replace('http:', 'https:'), undefined);

  await expect(api.call('GET', '/api/x')).rejects.toThrow(/cannot be reached: .*(SSL|EPROTO)/);
});

it('the cookies that a reply sets are told as a request sends them', async () => {
  const cookies = ['session=a; Path=/; HttpOnly', 'other=b'];
  server.answer((_request, res) => {
    res.writeHead(200, { 'set-cookie': cookies }).end('{"success":true,"data":null}');
  });

  expect(await createApiClient(server.url, undefined).callForCookie('/api/x', {})).toBe(
    'session=a; other=b',
  );
});

it('what is undefined is not asked for', async () => {
  server.answer((_request, res) => void res.end('{"success":true,"data":null}'));

  await createApiClient(`${server.url}/`, undefined).call('GET', '/api/x', {
    query: { a: undefined, b: 0, c: false, d: 'e f' },
  });

  expect(server.seen.at(-1)?.path).toBe('/api/x?b=0&c=false&d=e+f');
});
