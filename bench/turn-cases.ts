import { ACCENTS, CHINESE, ENGLISH, textOf, textsOf, type Case, type Form } from './turn-case.js';
import { oddCases } from './turn-odd-cases.js';

/** The requests of `turns.ts`: each is large, odd, or many at once. */

export const MAIN: Form = { path: '/v1/rerank', body: (asked) => asked };

const GOOGLE: Form = {
  path: '/v1/projects/p/locations/l/rankingConfigs/c:rank',
  body: ({ model, query, documents }) => ({ model, query, records: documents }),
};

const DASHSCOPE: Form = {
  path: '/api/v1/services/rerank/text-rerank/text-rerank',
  body: ({ model, query, documents }) => ({
    model,
    input: { query, documents },
    parameters: { return_documents: true },
  }),
};

const BEDROCK: Form = {
  path: '/rerank',
  body: ({ model, query, documents }) => ({
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: documents.map((text) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        modelConfiguration: { modelArn: `arn:aws:bedrock:us-west-2::foundation-model/${model}` },
      },
    },
  }),
};

const AI_GATEWAY: Form = {
  path: '/v3/ai/reranking-model',
  headers: { 'ai-model-id': 'cohere' },
  body: ({ query, documents }) => ({ query, documents: { type: 'text', values: documents } }),
};

const PAIRS: Form = {
  path: '/models/cohere',
  body: ({ query, documents }) => ({
    inputs: documents.map((text) => ({ text: query, text_pair: text })),
  }),
};

const SENTENCES: Form = {
  path: '/models/cohere',
  body: ({ query, documents }) => ({
    inputs: { source_sentence: query, sentences: documents },
  }),
};

const LONG_QUERY = textOf(ENGLISH, 200_000);

