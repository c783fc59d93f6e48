import type { Json } from '../../core/json.js';
import type { JsonBody } from '../../bytes/index.js';
import { readUsage } from '../dialects.js';
import {
  headerMistake,
  keyInHeader,
  OPTIONAL_API_KEY,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type SettingSpec,
  type UpstreamCall,
} from '../provider.js';
import { pathSetting } from '../self-hosted.js';
import type { EmbeddedText } from './forms.js';
import { defineEmbeddings, type Embedded, type EmbeddingApi } from './rank.js';
import { readIndexed } from './vectors.js';

/** Reads `data[]` of `index` and `embedding`, as numbers or in base64. */
export function decodeOpenAi(reply: Json, count: number): Embedded {
  return {
    embeddings: readIndexed(reply.field('data'), count, (row) => [row.field('embedding')]),
    tokens: readUsage(reply).inputTokens,
  };
}

function openAiBody(
  texts: readonly EmbeddedText[],
  { model, settings }: UpstreamCall,
): Record<string, JsonBody> {
  return {
    model,
    input: texts.map(({ text }) => text),
    encoding_format: optionalTextSetting(settings, 'encodingFormat'),
    dimensions: settings.dimensions,
  };
}

const api: EmbeddingApi = { body: openAiBody, decode: decodeOpenAi, batch: 64, mixes: true };

function encodingFormat(value: string): { readonly encodingFormat: SettingSpec } {
  return {
    encodingFormat: {
      type: 'string',
      default: value,
      describe:
        'encoding_format of the request, such as base64, which is shorter; empty sends none. Both kinds of replies are read',
    },
  };
}

/** OpenAI's models by its API: large calls, as long as they have few enough tokens. */
const openAiLimits = { batch: 512, batchBytes: 280_000, textTokens: { default: 8_191 } } as const;

const PATH = '/v1/embeddings';

/** Any server with OpenAI's route for embeddings. */
export const embeddings = defineEmbeddings(api, {
  ...pathSetting(PATH),
  id: 'embeddings',
  title: 'Embeddings of any OpenAI-compatible server',
  credentials: OPTIONAL_API_KEY,
  settings: {
    path: {
      type: 'string',
      default: PATH,
      describe: `path of the route, below the base URL; if a server has nothing at ${PATH}, /embeddings is tried`,
    },
    ...encodingFormat(''),
  },
  otherPlace: ({ status, text }, { settings }) =>
    status === 404 && settings.path === PATH && !/model/i.test(text)
      ? { path: '/embeddings' }
      : undefined,
  profile: { billing: 'none', isRelay: true, mayCountOtherUnits: true, truncates: false },
  exampleModels: ['intfloat/multilingual-e5-small', 'Qwen/Qwen3-Embedding-0.6B', 'BAAI/bge-m3'],
  notes: [
    'vLLM, LM Studio, llama.cpp, Infinity, TEI, LocalAI, Xinference, SGLang and the like. Text that is too long for a model is cut by some of them and refused by others.',
    'Prefixes that a model expects before queries and documents are known for E5, Qwen3, BGE, Nomic, Arctic, mxbai and Gemma by the name of the model; a model under another name needs query_prefix and document_prefix.',
  ],
});

/** OpenAI's embeddings. */
export const openaiEmbeddings = defineEmbeddings(
  { ...api, ...openAiLimits },
  {
    id: 'openai-embeddings',
    title: 'OpenAI embeddings',
    baseUrl: 'https://api.openai.com',
    path: '/v1/embeddings',
    credentials: REQUIRED_API_KEY,
    settings: encodingFormat('base64'),
    exampleModels: ['text-embedding-3-small', 'text-embedding-3-large'],
    notes: ['A text of more than 8,191 tokens is refused: it is cut before it is sent.'],
  },
);

/** OpenAI's models on an Azure resource; the model is the name of the deployment. */
export const azureOpenaiEmbeddings = defineEmbeddings(
  { ...api, ...openAiLimits },
  {
    ...pathSetting('/openai/v1/embeddings'),
    id: 'azure-openai-embeddings',
    title: 'Azure OpenAI embeddings',
    credentials: { apiKey: { required: true, describe: 'key of the resource' } },
    settings: {
      ...pathSetting('/openai/v1/embeddings').settings,
      ...encodingFormat('base64'),
      apiKeyHeader: {
        type: 'string',
        default: 'api-key',
        describe: 'header for the key: api-key, or authorization (as a bearer token)',
      },
    },
    headers: keyInHeader,
    mistakes: ({ settings }) => [headerMistake(settings, 'apiKeyHeader')],
    exampleModels: ['text-embedding-3-small'],
    notes: [
      'The base URL is https://<resource>.openai.azure.com. For the older form, with the deployment and a version in the address, set the path.',
    ],
  },
);

/** A host with OpenAI's route, and the limits of small batches unless `own` says otherwise. */
function hosted(
  id: string,
  title: string,
  baseUrl: string,
  path: string,
  exampleModels: readonly string[],
  own: Partial<EmbeddingApi> = {},
) {
  return defineEmbeddings(
    { ...api, ...own },
    {
      id,
      title,
      baseUrl,
      path,
      credentials: REQUIRED_API_KEY,
      settings: encodingFormat(''),
      exampleModels,
    },
  );
}

export const mistralEmbeddings = hosted(
  'mistral-embeddings',
  'Mistral embeddings',
  'https://api.mistral.ai',
  '/v1/embeddings',
  ['mistral-embed', 'codestral-embed'],
  {
    body: (texts, call) => {
      const { dimensions, ...body } = openAiBody(texts, call);
      return { ...body, output_dimension: dimensions };
    },
    // 16 384 tokens in a call, for all texts together.
    batchBytes: 16_000,
    textTokens: { default: 8_192 },
  },
);

export const togetherEmbeddings = hosted(
  'together-embeddings',
  'Together AI embeddings',
  'https://api.together.ai',
  '/v1/embeddings',
  ['intfloat/multilingual-e5-large-instruct'],
  { textTokens: { default: 8_192, models: [{ match: /-e5-|e5-large/i, value: 512 }] } },
);

export const siliconflowEmbeddings = hosted(
  'siliconflow-embeddings',
  'SiliconFlow embeddings',
  'https://api.siliconflow.cn',
  '/v1/embeddings',
  ['Qwen/Qwen3-Embedding-0.6B', 'BAAI/bge-m3'],
  {
    textTokens: {
      default: 8_192,
      models: [
        { match: /bge-large|bce-embedding/i, value: 512 },
        { match: /qwen3-embedding/i, value: 32_768 },
      ],
    },
  },
);

export const nebiusEmbeddings = hosted(
  'nebius-embeddings',
  'Nebius embeddings',
  'https://api.tokenfactory.nebius.com',
  '/v1/embeddings',
  ['Qwen/Qwen3-Embedding-8B'],
);

export const deepinfraEmbeddings = hosted(
  'deepinfra-embeddings',
  'DeepInfra embeddings',
  'https://api.deepinfra.com',
  '/v1/openai/embeddings',
  ['Qwen/Qwen3-Embedding-0.6B', 'BAAI/bge-m3'],
);
