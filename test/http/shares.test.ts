import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import aws4 from 'aws4';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';

let upstream: TestUpstream;
let gateway: TestGateway;
const open: Socket[] = [];
const SIGNING_KEY = `sk-${'s'.repeat(48)}`;

beforeEach(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    server: {
      max_in_flight: 4,
      in_flight_share: 0.5,
      max_in_flight_bytes: 4_000_000,
      body_limit_bytes: 1_000_000,
      // So that a test may come from many addresses.
      trusted_proxies: ['127.0.0.1'],
    },
    callers: { aws_keys: { AKIDSHARE: SIGNING_KEY } },
    channels: [onlyChannel(upstream.url)],
  });
});

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await gateway.close();
  await upstream.close();
});

/** Sends the head of a request and the beginning of its body; resolves to what comes back, if anything does. */
function begin(line: string, headers: readonly string[], body = ''): { answer: () => string } {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  open.push(socket);
  let answer = '';
  socket.on('error', () => undefined);
  socket.on('data', (text) => (answer += String(text)));
  const json = 'Content-Type: application/json';
  socket.write([`${line} HTTP/1.1`, 'Host: a', json, ...headers, '', body].join('\r\n'));
  return { answer: () => answer };
}

const from = (address: string): string => `X-Forwarded-For: ${address}`;

async function answered(request: { answer: () => string }): Promise<string> {
  await eventually('an answer', () => Promise.resolve(request.answer().includes('\r\n\r\n')));
  return request.answer();
}

/** Its places are taken, or it has tried to log in too often. */
const REFUSED = /^HTTP\/1\.1 (?:429|503) /;

describe('the management API', () => {
  const login = (address: string): ReturnType<typeof begin> =>
    begin('POST /api/user/login', ['Content-Length: 20', from(address)], '{');

  it('answers root however many unfinished requests others hold', async () => {
    const { token } = await createAccount(gateway.store, { role: 100 });
    const held = Array.from({ length: 220 }, (_, at) => login(`10.0.${at >> 4}.${at & 15}`));
    await eventually('no place is left for strangers', () =>
      Promise.resolve(held.some(({ answer }) => answer().startsWith('HTTP/1.1 503'))),
    );

    const self = await callApi(gateway.url, 'GET', '/api/user/self', { token });
    expect(self.status).toBe(200);
  }, 30_000);

  it('answers an admin whatever another admin holds at the same address', async () => {
    const [one, other] = [
      await createAccount(gateway.store, { role: 100 }),
      await createAccount(gateway.store, { role: 100 }),
    ];
    const login = [`Authorization: Bearer ${one.token}`, 'Content-Length: 20'];
    const held = Array.from({ length: 60 }, () => begin('POST /api/token', login, '{'));
    await eventually('one of them is refused', () =>
      Promise.resolve(held.some(({ answer }) => answer().startsWith('HTTP/1.1 503'))),
    );

    const { token } = other;
    expect((await callApi(gateway.url, 'GET', '/api/user/self', { token })).status).toBe(200);
  }, 30_000);

  it('gives one address no more than a part, and a body no more than seconds', async () => {
    const held = Array.from({ length: 120 }, () => login('10.0.0.1'));
    await eventually('one is refused', () =>
      Promise.resolve(held.some(({ answer }) => REFUSED.test(answer()))),
    );

    expect(await answered(login('10.0.0.1'))).toMatch(REFUSED);
    const other = login('10.0.0.2');
    await eventually('what takes too long is told so', () =>
      Promise.resolve(
        held.filter(({ answer }) => answer().startsWith('HTTP/1.1 408')).length >= 20,
      ),
    );
    expect(other.answer()).not.toMatch(/^HTTP\/1.1 503 /);
  }, 30_000);
});

