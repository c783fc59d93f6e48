import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runs } from '../support/long.js';
import { fc } from '../support/property.js';
import { ERRORS } from '../../src/core/errors.js';
import { eventually } from '../support/redis-server.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';
import { makeHome, runCli, startProcess, type GatewayProcess, type Home } from './fleet.js';
import { rerankBody } from './upstreams.js';

/** The same runs every time; another seed here is another 1 000 requests, or 5 000 in a long run. */
const SEED = 20_240_229;
const BATCHES = runs(25, 125);
const BATCH = 40;
const REPLY_TIMEOUT_MS = 20_000;
const MAY_GROW_BYTES = 32 * 1024 * 1024;
const MODELS = ['hosted', 'local'];

let upstream: TestUpstream;
let home: Home;
let gateway: GatewayProcess;
let key = '';

beforeAll(async () => {
  upstream = await startUpstream();
  home = await makeHome({
    server: { body_limit_bytes: 4 * 1024 * 1024, max_documents: 500 },
    gateway: { default_model: 'local' },
    log: { level: 'error' },
    channels: [
      {
        name: 'hosted',
        provider: 'cohere',
        base_url: upstream.url,
        api_key: 'upstream-key',
        models: ['hosted'],
      },
      { name: 'local', provider: 'local', models: ['local'] },
    ],
  });
  gateway = await startProcess({ ...home, env: { ...home.env, LOG_LEVEL: 'info' } }, [
    process.execPath,
    '--expose-gc',
    // So that a test can ask for what is really kept.
    ...['--import', "data:text/javascript,process.on('SIGUSR2', () => globalThis.gc())"],
    'dist/main.js',
  ]);
  ({ key } = (await runCli(home, ['keys', 'create', '--unlimited'])) as { key: string });
});

afterAll(async () => {
  gateway.kill('SIGTERM');
  await gateway.exited;
  await upstream.close();
  await home.remove();
});

interface HttpReply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends bytes on a connection of their own, and reads the one reply that it waits for. */
async function exchange(bytes: Buffer, method = 'POST'): Promise<HttpReply> {
  const socket = connect(gateway.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => socket.destroy(new Error('no reply in time')), REPLY_TIMEOUT_MS);
  let broken: Error | undefined;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (isWhole(Buffer.concat(chunks), method)) socket.end();
  });
  socket.on('error', (error) => (broken = error));
  await once(socket, 'connect');
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);
  const text = Buffer.concat(chunks).toString();
  if (text === '') throw new Error(`no reply: ${broken?.message ?? 'closed'}`);
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  return { status: Number(head.split(' ')[1]), head, body: text.slice(end + 4) };
}

function isWhole(reply: Buffer, method: string): boolean {
  const end = reply.indexOf('\r\n\r\n');
  if (end < 0) return false;
  if (method === 'HEAD') return true;
  const length = /content-length: (\d+)/i.exec(reply.toString('latin1', 0, end))?.[1];
  return length !== undefined && reply.length >= end + 4 + Number(length);
}

/** Fails unless the reply is a ranking or an error of ours, whole and in the documented shape. */
function judge({ status, head, body }: HttpReply): void {
  expect(status).toBeGreaterThanOrEqual(200);
  // A gateway that gets no time refuses what it cannot serve, and says when to come back.
  if (status === 503) expect(head).toMatch(/\r\nretry-after: \d/i);
  else expect(status).toBeLessThan(500);
  expect(head).toMatch(/\r\ncontent-type: application\/json/i);
  const reply = JSON.parse(body) as Record<string, unknown>;
  if (status >= 400) {
    judgeError(status, reply);
    return;
  }
  // The lists of models answer a GET.
  if (reply.object === 'list' || reply.object === 'model') return;
  expect(Object.keys(reply)).toEqual(['id', 'model', 'results', 'meta', 'usage']);
  const results = reply.results as { index: number; relevance_score: number }[];
  expect(new Set(results.map(({ index }) => index)).size).toBe(results.length);
  expect(results.every((row) => Number.isFinite(row.relevance_score))).toBe(true);
}

