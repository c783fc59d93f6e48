import type { Json } from '../../core/json.js';
import type { JsonBody } from '../../bytes/index.js';
import { readMeta } from '../dialects.js';
import { bedrockAccess } from '../bedrock-access.js';
import {
  REQUIRED_API_KEY,
  requiredCredential,
  type UpstreamCall,
  type UpstreamReply,
} from '../provider.js';
import type { EmbeddedText } from './forms.js';
import { decodeOpenAi } from './openai.js';
import { defineEmbeddings, type Embedded } from './rank.js';
import { readList } from './vectors.js';

const textsOf = (texts: readonly EmbeddedText[]): JsonBody[] => texts.map(({ text }) => text);

/** If the API does not mix purposes, all texts of a call have the same one. */
const isQuery = ([first]: readonly EmbeddedText[]): boolean => first?.purpose === 'query';

/** Jina's embeddings, with the purpose in each call. */
export const jinaEmbeddings = defineEmbeddings(
  {
    body: (texts, call) => ({
      model: call.model,
      task: isQuery(texts) ? 'retrieval.query' : 'retrieval.passage',
      input: textsOf(texts),
      embedding_type: 'base64',
      dimensions: call.settings.dimensions,
      truncate: call.options.truncation ?? true,
    }),
    decode: decodeOpenAi,
    batch: 128,
    mixes: false,
  },
  {
    id: 'jina-embeddings',
    title: 'Jina AI embeddings',
    baseUrl: 'https://api.jina.ai',
    path: '/v1/embeddings',
    credentials: REQUIRED_API_KEY,
    exampleModels: ['jina-embeddings-v4', 'jina-embeddings-v3'],
  },
);

/** Voyage's embeddings, with the purpose in each call. */
export const voyageEmbeddings = defineEmbeddings(
  {
    body: (texts, call) => ({
      model: call.model,
      input: textsOf(texts),
      input_type: isQuery(texts) ? 'query' : 'document',
      truncation: call.options.truncation ?? true,
      output_dimension: call.settings.dimensions,
      encoding_format: 'base64',
    }),
    decode: decodeOpenAi,
    batch: 512,
    // The models that take the least allow 120 000 tokens in a call.
    batchBytes: 110_000,
    mixes: false,
  },
  {
    id: 'voyage-embeddings',
    title: 'Voyage AI embeddings',
    baseUrl: 'https://api.voyageai.com',
    path: '/v1/embeddings',
    credentials: REQUIRED_API_KEY,
    exampleModels: ['voyage-3.5-lite', 'voyage-3.5', 'voyage-3-large'],
    notes: ['For the twin that MongoDB runs, set the base URL https://ai.mongodb.com.'],
  },
);

function decodeCohere(reply: Json, count: number): Embedded {
  const lists = reply.field('embeddings');
  const list = lists.isArray() ? lists : lists.firstOf('base64', 'float');
  return {
    embeddings: readList(list, count, (row) => [row]),
    tokens: readMeta(reply).inputTokens,
  };
}

/** Cohere's embeddings, with the purpose in each call. */
export const cohereEmbeddings = defineEmbeddings(
  {
    body: (texts, call) => ({
      model: call.model,
      texts: textsOf(texts),
      input_type: isQuery(texts) ? 'search_query' : 'search_document',
      embedding_types: ['float'],
      output_dimension: call.settings.dimensions,
      truncate: call.options.truncation === false ? 'NONE' : 'END',
    }),
    decode: decodeCohere,
    batch: 96,
    mixes: false,
  },
  {
    id: 'cohere-embeddings',
    title: 'Cohere embeddings',
    baseUrl: 'https://api.cohere.com',
    path: '/v2/embed',
    credentials: REQUIRED_API_KEY,
    exampleModels: ['embed-v4.0', 'embed-multilingual-v3.0'],
  },
);