describe('the data plane', () => {
  const rerank = (key: string, address: string, extra: readonly string[] = []) =>
    begin(
      'POST /v1/rerank',
      [`Authorization: Bearer ${key}`, 'Content-Length: 100', from(address), ...extra],
      '{',
    );
  const ask = { model: 'm', query: 'q', documents: ['a'] };
  const later = { 'x-forwarded-for': '10.0.0.9' };

  it('counts a signed request as one of its key once that has proven to have signed it', async () => {
    await gateway.createKey({ keyHash: createHash('sha256').update(SIGNING_KEY).digest('hex') });
    upstream.answer(() => undefined);
    const caller = new AbortController();
    const sign = (address: string): Promise<Response> => {
      const body = JSON.stringify({ query: 'q', documents: ['a'] });
      const path = '/model/m/invoke';
      const { host } = new URL(gateway.url);
      const { headers = {} } = aws4.sign(
        {
          ...{ method: 'POST', host, path, service: 'bedrock', region: 'eu-west-1', body },
          headers: { 'Content-Type': 'application/json' },
        },
        { accessKeyId: 'AKIDSHARE', secretAccessKey: SIGNING_KEY },
      );
      const { Host: _host, 'Content-Length': _length, ...signed } = headers;
      return fetch(gateway.url + path, {
        ...{ method: 'POST', body, signal: caller.signal },
        headers: { ...(signed as Record<string, string>), 'x-forwarded-for': address },
      });
    };
    const held = Promise.allSettled([sign('10.0.0.1'), sign('10.0.0.2')]);
    await upstream.reached(2);

    expect((await sign('10.0.0.3')).status).toBe(503);
    caller.abort();
    await held;
  });

  it('has room for others when one key holds all that one may', async () => {
    const [one, other] = [await gateway.createKey(), await gateway.createKey()];
    rerank(one.key, '10.0.0.1');
    rerank(one.key, '10.0.0.2');
    await eventually('both are there', () => Promise.resolve(gateway.app.inFlight() === 2));

    const refused = await answered(rerank(one.key, '10.0.0.3'));

    expect(refused).toMatch(/^HTTP\/1.1 503 /);
    expect(refused).toContain('This caller has as many');
    expect((await gateway.post(other.key, ask, later)).status).toBe(200);
  });

  it('has room for others when one address holds all that one may', async () => {
    const keys = [await gateway.createKey(), await gateway.createKey(), await gateway.createKey()];
    for (const { key } of keys.slice(0, 2)) rerank(key, '2001:db8::1');
    await eventually('both are there', () => Promise.resolve(gateway.app.inFlight() === 2));

    const refused = await answered(rerank(keys[2]?.key ?? '', '2001:db8::2'));

    expect(refused).toMatch(/^HTTP\/1.1 503 /);
    expect((await gateway.post(keys[2]?.key ?? '', ask, later)).status).toBe(200);
  });

  it('gives bytes by key too, also those that a compressed body turns into', async () => {
    const { key } = await gateway.createKey();
    const text = JSON.stringify({ ...ask, documents: ['x'.repeat(990_000)] });
    const zipped = gzipSync(text.slice(0, -1));
    const hold = (address: string) =>
      begin(
        'POST /v1/rerank',
        [`Authorization: Bearer ${key}`, 'Content-Length: 999000', from(address)],
        text.slice(0, 980_000),
      );
    hold('10.0.0.1');
    await eventually('it is there', () => Promise.resolve(gateway.app.inFlight() === 1));
    const bomb = gzipSync(Buffer.alloc(50_000_000));

    const [small, large] = await Promise.all(
      [zipped, bomb].map((body) =>
        fetch(`${gateway.url}/v1/rerank`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip',
            'x-forwarded-for': '10.0.0.4',
          },
          body,
        }).then(({ status }) => status),
      ),
    );

    expect(small).toBe(400);
    expect([413, 503]).toContain(large);
  });

  it('takes no memory for what a body only announces, and gives back what came', async () => {
    await gateway.close();
    gateway = await startGateway({ channels: [onlyChannel(upstream.url)] });
    const { key } = await gateway.createKey();
    const before = process.memoryUsage().arrayBuffers;
    const hold = (length: number, body: string) =>
      begin('POST /v1/rerank', [`Authorization: Bearer ${key}`, `Content-Length: ${length}`], body);

    for (let count = 0; count < 400; count += 1) hold(31_457_280, '{');
    await eventually('all are there', () => Promise.resolve(gateway.app.inFlight() === 400));

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1_048_576);
    // All that there is room for: what is left of it by those who have gone would refuse the next ones.
    for (const socket of open.splice(0)) socket.destroy();
    await eventually('nothing is left', () => Promise.resolve(gateway.app.inFlight() === 0));
    for (let round = 0; round < 3; round += 1) {
      const large = Array.from({ length: 12 }, () => hold(12_582_912, 'x'.repeat(6_400_000)));
      await eventually('they are there', () => Promise.resolve(gateway.app.inFlight() === 12));
      expect(large.map(({ answer }) => answer())).toEqual(large.map(() => ''));
      for (const socket of open.splice(0)) socket.destroy();
      await eventually('they are gone', () => Promise.resolve(gateway.app.inFlight() === 0));
    }
    expect((await gateway.post(key, ask)).status).toBe(200);
  });

  it.each([
    ['is disabled', { enabled: false }, 401],
    ['has expired', { expiredTime: 1 }, 401],
    ['has no quota left', { remainQuota: 0 }, 403],
    ['may not be used from there', { policy: { allowIps: ['10.1.1.1'] } }, 403],
  ])('does not wait for the body of a key that %s', async (_why, fields, status) => {
    const { key } = await gateway.createKey(fields);

    const answer = await answered(rerank(key, '10.0.0.1'));

    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('does not wait for the body if a key has sent as many requests as it may, until that is changed', async () => {
    const { key, id } = await gateway.createKey({ policy: { rateLimit: 1 } });
    expect((await gateway.post(key, ask, later)).status).toBe(200);
    expect((await gateway.post(key, ask, later)).status).toBe(429);

    const early = await answered(rerank(key, '10.0.0.1'));
    expect(early).toMatch(/^HTTP\/1.1 429 /);
    expect(early).toMatch(/^retry-after: \d+\r$/im);

    await gateway.store.updateToken(id, { policy: { rateLimit: 0 } }, Date.now());
    expect((await gateway.post(key, ask, later)).status).toBe(200);
  });

  it('does not wait for more bodies of a key than it may have requests at once', async () => {
    const { key } = await gateway.createKey({ policy: { maxConcurrency: 1 } });
    const first = rerank(key, '10.0.0.1');
    await eventually('it is there', () => Promise.resolve(gateway.app.inFlight() === 1));

    const second = await answered(rerank(key, '10.0.0.2'));

    expect(second).toMatch(/^HTTP\/1.1 429 /);
    expect(second).toContain('too_many_concurrent_requests');
    expect(first.answer()).toBe('');
  });
});