function judgeError(status: number, reply: Record<string, unknown>): void {
  const { message, error } = reply as { message: string; error: Record<string, unknown> };
  // Where no request could be read there is no id of it.
  const { request_id: requestId, ...told } = reply;
  expect(['string', 'undefined']).toContain(typeof requestId);
  expect(Object.keys(told)).toEqual(['message', 'detail', 'error']);
  expect(Object.keys(error)).toEqual(['message', 'type', 'code', 'param']);
  expect([typeof message, reply.detail, error.message]).toEqual(['string', message, message]);
  const known = ERRORS[error.code as keyof typeof ERRORS] as { status: number; type: string };
  expect([status, error.type]).toEqual([known.status, known.type]);
  expect(error.param === null || typeof error.param === 'string').toBe(true);
  expect(message).not.toMatch(/node:|\bat .*\.js|undefined|\[object/);
}

const weird = fc.constantFrom(
  ...['', ' ', '\0', '\ufeff', '\ud800', '\udc00x', '😀', 'e\u0301', '\u202e', '"', '\\', 'null'],
  ...['__proto__', 'constructor', 'toString', 'a'.repeat(5_000)],
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  weird,
  fc.constant('red apple'),
);
const plain = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1, 2.5, 1e21, -0, Number.MAX_SAFE_INTEGER, [], {}),
  text,
  fc.integer(),
);
const anything = fc.oneof(
  { weight: 3, arbitrary: plain },
  { weight: 1, arbitrary: fc.json().map(parse) },
);

function parse(json: string): unknown {
  return JSON.parse(json) as unknown;
}

/** Mostly `good`, so that what is wrong elsewhere in the request is reached. */
function mostly<T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 24, arbitrary: good }, { weight: 1, arbitrary: anything });
}

/** Mostly the plain value, and now and then one of those others. */
function rarely<T, U>(others: fc.Arbitrary<T>, usual: U): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 14, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });
}

const documentObject = fc.oneof(
  { weight: 4, arbitrary: fc.record({ text }) },
  { weight: 4, arbitrary: fc.record({ text, id: anything, title: text }) },
  { weight: 1, arbitrary: fc.dictionary(text, anything, { maxKeys: 4 }) },
);
const members = fc
  .record(
    {
      model: mostly(fc.constantFrom(...MODELS, ...MODELS, 'nobody', '', null, 'local@blue')),
      query: mostly(text.map((value) => `${value} apple`)),
      documents: mostly(
        fc.oneof(
          fc.array(text, { minLength: 1, maxLength: 8 }),
          fc.array(fc.oneof(text, documentObject), { minLength: 1, maxLength: 8 }),
        ),
      ),
      top_n: mostly(fc.integer({ min: 1, max: 12 })),
      return_documents: mostly(fc.constantFrom(true, false, 'true', 'false', null)),
      rank_fields: mostly(fc.array(text, { minLength: 1, maxLength: 3 })),
      max_chunks_per_doc: mostly(fc.integer({ min: 1 })),
      max_tokens_per_doc: mostly(fc.integer({ min: 1 })),
      instruction: mostly(text),
      priority: mostly(fc.nat(999)),
      truncation: mostly(fc.boolean()),
    },
    { requiredKeys: ['query', 'documents'] },
  )
  .chain((request) =>
    fc
      .dictionary(weird, anything, { maxKeys: 2 })
      .map((extra) => JSON.stringify({ ...extra, ...request })),
  );

/** Bodies that no `JSON.stringify` writes. */
const rawBody = fc.oneof(
  members.chain((json) =>
    fc.tuple(fc.nat(json.length), fc.nat(json.length)).map(([from, to]) => json.slice(from, to)),
  ),
  members.map((json) => `${json}${json}`),
  members.map((json) => `{"query":"first","documents":["x"],${json.slice(1)}`),
  members.map((json) => `${json.slice(0, -1)},"documents":["a","b"],"documents":["c"]}`),
  members.map((json) => json.replace(/\d+/, '1e400').replace(/\d+(?=[,}])/, '-1e-400')),
  members.map((json) => json.replace('"', "'")),
  members.map((json) => json.replaceAll('a', '\\u0061').replaceAll('e', '\\ud83d')),
  members.map((json) => `\ufeff \n\t${json}\r\n`),
  members.map((json) => `[${json}]`),
  fc
    .tuple(fc.constantFrom(70, 2_000, 20_000), fc.constantFrom('[', '{"a":', '{"text":"t","x":'))
    .map(([depth, open]) => {
      const nested = open.repeat(depth) + '1' + (open === '[' ? ']' : '}').repeat(depth);
      return `{"query":"q","rank_fields":["x"],"return_documents":true,"documents":[${nested}]}`;
    }),
  fc
    .tuple(fc.constantFrom(70, 2_000, 20_000), fc.constantFrom('top_n', 'x', '__proto__'))
    .map(([depth, name]) => {
      const nested = '['.repeat(depth) + ']'.repeat(depth);
      return `{"query":"q","documents":["a"],"${name}":${nested}}`;
    }),
  fc.json(),
  fc.string({ unit: 'binary' }),
);

