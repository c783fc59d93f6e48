import { describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { type Answer, sendJson, type TestUpstream } from '../support/upstream.js';

const IMAGE = 'https://images.example/saturn.png';
const DATA_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Text alone, an image alone, and both. */
const DOCUMENTS = [
  'Mercury has no moons.',
  { image: IMAGE },
  { text: 'Saturn and its moons', image: DATA_IMAGE },
];

const RESULTS = [
  { index: 2, relevance_score: 0.9 },
  { index: 1, relevance_score: 0.5 },
  { index: 0, relevance_score: 0.1 },
];

const rankLast: Answer = (_request, res) =>
  sendJson(res, { results: RESULTS, usage: { total_tokens: 40 } });

const open = opened();
const upstreamWith = open.upstream;

async function gatewayWith(channels: readonly Record<string, unknown>[]): Promise<TestGateway> {
  const gateway = await startGateway({ channels });
  open.push(gateway);
  return gateway;
}

function channel(
  provider: string,
  model: string,
  url: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    name: provider,
    provider,
    base_url: url,
    credentials: { api_key: 'k' },
    models: { moon: model },
    ...more,
  };
}

const ask = (more: Record<string, unknown> = {}) => ({
  model: 'moon',
  query: 'Which planet has moons?',
  documents: DOCUMENTS,
  ...more,
});

const sentDocuments = ({ seen }: TestUpstream): unknown =>
  (JSON.parse(seen[0]?.body ?? '{}') as { documents?: unknown }).documents;

