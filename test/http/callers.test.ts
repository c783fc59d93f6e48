import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import aws4 from 'aws4';
import { eventually } from '../support/redis-server.js';
import { TOKEN_MEMBERS } from '../../src/core/token-members.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = ['Mercury has no moons at all.', 'Saturn has the most moons of any planet.'];
const CHANNELS = [{ name: 'local', provider: 'local', models: ['moon', 'cohere/sun', 'sun'] }];
const PRICE_OF_MOON = 7;
const ACCESS_KEY = 'AKIDEXAMPLE';
const SIGNING_KEY = `sk-${'s'.repeat(48)}`;

async function post(
  { url }: TestGateway,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
) {
  const reply = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json = (await reply.json()) as Readonly<Record<string, unknown>>;
  return { status: reply.status, headers: reply.headers, json };
}

describe('names of models', () => {
  let gateway: TestGateway;
  let key: string;
  beforeAll(async () => {
    gateway = await startGateway({
      channels: CHANNELS,
      prices: { models: { moon: { per_request: PRICE_OF_MOON } }, default: { per_request: 1 } },
      callers: {
        aliases: { 'rerank-v3.5': 'moon', 'ranker@latest': 'sun', sun: 'moon', gone: 'x' },
      },
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(() => gateway.close());

  const ask = (model: string, by = key) =>
    gateway.post(by, { model, query: QUERY, documents: DOCUMENTS });

  async function list(by: string) {
    const reply = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${by}` },
    });
    return (await reply.json()) as { data: { id: string; alias_of?: string }[] };
  }

  it.each([
    'rerank-v3.5',
    'cohere/rerank-v3.5',
    'voyage/moon',
    'litellm_proxy/cohere/moon',
    'cohere/sun',
    'ranker@latest',
  ])('serves %s under the name that the caller used', async (model) => {
    const { status, body } = await ask(model);

    expect([status, body.model]).toEqual([200, model]);
  });

  it('charges and logs the model that was meant', async () => {
    const { key: paying, id } = await gateway.createKey({ remainQuota: 1_000 });
    const { headers } = await ask('cohere/rerank-v3.5', paying);
    const requestId = headers.get('x-request-id') ?? 'none';

    const lines = () => gateway.log.filter((line) => line.includes(requestId));
    await eventually('the request is logged', () => Promise.resolve(lines().length > 0));
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ model: 'moon' });
    await eventually('it is charged', async () => {
      const token = await gateway.store.getToken(id, Date.now());
      return token?.remainQuota === 1_000 - PRICE_OF_MOON;
    });
    expect((await gateway.store.getToken(id, Date.now()))?.usedQuota).toBe(PRICE_OF_MOON);
  });

  it.each(['nobody', 'cohere/nobody', 'gone', 'someone/moon'])('has no model %s', async (model) => {
    const { status, body } = await ask(model);

    expect([status, body.error.code]).toEqual([404, 'model_not_found']);
  });

  it('judges a key by the model that is meant', async () => {
    const { key: sunny } = await gateway.createKey({ policy: { models: ['sun'] } });

    expect((await ask('rerank-v3.5', sunny)).body.error.code).toBe('model_not_allowed');
    expect((await ask('voyage/sun', sunny)).status).toBe(200);
  });

  it('knows the aliases of a key, which come before those of all keys', async () => {
    const { key: own } = await gateway.createKey({
      policy: { aliases: { 'rerank-v3.5': 'sun', mine: 'moon', sun: 'moon', lost: 'x' } },
    });

    expect((await ask('mine', own)).body.model).toBe('mine');
    expect((await ask('cohere/mine', own)).status).toBe(200);
    expect((await ask('mine')).body.error.code).toBe('model_not_found');
    expect((await ask('lost', own)).body.error.code).toBe('model_not_found');
    const { data } = await list(own);
    expect(data).toMatchObject([
      { id: 'cohere/sun' },
      { id: 'mine', alias_of: 'moon' },
      { id: 'moon' },
      { id: 'ranker@latest', alias_of: 'sun' },
      { id: 'rerank-v3.5', alias_of: 'sun' },
      { id: 'sun' },
    ]);
    expect(data.at(-1)).not.toHaveProperty('alias_of');
  });

  it('lets no alias of a key lead past the models that it may use', async () => {
    const { key: sunny } = await gateway.createKey({
      policy: { models: ['sun'], aliases: { mine: 'moon', yours: 'sun' } },
    });

    expect((await ask('mine', sunny)).body.error.code).toBe('model_not_allowed');
    expect((await ask('yours', sunny)).status).toBe(200);
    expect((await list(sunny)).data.map(({ id }) => id)).toEqual(['ranker@latest', 'sun', 'yours']);
  });

  it('explains a request by the aliases of its key', async () => {
    const { key: own } = await gateway.createKey({
      policy: { mayExplain: true, aliases: { mine: 'moon' } },
    });

    const { json } = await post(
      gateway,
      '/v1/rerank?explain=1',
      { authorization: `Bearer ${own}` },
      { model: 'mine', query: QUERY, documents: DOCUMENTS },
    );

    expect(json).toMatchObject({ asked: 'mine', model: 'moon', refusal: null });
  });

  it('lists aliases of models that the key may use', async () => {
    const listed = async (by: string) => {
      const { data } = await list(by);
      return data.map(({ id, alias_of: model }) =>
        model === undefined ? id : `${id} is ${model}`,
      );
    };
    const { key: sunny } = await gateway.createKey({ policy: { models: ['sun'] } });

    expect(await listed(key)).toEqual([
      'cohere/sun',
      'moon',
      'ranker@latest is sun',
      'rerank-v3.5 is moon',
      'sun',
    ]);
    expect(await listed(sunny)).toEqual(['ranker@latest is sun', 'sun']);
  });
});

describe('the dialect of a key', () => {
  it('is one of those that are spoken on shared paths, or found out', () => {
    const { choices } = TOKEN_MEMBERS.dialect;
    const ids = DIALECTS.map(({ id }) => id);

    expect(choices.filter((choice) => !ids.includes(choice))).toEqual(['auto']);
  });

  it('decides when requests look alike', async () => {
    const gateway = await startGateway({ channels: CHANNELS });
    try {
      const body = { model: 'moon', query: QUERY, documents: DOCUMENTS, return_documents: true };
      const { key } = await gateway.createKey();
      const { key: infinity } = await gateway.createKey({ policy: { dialect: 'infinity' } });
      const ask = (by: string) =>
        post(gateway, '/v1/rerank', { authorization: `Bearer ${by}` }, body);

      expect((await ask(key)).json.results).toMatchObject([
        { document: { text: DOCUMENTS[1] } },
        {},
      ]);
      expect((await ask(infinity)).json.results).toMatchObject([{ document: DOCUMENTS[1] }, {}]);
    } finally {
      await gateway.close();
    }
  });

  it('that is set right, and leave to explain, are in force at once', async () => {
    const gateway = await startGateway({ channels: CHANNELS });
    try {
      const { key, id } = await gateway.createKey({ policy: { dialect: 'tei' } });
      const ask = (path: string) =>
        post(
          gateway,
          path,
          { authorization: `Bearer ${key}` },
          { model: 'moon', query: QUERY, documents: DOCUMENTS.map((text) => ({ text })) },
        );
      expect((await ask('/v1/rerank')).status).toBe(422);
      await gateway.store.updateToken(id, { policy: { dialect: 'auto' } }, Date.now());

      expect((await ask('/v1/rerank')).status).toBe(200);
      expect((await ask('/v1/rerank?explain=1')).status).toBe(403);
      await gateway.store.updateToken(id, { policy: { mayExplain: true } }, Date.now());
      expect((await ask('/v1/rerank?explain=1')).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });
});

it('objects come back to clients of Mixedbread in the bytes in which they were sent', async () => {
  const gateway = await startGateway({ channels: CHANNELS });
  try {
    const { key } = await gateway.createKey();
    const sent = '{"text":"moons","n":12345678901234567890123,"f":1.00}';
    const response = await fetch(`${gateway.url}/v1/reranking`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"model":"moon","query":"moons","return_input":true,"input":[${sent},"oil"]}`,
    });

    const text = await response.text();
    expect(text).toContain(`"input":${sent}`);
    expect(text).toContain('"input":"oil"');
  } finally {
    await gateway.close();
  }
});

describe('callers without a key', () => {
  const body = { query: QUERY, texts: DOCUMENTS };

  it('are served with the key that is bound to their address, and the start warns of it', async () => {
    const key = `sk-${'a'.repeat(48)}`;
    const gateway = await startGateway({
      channels: CHANNELS,
      gateway: { default_model: 'moon' },
      callers: { anonymous: { addresses: ['127.0.0.0/8'], key } },
    });
    try {
      expect((await post(gateway, '/rerank', {}, body)).status).toBe(401);
      await gateway.createKey({ keyHash: createHash('sha256').update(key).digest('hex') });

      expect((await post(gateway, '/rerank', {}, body)).status).toBe(200);
      expect((await fetch(`${gateway.url}/info`)).status).toBe(200);
      // Clients whose key was left blank send the scheme alone, or an empty header.
      for (const blank of [
        { authorization: 'Bearer ' },
        { authorization: '' },
        { 'api-key': '' },
      ]) {
        expect((await post(gateway, '/rerank', blank, body)).status).toBe(200);
      }
      // A key that is there counts, right or wrong.
      const wrong = await post(gateway, '/rerank', { authorization: 'Bearer sk-wrong' }, body);
      expect(wrong.status).toBe(401);
      expect((await post(gateway, '/rerank', { 'api-key': 'sk-wrong' }, body)).status).toBe(401);
      expect(gateway.log.join('')).toContain('served without a key of their own');
    } finally {
      await gateway.close();
    }
  });

  it('are refused from everywhere else, and if no key is bound', async () => {
    for (const callers of [{ anonymous: { addresses: ['192.0.2.1'], key: 'sk-12345678' } }, {}]) {
      const gateway = await startGateway({ channels: CHANNELS, callers });
      try {
        expect((await post(gateway, '/rerank', {}, body)).status).toBe(401);
        expect(gateway.log.join('').includes('without a key')).toBe('anonymous' in callers);
      } finally {
        await gateway.close();
      }
    }
  });
});

describe('callers that sign as AWS’s clients do', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      channels: CHANNELS,
      callers: {
        aws_keys: {
          [ACCESS_KEY]: SIGNING_KEY,
          AKIDGONE: 'sk-nobodys-key',
          AKIDNARROW: `sk-${'o'.repeat(48)}`,
        },
      },
    });
    await gateway.createKey({ keyHash: createHash('sha256').update(SIGNING_KEY).digest('hex') });
  });
  afterAll(() => gateway.close());

  const ARN = 'arn:aws:bedrock:eu-west-1::foundation-model/moon';
  const body = JSON.stringify({
    queries: [{ type: 'TEXT', textQuery: { text: QUERY } }],
    sources: DOCUMENTS.map((text) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: { modelConfiguration: { modelArn: ARN } },
    },
  });
  function signed(
    path: string,
    text: string,
    secret = SIGNING_KEY,
    id = ACCESS_KEY,
    service = 'bedrock',
  ): Record<string, string> {
    const { headers = {} } = aws4.sign(
      {
        method: 'POST',
        host: new URL(gateway.url).host,
        path,
        service,
        region: 'eu-west-1',
        headers: { 'Content-Type': 'application/json' },
        body: text,
      },
      { accessKeyId: id, secretAccessKey: secret },
    );
    const { Host: _host, 'Content-Length': _length, ...sent } = headers;
    return Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
  }

  it('are served if the signature is right, in both of AWS’s forms', async () => {
    const agent = await post(gateway, '/rerank', signed('/rerank', body), body);
    const path = '/model/moon/invoke';
    const text = JSON.stringify({ query: QUERY, documents: DOCUMENTS, api_version: 2 });
    const invoke = await post(gateway, path, signed(path, text), text);

    expect(agent.status).toBe(200);
    expect(agent.json.results).toMatchObject([{ index: 1 }, { index: 0 }]);
    expect(agent.headers.get('x-amzn-requestid')).toMatch(/^rr_/);
    expect(invoke.json.results).toMatchObject([{ index: 1 }, { index: 0 }]);
  });

  it.each([
    ['another secret', () => signed('/rerank', body, 'sk-another'), 'InvalidSignatureException'],
    ['another body', () => signed('/rerank', '{}'), 'InvalidSignatureException'],
    ['another path', () => signed('/other', body), 'InvalidSignatureException'],
    [
      'a signature for another service',
      () => signed('/rerank', body, SIGNING_KEY, ACCESS_KEY, 's3'),
      'InvalidSignatureException',
    ],
    [
      'an unknown id',
      () => signed('/rerank', body, SIGNING_KEY, 'AKIDOTHER'),
      'UnrecognizedClientException',
    ],
    [
      'a key that is gone',
      () => signed('/rerank', body, 'sk-nobodys-key', 'AKIDGONE'),
      'UnrecognizedClientException',
    ],
    [
      'half a signature',
      () => ({ authorization: 'AWS4-HMAC-SHA256 Credential=a' }),
      'InvalidSignatureException',
    ],
    ['nothing at all', () => ({ 'user-agent': 'Boto3/1.40' }), 'AccessDeniedException'],
  ] as const)('are refused as AWS does with %s', async (_name, headersOf, exception) => {
    const { status, json, headers } = await post(gateway, '/rerank', headersOf(), body);

    expect([status, headers.get('x-amzn-errortype')]).toEqual([403, exception]);
    expect(json).toEqual({ message: expect.any(String) as unknown });
  });

  it('take no place of a key that they only name', async () => {
    const secret = `sk-${'o'.repeat(48)}`;
    const keyHash = createHash('sha256').update(secret).digest('hex');
    await gateway.createKey({
      keyHash,
      policy: { maxConcurrency: 1, rateLimit: 3 },
    });
    const forged = Array.from({ length: 4 }, () => {
      const request = httpRequest(`${gateway.url}/rerank`, {
        method: 'POST',
        headers: {
          ...signed('/rerank', body, 'sk-another', 'AKIDNARROW'),
          'content-length': body.length,
        },
      });
      request.on('error', () => undefined).write(body.slice(0, 20));
      return request;
    });
    await eventually('the forged ones are under way', () =>
      Promise.resolve(gateway.app.inFlight() === forged.length),
    );

    const genuine = await gateway.post(secret, {
      model: 'moon',
      query: QUERY,
      documents: DOCUMENTS,
    });
    const answers = forged.map((request) => once(request, 'response'));
    for (const request of forged) request.end(body.slice(20));

    expect(genuine.status).toBe(200);
    for (const [reply] of (await Promise.all(answers)) as [IncomingMessage][]) {
      expect(reply.statusCode).toBe(403);
      reply.resume();
    }
    expect(genuine.headers.get('ratelimit-remaining')).toBe('2');
    const again = await gateway.post(secret, { model: 'moon', query: QUERY, documents: DOCUMENTS });
    expect(again.headers.get('ratelimit-remaining')).toBe('1');
  });

  it('are not let in elsewhere by a signature that nobody checks', async () => {
    const headers = signed('/v1/models', '');
    const reply = await fetch(`${gateway.url}/v1/models`, { headers });

    expect(reply.status).toBe(401);
  });
});
