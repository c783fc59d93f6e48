import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { UnknownServer } from '../../../src/core/discovery.js';
import { createDiscover } from '../../../src/gateway/look/discover.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import { loadPrompts } from '../../../src/assembly/prompts.js';
import { allProviders } from '../../../src/providers/index.js';
import { sendJson, startUpstream, type Answer, type TestUpstream } from '../../support/upstream.js';
import { startStubs, stubModel, type Stubs } from '../../stubs/server.js';

let stubs: Stubs;
let upstream: Upstream;

beforeAll(async () => {
  stubs = await startStubs();
  upstream = new Upstream({ maxReplyBytes: 1_000_000 });
});
afterAll(async () => {
  await upstream.close();
  await stubs.close();
});

const SELF_HOSTED = allProviders().flatMap((provider) =>
  provider.transport === 'http' && provider.baseUrl === undefined ? [provider] : [],
);
const RERANKERS = SELF_HOSTED.filter(({ rounds }) => rounds === undefined);
const ANY_MODEL = SELF_HOSTED.filter(({ rounds }) => rounds !== undefined);

function discover(
  server: Partial<UnknownServer> & Pick<UnknownServer, 'baseUrl'>,
  through = upstream,
) {
  const look = createDiscover({
    upstream: through,
    neural: { rank: () => Promise.reject(new Error('nothing is ranked inside')) },
    tools: { vectors: undefined, prompts: loadPrompts(undefined) },
    now: Date.now,
  });
  return look({ credentials: {}, settings: {}, model: undefined, ...server });
}

function stubServer(id: string): UnknownServer {
  const { base_url: baseUrl, credentials, settings } = stubs.channel(id);
  return {
    baseUrl,
    credentials,
    settings: settings as UnknownServer['settings'],
    model: stubModel(id),
  };
}

describe('what is proposed for an unknown server', () => {
  it.each(RERANKERS.map(({ id }) => id))('is %s for its stub, or an honest tie', async (id) => {
    const { candidates, order, problem } = await discover(stubServer(id));

    expect(problem).toBeUndefined();
    expect(order).toBe('right');
    const own = candidates.find(({ provider }) => provider === id);
    expect(own?.certainty).toBe(candidates[0]?.certainty);
  });
});

describe('a server without a reranker', () => {
  it.each(ANY_MODEL.map(({ id }) => id))('ranks as %s by its model', async (id) => {
    const server = stubServer(id);
    const { candidates, order, problem } = await discover(server);

    expect(problem).toBeUndefined();
    expect(order).toBe('right');
    expect(candidates.map(({ provider }) => provider)).toContain(id);
    expect(candidates[0]?.model).toBe(server.model);
  });

  it('is asked for vectors with those of its models that embed', async () => {
    const names = ['qwen3:4b', 'nomic-embed-text:latest'];
    const unlisted = 'my-vectors';
    const ollama = await startUpstream(({ path, body }, res) => {
      if (path === '/api/version') sendJson(res, { version: '0.12.0' });
      else if (path === '/api/tags') sendJson(res, { models: names.map((name) => ({ name })) });
      else if (path !== '/api/embed') sendJson(res, { error: 'not found' }, 404);
      else {
        const { model, input } = JSON.parse(body) as { model: string; input: string[] };
        const vector = (text: string) => (text.includes('France') ? [1, 0.1] : [0.1, 1]);
        if (model === names[1] || model === unlisted) {
          sendJson(res, { embeddings: input.map(vector) });
        } else sendJson(res, { error: 'this model does not support embeddings' }, 400);
      }
    });
    try {
      const { candidates, models, problem } = await discover({ baseUrl: ollama.url });

      expect(candidates).toEqual([
        {
          provider: 'ollama-embeddings',
          certainty: 'certain',
          because: expect.stringContaining('embeds texts'),
          model: names[1],
        },
      ]);
      expect([models, problem]).toEqual([names, undefined]);
      const named = await discover({ baseUrl: ollama.url, model: unlisted });
      expect(named.candidates).toMatchObject([{ provider: 'ollama-embeddings', model: unlisted }]);
    } finally {
      await ollama.close();
    }
  });

  it('is asked where Infinity has its embeddings', async () => {
    const infinity = await startUpstream(({ path, body }, res) => {
      if (path === '/models') {
        const model = { id: 'intfloat/e5', owned_by: 'infinity', capabilities: ['embed'] };
        sendJson(res, { data: [model] });
      } else if (path === '/rerank') {
        const message = 'ModelNotDeployedError: model=`intfloat/e5` does not support `rerank`.';
        sendJson(res, { error: { message, type: null, param: null, code: 400 } }, 400);
      } else if (path === '/embeddings') {
        const { input } = JSON.parse(body) as { input: string[] };
        const data = input.map((text, index) => ({
          index,
          embedding: text.includes('France') ? [1, 0.1] : [0.1, 1],
        }));
        sendJson(res, { data, usage: { prompt_tokens: 9, total_tokens: 9 } });
      } else sendJson(res, { detail: 'Not Found' }, 404);
    });
    try {
      const { candidates, channel } = await discover({ baseUrl: infinity.url });

      expect(candidates[0]).toMatchObject({ provider: 'embeddings', model: 'intfloat/e5' });
      expect(channel).toMatchObject({ provider: 'embeddings', models: ['intfloat/e5'] });
    } finally {
      await infinity.close();
    }
  });

  it('is known by its public address too', async () => {
    const { candidates } = await discover({ baseUrl: 'https://api.openai.com/v1' });

    expect(candidates.map(({ provider }) => provider).sort()).toEqual([
      'openai-embeddings',
      'openai-listwise',
      'openai-pointwise',
    ]);
  });
});