describe('documents with images', () => {
  it('go to a provider that takes them, in its own words', async () => {
    const jina = await upstreamWith(rankLast);
    const gateway = await gatewayWith([channel('jina', 'jina-reranker-m0', jina.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    expect(reply.status).toBe(200);
    expect(sentDocuments(jina)).toEqual([
      { text: 'Mercury has no moons.' },
      { image: IMAGE },
      { text: 'Saturn and its moons', image: DATA_IMAGE },
    ]);
    expect(reply.body.results.map(({ index }) => index)).toEqual([2, 1, 0]);
  });

  it('become parts of a message for servers that want them so', async () => {
    const vllm = await upstreamWith(rankLast);
    const gateway = await gatewayWith([channel('vllm', 'Qwen/Qwen3-VL-Reranker-2B', vllm.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    expect(reply.status).toBe(200);
    expect(sentDocuments(vllm)).toEqual([
      { content: [{ type: 'text', text: 'Mercury has no moons.' }] },
      { content: [{ type: 'image_url', image_url: { url: IMAGE } }] },
      {
        content: [
          { type: 'text', text: 'Saturn and its moons' },
          { type: 'image_url', image_url: { url: DATA_IMAGE } },
        ],
      },
    ]);
  });

  it('come back as the caller sent them', async () => {
    const jina = await upstreamWith(rankLast);
    const gateway = await gatewayWith([channel('jina', 'jina-reranker-m0', jina.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask({ return_documents: true, top_n: 2 }));

    expect(reply.body.results.map(({ document }) => document)).toEqual([
      { text: 'Saturn and its moons', image: DATA_IMAGE },
      { image: IMAGE },
    ]);
  });

  it('pass by channels that take text alone, whatever their priority', async () => {
    const text = await upstreamWith(rankLast);
    const images = await upstreamWith(rankLast);
    const gateway = await gatewayWith([
      channel('cohere', 'rerank-v3.5', text.url, { priority: 9 }),
      channel('jina', 'jina-reranker-m0', images.url),
    ]);
    const { key } = await gateway.createKey();

    const withImages = await gateway.post(key, ask());
    const withoutImages = await gateway.post(key, ask({ documents: ['a', 'b', 'c'] }));

    expect([withImages.status, withoutImages.status]).toEqual([200, 200]);
    expect(images.seen).toHaveLength(1);
    expect(text.seen).toHaveLength(1);
  });

  it('do not fail over to a channel that takes text alone', async () => {
    const broken = await upstreamWith((_request, res) => sendJson(res, { detail: 'broken' }, 500));
    const text = await upstreamWith(rankLast);
    const gateway = await gatewayWith([
      channel('jina', 'jina-reranker-m0', broken.url, { priority: 9 }),
      channel('cohere', 'rerank-v3.5', text.url),
    ]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    expect(reply.status).toBe(502);
    expect(text.seen).toHaveLength(0);
  });

  it.each([
    ['a provider without images', 'cohere', 'rerank-v3.5'],
    ['a model without images of a provider that has others', 'jina', 'jina-reranker-v3'],
  ])('are a 400 that says so where there is only %s', async (_name, provider, model) => {
    const upstream = await upstreamWith(rankLast);
    const gateway = await gatewayWith([channel(provider, model, upstream.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({
      code: 'invalid_documents',
      param: 'documents',
      message:
        'No provider behind model "moon" accepts images. Send text, or use a multimodal model.',
    });
    expect(upstream.seen).toHaveLength(0);
  });

  it('are a 400 for ranking inside the gateway too', async () => {
    const gateway = await gatewayWith([
      { name: 'local', provider: 'local', models: { moon: 'lexical' } },
    ]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid_documents']);
  });

  it('are not blank if an image has no text beside it', async () => {
    const vl = await upstreamWith((_request, res) =>
      sendJson(res, {
        output: {
          results: [2, 1, 0].map((index) => ({ index, relevance_score: index / 3 })),
        },
        usage: { total_tokens: 9 },
      }),
    );
    const gateway = await gatewayWith([channel('dashscope', 'qwen3-vl-rerank', vl.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask());

    const { input } = JSON.parse(vl.seen[0]?.body ?? '{}') as { input?: { documents?: unknown } };
    expect(reply.status).toBe(200);
    expect(input?.documents).toEqual([
      { text: 'Mercury has no moons.' },
      { image: IMAGE },
      { text: 'Saturn and its moons', image: DATA_IMAGE },
    ]);
  });
});

describe('documents with a text and an image', () => {
  const BOTH = [
    { text: 'Mercury has no moons.', image: IMAGE, id: 1 },
    { text: 'Saturn and its moons', image: { src: 1 } },
    { text: 'Oil.', image: '' },
  ];
  const TEXTS = BOTH.map(({ text }) => text);

  it.each<[string, string, string, unknown]>([
    ['as strings', 'cohere', 'rerank-v3.5', TEXTS],
    ['to a model without images of a provider that has others', 'jina', 'jina-reranker-v3', TEXTS],
    [
      'as objects',
      'jina-sagemaker',
      'jina-reranker-v2-base-multilingual',
      TEXTS.map((text) => ({ text })),
    ],
    ['in parts', 'vllm', 'BAAI/bge-reranker-v2-m3', TEXTS],
  ])('are ranked by their texts alone: %s', async (_how, provider, model, sent) => {
    const upstream = await upstreamWith((_request, res) =>
      sendJson(res, { results: RESULTS, data: { results: RESULTS } }),
    );
    const gateway = await gatewayWith([channel(provider, model, upstream.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask({ documents: BOTH, return_documents: true }));

    const body = JSON.parse(upstream.seen[0]?.body ?? '{}') as Record<string, unknown>;
    const { documents } = (body.data ?? body) as { documents?: unknown };
    expect(reply.status).toBe(200);
    expect(documents).toEqual(sent);
    expect(reply.body.results.map(({ document }) => document)).toEqual(BOTH.toReversed());
  });

  it('go with both to a model that takes images', async () => {
    const jina = await upstreamWith(rankLast);
    const gateway = await gatewayWith([channel('jina', 'jina-reranker-m0', jina.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask({ documents: BOTH }));

    expect(reply.status).toBe(200);
    expect(sentDocuments(jina)).toEqual([
      { text: TEXTS[0], image: IMAGE },
      { text: TEXTS[1] },
      { text: TEXTS[2] },
    ]);
  });

  it('are kept back as blank where the text is, from a model that takes neither', async () => {
    const upstream = await upstreamWith((_request, res) =>
      sendJson(res, { results: [{ index: 0, relevance_score: 0.9 }] }),
    );
    const gateway = await gatewayWith([channel('mlx-vlm', 'Qwen3-Reranker-0.6B', upstream.url)]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(
      key,
      ask({ documents: [{ text: ' ', image: IMAGE }, { text: 'Saturn' }] }),
    );

    expect(reply.status).toBe(200);
    expect(sentDocuments(upstream)).toEqual(['Saturn']);
    expect(reply.body.results.map(({ index }) => index)).toEqual([1, 0]);
  });

  it('are ranked inside the gateway too', async () => {
    const gateway = await gatewayWith([
      { name: 'local', provider: 'local', models: { moon: 'lexical' } },
    ]);
    const { key } = await gateway.createKey();

    const reply = await gateway.post(key, ask({ documents: BOTH }));

    expect([reply.status, reply.body.results.length]).toEqual([200, 3]);
  });
});