const bodyBytes = fc.oneof(
  { weight: 12, arbitrary: members.map((json) => Buffer.from(json)) },
  { weight: 4, arbitrary: rawBody.map((body) => Buffer.from(body)) },
  { weight: 1, arbitrary: members.map((json) => Buffer.from(json, 'utf16le')) },
  { weight: 1, arbitrary: members.map((json) => Buffer.from(json, 'latin1')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
);

const encodings = {
  none: (body: Buffer) => body,
  gzip: (body: Buffer) => gzipSync(body),
  deflate: (body: Buffer) => deflateSync(body),
  br: (body: Buffer) => brotliCompressSync(body),
  broken: (body: Buffer) => gzipSync(body).subarray(0, -6),
} as const;

const encodingHeader = fc.constantFrom(
  'gzip',
  'deflate',
  'br',
  'GZIP',
  'identity',
  'zstd',
  'gzip, br',
);
const contentType = fc.constantFrom(
  ...['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;CHARSET="UTF-8"'],
  ...['text/json', 'application/vnd.x+json', 'application/json; charset=utf-16le', 'text/plain'],
  ...[
    'application/json; charset=latin1',
    'application/json; charset=no-such',
    'multipart/form-data',
  ],
  ...['', ';', 'application/json;;;', 'application/json; charset=', '*/*'],
);
const headerText = fc
  .string({ maxLength: 40 })
  .map((value) => value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').trim());
const oddHeader = fc.tuple(
  fc.constantFrom(
    ...['x-request-id', 'x-rerank-tag', 'x-forwarded-for', 'x-api-key', 'api-key', 'accept'],
    ...['cookie', 'idempotency-key', 'new-api-user', 'origin', 'range', 'via'],
    ...['__proto__', 'constructor', 'x-http-method-override', 'te', 'if-none-match'],
  ),
  fc.oneof(
    headerText,
    fc.constantFrom('x'.repeat(6_000), 'Bearer', 'Bearer  x', 'Basic eA==', '{}'),
  ),
);
const path = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('/v1/rerank', '/rerank', '/v2/rerank/') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['/v1/v1/rerank', '//v1//rerank', '/v1/rerank?access_token=x', '/v1/rerank?a[b]=c&a[b]=d'],
      ...['/v1/models', '/v1/models/local', '/v1/models/%2e%2e', '/v1/models/%', '/v1/models/%ff'],
      ...[
        '/v1/rerank/extra',
        '/',
        '*',
        '/%00',
        '/..;/x',
        '/v1/RERANK',
        '/v1/rerank%2f',
        '/v3/rerank',
      ],
    ),
  },
  { weight: 1, arbitrary: fc.webPath({ size: 'small' }).map((value) => `/${value}`) },
);
const method = fc.oneof(
  { weight: 20, arbitrary: fc.constant('POST') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'GET',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
    ),
  },
);

