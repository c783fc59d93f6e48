import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { deferred } from '../support/deferred.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { eventually } from '../support/redis-server.js';
import { type Answer, cohereChannel, rankLikeCohere, sendJson } from '../support/upstream.js';

const ask = {
  model: 'moon',
  query: 'most moons',
  documents: ['no moons', 'the most moons', 'olive oil'],
};
const PRICE = 10;

const open = opened();
const upstreamWith = open.upstream;

async function gatewayWith(
  channels: readonly Record<string, unknown>[],
  settings: Record<string, unknown> = {},
  parts: Parameters<typeof startGateway>[2] = {},
): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      channels,
      prices: { default: { per_request: PRICE } },
      gateway: { attempt_timeout_ms: 20_000, deadline_ms: 20_000, ...settings },
    },
    {},
    parts,
  );
  open.push(gateway);
  return gateway;
}

const row = (index: unknown, score: unknown) => ({ index, relevance_score: score });
const results =
  (...rows: unknown[]): Answer =>
  (_request, res) =>
    sendJson(res, { results: rows });

/** Upstreams that lie, break off or fall silent. None may yield a wrong ranking, a hang or a 500. */
const HOSTILE: readonly [string, Answer][] = [
  ['the same index twice', results(row(0, 1), row(0, 0.5), row(1, 0.1))],
  ['an index beyond the list', results(row(0, 1), row(7, 0.5), row(1, 0.1))],
  ['a missing index', results(row(undefined, 1), row(1, 0.5), row(2, 0.1))],
  ['rows that are missing', results(row(0, 1))],
  ['null scores only', results(row(0, null), row(1, null), row(2, null))],
  ['a null score', results(row(0, null), row(1, -4.5), row(2, -1))],
  ['a score that is text', results(row(0, 'high'), row(1, 0.5), row(2, 0.1))],
  ['a missing score', results(row(0, 1), row(1, undefined), row(2, 0.1))],
  ['rows that are not objects', results(1, 2, 3)],
  [
    'HTML with 200',
    (_r, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Login</html>'),
  ],
  [
    'an error inside 200',
    (_r, res) => sendJson(res, { object: 'error', message: 'no', code: 400 }),
  ],
  ['an error object inside 200', (_r, res) => sendJson(res, { error: { message: 'no' } })],
  [
    'a bare NaN',
    (_r, res) => void res.writeHead(200).end('{"results":[{"index":0,"relevance_score":NaN}]}'),
  ],
  [
    'lists in lists without end',
    (_r, res) => void res.writeHead(200).end('['.repeat(50_000) + ']'.repeat(50_000)),
  ],
  [
    'more values than any ranking has',
    (_r, res) =>
      void res
        .writeHead(200)
        .end(
          `{"x":[${'{},'.repeat(50_000)}{}],"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":0.5},{"index":2,"relevance_score":0}]}`,
        ),
  ],
  ['null', (_r, res) => sendJson(res, null)],
  ['nothing', (_r, res) => void res.writeHead(204).end()],
  ['an empty body', (_r, res) => void res.writeHead(200).end()],
  ['a redirect', (_r, res) => void res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
  [
    'a body cut off',
    (_r, res) => {
      res.writeHead(200, { 'content-length': '500' }).write('{"results":[');
      setImmediate(() => res.destroy());
    },
  ],
  [
    'a chunked body cut off',
    (_r, res) => {
      res.writeHead(200).write('{"results":[');
      setImmediate(() => res.destroy());
    },
  ],
  ['a connection that resets', (_r, res) => void res.destroy()],
  ['headers that never come', () => undefined],
  ['a body that never ends', (_r, res) => void res.writeHead(200).write('{"results":[')],
  [
    'gzip that is none',
    (_r, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end('{}'),
  ],
  ['HTML with 502', (_r, res) => void res.writeHead(502).end('<html>Bad Gateway</html>')],
  ['a wrong key', (_r, res) => sendJson(res, { message: 'invalid api token' }, 401)],
  ['an unknown model', (_r, res) => sendJson(res, { message: 'model not found' }, 404)],
  ['overload', (_r, res) => sendJson(res, { message: 'slow down' }, 429)],
];

/** Those that only a time-out ends. */
const SILENT: readonly string[] = ['headers that never come', 'a body that never ends'];

/** Time enough for a call to arrive on a busy machine. */
const timeoutOf = (name: string): number => (SILENT.includes(name) ? 2_000 : 20_000);

/** What a key has left, and the requests that its account has had served, once all is settled. */
async function accountOf(gateway: TestGateway, tokenId: number) {
  await gateway.app.gateway.settlements.drained();
  const token = await gateway.store.getToken(tokenId, Date.now());
  const user = await gateway.store.getUser(token?.userId ?? 0, Date.now());
  return { remainQuota: token?.remainQuota, requestCount: user?.requestCount };
}

describe('a hostile upstream', () => {
  it.each(HOSTILE)('that answers with %s is left for the next channel', async (name, answer) => {
    const bad = await upstreamWith(answer);
    const good = await upstreamWith();
    const gateway = await gatewayWith([
      cohereChannel('bad', bad.url, { priority: 9, timeout_ms: timeoutOf(name) }),
      cohereChannel('good', good.url),
    ]);
    const { key, id } = await gateway.createKey({ remainQuota: 100 });

    const { status, body } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(body.results.map((entry) => entry.index)).toEqual([1, 0, 2]);
    expect(bad.seen).toHaveLength(1);
    expect(await accountOf(gateway, id)).toEqual({ remainQuota: 100 - PRICE, requestCount: 1 });
  });

  it.each(HOSTILE)(
    'that answers with %s alone is a documented error that costs nothing',
    async (name, answer) => {
      const bad = await upstreamWith(answer);
      const gateway = await gatewayWith([
        cohereChannel('bad', bad.url, { timeout_ms: timeoutOf(name) }),
      ]);
      const { key, id } = await gateway.createKey({ remainQuota: 100 });

      const { status, body } = await gateway.post(key, ask);

      expect([502, 503, 504]).toContain(status);
      expect(body.error.code).toMatch(
        /^(upstream_error|upstream_invalid_response|overloaded|upstream_timeout)$/,
      );
      expect(await accountOf(gateway, id)).toEqual({ remainQuota: 100, requestCount: 0 });
    },
  );

  it('is read when it is unsorted, compressed, chunked, numeric strings or echoes', async () => {
    const body = {
      results: [
        { index: '2', relevance_score: '0.1', document: { text: 'wrong echo' } },
        { index: 0, relevance_score: 0.2 },
        { index: 1, relevance_score: 9e-1 },
      ],
    };
    const upstream = await upstreamWith((_request, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' });
      res.write(gzipSync(JSON.stringify(body)).subarray(0, 20));
      res.end(gzipSync(JSON.stringify(body)).subarray(20));
    });
    const gateway = await gatewayWith([cohereChannel('odd', upstream.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, { ...ask, return_documents: true });

    expect(reply.body.results).toEqual([
      { index: 1, relevance_score: 0.9, document: { text: ask.documents[1] } },
      { index: 0, relevance_score: 0.2, document: { text: ask.documents[0] } },
      { index: 2, relevance_score: 0.1, document: { text: ask.documents[2] } },
    ]);
  });

  it('that scores some documents null has these last', async () => {
    const upstream = await upstreamWith(results(row(0, null), row(1, -4.5), row(2, -1)));
    const gateway = await gatewayWith([
      cohereChannel('null', upstream.url, { provider: 'infinity' }),
    ]);
    const { key } = await gateway.createKey();

    const { body } = await gateway.post(key, ask);

    expect(body.results.map((entry) => entry.index)).toEqual([2, 1, 0]);
  });
});

describe('blank documents that an upstream does not take', () => {
  const blanks = { ...ask, documents: ['', 'no moons', ' ', 'the most moons'] };
  const rank = async (rows: readonly unknown[], topN: number) => {
    const upstream = await upstreamWith((_request, res) => sendJson(res, rows));
    const gateway = await gatewayWith([
      cohereChannel('only', upstream.url, { provider: 'sglang' }),
    ]);
    const { key } = await gateway.createKey();
    return gateway.post(key, { ...blanks, top_n: topN });
  };

  it.each([2, 3, 4])('do not stand in for rows that it leaves out (top_n %i)', async (topN) => {
    const { status, body } = await rank([{ index: 1, score: 0.9 }], topN);

    expect([status, body.error.code]).toEqual([502, 'upstream_invalid_response']);
  });

  it('come behind the others, with the lowest score of these', async () => {
    const { body } = await rank(
      [
        { index: 1, score: 0.9 },
        { index: 0, score: 0.2 },
      ],
      3,
    );

    expect(body.results).toEqual([
      { index: 3, relevance_score: 0.9 },
      { index: 1, relevance_score: 0.2 },
      { index: 0, relevance_score: 0.2 },
    ]);
  });
});

describe('failover', () => {
  it('says when to come back if all are overloaded', async () => {
    const busy = await upstreamWith((_request, res) => {
      res.writeHead(429, { 'retry-after': '7' }).end('{}');
    });
    // Seven seconds are more than a request has.
    const gateway = await gatewayWith([cohereChannel('busy', busy.url)], { deadline_ms: 5_000 });
    const { key } = await gateway.createKey();

    const first = await gateway.post(key, ask);
    const second = await gateway.post(key, ask);

    expect([first.status, second.status]).toEqual([503, 503]);
    expect(first.headers.get('retry-after')).toBe('7');
    expect(second.headers.get('retry-after')).toMatch(/^[1-7]$/);
    expect(busy.seen).toHaveLength(1);
  });

  it('asks for no longer wait than the channels are kept out', async () => {
    const busy = await upstreamWith((_request, res) => {
      res.writeHead(429, { 'retry-after': '99999999999' }).end('{}');
    });
    const gateway = await gatewayWith([cohereChannel('busy', busy.url)], {
      max_cooldown_ms: 30_000,
    });
    const { key } = await gateway.createKey();

    const { status, headers } = await gateway.post(key, ask);

    expect([status, headers.get('retry-after')]).toEqual([503, '30']);
  });

  it('makes no more attempts than allowed', async () => {
    const bad = await upstreamWith((_request, res) => sendJson(res, {}, 500));
    const gateway = await gatewayWith(
      ['a', 'b', 'c', 'd', 'e'].map((name) => cohereChannel(name, bad.url)),
      { max_attempts: 3 },
    );
    const { key } = await gateway.createKey();

    await gateway.post(key, ask);

    expect(bad.seen).toHaveLength(3);
  });

  it('leaves a channel that refuses a valid request for one that takes it', async () => {
    const picky = await upstreamWith((_request, res) => sendJson(res, { message: 'too odd' }, 400));
    const good = await upstreamWith();
    const gateway = await gatewayWith([
      cohereChannel('a', picky.url, { priority: 1 }),
      cohereChannel('b', good.url),
    ]);
    const { key } = await gateway.createKey();

    const { status } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(picky.seen).toHaveLength(1);
  });

  it('believes a refusal that a second channel repeats, and asks no third', async () => {
    const picky = await upstreamWith((_request, res) => sendJson(res, { message: 'too odd' }, 422));
    const gateway = await gatewayWith(
      ['a', 'b', 'c'].map((name) => cohereChannel(name, picky.url)),
    );
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, ask);

    expect(status).toBe(422);
    expect(body.error.code).toBe('invalid_request');
    expect(picky.seen).toHaveLength(2);
  });

  it('words a refusal of the only channel with the caller’s names', async () => {
    const picky = await upstreamWith((_request, res) =>
      sendJson(res, { message: 'model internal-7b is odd: no INTERNAL-7B' }, 400),
    );
    const gateway = await gatewayWith([
      cohereChannel('a', picky.url, { models: { 'my-model': 'internal-7b' } }),
    ]);
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, { ...ask, model: 'my-model' });

    expect(status).toBe(400);
    expect(body.error.message).toContain('my-model');
    expect(JSON.stringify(body)).not.toMatch(/internal-7b/i);
  });

  it('leaves a channel that keeps failing alone, and comes back to it with one probe', async () => {
    let isSick = true;
    const sick = await upstreamWith((request, res) =>
      isSick ? sendJson(res, { message: 'down' }, 500) : rankLikeCohere(request, res),
    );
    const good = await upstreamWith();
    let nowMs = Date.now();
    const gateway = await gatewayWith(
      [cohereChannel('sick', sick.url, { priority: 1 }), cohereChannel('good', good.url)],
      {},
      { now: () => nowMs },
    );
    const { key } = await gateway.createKey();
    const statuses = new Set<number>();
    const askTimes = async (times: number) => {
      for (let round = 0; round < times; round += 1) {
        statuses.add((await gateway.post(key, ask)).status);
      }
    };

    await askTimes(8);
    expect(sick.seen).toHaveLength(5);
    nowMs += 5_000;
    await askTimes(3);
    expect(sick.seen).toHaveLength(6);
    isSick = false;
    nowMs += 10_000;
    await askTimes(3);

    expect(sick.seen).toHaveLength(9);
    expect([...statuses]).toEqual([200]);
  });

  it('ends at the deadline with 504', async () => {
    const silent = await upstreamWith(() => undefined);
    const gateway = await gatewayWith(
      ['a', 'b', 'c'].map((name) => cohereChannel(name, silent.url)),
      { attempt_timeout_ms: 4_000, deadline_ms: 6_000 },
    );
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, ask);

    expect(status).toBe(504);
    expect(body.error.code).toBe('upstream_timeout');
    // The second attempt leaves a third of its time to the third one.
    expect(silent.seen).toHaveLength(3);
  });

  it('a token endpoint that falls silent holds an attempt no longer than its timeout', async () => {
    const issuer = await upstreamWith(() => undefined);
    const good = await upstreamWith();
    const gateway = await gatewayWith([
      cohereChannel('locked', issuer.url, {
        provider: 'watsonx',
        settings: { token_url: `${issuer.url}/token`, project_id: 'p' },
        priority: 9,
        timeout_ms: 2_000,
      }),
      cohereChannel('good', good.url),
    ]);
    const { key } = await gateway.createKey();

    const { status } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(issuer.seen.map(({ path }) => path)).toEqual(['/token']);
    await eventually('the log tells why', () =>
      Promise.resolve(gateway.log.join('').includes('"outcome":"timeout"')),
    );
  });

  it('aborts the upstream call when the client goes away, and charges nothing', async () => {
    const aborted = deferred();
    const slow = await upstreamWith((_request, res) => {
      res.on('close', () => aborted.resolve());
    });
    const gateway = await gatewayWith([cohereChannel('slow', slow.url)], {
      attempt_timeout_ms: 20_000,
      deadline_ms: 20_000,
    });
    const { key, id } = await gateway.createKey({ remainQuota: 100 });
    const stop = new AbortController();

    const request = fetch(`${gateway.url}/v1/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask),
      signal: stop.signal,
    });
    await slow.reached(1);
    stop.abort();

    await expect(request).rejects.toThrow();
    await aborted.promise;
    await gateway.app.gateway.settlements.drained();
    expect((await gateway.store.getToken(id, Date.now()))?.remainQuota).toBe(100);
  });

  it('asks a channel once if a connection that never served breaks', async () => {
    const upstream = await upstreamWith((request, res) => {
      res.setHeader('connection', 'close');
      return rankLikeCohere(request, res);
    });
    const gateway = await gatewayWith([cohereChannel('a', upstream.url)]);
    const { key } = await gateway.createKey();
    await gateway.post(key, ask);
    upstream.answer((_request, res) => void res.socket?.resetAndDestroy());

    const { status } = await gateway.post(key, ask);

    expect(status).toBe(502);
    expect(upstream.seen).toHaveLength(2);
  });

  it('asks a channel once if a kept connection breaks after the whole request was sent', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith([cohereChannel('a', upstream.url)]);
    const { key } = await gateway.createKey();
    await gateway.post(key, ask);
    upstream.answer((_request, res) => void res.socket?.resetAndDestroy());

    const { status } = await gateway.post(key, ask);

    expect(status).toBe(502);
    expect(upstream.seen).toHaveLength(2);
  });

  it('asks a channel again in that case if the channel allows it', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith([cohereChannel('a', upstream.url, { retry_unsafe: true })]);
    const { key } = await gateway.createKey();
    await gateway.post(key, ask);
    let broken = false;
    upstream.answer((request, res) => {
      if (broken) return rankLikeCohere(request, res);
      broken = true;
      return void res.socket?.resetAndDestroy();
    });

    const { status } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(upstream.seen).toHaveLength(3);
  });

  describe('when a kept connection broke while the request was being sent', () => {
    /** More than the system takes at once. */
    const large = { ...ask, documents: ['x'.repeat(20 * 1024 * 1024)] };
    const REPLY = JSON.stringify({ results: [{ index: 0, relevance_score: 0.5 }] });
    const OK = `HTTP/1.1 200 OK\r\ncontent-length: ${REPLY.length}\r\n\r\n${REPLY}`;

    /** Answers the first request on its first connection, breaks the second off, and leaves others to `then`. */
    async function breaking(then: (socket: Socket) => void): Promise<string> {
      let connections = 0;
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        connections += 1;
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        if (connections > 1) {
          then(socket);
          return;
        }
        socket.once('data', () => {
          socket.write(OK);
          socket.once('data', () => {
            socket.pause();
            setImmediate(() => socket.resetAndDestroy());
          });
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      open.push({
        async close() {
          for (const socket of sockets) socket.destroy();
          await new Promise<void>((resolve) => server.close(() => resolve()));
        },
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    it('answers once more on a fresh connection', async () => {
      const url = await breaking((socket) => {
        let bytes = 0;
        socket.on('data', (chunk) => {
          bytes += chunk.length;
          if (bytes > 20 * 1024 * 1024) socket.end(OK);
        });
      });
      const gateway = await gatewayWith([cohereChannel('a', url)]);
      const { key } = await gateway.createKey();
      expect((await gateway.post(key, { ...ask, documents: ['a'] })).status).toBe(200);

      expect((await gateway.post(key, large)).status).toBe(200);
    });
  });
});

it('says that a model is unavailable for now if only an unusable channel serves it', async () => {
  const upstream = await upstreamWith();
  const gateway = await gatewayWith([cohereChannel('a', upstream.url, { tag: 'blue' })]);
  const { key } = await gateway.createKey();
  const declared = (await gateway.store.loadChannels()).channels;
  const [first] = declared;
  if (first === undefined) throw new Error('no channel');
  // Of a configuration that this node does not have.
  await gateway.store.declareChannels([{ ...first, name: 'elsewhere', models: { sun: 'sun' } }]);
  await gateway.app.gateway.channels.refresh();

  const replies = await Promise.all(
    ['sun', 'sun@blue', 'sun@red', 'moon'].map((model) => gateway.post(key, { ...ask, model })),
  );
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();

  expect(replies.map(({ status, body }) => [status, body.error.code])).toEqual([
    [503, 'no_channel_available'],
    [503, 'no_channel_available'],
    [404, 'model_not_found'],
    [404, 'model_not_found'],
  ]);
  expect(metrics).toMatch(/^rerank_channel_live\{channel="elsewhere",[^}]*\} 0$/m);
});

it('closes the connections to a provider that no channel names any more', async () => {
  const sockets = new Set<unknown>();
  const upstream = await upstreamWith((request, res) => {
    sockets.add(res.socket);
    return rankLikeCohere(request, res);
  });
  const gateway = await gatewayWith([cohereChannel('a', upstream.url)]);
  const { channels } = gateway.app.gateway;
  const { key } = await gateway.createKey();
  const declared = (await gateway.store.loadChannels()).channels;
  await gateway.post(key, ask);

  await gateway.store.declareChannels([]);
  await channels.refresh();
  await gateway.store.declareChannels(declared);
  await channels.refresh();
  const { status } = await gateway.post(key, ask);

  expect(status).toBe(200);
  expect(sockets.size).toBe(2);
});

describe('a tag that is switched off', () => {
  const off = (tag: string) => ({
    tag,
    disabled: true,
    reason: 'test',
    changedTime: 0,
    changedBy: 'test',
  });

  it('ends all traffic to its channels at once and comes back exactly as it was', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith([cohereChannel('a', upstream.url, { tag: 'eu' })]);
    const { key } = await gateway.createKey();

    await gateway.store.setTagSwitch(off('eu'));
    await gateway.app.gateway.channels.refresh();
    const refused = await gateway.post(key, ask);
    await gateway.store.setTagSwitch({ ...off('eu'), disabled: false });
    await gateway.app.gateway.channels.refresh();
    const served = await gateway.post(key, ask);

    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('no_channel_available');
    expect(refused.body.message).toContain('moon');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(served.status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('is skipped by the retry of a request that is already in flight', async () => {
    const held = deferred();
    const first = await upstreamWith(async (_request, res) => {
      await held.promise;
      sendJson(res, {}, 500);
    });
    const second = await upstreamWith();
    const gateway = await gatewayWith(
      [
        cohereChannel('first', first.url, { priority: 9 }),
        cohereChannel('second', second.url, { tag: 'eu' }),
      ],
      { attempt_timeout_ms: 10_000, deadline_ms: 10_000 },
    );
    const { key } = await gateway.createKey();

    const request = gateway.post(key, ask);
    await first.reached(1);
    await gateway.store.setTagSwitch(off('eu'));
    await gateway.app.gateway.channels.refresh();
    held.resolve();

    expect((await request).status).toBe(502);
    expect(second.seen).toHaveLength(0);
  });
});

it('logs no message of a provider that quotes the request', async () => {
  const upstream = await upstreamWith(({ body }, res) => {
    const { documents } = JSON.parse(body) as { documents: string[] };
    sendJson(res, { message: `cannot rank: ${documents[1] ?? ''}` }, 500);
  });
  const gateway = await gatewayWith([cohereChannel('a', upstream.url)]);
  const { key } = await gateway.createKey();

  await gateway.post(key, { ...ask, documents: ['b', 'a document that nobody else may read'] });
  await gateway.post(key, ask);

  await eventually('both are logged', () =>
    Promise.resolve(gateway.log.filter((line) => line.includes('attempt failed')).length >= 2),
  );
  const log = gateway.log.join('');
  expect(log).not.toContain('nobody else');
  expect(log).toContain('the message quotes the request');
});
