import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';

describe('what clients ask before they rank', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      server: { max_documents: 77 },
      channels: [{ name: 'local', provider: 'local', models: ['moon', 'sun'] }],
    });
  });
  afterAll(() => gateway.close());

  async function get(path: string, key?: string) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const reply = await fetch(`${gateway.url}${path}`, { headers });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  }

  it.each(['/info', '/tei/info'])('describes the key’s default model at %s', async (path) => {
    const { key } = await gateway.createKey({ policy: { defaultModel: 'moon' } });

    expect((await get(path, key)).body).toMatchObject({
      model_id: 'moon',
      model_type: { reranker: { id2label: {}, label2id: {} } },
      max_client_batch_size: 77,
      max_input_length: expect.any(Number) as unknown,
    });
  });

  it('describes the only model that a key may use', async () => {
    const { key } = await gateway.createKey({ policy: { models: ['sun'] } });

    expect((await get('/info', key)).body.model_id).toBe('sun');
  });

  it('describes it whatever other names it has', async () => {
    const policy = { models: ['sun', 'helios'], aliases: { helios: 'sun' } };
    const { key } = await gateway.createKey({ policy });

    expect((await get('/v1/models', key)).body.data).toHaveLength(2);
    expect((await get('/info', key)).body.model_id).toBe('sun');
  });

  it('has nothing to describe for a key without a default', async () => {
    const { key } = await gateway.createKey();

    expect((await get('/info', key)).status).toBe(404);
    expect((await get('/info')).status).toBe(401);
  });

  it.each(['/health', '/tei/health', '/infinity/health'])(
    'says at %s that it is well',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 200, body: { status: 'ok' } });
    },
  );

  it.each(['/infinity/models', '/voyage/v1/models', '/v1/models'])(
    'lists models at %s',
    async (path) => {
      const { key } = await gateway.createKey();

      expect((await get(path, key)).body).toMatchObject({ data: [{ id: 'moon' }, { id: 'sun' }] });
    },
  );

  it.each(['/v1/models/cohere%2Fmoon', '/v1/models/cohere/moon', '/infinity/models/moon'])(
    'finds at %s the model that a request would mean',
    async (path) => {
      const { key } = await gateway.createKey();

      expect((await get(path, key)).body).toMatchObject({ id: 'moon' });
    },
  );

  it.each(['/_inference/moon', '/_inference/rerank/moon'])(
    'describes at %s a model as Elasticsearch does an endpoint',
    async (path) => {
      const { key } = await gateway.createKey();

      expect((await get(path, key)).body).toMatchObject({
        endpoints: [{ inference_id: 'moon', task_type: 'rerank' }],
      });
      expect((await get('/_inference/nobody', key)).status).toBe(404);
    },
  );

  it.each(['ready', 'live'])('says as NIM does that it is %s', async (status) => {
    expect(await get(`/v1/health/${status}`)).toMatchObject({
      status: 200,
      body: { object: 'health.response', message: `Service is ${status}.`, status },
    });
  });

  it('tells Xinference’s clients that it wants a key, before they have sent one', async () => {
    expect(await get('/v1/cluster/auth')).toEqual({ status: 200, body: { auth: true } });
  });

  it('tells Xinference’s clients that a model ranks', async () => {
    const { key } = await gateway.createKey();

    expect((await get('/v1/models/moon', key)).body).toMatchObject({ model_type: 'rerank' });
  });

  it.each(['/v1/models', '/v1/models/moon', '/info'])(
    'refuses %s from an address that is not on the key’s list',
    async (path) => {
      const { key } = await gateway.createKey({ policy: { allowIps: ['192.0.2.0/24'] } });

      const { status, body } = await get(path, key);

      expect(status).toBe(403);
      expect(body).toMatchObject({ error: { code: 'ip_not_allowed' } });
    },
  );

  it('says which methods the path of a rerank request takes', async () => {
    for (const path of ['/v1/reranking', '/model/m/invoke', '/api/rerank', '/score']) {
      expect((await get(path)).status).toBe(405);
    }
  });
});