/** `UNITS`: how much text most of them have, in UTF-16 units. */
export const casesOf = (UNITS: number): Readonly<Record<string, Case>> => ({
  'local: one text': { model: 'local', documents: () => textsOf(ENGLISH, 1, UNITS) },
  'local: 100 texts': { model: 'local', documents: () => textsOf(ENGLISH, 100, UNITS) },
  'local: 10 000 texts': { model: 'local', documents: () => textsOf(ENGLISH, 10_000, UNITS) },
  'local: one Chinese text': { model: 'local', documents: () => textsOf(CHINESE, 1, UNITS / 3) },
  'local: 100 Chinese texts': { model: 'local', documents: () => textsOf(CHINESE, 100, UNITS / 3) },
  'local: accents': { model: 'local', documents: () => textsOf(ACCENTS, 10, UNITS / 2) },
  'local: objects': {
    model: 'local',
    documents: () => textsOf(ENGLISH, 100, UNITS).map((text, id) => ({ id, text })),
    more: { return_documents: true },
  },
  'local: half a character': {
    model: 'local',
    documents: () => textsOf('half \ud83d ', 10, UNITS / 4),
  },
  'local: long query': {
    model: 'local',
    query: LONG_QUERY,
    documents: () => textsOf(ENGLISH, 1000, 1e6),
  },
  'local: long Chinese query': {
    model: 'local',
    query: textOf(CHINESE, 200_000),
    documents: () => textsOf(CHINESE, 1000, 1e6),
  },
  'cohere: one text': { model: 'cohere', documents: () => textsOf(ENGLISH, 1, UNITS) },
  'cohere: 1 000 texts': { model: 'cohere', documents: () => textsOf(ENGLISH, 1000, UNITS) },
  'cohere: long query': {
    model: 'cohere',
    query: LONG_QUERY,
    documents: () => textsOf(ENGLISH, 1000, 1e6),
  },
  'cohere: the longest query': {
    model: 'cohere',
    query: textOf(ENGLISH, 1e6),
    documents: () => ['a', 'b'],
  },
  'cohere: texts returned': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    more: { return_documents: true },
  },
  'cohere: objects returned': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 10_000, UNITS).map((text, id) => ({ id, text })),
    more: { return_documents: true },
  },
  'a reply with as many texts': { model: 'echo', documents: () => textsOf(ENGLISH, 1000, 1e4) },
  'a reply with escaped texts': { model: 'escapes', documents: () => textsOf(ENGLISH, 1000, 1e4) },
  'voyage: split by tokens': { model: 'split', documents: () => textsOf(ENGLISH, 1000, UNITS) },
  'cohere: long documents cut': { model: 'cut', documents: () => textsOf(ENGLISH, 100, UNITS) },
  'cohere: long documents in passages': {
    model: 'passages',
    documents: () => textsOf(ENGLISH, 100, UNITS),
  },
  'cohere: one of many cut, half a character': {
    model: 'cut',
    documents: () => [textOf('half \ud83d ', 1e5), ...textsOf('汉字 \ud83d ', 900, UNITS / 6)],
  },
  'cohere: not cut': {
    model: 'cut',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    more: { truncation: false },
  },
  'bedrock: 1 000 texts, signed': {
    model: 'bedrock',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    more: { truncation: false },
  },
  'tei: 1 000 texts': { model: 'tei', documents: () => textsOf(ENGLISH, 1000, UNITS) },
  'embeddings: 1 000 texts': {
    model: 'embeddings',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
  },
  'embeddings: one text': { model: 'embeddings', documents: () => textsOf(ENGLISH, 1, UNITS) },
  'embeddings not cut: 1 000 texts': {
    model: 'tei-embeddings',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
  },
  'embeddings not cut: one text': {
    model: 'tei-embeddings',
    documents: () => textsOf(ENGLISH, 1, UNITS),
  },
  'embeddings not cut: one Chinese text': {
    model: 'tei-embeddings',
    documents: () => textsOf(CHINESE, 1, UNITS / 3),
  },
  'cached: one text': { model: 'cached', documents: () => textsOf(ENGLISH, 1, UNITS) },
  'cached: 1 000 texts': { model: 'cached', documents: () => textsOf(ENGLISH, 1000, UNITS) },
  'google: one record': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1, UNITS).map((content) => ({ title: 'One', content })),
    form: GOOGLE,
  },
  'google: 200 records': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 200, UNITS).map((content) => ({ title: 'One', content })),
    form: GOOGLE,
  },
  'google: 200 Chinese records': {
    model: 'cached',
    documents: () => textsOf(CHINESE, 200, UNITS / 3).map((content) => ({ content })),
    form: GOOGLE,
  },
  'google: 10 000 records without a title': {
    model: 'cohere',
    documents: () =>
      textsOf(ENGLISH, 10_000, UNITS).map((content, id) => ({ id: String(id), content })),
    form: GOOGLE,
  },
  'google: half a character': {
    model: 'cohere',
    documents: () =>
      textsOf('half \ud83d ', 200, UNITS / 4).map((content) => ({ title: 'One', content })),
    form: GOOGLE,
  },
  'google: one record, half a character': {
    model: 'cohere',
    documents: () => textsOf('half \ud83d ', 1, UNITS / 4).map((content) => ({ content })),
    form: GOOGLE,
  },
  'google: titles alone': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS).map((title) => ({ title })),
    form: GOOGLE,
  },
  'dashscope: 1 000 texts': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    form: DASHSCOPE,
  },
  'bedrock: 1 000 sources': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    form: BEDROCK,
  },
  'ai-gateway: 1 000 values': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    form: AI_GATEWAY,
  },
  'huggingface: 1 000 pairs': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    form: PAIRS,
  },
  'huggingface: 1 000 sentences': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 1000, UNITS),
    form: SENTENCES,
  },
  'mixedbread: fields': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 100, UNITS).map((body, id) => ({ id, body })),
    more: { rank_fields: ['id', 'body'], return_input: true },
    form: {
      path: '/v1/reranking',
      body: ({ model, query, documents }) => ({ model, query, input: documents }),
    },
  },
  'explained: echo': {
    model: 'cohere',
    documents: () => textsOf(ENGLISH, 100, UNITS),
    more: { return_documents: true },
    form: { path: '/v1/rerank?explain=after', body: (asked) => asked },
  },
  'chat: 100 texts': { model: 'chat', documents: () => textsOf(ENGLISH, 100, UNITS) },
  'chat: windows': { model: 'windows', documents: () => textsOf(ENGLISH, 100, UNITS) },
  'chat: one text': { model: 'chat', documents: () => textsOf(ENGLISH, 1, UNITS) },
  ...oddCases(UNITS),
});