describe('a server that says what it is', () => {
  const rank: Answer = ({ body }, res) => {
    const { texts } = JSON.parse(body) as { texts?: string[] };
    if (texts === undefined) {
      sendJson(res, { error: 'missing field `texts`' }, 422);
      return;
    }
    const scoreOf = (text: string): number => (text.includes('Paris') ? 0.9 : 0.1);
    sendJson(
      res,
      texts.map((text, index) => ({ index, score: scoreOf(text) })),
    );
  };
  const tei: Answer = (request, res) => {
    const { path } = request;
    if (path === '/info') {
      const model_type = { reranker: { id2label: {}, label2id: {} } };
      sendJson(res, { model_id: 'BAAI/bge-reranker-base', model_type, max_client_batch_size: 32 });
    } else if (path === '/rerank') {
      void rank(request, res);
    } else {
      sendJson(res, { error: 'not found' }, 404);
    }
  };
  let server: TestUpstream;
  beforeAll(async () => {
    server = await startUpstream(tei);
  });
  afterAll(() => server.close());

  it('is believed where it ranks so, with what it tells of models and limits', async () => {
    const found = await discover({ baseUrl: server.url });

    expect(found.candidates[0]).toEqual({
      provider: 'tei',
      certainty: 'certain',
      because: 'It says so itself, and ranks accordingly.',
    });
    expect(found).toMatchObject({
      models: ['BAAI/bge-reranker-base'],
      mostDocuments: 32,
      scale: 'probability',
      order: 'right',
      problem: undefined,
    });
  });

  it('is asked the same only once', async () => {
    server.seen.length = 0;

    const { requests } = await discover({ baseUrl: server.url });

    const asked = server.seen.map(({ path, body, headers }) =>
      JSON.stringify([path, body, headers['content-type']]),
    );
    expect([asked.length, new Set(asked).size]).toEqual([requests, requests]);
    expect(requests).toBeLessThan(60);
  });

  it('is told from one that is not there, asks for a key, or ranks nothing', async () => {
    const gone = await startUpstream();
    await gone.close();
    const guarded = await startUpstream((_request, res) =>
      sendJson(res, { detail: 'a secret' }, 401),
    );
    const page = await startUpstream((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/html' }).end('<html>inside</html>');
    });

    const problems = [];
    for (const { url: baseUrl } of [gone, guarded, page]) {
      const { candidates, problem } = await discover({ baseUrl });
      problems.push([candidates, problem?.code]);
      expect(problem?.message).not.toMatch(/secret|inside/);
    }

    expect(problems).toEqual([
      [[], 'unreachable'],
      [[], 'wrong_key'],
      [[], 'web_page'],
    ]);
    // No other model is looked for with a key that is wrong.
    const paths = guarded.seen.map(({ path }) => path);
    expect(paths.filter((path) => /embed|chat/.test(path))).toEqual([]);
    await guarded.close();
    await page.close();
  });

  it('has the models in the proposal that rerank, and no others', async () => {
    const names = ['intfloat/e5', 'BAAI/bge-reranker-base', 'own'];
    const kinds = [['embed'], ['rerank'], ['classify']];
    const infinity = await startUpstream(({ path, body }, res) => {
      if (path === '/models') {
        const data = names.map((id, at) => ({ id, owned_by: 'infinity', capabilities: kinds[at] }));
        sendJson(res, { data });
      } else if (path === '/rerank') {
        const { model, documents } = JSON.parse(body) as { model: string; documents?: string[] };
        const results = documents?.map((text, index) => ({
          index,
          relevance_score: text.includes('Paris') ? 0.9 : 0.1,
        }));
        if (model === names[1] && results) sendJson(res, { results });
        else sendJson(res, { error: { message: 'does not support `rerank`', code: 400 } }, 400);
      } else sendJson(res, { detail: 'Not Found' }, 404);
    });
    try {
      const { candidates, channel } = await discover({ baseUrl: infinity.url });

      expect(candidates[0]).toMatchObject({ provider: 'infinity', certainty: 'certain' });
      expect(channel?.models).toEqual([names[1]]);
    } finally {
      await infinity.close();
    }
  });

  it('is known by a public address without being asked', async () => {
    const { candidates, requests } = await discover({ baseUrl: 'https://api.voyageai.com/v1' });

    expect(candidates).toEqual([
      {
        provider: 'voyage',
        certainty: 'certain',
        because: expect.stringContaining('nothing was sent'),
      },
    ]);
    expect(requests).toBe(0);
  });
});

it('a server that sends megabytes about itself is not read to the end', async () => {
  const server = await startUpstream((_request, res) => sendJson(res, ' '.repeat(2_200_000)));
  const roomy = new Upstream({ maxReplyBytes: 64_000_000 });

  const { problem } = await discover({ baseUrl: server.url }, roomy);

  expect(problem).toEqual({
    code: 'unreachable',
    message: 'It cannot be reached: the reply is larger than allowed.',
  });
  await Promise.all([server.close(), roomy.close()]);
});
