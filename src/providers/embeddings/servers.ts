import { OPTIONAL_API_KEY, optionalTextSetting, REQUIRED_API_KEY } from '../provider.js';
import { pathSetting } from '../self-hosted.js';
import { defineEmbeddings } from './rank.js';
import { readIndexed, readList } from './vectors.js';

/** Ollama's embeddings. */
export const ollamaEmbeddings = defineEmbeddings(
  {
    body: (texts, { model, options, settings }) => ({
      model,
      input: texts.map(({ text }) => text),
      truncate: options.truncation ?? true,
      dimensions: settings.dimensions,
      keep_alive: optionalTextSetting(settings, 'keepAlive'),
    }),
    decode: (reply, count) => ({
      embeddings: readList(reply.field('embeddings'), count, (row) => [row]),
      tokens: reply.maybe('prompt_eval_count').optionalNumber(),
    }),
    batch: 64,
    mixes: true,
  },
  {
    id: 'ollama-embeddings',
    title: 'Ollama embeddings',
    path: '/api/embed',
    credentials: OPTIONAL_API_KEY,
    settings: {
      keepAlive: { type: 'string', describe: 'how long the model stays loaded, such as 30m' },
    },
    profile: { billing: 'none' },
    exampleModels: ['qwen3-embedding:0.6b', 'nomic-embed-text', 'embeddinggemma', 'bge-m3'],
    notes: ['The base URL is http://127.0.0.1:11434 where it runs beside the gateway.'],
  },
);

/** Text-embeddings-inference, by its own route. */
export const teiEmbeddings = defineEmbeddings(
  {
    body: (texts, { options, settings }) => ({
      inputs: texts.map(({ text }) => text),
      normalize: true,
      truncate: options.truncation ?? true,
      dimensions: settings.dimensions,
    }),
    decode: (reply, count, { headers }) => {
      const tokens = Number(headers['x-compute-tokens']);
      return {
        embeddings: readList(reply, count, (row) => [row]),
        tokens: Number.isFinite(tokens) ? tokens : undefined,
      };
    },
    batch: 32,
    mixes: true,
  },
  {
    id: 'tei-embeddings',
    title: 'Hugging Face text-embeddings-inference, embeddings',
    path: '/embed',
    credentials: OPTIONAL_API_KEY,
    profile: { billing: 'none' },
    exampleModels: ['intfloat/multilingual-e5-small', 'BAAI/bge-m3'],
    notes: ['A server takes 32 texts at once unless it was started for more.'],
  },
);

/** Token vectors from vLLM's pooling route. */
export const vllmMaxsim = defineEmbeddings(
  {
    body: (texts, { model, options }) => ({
      model,
      input: texts.map(({ text }) => text),
      encoding_format: 'float',
      truncate_prompt_tokens: options.truncation === false ? undefined : -1,
    }),
    decode: (reply, count) => ({
      embeddings: readIndexed(reply.field('data'), count, (row) =>
        row.field('data').map((vector) => vector),
      ),
      tokens: reply.maybe('usage').firstOf('total_tokens', 'prompt_tokens').optionalNumber(),
    }),
    batch: 16,
    mixes: true,
  },
  {
    ...pathSetting('/pooling'),
    id: 'vllm-maxsim',
    title: 'vLLM token vectors (late interaction)',
    credentials: OPTIONAL_API_KEY,
    profile: { billing: 'none' },
    exampleModels: ['jinaai/jina-colbert-v2', 'lightonai/GTE-ModernColBERT-v1'],
    notes: [
      'The server is started with token pooling (--runner pooling, and token_embed as the task of the pooler). Replies are large: keep to short lists.',
      'A score is the mean over the tokens of the query of the best cosine in the document.',
      'Markers that a model wants before queries and documents ([Q] and [D]) are query_prefix and document_prefix.',
    ],
  },
);

/** Jina's multi-vector embeddings, with the purpose in each call. */
export const jinaMaxsim = defineEmbeddings(
  {
    body: (texts, { model, settings }) => ({
      model,
      input_type: texts[0]?.purpose === 'query' ? 'query' : 'document',
      embedding_type: 'float',
      dimensions: settings.dimensions,
      input: texts.map(({ text }) => text),
    }),
    decode: (reply, count) => ({
      embeddings: readIndexed(reply.field('data'), count, (row) =>
        row.field('embeddings').map((vector) => vector),
      ),
      tokens: reply.maybe('usage').firstOf('total_tokens', 'prompt_tokens').optionalNumber(),
    }),
    batch: 32,
    mixes: false,
  },
  {
    id: 'jina-maxsim',
    title: 'Jina AI multi-vector (late interaction)',
    baseUrl: 'https://api.jina.ai',
    path: '/v1/multi-vector',
    credentials: REQUIRED_API_KEY,
    exampleModels: ['jina-colbert-v2'],
    notes: [
      'A score is the mean over the tokens of the query of the best cosine in the document.',
      'Replies are large: keep to short lists, or set dimensions.',
    ],
  },
);
