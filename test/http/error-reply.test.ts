import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayError, type ErrorCode } from '../../src/core/errors.js';
import { sendError } from '../../src/http/error-reply.js';

let error = new GatewayError('overloaded', 'Busy.');
const server = createServer((_req, res) => {
  sendError(res, error, { body: '{}' });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What a client is told besides the body. */
async function headersOf(code: ErrorCode, retryAfterMs?: number): Promise<Headers> {
  error = new GatewayError(code, 'Why.', retryAfterMs === undefined ? {} : { retryAfterMs });
  const { port } = server.address() as AddressInfo;
  const { headers } = await fetch(`http://127.0.0.1:${port}/`);
  return headers;
}

describe('Retry-After', () => {
  it.each([
    [1_500, '2'],
    [1_001, '2'],
    [2_000, '2'],
    [1, '1'],
    [0, '1'],
  ])('of %d ms is rounded up to %s s, so that nobody comes too early', async (ms, seconds) => {
    expect((await headersOf('rate_limited', ms)).get('retry-after')).toBe(seconds);
  });

  it('is a second if nobody knows, and absent if trying later does not help', async () => {
    expect((await headersOf('overloaded')).get('retry-after')).toBe('1');
    expect((await headersOf('not_found')).get('retry-after')).toBeNull();
    expect((await headersOf('token_quota_exhausted')).get('retry-after')).toBeNull();
  });
});

it('tells SDKs that repeat every 5xx and 409 when that does not help', async () => {
  expect((await headersOf('conflict')).get('x-should-retry')).toBe('false');
  expect((await headersOf('overloaded')).get('x-should-retry')).toBeNull();
  expect((await headersOf('not_found')).get('x-should-retry')).toBeNull();
});

it('cuts off a reply that has begun, so that nobody takes half of it for the whole', async () => {
  const half = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.write('{"results":[', () => sendError(res, error, { body: '{}' }));
  });
  half.listen(0, '127.0.0.1');
  await once(half, 'listening');
  const { port } = half.address() as AddressInfo;

  const reply = await fetch(`http://127.0.0.1:${port}/`);

  expect(reply.status).toBe(200);
  await expect(reply.text()).rejects.toThrow('terminated');
  half.close();
});
