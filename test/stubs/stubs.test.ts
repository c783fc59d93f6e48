import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allProviders } from '../../src/providers/index.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { googleKeyFile } from './catalogue/google.js';
import { derivedStub } from './derived.js';
import { findStub, ownStubIds } from './index.js';
import { startStubs, stubModel, type Stubs } from './server.js';
import { STUB_KEY } from './stub.js';

const QUERY = 'most moons';
const DOCUMENTS = ['no moons', 'the most moons', 'olive oil'];

let stubs: Stubs;
beforeAll(async () => {
  stubs = await startStubs();
});
afterAll(async () => {
  await stubs.close();
});

const httpIds = allProviders()
  .filter(({ transport }) => transport === 'http')
  .map(({ id }) => id);

interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly modes?: readonly string[];
}

/** Posts to a stub as a client with a good key would. */
async function send(
  id: string,
  body: unknown,
  { path = '/v1/rerank', headers = {}, modes = [] }: Sent = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(stubs.url(id, ...modes) + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${STUB_KEY}`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

it('there is a stub of every provider, and none of anything else', () => {
  expect(httpIds.filter((id) => findStub(id) === undefined)).toEqual([]);
  expect(ownStubIds().filter((id) => !httpIds.includes(id))).toEqual([]);
});

const flat = { model: 'm', query: QUERY, documents: DOCUMENTS };
const voyageKey = { headers: { authorization: `Bearer pa-${STUB_KEY}` } };
const many = (count: number): string[] => Array.from({ length: count }, () => 'x');
const native = { path: '/api/v1/services/rerank/text-rerank/text-rerank' };
const pinecone = {
  path: '/rerank',
  headers: { 'api-key': STUB_KEY, 'x-pinecone-api-version': '2026-04' },
};
const objects = DOCUMENTS.map((text) => ({ text }));
const cloudflare = { path: '/client/v4/accounts/acct/ai/run/@cf/baai/bge-reranker-base' };
const deepinfra = { path: '/v1/inference/Qwen/Qwen3-Reranker-8B' };

/** What each refuses, as its documents have it: provider, what is wrong, the request, the status, words of the reply. */
const REFUSALS: readonly (readonly [string, string, unknown, Sent, number, RegExp | ''])[] = [
  [
    'cohere',
    'top_k',
    { ...flat, top_k: 1 },
    { path: '/v2/rerank' },
    422,
    /unknown field: parameter 'top_k'/,
  ],
  [
    'cohere',
    'return_documents',
    { ...flat, return_documents: false },
    { path: '/v2/rerank' },
    422,
    /unknown field/,
  ],
  [
    'cohere',
    'objects',
    { ...flat, documents: objects },
    { path: '/v2/rerank' },
    422,
    /must be a string/,
  ],
  [
    'cohere',
    'no model',
    { query: QUERY, documents: DOCUMENTS },
    { path: '/v2/rerank' },
    400,
    /model/,
  ],
  [
    'pinecone',
    'chunks for a model that reads tokens',
    {
      ...flat,
      model: 'cohere-rerank-4-fast',
      documents: objects,
      parameters: { max_chunks_per_doc: 3 },
    },
    pinecone,
    400,
    /max_chunks_per_doc' is not supported/,
  ],
  ['bifrost', 'strings', flat, {}, 400, /must be an object/],
  [
    'sie',
    'a reply in another format',
    { query: { text: QUERY }, items: objects },
    { path: '/v1/score/BAAI/bge-reranker-v2-m3', headers: { accept: '*/*' } },
    400,
    /msgpack/,
  ],
  [
    'azure-data-ai',
    'no version',
    { query: QUERY, documents: DOCUMENTS },
    { path: '/inference/semanticReranking', headers: { 'api-key': STUB_KEY } },
    400,
    /api-version/,
  ],
  [
    'ogx',
    'top_n',
    { model: 'm', query: QUERY, items: DOCUMENTS, top_n: 1 },
    { path: '/v1alpha/inference/rerank' },
    400,
    /top_n is not a known field/,
  ],
  ['opengatellm', 'a query by its usual name', flat, {}, 400, /prompt is required/],
  ['portkey-hosted', 'no key of its own', flat, {}, 401, /no API key/],
  [
    'dashscope-workspace',
    'the header of the shared host',
    { model: 'm', input: { query: QUERY, documents: DOCUMENTS }, parameters: {} },
    { ...native, headers: { 'x-dashscope-workspace': 'ws-1' } },
    400,
    /host names the workspace/,
  ],
  [
    'dashscope',
    '41 images',
    {
      model: 'qwen3-vl-rerank',
      input: { query: QUERY, documents: many(41).map((image) => ({ image })) },
      parameters: {},
    },
    native,
    400,
    /larger than 40/,
  ],
  ['cohere', 'a top_n of 0', { ...flat, top_n: 0 }, { path: '/v2/rerank' }, 400, /top_n/],
  ['cohere', 'a null top_n', { ...flat, top_n: null }, { path: '/v2/rerank' }, 422, /top_n/],
  [
    'cohere',
    'an empty document',
    { ...flat, documents: [''] },
    { path: '/v2/rerank' },
    400,
    /empty/,
  ],
  ['cohere', 'no documents', { ...flat, documents: [] }, { path: '/v2/rerank' }, 400, /empty/],
  ['cohere', 'a wrong path', flat, { path: '/v2/rerank/v1/rerank' }, 404, /404/],
  [
    'cohere-v1',
    'an object without text',
    { ...flat, documents: [{ body: 'x' }] },
    {},
    400,
    /no field text/,
  ],
  ['cohere-v1', 'empty rank_fields', { ...flat, rank_fields: [] }, {}, 400, /rank_fields/],
  [
    'jina',
    'a missing query',
    { model: 'm', documents: DOCUMENTS },
    {},
    422,
    /"loc":\["body","query"\]/,
  ],
  [
    'voyage',
    'top_n',
    { ...flat, top_n: 1 },
    voyageKey,
    400,
    /Argument 'top_n' is not supported by our API/,
  ],
  ['voyage', 'an empty document', { ...flat, documents: [''] }, voyageKey, 400, /empty strings/],
  ['voyage', '1001 documents', { ...flat, documents: many(1_001) }, voyageKey, 400, /1000/],
  [
    'voyage',
    'a key of the twin',
    flat,
    { headers: { authorization: `Bearer al-${STUB_KEY}` } },
    401,
    /key/,
  ],
  [
    'voyage',
    'top_k above the list, in one mode',
    { ...flat, top_k: 4 },
    { ...voyageKey, modes: ['strict-top-k'] },
    400,
    /top_k/,
  ],
  [
    'mixedbread',
    '1001 documents',
    { query: QUERY, input: many(1_001) },
    { path: '/v1/reranking' },
    422,
    /too_long/,
  ],
  ['pinecone', 'strings', { ...flat }, pinecone, 400, /INVALID_ARGUMENT/],
  [
    'pinecone',
    'no version',
    { ...flat, documents: objects },
    { path: '/rerank', headers: { 'api-key': STUB_KEY } },
    400,
    /Version/,
  ],
  [
    'pinecone',
    'a bearer key',
    { ...flat, documents: objects },
    { path: '/rerank' },
    401,
    /UNAUTHENTICATED/,
  ],
  [
    'pinecone',
    'a missing rank field',
    { ...flat, documents: objects, rank_fields: ['title'] },
    pinecone,
    400,
    /field 'title' not found in document at index 0/,
  ],
  [
    'pinecone',
    '101 documents',
    { ...flat, documents: many(101).map((text) => ({ text })) },
    pinecone,
    400,
    /100/,
  ],
  [
    'together',
    'strings and objects',
    { ...flat, documents: ['a', { text: 'b' }] },
    {},
    400,
    /all strings or all objects/,
  ],
  ['together', 'an unknown key', { ...flat, x: 1 }, {}, 400, /invalid_request_error/],
  [
    'fireworks',
    'an unknown key',
    { ...flat, x: 1 },
    { path: '/inference/v1/rerank' },
    400,
    /error/,
  ],
  [
    'deepinfra',
    'a wrong number of queries',
    { queries: ['a', 'b'], documents: DOCUMENTS },
    deepinfra,
    422,
    /queries/,
  ],
  [
    'deepinfra',
    'an escaped slash',
    { queries: ['a'], documents: DOCUMENTS },
    { path: '/v1/inference/Qwen%2FQwen3' },
    404,
    '',
  ],
  [
    'siliconflow',
    'a wrong key',
    flat,
    { headers: { authorization: 'Bearer x' } },
    401,
    /^"Invalid token"$/,
  ],
  ['siliconflow', 'objects', { ...flat, documents: objects }, {}, 400, /20012/],
  [
    'siliconflow',
    'an instruction for bge',
    { ...flat, model: 'BAAI/bge', instruction: 'x' },
    {},
    400,
    /instruction/,
  ],
  ['dashscope', 'a flat body', flat, native, 400, /BadRequest.EmptyInput/],
  [
    'dashscope',
    'no parameters',
    { model: 'm', input: { query: QUERY, documents: DOCUMENTS } },
    native,
    400,
    /BadRequest.EmptyParameters/,
  ],
  [
    'dashscope',
    '501 documents',
    { model: 'm', input: { query: QUERY, documents: many(501) }, parameters: {} },
    native,
    400,
    /InvalidParameter/,
  ],
  [
    'dashscope-compatible',
    'a nested body',
    { model: 'm', input: { query: QUERY, documents: DOCUMENTS } },
    { path: '/compatible-api/v1/reranks' },
    400,
    /code/,
  ],
  [
    'dashscope-compatible',
    'compatible-mode',
    flat,
    { path: '/compatible-mode/v1/reranks' },
    404,
    '',
  ],
  [
    'zhipu',
    '129 documents',
    { ...flat, model: 'rerank', documents: many(129) },
    { path: '/api/paas/v4/rerank' },
    400,
    /1214/,
  ],
  [
    'baidu',
    '65 documents',
    { ...flat, documents: many(65) },
    { path: '/v2/rerank' },
    400,
    /invalid_argument/,
  ],
  [
    'baidu',
    'an empty document',
    { ...flat, documents: [''] },
    { path: '/v2/rerank' },
    400,
    /invalid_argument/,
  ],
  ['contextual', 'metadata of another length', { ...flat, metadata: ['x'] }, {}, 422, /metadata/],
  [
    'zeroentropy',
    'an unknown latency',
    { ...flat, latency: 'slowest' },
    { path: '/v1/models/rerank' },
    422,
    /latency/,
  ],
  [
    'isaacus',
    'a blank text',
    { model: 'm', query: QUERY, texts: [' '] },
    { path: '/v1/rerankings' },
    400,
    /"status":400/,
  ],
  ['cloudflare', 'context', { query: QUERY, context: objects }, cloudflare, 400, /5006/],
  [
    'cloudflare',
    'an unknown model',
    { query: QUERY, contexts: objects },
    { path: `${cloudflare.path}-large` },
    400,
    /5007/,
  ],
  ['azure-serverless', 'doubled paths', flat, { path: '/v2/rerank/v1/rerank' }, 404, ''],
  [
    'azure-serverless',
    'no model',
    { query: QUERY, documents: DOCUMENTS },
    { path: '/v2/rerank' },
    400,
    /model/,
  ],
  [
    'azure-foundry',
    'an api-version',
    flat,
    { path: '/providers/cohere/v2/rerank?api-version=1' },
    400,
    /API version not supported/,
  ],
  ['scaleway', 'no top_n', flat, {}, 400, /missing required top_n number field/],
  [
    'elastic',
    'an unknown endpoint',
    { query: QUERY, input: DOCUMENTS },
    { path: '/_inference/rerank/unknown', headers: { authorization: `ApiKey ${STUB_KEY}` } },
    404,
    /resource_not_found/,
  ],
  [
    'tei',
    '33 texts',
    { query: QUERY, texts: many(33) },
    { path: '/rerank' },
    422,
    /batch size 33 > maximum allowed batch size 32.*"Validation"/,
  ],
  [
    'ascend-tei',
    '33 texts',
    { query: QUERY, texts: many(33) },
    { path: '/rerank' },
    413,
    /batch size 33/,
  ],
  ['tei', 'documents for texts', flat, { path: '/rerank' }, 422, /^Failed to deserialize.*texts/],
  [
    'tei',
    'a wrong key',
    { query: QUERY, texts: DOCUMENTS },
    { path: '/rerank', headers: { authorization: 'Bearer x' } },
    401,
    /^$/,
  ],
  [
    'tei',
    'a null flag',
    { query: QUERY, texts: DOCUMENTS, return_text: null },
    { path: '/rerank' },
    422,
    /^Failed/,
  ],
  ['tei', 'the path of others', { query: QUERY, texts: DOCUMENTS }, {}, 404, ''],
  ['vllm', 'objects', { ...flat, documents: objects }, {}, 400, /BadRequestError/],
  ['vllm', 'a null top_n', { ...flat, top_n: null }, {}, 400, /BadRequestError/],
  [
    'vllm',
    'one long document',
    { ...flat, documents: ['x '.repeat(9_000)] },
    {},
    400,
    /maximum context length/,
  ],
  [
    'vllm',
    'a wrong key',
    flat,
    { headers: { authorization: 'Bearer x' } },
    401,
    /^\{"error":"Unauthorized"\}$/,
  ],
  [
    'sglang',
    'a blank document',
    { query: QUERY, documents: ['a', ' '] },
    {},
    400,
    /"object":"error"/,
  ],
  [
    'sglang',
    'a top_n of 0',
    { query: QUERY, documents: ['a'], top_n: 0 },
    {},
    400,
    /BadRequestError/,
  ],
  ['infinity', 'a top_n of 0', { ...flat, top_n: 0 }, { path: '/rerank' }, 422, /"detail":\[/],
  [
    'infinity',
    '2049 documents',
    { ...flat, documents: many(2_049) },
    { path: '/rerank' },
    422,
    /too_long/,
  ],
  [
    'xinference',
    'a body without query',
    { model: 'm', documents: DOCUMENTS },
    {},
    500,
    /^Internal Server Error/,
  ],
  ['xinference', 'max_chunks_per_doc', { ...flat, max_chunks_per_doc: 3 }, {}, 500, /address=/],
  ['llamacpp', 'malformed JSON', '{"query":', {}, 500, /server_error/],
  ['localai', 'a top_n of 0', { ...flat, top_n: 0 }, {}, 422, /^"top_n - should be/],
  ['openvino', 'malformed JSON', '{', { path: '/v3/rerank' }, 412, /error/],
  [
    'openvino',
    'a wrong key',
    flat,
    { path: '/v3/rerank', headers: { authorization: 'Bearer x' } },
    500,
    /Unauthorized request/,
  ],
  ['docker-model-runner', 'the path of others', flat, {}, 404, ''],
  [
    'nim',
    'a bare string for the query',
    { model: 'm', query: QUERY, passages: objects },
    { path: '/v1/ranking' },
    422,
    /"detail":\[/,
  ],
  [
    'nim',
    'top_n',
    { model: 'm', query: { text: QUERY }, passages: objects, top_n: 1 },
    { path: '/v1/ranking' },
    422,
    /top_n/,
  ],
  ['nvidia', 'a wrong path', flat, { path: '/v1/retrieval/x' }, 404, /^404 page not found$/],
  ['embed-rerank', 'a top_n of 101', { ...flat, top_n: 101 }, {}, 422, /top_n/],
  [
    'bedrock',
    'no signature',
    {},
    { path: '/rerank', headers: { authorization: '' } },
    403,
    /Authentication/,
  ],
  [
    'bedrock-invoke',
    'no api_version',
    { query: QUERY, documents: DOCUMENTS },
    { path: '/model/cohere.rerank-v3-5%3A0/invoke' },
    400,
    /required key \[api_version\] not found/,
  ],
  [
    'bedrock-invoke',
    'an api_version for Amazon',
    { query: QUERY, documents: DOCUMENTS, api_version: 2 },
    { path: '/model/amazon.rerank-v1%3A0/invoke' },
    400,
    /extraneous key \[api_version\]/,
  ],
  ['tencent-lkeap', 'no signature', {}, { path: '/' }, 200, /AuthFailure/],
];

describe('a stub refuses what the original refuses', () => {
  it.each(REFUSALS)('%s: %s', async (id, _what, body, sent, status, words) => {
    const reply = await send(id, body, sent);

    expect(reply.status).toBe(status);
    if (words !== '') expect(reply.text).toMatch(words);
  });

  it.each([
    ['zhipu', { ...flat, model: 'rerank', top_n: 0 }, { path: '/api/paas/v4/rerank' }, 3],
    ['vllm', { ...flat, top_n: 0 }, {}, 3],
    ['llamacpp', { ...flat, top_n: 0 }, {}, 0],
    ['nebius', { ...flat, top_n: 1 }, {}, 3],
  ] as const)('%s has its own idea of a top_n', async (id, body, sent, rows) => {
    const reply = await send(id, body, sent);

    expect((JSON.parse(reply.text) as { results: unknown[] }).results).toHaveLength(rows);
  });

  it('vLLM leaves paths outside /v1 open', async () => {
    const wrong = { authorization: 'Bearer x' };

    expect((await send('vllm', flat, { path: '/rerank', headers: wrong })).status).toBe(200);
  });

  it('llama.cpp answers in another form where texts is there', async () => {
    const reply = await send('llamacpp', { ...flat, texts: DOCUMENTS });

    expect(JSON.parse(reply.text)).toBeInstanceOf(Array);
  });

  it('Isaacus tells problems as application/problem+json', async () => {
    const reply = await send('isaacus', {}, { path: '/v1/rerankings' });

    expect(reply.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('modes', () => {
  it('are switched on by path, query and header', async () => {
    const nan = /:NaN/;
    const marked = { ...flat, query: `${QUERY} !stub:nan` };

    expect((await send('jina', flat, { modes: ['nan'] })).text).toMatch(nan);
    expect((await send('jina', marked)).text).toMatch(nan);
    expect((await send('jina', flat, { headers: { 'x-stub-mode': 'nan' } })).text).toMatch(nan);
    expect((await send('jina', flat)).text).not.toMatch(nan);
  });

  it('may be several at once', async () => {
    const reply = await send('jina', flat, { modes: ['shuffle', 'bom'] });

    expect(reply.text).toMatch(/"results":\[\{"index":2.*"index":1,[^}]*\}\]/);
  });
});

describe('signatures', () => {
  it.each([
    ['bedrock', 403],
    ['bedrock-invoke', 403],
    ['oci', 401],
    ['tencent-lkeap', 200],
    ['tencent-es', 200],
    ['volcengine', 403],
    ['vikingdb', 403],
  ])('of %s cover the body and are for now', async (id, status) => {
    const gateway = await startGateway({
      channels: [{ ...stubs.channel(id), name: 'c', models: { m: stubModel(id) } }],
    });
    const { key } = await gateway.createKey();
    const good = await gateway.post(key, { model: 'm', query: QUERY, documents: DOCUMENTS });
    await gateway.close();
    const signed = stubs.seen.findLast((call) => call.id === id);
    const stub = findStub(id);
    if (signed === undefined || stub === undefined) throw new Error('nothing was sent');

    const changed = stub.answer({ ...signed, body: Buffer.from(`${signed.body.toString()} `) });
    const late = stub.answer({ ...signed, nowMs: signed.nowMs + 600_000 });

    expect(good.status).toBe(200);
    expect([changed.status, late.status]).toEqual([status, status]);
    expect(JSON.stringify(changed.json)).toMatch(/signature does not match/);
    expect(JSON.stringify(late.json)).toMatch(/expired/);
  });
});

describe('short-lived tokens', () => {
  const open: TestGateway[] = [];
  afterAll(async () => {
    for (const gateway of open) await gateway.close();
  });

  async function askVia(channel: Record<string, unknown>): Promise<number[]> {
    const gateway = await startGateway({
      channels: [{ name: 'c', models: { m: stubModel(String(channel.provider)) }, ...channel }],
    });
    open.push(gateway);
    const { key } = await gateway.createKey();
    const reply = await gateway.post(key, { model: 'm', query: QUERY, documents: DOCUMENTS });
    return reply.status === 200 ? reply.body.results.map(({ index }) => index) : [reply.status];
  }

  it('of a Google service account are had for a signed assertion', async () => {
    const credentials = { credentials_json: googleKeyFile(stubs.url('google')) };

    expect(await askVia({ ...stubs.channel('google'), credentials })).toEqual([1, 0, 2]);
  });

  it('of a Google user are had for a refresh token, and the user’s project is named', async () => {
    const file = {
      type: 'authorized_user',
      client_id: 'client',
      client_secret: STUB_KEY,
      refresh_token: STUB_KEY,
      token_uri: `${stubs.url('google')}/token`,
    };
    const credentials = { credentials_json: JSON.stringify(file) };

    expect(await askVia({ ...stubs.channel('google'), credentials })).toEqual([1, 0, 2]);
    expect(stubs.seen.at(-1)?.headers['x-goog-user-project']).toBe('demo');
  });

  it('of Entra are had for a client secret, and not for a wrong one', async () => {
    const entra = (secret: string) => ({
      ...stubs.channel('azure-foundry'),
      credentials: { client_secret: secret },
      settings: {
        tenant: 'tenant',
        clientId: 'client',
        tokenUrl: `${stubs.url('azure-foundry')}/tenant/oauth2/v2.0/token`,
      },
    });

    expect(await askVia(entra(STUB_KEY))).toEqual([1, 0, 2]);
    expect(await askVia(entra('wrong'))).toEqual([502]);
  });

  it('are refused when they have ended', async () => {
    const past = Math.floor(Date.now() / 1000) - 1;
    const headers = { authorization: `Bearer ibm.${past}` };
    const path = '/ml/v1/text/rerank?version=2024-05-31';

    const reply = await send('watsonx', {}, { path, headers });

    expect([reply.status, reply.text]).toEqual([401, expect.stringMatching(/expired/)]);
  });

  it('live as long as a mode says', async () => {
    const form = new URLSearchParams({
      grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
      apikey: STUB_KEY,
    });

    const reply = await send('watsonx', form.toString(), {
      path: '/identity/token',
      modes: ['expires-2'],
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
    });

    expect(JSON.parse(reply.text)).toMatchObject({ expires_in: 2 });
  });
});

describe('a provider without a stub of its own', () => {
  it.each(['voyage', 'jina', 'mixedbread', 'tei', 'isaacus', 'infinity', 'deepinfra', 'oci-like'])(
    'gets one from its fixture: %s',
    async (id) => {
      const derived = derivedStub(id);
      if (id === 'oci-like') {
        expect(derived).toBeUndefined();
        return;
      }
      const own = await startStubs(0, derivedStub);
      const channels = [
        { ...own.channel(id), name: 'good', models: { m: stubModel(id) } },
        { ...own.channel(id, 'nan'), name: 'bad', priority: 9, models: { m: stubModel(id) } },
      ];
      const gateway = await startGateway({ channels });
      const { key } = await gateway.createKey();

      const reply = await gateway.post(key, { model: 'm', query: QUERY, documents: DOCUMENTS });
      await gateway.close();
      await own.close();

      expect(reply.body.results.map(({ index }) => index)).toEqual([1, 0, 2]);
      expect(own.seen).toHaveLength(2);
    },
  );
});