/** Google's embeddings by the Gemini API: each text of a batch states its purpose. */
export const geminiEmbeddings = defineEmbeddings(
  {
    body: (texts, call) => ({
      requests: texts.map(({ text, purpose }) => ({
        model: `models/${call.model}`,
        content: { parts: [{ text }] },
        taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        outputDimensionality: call.settings.dimensions,
      })),
    }),
    decode: (reply, count) => ({
      embeddings: readList(reply.field('embeddings'), count, (row) => [row.field('values')]),
      tokens: reply.maybe('usageMetadata').maybe('promptTokenCount').optionalNumber(),
    }),
    batch: 100,
    mixes: true,
  },
  {
    id: 'gemini-embeddings',
    title: 'Google Gemini embeddings',
    baseUrl: 'https://generativelanguage.googleapis.com',
    path: ({ model }) => `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
    credentials: { apiKey: { required: true, describe: 'API key, sent as x-goog-api-key' } },
    headers: (endpoint) => ({ 'x-goog-api-key': requiredCredential(endpoint, 'apiKey') }),
    exampleModels: ['gemini-embedding-001'],
    notes: ['It reports no tokens for most models: they are estimated.'],
  },
);

function headerTokens({ headers }: UpstreamReply, name: string): number | undefined {
  const count = Number(headers[name]);
  return Number.isFinite(count) ? count : undefined;
}

const isTitan = (model: string): boolean => /titan-embed/i.test(model);
const isCohere4 = (model: string): boolean => /embed-v4/i.test(model);
/** Version 3 refuses longer texts, whatever `truncate` says. */
const COHERE_3_CHARACTERS = 2_048;

/** Version 4 has another name for the end that is cut. */
function bedrockTruncate({ model, options }: UpstreamCall): string {
  if (options.truncation === false) return 'NONE';
  return isCohere4(model) ? 'RIGHT' : 'END';
}

/** Embedding models on Bedrock: Amazon's take one text per call, Cohere's a list. */
export const bedrockEmbeddings = defineEmbeddings(
  {
    body: (texts, call) =>
      isTitan(call.model)
        ? { inputText: texts[0]?.text ?? '', dimensions: call.settings.dimensions }
        : {
            texts: textsOf(texts),
            input_type: isQuery(texts) ? 'search_query' : 'search_document',
            embedding_types: ['float'],
            output_dimension: call.settings.dimensions,
            truncate: bedrockTruncate(call),
          },
    decode: (reply, count, http, { model }) =>
      isTitan(model)
        ? {
            embeddings: [[reply.field('embedding')]],
            tokens: reply.maybe('inputTextTokenCount').optionalNumber(),
          }
        : {
            ...decodeCohere(reply, count),
            tokens: headerTokens(http, 'x-amzn-bedrock-input-token-count'),
          },
    batch: (model) => (isTitan(model) ? 1 : 96),
    textTokens: { default: 128_000, models: [{ match: /titan-embed/i, value: 8_192 }] },
    textCharacters: (model) =>
      isTitan(model) || isCohere4(model) ? undefined : COHERE_3_CHARACTERS,
    mixes: false,
  },
  {
    ...bedrockAccess,
    id: 'bedrock-embeddings',
    title: 'Amazon Bedrock embeddings',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    path: ({ model }) => `/model/${encodeURIComponent(model)}/invoke`,
    exampleModels: [
      'amazon.titan-embed-text-v2:0',
      'cohere.embed-multilingual-v3',
      'cohere.embed-v4:0',
    ],
    notes: [
      "Amazon's models take one text in a call: raise concurrency, and keep to short lists.",
      "Whether a model is Amazon's, and which version of Cohere's it is, is read from its name.",
      'Version 3 of Cohere takes 2,048 characters of a text: longer ones are cut before they are sent.',
    ],
  },
);

/** Hugging Face's feature extraction, for models whose vectors are pooled. */
export const huggingfaceEmbeddings = defineEmbeddings(
  {
    body: (texts, { options }) => ({
      inputs: textsOf(texts),
      normalize: true,
      truncate: options.truncation ?? true,
    }),
    decode: (reply, count) => ({
      embeddings: readList(reply, count, (row) => [row]),
      tokens: undefined,
    }),
    batch: 32,
    mixes: true,
  },
  {
    id: 'huggingface-embeddings',
    title: 'Hugging Face feature extraction',
    baseUrl: 'https://router.huggingface.co/hf-inference',
    path: ({ model }) =>
      `/models/${model.split('/').map(encodeURIComponent).join('/')}/pipeline/feature-extraction`,
    credentials: REQUIRED_API_KEY,
    profile: { billing: 'compute' },
    exampleModels: ['intfloat/multilingual-e5-large', 'BAAI/bge-m3'],
    notes: [
      'A model that answers with a vector for each token, and not for the text, cannot be used.',
    ],
  },
);
