import { describe, expect, it, jest } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import { createScope } from '../../../src/gateway/scope.js';
import { AccessTokens, type TokenReading } from '../../../src/gateway/transport/access-tokens.js';
import {
  CredentialError,
  type Endpoint,
  type TokenRequest,
  type TokenSource,
} from '../../../src/providers/provider.js';
import type { RawReply } from '../../../src/providers/reply.js';

const T0 = Date.parse('2026-11-01T12:00:00Z');
const HOUR_MS = 3_600_000;

const source: TokenSource = {
  request: () => ({ method: 'POST', url: 'https://token.test/', headers: {}, body: 'x=y' }),
  read: (reply, nowMs) => ({
    token: reply.field('access_token').string(),
    expiresAtMs: nowMs + reply.field('expires_in').numeric() * 1000,
  }),
};

function endpoint(apiKey = 'key'): Endpoint {
  return {
    baseUrl: 'https://upstream.test',
    credentials: { apiKey: new Secret(apiKey) },
    settings: {},
  };
}

const channel = { id: 1, endpoint: endpoint() };

/** A token endpoint whose replies the test gives when it likes, and a clock that only the test moves. */
function tokenEndpoint() {
  const waiting: { resolve: (reply: RawReply) => void; reject: (error: Error) => void }[] = [];
  const requests: TokenRequest[] = [];
  const clock = { nowMs: T0 };
  const cache = new AccessTokens({
    now: () => clock.nowMs,
    fetchToken: (request) => {
      requests.push(request);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  });
  const next = async () => {
    await settled();
    const first = waiting.shift();
    if (first === undefined) throw new Error('nobody asked for a token');
    return first;
  };
  return {
    cache,
    clock,
    requests,
    answer: async (token: string, lifetimeSeconds = 3600) => {
      const reply = { access_token: token, expires_in: lifetimeSeconds };
      (await next()).resolve({ status: 200, headers: {}, text: JSON.stringify(reply) });
    },
    refuse: async (status: number, text: string, headers: RawReply['headers'] = {}) => {
      (await next()).resolve({ status, headers, text });
    },
    breakOff: async () => {
      (await next()).reject(new Error('connect ECONNREFUSED 10.0.0.7:443'));
    },
  };
}

/** Lets everything that is ready to run do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function held(stub: ReturnType<typeof tokenEndpoint>, token = 'first'): Promise<void> {
  const first = stub.cache.get(channel, source);
  await stub.answer(token);
  await first;
}

describe('a token', () => {
  it('is fetched once for a hundred requests that need it at the same moment', async () => {
    const stub = tokenEndpoint();

    const all = Array.from({ length: 100 }, () => stub.cache.get(channel, source));
    await stub.answer('first');

    expect(new Set((await Promise.all(all)).map(tokenOf))).toEqual(new Set(['first']));
    expect(stub.requests).toHaveLength(1);
  });

  it('serves until it nears its end', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.clock.nowMs = T0 + HOUR_MS - 301_000;
    const later = await stub.cache.get(channel, source);
    await settled();

    expect(tokenOf(later)).toBe('first');
    expect(stub.requests).toHaveLength(1);
  });

  it('that lives for two minutes serves until the last six seconds', async () => {
    const stub = tokenEndpoint();
    const first = stub.cache.get(channel, source);
    await stub.answer('short', 120);
    await first;

    stub.clock.nowMs = T0 + 113_999;
    expect(tokenOf(await stub.cache.get(channel, source))).toBe('short');
    await stub.answer('next', 120);
    await settled();

    expect(tokenOf(await stub.cache.get(channel, source))).toBe('next');
  });

  it('is renewed in the background while the old one still serves, by one fetch', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.clock.nowMs = T0 + HOUR_MS - 200_000;
    const during = [
      await stub.cache.get(channel, source),
      await stub.cache.get(channel, source),
      await stub.cache.get(channel, source),
    ];
    await stub.answer('second');
    await settled();
    const after = await stub.cache.get(channel, source);

    expect(during.map(tokenOf)).toEqual(['first', 'first', 'first']);
    expect(tokenOf(after)).toBe('second');
    expect(stub.requests).toHaveLength(2);
  });

  it('that lives for a minute only is not renewed all the time', async () => {
    const stub = tokenEndpoint();
    const first = stub.cache.get(channel, source);
    await stub.answer('short', 60);
    await first;

    stub.clock.nowMs = T0 + 40_000;
    const later = await stub.cache.get(channel, source);
    await settled();

    expect(tokenOf(later)).toBe('short');
    expect(stub.requests).toHaveLength(1);
  });

  it('is waited for once the old one has ended', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.clock.nowMs = T0 + HOUR_MS - 5_000;
    const waiting = stub.cache.get(channel, source);
    await stub.answer('second');

    expect(tokenOf(await waiting)).toBe('second');
  });

  it('of one channel is not sent by another', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    const other = stub.cache.get({ id: 2, endpoint: endpoint() }, source);
    await stub.answer('other');

    expect(tokenOf(await other)).toBe('other');
    expect(tokenOf(await stub.cache.get(channel, source))).toBe('first');
  });

  it('outlives a refresh of the channels, and ends with the credentials it came from', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    const same = await stub.cache.get({ id: 1, endpoint: endpoint() }, source);
    const changed = stub.cache.get({ id: 1, endpoint: endpoint('another key') }, source);
    await stub.answer('second');

    expect(tokenOf(same)).toBe('first');
    expect(tokenOf(await changed)).toBe('second');
  });

  it('of a channel that no longer exists is forgotten', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.cache.forget(channel.id);
    const anew = stub.cache.get(channel, source);
    await stub.answer('second');

    expect(tokenOf(await anew)).toBe('second');
  });
});

describe('a token that the upstream refuses', () => {
  it('is dropped, and the next request fetches another', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.cache.drop(channel, 'first');
    const next = stub.cache.get(channel, source);
    await stub.answer('second');

    expect(tokenOf(await next)).toBe('second');
  });

  it('does not take the one with it that has replaced it meanwhile', async () => {
    const stub = tokenEndpoint();
    await held(stub, 'second');

    stub.cache.drop(channel, 'first');

    expect(tokenOf(await stub.cache.get(channel, source))).toBe('second');
    expect(stub.requests).toHaveLength(1);
  });

  it('again and again costs one fetch in ten seconds', async () => {
    const stub = tokenEndpoint();
    await held(stub);
    stub.cache.drop(channel);
    const second = stub.cache.get(channel, source);
    await stub.answer('second');
    await second;

    stub.clock.nowMs = T0 + 9_999;
    stub.cache.drop(channel);
    const kept = await stub.cache.get(channel, source);
    stub.clock.nowMs = T0 + 10_000;
    stub.cache.drop(channel);
    const third = stub.cache.get(channel, source);
    await stub.answer('third');

    expect(tokenOf(kept)).toBe('second');
    expect(tokenOf(await third)).toBe('third');
  });
});

describe('a fetch that fails', () => {
  it('fails everybody who waits for it, and is not tried again at once', async () => {
    const stub = tokenEndpoint();

    const all = [stub.cache.get(channel, source), stub.cache.get(channel, source)];
    await stub.refuse(400, '{"error":"invalid_client","error_description":"Wrong secret."}');
    const [first, second] = await Promise.all(all);
    stub.clock.nowMs = T0 + 400;
    const third = await stub.cache.get(channel, source);

    expect(first).toEqual(second);
    expect(failureOf(first)).toMatchObject({
      kind: 'misconfigured',
      status: 400,
      message: 'no access token: Wrong secret.',
    });
    expect(failureOf(third)).toMatchObject({ kind: 'misconfigured', retryAfterMs: 600 });
    expect(stub.requests).toHaveLength(1);
  });

  it('is tried again after a pause that grows', async () => {
    const stub = tokenEndpoint();
    const first = stub.cache.get(channel, source);
    await stub.refuse(500, '');
    await first;

    stub.clock.nowMs = T0 + 1_000;
    const second = stub.cache.get(channel, source);
    await stub.refuse(500, '');
    await second;
    stub.clock.nowMs = T0 + 2_999;
    const paused = await stub.cache.get(channel, source);
    stub.clock.nowMs = T0 + 3_000;
    const third = stub.cache.get(channel, source);
    await stub.answer('at last');

    expect(failureOf(paused)).toMatchObject({ kind: 'transient', retryAfterMs: 1 });
    expect(tokenOf(await third)).toBe('at last');
  });

  it('waits as long as the token endpoint asks for, at most a minute', async () => {
    const stub = tokenEndpoint();
    const first = stub.cache.get(channel, source);
    await stub.refuse(429, '', { 'retry-after': '7' });
    await first;

    const paused = await stub.cache.get(channel, source);

    expect(failureOf(paused)).toMatchObject({ kind: 'busy', status: 429, retryAfterMs: 7_000 });
  });

  it('in the background leaves the old token in use', async () => {
    const stub = tokenEndpoint();
    await held(stub);

    stub.clock.nowMs = T0 + HOUR_MS - 200_000;
    await stub.cache.get(channel, source);
    await stub.refuse(503, 'busy');
    await settled();
    const after = await stub.cache.get(channel, source);
    await settled();

    expect(tokenOf(after)).toBe('first');
    expect(stub.requests).toHaveLength(2);
  });

  it('on the way is a passing fault that tells no addresses', async () => {
    const stub = tokenEndpoint();

    const reading = stub.cache.get(channel, source);
    await stub.breakOff();

    expect(failureOf(await reading)).toEqual({
      kind: 'transient',
      status: undefined,
      message: 'no access token: the token endpoint did not answer',
      retryAfterMs: undefined,
    });
  });

  it.each([
    ['HTML', '<html>login</html>'],
    ['another shape', '{"token":"x"}'],
  ])('to bring a token, with %s in its place, is named so', async (_name, text) => {
    const stub = tokenEndpoint();

    const reading = stub.cache.get(channel, source);
    await stub.refuse(200, text);

    expect(failureOf(await reading)).toMatchObject({ kind: 'invalid', status: 200 });
  });

  it('before it is sent, for want of usable credentials, says what is wrong with them', async () => {
    const stub = tokenEndpoint();
    const broken: TokenSource = {
      ...source,
      request: () => {
        throw new CredentialError('credentials.api_key is missing');
      },
    };

    const reading = await stub.cache.get(channel, broken);

    expect(failureOf(reading)).toMatchObject({
      kind: 'misconfigured',
      message: 'no access token: credentials.api_key is missing',
    });
    expect(stub.requests).toHaveLength(0);
  });
});

describe('a request that ends while it waits for a token', () => {
  it('stops waiting, and the fetch goes on for the others', async () => {
    const stub = tokenEndpoint();
    const scope = createScope(T0, 60_000);

    const leaving = stub.cache.get(channel, source, { scope, timeoutMs: 60_000 });
    const staying = stub.cache.get(channel, source);
    scope.end('client_gone');
    scope.release();

    await expect(leaving).rejects.toMatchObject({ code: 'client_closed_request' });
    await stub.answer('first');
    expect(tokenOf(await staying)).toBe('first');
  });

  it('stops when the time of its attempt is up, and the fetch goes on for the others', async () => {
    const stub = tokenEndpoint();
    const scope = createScope(T0, 60_000);

    const staying = stub.cache.get(channel, source);
    const waited = await stub.cache.get(channel, source, { scope, timeoutMs: 1 });
    scope.release();
    await stub.answer('first');

    expect(failureOf(waited)).toMatchObject({
      kind: 'timeout',
      message: 'no access token: it did not arrive in time',
    });
    expect(tokenOf(await staying)).toBe('first');
    expect(stub.requests).toHaveLength(1);
  });
});

function tokenOf(reading: TokenReading): string | undefined {
  return reading.kind === 'token' ? reading.token : undefined;
}

function failureOf(reading: TokenReading | undefined) {
  return reading?.kind === 'failed' ? reading.failure : undefined;
}

describe('a token endpoint that fails again and again', () => {
  /** Fails at each time at which a token may be asked for; resolves to how long each of the pauses was. */
  async function pauses(
    stub: ReturnType<typeof tokenEndpoint>,
    failures: number,
  ): Promise<number[]> {
    const lasted: number[] = [];
    for (let failure = 0; failure < failures; failure += 1) {
      const reading = stub.cache.get(channel, source);
      await stub.refuse(500, '');
      await reading;
      const told = await stub.cache.get(channel, source);
      const pauseMs = told.kind === 'failed' ? (told.failure.retryAfterMs ?? 0) : 0;
      lasted.push(pauseMs);
      stub.clock.nowMs += pauseMs;
    }
    return lasted;
  }

  it('is asked after pauses of twice the length each time, of a minute at most', async () => {
    const seconds = (await pauses(tokenEndpoint(), 8)).map((ms) => ms / 1_000);

    expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('begins with a short pause again once it has answered', async () => {
    const stub = tokenEndpoint();
    await pauses(stub, 3);
    await held(stub);
    stub.clock.nowMs += HOUR_MS;

    expect(await pauses(stub, 1)).toEqual([1_000]);
  });

  it.each([
    [408, 'transient'],
    [500, 'transient'],
    [503, 'transient'],
    [429, 'busy'],
    [302, 'misconfigured'],
    [400, 'misconfigured'],
    [401, 'misconfigured'],
    [404, 'misconfigured'],
  ])('with %i is %s', async (status, kind) => {
    const stub = tokenEndpoint();
    const reading = stub.cache.get(channel, source);
    await stub.refuse(status, '');

    expect(await reading).toMatchObject({ kind: 'failed', failure: { kind, status } });
  });
});

describe('a token that is waited for', () => {
  it('leaves neither a listener nor a timer behind', async () => {
    const stub = tokenEndpoint();
    let listeners = 0;
    const scope = {
      ended: undefined,
      onEnd: () => {
        listeners += 1;
        return () => (listeners -= 1);
      },
    };
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const reading = stub.cache.get(channel, source, { scope, timeoutMs: 5_000 });
      expect([listeners, jest.getTimerCount()]).toEqual([1, 1]);
      await stub.answer('first');
      expect(tokenOf(await reading)).toBe('first');

      expect([listeners, jest.getTimerCount()]).toEqual([0, 0]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is a new one where the settings of its channel have changed', async () => {
    const stub = tokenEndpoint();
    await held(stub);
    const moved = { ...channel, endpoint: { ...endpoint(), settings: { region: 'eu' } } };

    const reading = stub.cache.get(moved, source);
    await stub.answer('of another region');

    expect(tokenOf(await reading)).toBe('of another region');
  });
});