const request = fc
  .record({
    method,
    path,
    type: rarely(contentType, 'application/json'),
    body: bodyBytes,
    encoding: fc.oneof(
      { weight: 6, arbitrary: fc.constant('none' as const) },
      fc.constantFrom('gzip' as const, 'deflate' as const, 'br' as const, 'broken' as const),
    ),
    encodingHeader: rarely(encodingHeader, undefined),
    odd: fc.array(oddHeader, { maxLength: 2 }),
    withKey: rarely(fc.constant(false), true),
    chunked: fc.boolean(),
  })
  .map((parts) => {
    const body = encodings[parts.encoding](parts.body);
    const named = parts.encoding === 'broken' ? 'gzip' : parts.encoding;
    const encoding = parts.encodingHeader ?? (named === 'none' ? undefined : named);
    const headers = [
      'host: gateway',
      'connection: close',
      ...(parts.withKey ? [`authorization: Bearer ${key}`] : []),
      ...(parts.type === '' ? [] : [`content-type: ${parts.type}`]),
      ...(encoding === undefined ? [] : [`content-encoding: ${encoding}`]),
      ...parts.odd.map(([name, value]) => `${name}: ${value}`),
      parts.chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`,
    ];
    const head = Buffer.from(
      `${parts.method} ${parts.path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`,
      'latin1',
    );
    const chunk =
      body.length === 0
        ? []
        : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')];
    const sent = parts.chunked ? [...chunk, Buffer.from('0\r\n\r\n')] : [body];
    return { method: parts.method, bytes: Buffer.concat([head, ...sent]) };
  });

describe('five thousand requests that nobody in their right mind would send', () => {
  it('are all answered with a ranking or a documented error, and leave nothing behind', async () => {
    const statuses = new Map<number, number>();
    const batches = fc.sample(fc.array(request, { minLength: BATCH, maxLength: BATCH }), {
      numRuns: BATCHES,
      seed: SEED,
    });
    let heapBefore = 0;
    for (const [index, batch] of batches.entries()) {
      if (index === Math.floor(BATCHES / 5)) heapBefore = await heapInUse();
      await Promise.all(
        batch.map(async ({ bytes, method: sentMethod }) => {
          try {
            const reply = await exchange(bytes, sentMethod);
            judge(reply);
            statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          } catch (error) {
            const sent = bytes.toString('latin1').replace(key, '<key>').slice(0, 2_000);
            throw new Error(`${String(error)}\nafter ${JSON.stringify(sent)}`, { cause: error });
          }
        }),
      );
    }

    expect(statuses.get(200)).toBeGreaterThan((BATCHES * BATCH) / 5);
    for (const status of [400, 401, 404, 405, 415]) expect(statuses.has(status)).toBe(true);
    await eventually('nothing is in flight', async () => {
      const inFlight = await gateway.metric('rerank_requests_in_flight');
      return inFlight + (await gateway.metric('rerank_settlements_pending')) === 0;
    });
    // What the last requests left is let go of a moment after their replies.
    await eventually('the heap is as small as before', async () => {
      return (await heapInUse()) - heapBefore < MAY_GROW_BYTES;
    });
    expect(gateway.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });
});

describe('bytes that are not quite HTTP', () => {
  const goodHead = (): string => `host: x\r\nauthorization: Bearer ${key}\r\n`;
  const body = JSON.stringify(rerankBody('local'));

  it.each<[what: string, status: number, bytes: () => string]>([
    ['no HTTP', 400, () => 'hello\r\n\r\n'],
    ['TLS', 400, () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['another version', 400, () => `POST /v1/rerank HTTP/9.9\r\n${goodHead()}\r\n`],
    ['an unknown method', 400, () => `RERANK /v1/rerank HTTP/1.1\r\n${goodHead()}\r\n`],
    ['no host', 401, () => 'GET /v1/models HTTP/1.1\r\n\r\n'],
    ['a header without a colon', 400, () => `GET / HTTP/1.1\r\nhost: x\r\nodd\r\n\r\n`],
    ['a header with a NUL', 400, () => `GET / HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n`],
    ['huge headers', 431, () => `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['many headers', 431, () => `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(9_000)}\r\n`],
    ['a huge path', 431, () => `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    [
      'two lengths',
      400,
      () =>
        `POST /v1/rerank HTTP/1.1\r\n${goodHead()}content-length: 5\r\ncontent-length: 6\r\n\r\n12345`,
    ],
    [
      'a length and chunks',
      400,
      () =>
        `POST /v1/rerank HTTP/1.1\r\n${goodHead()}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a negative length',
      400,
      () => `POST /v1/rerank HTTP/1.1\r\n${goodHead()}content-length: -1\r\n\r\n`,
    ],
    [
      'a broken chunk',
      400,
      () => `POST /v1/rerank HTTP/1.1\r\n${goodHead()}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    ],
    [
      'a body that is larger than it may be, by its own account',
      413,
      () => `POST /v1/rerank HTTP/1.1\r\n${goodHead()}content-length: 99999999\r\n\r\n`,
    ],
    [
      'an expectation',
      200,
      () =>
        `POST /v1/rerank HTTP/1.1\r\n${goodHead()}expect: a-wonder\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ],
    [
      'an upgrade',
      200,
      () =>
        `POST /v1/rerank HTTP/1.1\r\n${goodHead()}connection: upgrade\r\nupgrade: h2c\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ],
    [
      'an absolute address',
      200,
      () =>
        `POST http://x/v1/rerank HTTP/1.1\r\n${goodHead()}content-length: ${body.length}\r\n\r\n${body}`,
    ],
  ])('get a documented answer: %s', async (_what, status, bytes) => {
    const reply = await exchange(Buffer.from(bytes(), 'latin1'));

    judge(reply);
    expect(reply.status).toBe(status);
  });

  it('get an answer to HEAD without a body, and to what comes before it on the same connection', async () => {
    const { status, body: none } = await exchange(
      Buffer.from('HEAD /healthz HTTP/1.1\r\nhost: x\r\n\r\n'),
      'HEAD',
    );

    expect([status, none]).toEqual([200, '']);
  });

  it('leave the gateway as able as before', async () => {
    for (const model of MODELS) {
      expect((await gateway.post(key, rerankBody(model))).status).toBe(200);
    }
  });
});

/** Bytes that are still in use after a collection. */
async function heapInUse(): Promise<number> {
  gateway.kill('SIGUSR2');
  return gateway.metric('nodejs_heap_size_used_bytes');
}
