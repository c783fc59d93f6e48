import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const MODELS = ['local', 'BAAI/bge-reranker-v2-m3', '/models/bge', 'models', 'a b'];

describe('GET /v1/models', () => {
  let gateway: TestGateway;
  let key = '';
  beforeAll(async () => {
    gateway = await startGateway({
      channels: [{ name: 'local', provider: 'local', models: MODELS }],
    });
    ({ key } = await gateway.createKey());
  });
  afterAll(() => gateway.close());

  /** Sends the path as it stands. */
  async function send(path: string, method = 'GET') {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(gateway.url, { path, method, headers }).end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    const body = (await json(reply)) as Readonly<Record<'id' | 'object' | 'message', string>>;
    return { status: reply.statusCode, allow: reply.headers.allow, body };
  }

  const PREFIXES = [
    '',
    '/v1',
    '/v2',
    '/v1/v1',
    '/v1/v2',
    '/v2/v2',
    '/v2/v1',
    '//v1',
    '/v1/',
    '/V1',
  ];

  it.each(PREFIXES)('is served below %j, as rerank is', async (prefix) => {
    for (const end of ['', '/', '//', '?a=b', '/?a=b']) {
      expect((await send(`${prefix}/models${end}`)).body.object).toBe('list');
    }
    expect((await send(`${prefix}/models/local`)).body.id).toBe('local');
    expect((await send(`${prefix}/models`, 'DELETE')).allow).toBe('GET, HEAD');
    expect((await send(`${prefix}/models/local/`, 'DELETE')).allow).toBe('GET, HEAD');
    expect((await send(`${prefix}/rerank`)).allow).toBe('POST');
  });

  it.each([
    ['local', 'local'],
    ['local/', 'local'],
    ['local//', 'local'],
    ['local%2F', 'local'],
    ['/local', 'local'],
    ['local/?a=b', 'local'],
    ['BAAI/bge-reranker-v2-m3', 'BAAI/bge-reranker-v2-m3'],
    ['BAAI/bge-reranker-v2-m3/', 'BAAI/bge-reranker-v2-m3'],
    ['BAAI%2Fbge-reranker-v2-m3', 'BAAI/bge-reranker-v2-m3'],
    ['BAAI%2fbge-reranker-v2-m3%2f', 'BAAI/bge-reranker-v2-m3'],
    ['%2Fmodels%2Fbge', '/models/bge'],
    ['/models/bge', '/models/bge'],
    ['models', 'models'],
    ['a%20b', 'a b'],
  ])('finds the model of %s', async (path, id) => {
    expect((await send(`/v1/models/${path}`)).body).toMatchObject({ id, object: 'model' });
    expect((await send(`/models/${path}`)).body).toMatchObject({ id, object: 'model' });
  });

  it.each([
    ['/v1/models/BAAI', 404],
    ['/v1/models/LOCAL', 404],
    ['/v1/models/%2F', 404],
    ['/v1/models/%ff', 400],
    ['/v3/models', 404],
    ['/v1models', 404],
    ['/v1/modelsx', 404],
    ['/x/v1/models', 404],
  ])('is not at %s', async (path, status) => {
    expect((await send(path)).status).toBe(status);
  });

  it('is not held up by slashes', async () => {
    const startedMs = performance.now();
    await send(`${'/'.repeat(7_000)}v1/models/${'/'.repeat(7_000)}x`);
    await send(`/v1/models/${'x/'.repeat(7_000)}`);

    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it.each([
    ['/v2/v2/models//', '/v1/models'],
    ['//v1/models/local/', '/v1/models/*model'],
  ])('has one name in the log, however it was reached: %s', async (path, route) => {
    const linesBefore = gateway.log.length;
    await send(path);

    await until('the line of the log', () =>
      Promise.resolve(gateway.log.slice(linesBefore).some((line) => line.includes(`"${route}"`))),
    );
  });
});
