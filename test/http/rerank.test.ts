import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

type Body = string | Uint8Array<ArrayBuffer>;

const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn has the most moons of any planet.',
  'Oil.',
];
const ask = { model: 'moon', query: QUERY, documents: DOCUMENTS };

describe('POST /v1/rerank', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let key: string;

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      server: { body_limit_bytes: 20_000, max_documents: 50 },
      gateway: { default_model: 'moon' },
      channels: [
        {
          name: 'c',
          provider: 'cohere',
          base_url: upstream.url,
          credentials: { apiKey: 'up-secret' },
          models: { moon: 'rerank-v4.0-pro' },
          tag: 'blue',
        },
      ],
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const raw = (path: string, init: RequestInit) => fetch(`${gateway.url}${path}`, init);
  const send = (body: Body, headers: Record<string, string> = {}) =>
    raw('/v1/rerank', {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...headers,
      },
    });

  it('answers the contract: best first, the caller’s model name, counts that are always there', async () => {
    const { status, body, headers } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(body.id).toMatch(/^rr_/);
    expect(body.model).toBe('moon');
    expect(body).not.toHaveProperty('object');
    expect(body.results.map((row) => row.index)).toEqual([1, 0, 2]);
    expect(body.results[0]).not.toHaveProperty('document');
    expect(body.meta).toEqual({
      api_version: { version: '2' },
      billed_units: { search_units: 1 },
      tokens: { input_tokens: expect.any(Number) as unknown, output_tokens: 0 },
    });
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens);
    expect(headers.get('x-request-id')).toBe(body.id);
    expect(headers.get('x-oneapi-request-id')).toBe(body.id);
  });

  it('sends the upstream its own model name and its own key', async () => {
    await gateway.post(key, ask);

    const last = upstream.seen.at(-1);
    expect(last?.headers.authorization).toBe('Bearer up-secret');
    expect(JSON.parse(last?.body ?? '')).toMatchObject({ model: 'rerank-v4.0-pro', top_n: 3 });
  });

  it('gives documents back from the caller’s own input', async () => {
    const documents = [
      { text: DOCUMENTS[0], id: 1 },
      DOCUMENTS[1],
      { text: 'Oil.', nested: { a: [1] } },
    ];

    const { body } = await gateway.post(key, { ...ask, documents, return_documents: 'true' });

    expect(body.results.map((row) => row.document)).toEqual([
      { text: DOCUMENTS[1] },
      documents[0],
      documents[2],
    ]);
  });

  it('gives objects back as they came, with numbers that no parser keeps', async () => {
    const documents = [
      `{ "text":"${DOCUMENTS[1]}", "id":9223372036854775807,"f":1.0,"h":1e400 }`,
      '{"text":"Oil.","lone":"\\ud800"}',
    ];

    const reply = await send(
      `{"query":"${QUERY}","return_documents":true,"documents":[${documents.join()},"a"]}`,
    );

    const text = await reply.text();
    expect(reply.status).toBe(200);
    expect(text).toContain(`"document":${documents[0]}}`);
    expect(text).toContain(`"document":${documents[1]}}`);
    expect(text).toContain('"document":{"text":"a"}}');
    expect(JSON.parse(text)).toMatchObject({ results: [{ index: 0 }, {}, {}] });
  });

  it.each([
    ['more than there are', 99, 3],
    ['one', 1, 1],
    ['null', null, 3],
  ])('takes top_n of %s', async (_name, topN, rows) => {
    const { body } = await gateway.post(key, { ...ask, top_n: topN });

    expect(body.results).toHaveLength(rows);
  });

  it('keeps blank entries and duplicates in the numbering', async () => {
    const documents = ['', 'Saturn has the most moons', ' ', 'Saturn has the most moons'];

    const { status, body } = await gateway.post(key, { ...ask, documents });

    expect(status).toBe(200);
    expect(body.results.slice(0, 2).map((row) => row.index)).toEqual([1, 3]);
    expect(body.results).toHaveLength(4);
  });

  it('gives back documents that are nested, and brackets in their texts', async () => {
    const deep: unknown = JSON.parse('['.repeat(200) + '"\\\\"' + ']'.repeat(200));
    const documents = [{ text: '['.repeat(500) + '\\"', deep }];

    const { status, body } = await gateway.post(key, { ...ask, documents, return_documents: true });

    expect(status).toBe(200);
    expect(body.results[0]?.document).toEqual(documents[0]);
  });

  it.each([4, 1e20, Number.MAX_SAFE_INTEGER + 2])('takes a top_n of %d for all', async (topN) => {
    const { status, body } = await gateway.post(key, { ...ask, top_n: topN });

    expect(status).toBe(200);
    expect(body.results).toHaveLength(DOCUMENTS.length);
  });

  it('takes an empty rank_fields for none', async () => {
    const documents = [{ text: DOCUMENTS[0] }, { text: DOCUMENTS[1] }];

    const { status, body } = await gateway.post(key, { ...ask, documents, rank_fields: [] });

    expect(status).toBe(200);
    expect(body.results).toHaveLength(2);
  });

  it('ranks objects by rank_fields', async () => {
    const documents = [{ title: 'Oil' }, { title: 'planet moons most' }];

    const { body } = await gateway.post(key, { ...ask, documents, rank_fields: ['title'] });

    expect(body.results[0]?.index).toBe(1);
  });

  it.each([
    '/rerank',
    '/v2/rerank',
    '/v1/rerank/',
    '/v1/v1/rerank',
    '/v1/v2/rerank/',
    '/v1/rerank?a=b',
  ])('answers at %s', async (path) => {
    const response = await raw(path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(ask),
    });

    expect(response.status).toBe(200);
  });

  it.each([
    ['a bearer token', (k: string) => ({ authorization: `Bearer ${k}` })],
    ['a bearer token in lower case', (k: string) => ({ authorization: `bearer ${k}` })],
    ['the bare header', (k: string) => ({ authorization: k })],
    ['x-api-key', (k: string) => ({ 'x-api-key': k })],
    ['api-key', (k: string) => ({ 'api-key': k })],
  ])('takes the key as %s', async (_name, headersOf) => {
    const response = await raw('/v1/rerank', {
      method: 'POST',
      headers: { ...headersOf(key), 'content-type': 'application/json' },
      body: JSON.stringify(ask),
    });

    expect(response.status).toBe(200);
  });

  it('does not take a key from the query or the body', async () => {
    const response = await raw(`/v1/rerank?access_token=${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, access_token: key }),
    });

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('reads a %s body', async (encoding, compress) => {
    const response = await send(new Uint8Array(compress(JSON.stringify(ask))), {
      'content-encoding': encoding,
    });

    expect(response.status).toBe(200);
  });

  it('reads another charset and a byte-order mark', async () => {
    const latin = await send(
      new Uint8Array(Buffer.from(JSON.stringify({ ...ask, query: 'été' }), 'latin1')),
      {
        'content-type': 'application/json; charset=iso-8859-1',
      },
    );
    const marked = await send(`\ufeff${JSON.stringify(ask)}`, {
      'content-type': 'application/json; charset="UTF-8"',
    });

    expect([latin.status, marked.status]).toEqual([200, 200]);
    expect(upstream.seen.at(-2)?.body).toContain('"été"');
  });

  it('keeps a sane request id and replaces another', async () => {
    const kept = await send(JSON.stringify(ask), { 'x-request-id': 'req-42' });
    const replaced = await send(JSON.stringify(ask), { 'x-request-id': 'a b<c>' });

    expect(kept.headers.get('x-request-id')).toBe('req-42');
    expect(replaced.headers.get('x-request-id')).toMatch(/^rr_/);
  });

  it.each<[string, unknown, number, string, string | undefined]>([
    ['no JSON', '{"model":', 400, 'invalid_json', undefined],
    ['an empty body', '', 400, 'invalid_json', undefined],
    ['an array', [], 400, 'invalid_request', undefined],
    [
      'an object nested deeper than it could be written again',
      `{"model":"moon","query":"q","documents":[{"text":"[","deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
      400,
      'invalid_json',
      undefined,
    ],
    [
      'more values than are parsed',
      `{"model":"moon","query":"q","documents":["a"],"x":[${'{},'.repeat(300_000)}{}]}`,
      413,
      'payload_too_large',
      undefined,
    ],
    ['no query', { documents: ['a'] }, 400, 'invalid_query', 'query'],
    ['a blank query', { ...ask, query: ' \n' }, 400, 'invalid_query', 'query'],
    ['a query that is a number', { ...ask, query: 7 }, 400, 'invalid_query', 'query'],
    ['no documents', { query: 'q' }, 400, 'invalid_documents', 'documents'],
    ['empty documents', { ...ask, documents: [] }, 400, 'invalid_documents', 'documents'],
    ['documents as a string', { ...ask, documents: 'a' }, 400, 'invalid_documents', 'documents'],
    [
      'a number among the documents',
      { ...ask, documents: ['a', 1] },
      400,
      'invalid_documents',
      'documents',
    ],
    [
      'an object without text',
      { ...ask, documents: [{ title: 'a' }] },
      400,
      'invalid_documents',
      'documents',
    ],
    [
      'images where nobody takes them',
      { ...ask, documents: [{ image: 'https://i.test/a.png' }] },
      400,
      'invalid_documents',
      'documents',
    ],
    ...[{ src: 1 }, '', 7].map((image): [string, unknown, number, string, string] => [
      `${JSON.stringify(image)} as an image alone`,
      { ...ask, documents: [{ image, text: null }] },
      400,
      'invalid_documents',
      'documents',
    ]),
    [
      'a text that is none beside an image',
      { ...ask, documents: [{ text: 7, image: 'https://i.test/a.png' }] },
      400,
      'invalid_documents',
      'documents',
    ],
    ['top_n 0', { ...ask, top_n: 0 }, 400, 'invalid_request', 'top_n'],
    ['top_n negative', { ...ask, top_n: -1 }, 400, 'invalid_request', 'top_n'],
    ['top_n fractional', { ...ask, top_n: 1.5 }, 400, 'invalid_request', 'top_n'],
    [
      'return_documents of another kind',
      { ...ask, return_documents: 1 },
      400,
      'invalid_request',
      'return_documents',
    ],
    ['an unknown model', { ...ask, model: 'nobody' }, 404, 'model_not_found', 'model'],
    ['a tag nobody bears', { ...ask, model: 'moon@green' }, 404, 'model_not_found', 'model'],
    [
      'too many documents',
      { ...ask, documents: Array.from({ length: 51 }, () => 'a') },
      413,
      'too_many_documents',
      'documents',
    ],
    [
      'a body too large',
      { ...ask, query: 'q'.repeat(20_000) },
      413,
      'payload_too_large',
      undefined,
    ],
  ])('refuses %s', async (_name, body, status, code, param) => {
    const sentBefore = upstream.seen.length;

    const reply = await gateway.post(key, body);

    expect(reply.status).toBe(status);
    expect(reply.body.error).toMatchObject({
      code,
      param: param ?? null,
      message: reply.body.message,
    });
    expect(reply.body.detail).toBe(reply.body.message);
    expect(upstream.seen).toHaveLength(sentBefore);
  });

  it('takes as many documents as there may be', async () => {
    const documents = Array.from({ length: 50 }, () => 'a');

    expect((await gateway.post(key, { ...ask, documents })).status).toBe(200);
  });

  it.each([
    ['too large', 413, () => key],
    ['under a wrong key', 401, () => 'sk-wrong'],
  ])('reads on where a body is %s, so that the answer arrives', async (_why, status, keyOf) => {
    const start = (sizeBytes: number) =>
      `POST /v1/rerank HTTP/1.1\r\nHost: a\r\nAuthorization: ${keyOf()}\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    const caller = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const lines: AsyncIterator<string, undefined> = createInterface(caller)[Symbol.asyncIterator]();
    const nextStatus = async () => {
      for (;;) {
        const { value = '', done } = await lines.next();
        const found = /HTTP\/1.1 (\d+)/.exec(value);
        if (found !== null || done === true) return Number(found?.[1]);
      }
    };

    caller.write(`${start(1_000_000)}{`);
    const refused = await nextStatus();
    caller.write(`${'q'.repeat(999_999)}${start(1_000_000)}{`);
    const refusedAgain = await nextStatus();
    caller.destroy();

    expect([refused, refusedAgain]).toEqual([status, status]);
  });

  it('counts the body limit after decompression', async () => {
    const bomb = gzipSync(JSON.stringify({ ...ask, query: 'q'.repeat(1_000_000) }));

    const response = await send(new Uint8Array(bomb), { 'content-encoding': 'gzip' });

    expect(response.status).toBe(413);
  });

  it.each([
    [
      'a body that is not UTF-8',
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      {},
      400,
      'invalid_json',
    ],
    [
      'a form',
      'a=b',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    ['an unknown compression', 'x', { 'content-encoding': 'zstd' }, 415, 'unsupported_media_type'],
    ['broken gzip', 'x', { 'content-encoding': 'gzip' }, 400, 'invalid_request'],
    [
      'an unknown charset',
      '{}',
      { 'content-type': 'application/json; charset=klingon' },
      415,
      'unsupported_media_type',
    ],
  ])('refuses %s', async (_name, body, headers, status, code) => {
    const response = await send(body, headers);

    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe(code);
  });

  it('fills in the default model: the key’s before the gateway’s', async () => {
    const own = await gateway.createKey({ policy: { defaultModel: 'other' } });

    const byGateway = await gateway.post(key, { ...ask, model: null });
    const byKey = await gateway.post(own.key, { query: 'q', documents: ['a'] });

    expect(byGateway.body.model).toBe('moon');
    expect(byKey.status).toBe(404);
  });

  it('routes by tag, in the header or behind the model', async () => {
    const header = await gateway.post(key, ask, { 'x-rerank-tag': 'blue' });
    const suffix = await gateway.post(key, { ...ask, model: 'moon@blue' });
    const both = await gateway.post(key, { ...ask, model: 'moon@blue' }, { 'x-rerank-tag': 'red' });
    const blank = await gateway.post(key, ask, { 'x-rerank-tag': ' ' });

    expect([header.status, blank.status]).toEqual([200, 200]);
    expect(suffix.body.model).toBe('moon@blue');
    expect(both.status).toBe(400);
  });

  it('answers unknown paths and wrong methods in the same shape', async () => {
    const missing = await raw('/v1/nothing', { method: 'POST' });
    const wrong = await raw('/v1/rerank', { method: 'GET' });

    expect(missing.status).toBe(404);
    expect(((await missing.json()) as { error: { code: string } }).error.code).toBe('not_found');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('POST');
    expect(((await wrong.json()) as { error: { code: string } }).error.code).toBe(
      'method_not_allowed',
    );
  });

  it.each([
    ['python-requests/2.34.2', '/v1/rerank', true, 'documents must not be empty.'],
    ['Python/3.11 aiohttp/3.13.2', '/v1/rerank', true, 'documents must not be empty.'],
    ['python-requests/2.34.2', '/voyage/v1/rerank', false, 'The API key is not valid.'],
  ])(
    'answers Voyage’s Python client without the member that breaks its errors: %s on %s',
    async (agent, path, isKnown, detail) => {
      const askAs = (name: string) =>
        raw(path, {
          method: 'POST',
          body: JSON.stringify({ ...ask, documents: [], top_k: null, truncation: true }),
          headers: {
            authorization: isKnown ? `Bearer ${key}` : 'sk-wrong',
            'content-type': 'application/json',
            'user-agent': name,
          },
        });

      const python = await askAs(agent);
      const other = await askAs('ai-sdk/voyage');

      expect(await python.json()).toEqual({ detail });
      expect(await other.json()).toMatchObject({ detail, error: { message: detail } });
    },
  );

  it('closes on a caller that sends no HTTP and keeps its own side open', async () => {
    const port = Number(new URL(gateway.url).port);
    const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [accepted] = (await once(gateway.app.server, 'connection')) as [Socket];
    const closed = new Promise((resolve) => accepted.on('close', resolve));

    caller.write('no HTTP\r\n\r\n');
    const answer = String((await once(caller, 'data'))[0]);
    await closed;
    caller.destroy();

    expect(answer).toContain('"code":"invalid_request"');
  });

  it('lists the models of the key', async () => {
    const limited = await gateway.createKey({ policy: { models: ['x'] } });
    const get = async (path: string, bearer: string) => {
      const response = await raw(path, { headers: { authorization: `Bearer ${bearer}` } });
      return {
        status: response.status,
        body: (await response.json()) as { data?: unknown[]; id?: string },
      };
    };

    expect((await get('/v1/models', key)).body.data).toEqual([
      expect.objectContaining({ id: 'moon', object: 'model', model_type: 'rerank' }),
    ]);
    expect((await get('/v1/models/moon', key)).body.id).toBe('moon');
    expect((await get('/v1/models/x', key)).status).toBe(404);
    expect((await get('/v1/models', limited.key)).body.data).toEqual([]);
    expect((await get('/v1/models', 'sk-wrong')).status).toBe(401);
  });

  it('says that it is alive, that it is ready, and what it counts', async () => {
    const metrics = await raw('/metrics', {});
    const text = await metrics.text();

    expect((await raw('/healthz', {})).status).toBe(200);
    expect((await raw('/readyz', {})).status).toBe(200);
    expect(text).toContain(
      'rerank_requests_total{model="moon",provider="cohere",tag="blue",outcome="ok"}',
    );
    expect(text).not.toContain('nobody');
  });

  it('logs one line per request and no secret', async () => {
    const before = gateway.log.length;
    await gateway.post(key, ask, { 'x-request-id': 'logged-1' });

    const written = () => gateway.log.slice(before).filter((line) => line.includes('logged-1'));
    // Lines are written behind the reply, with those of other requests.
    await eventually('the line is written', () => Promise.resolve(written().length > 0));
    const lines = written();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      requestId: 'logged-1',
      outcome: 'ok',
      documents: 3,
    });
    expect(gateway.log.join('')).not.toContain(key);
    expect(gateway.log.join('')).not.toContain('up-secret');
  });

  it('passes a refusal of the input on in the upstream’s words, without addresses and keys', async () => {
    upstream.answer((_request, res) =>
      sendJson(res, { message: 'top_n is odd at http://10.0.0.1/x with up-secret' }, 422),
    );

    const { status, body } = await gateway.post(key, ask);

    expect(status).toBe(422);
    expect(body.error.code).toBe('invalid_request');
    expect(body.message).toContain('top_n is odd');
    expect(body.message).not.toMatch(/10\.0\.0\.1|up-secret/);
  });
});
