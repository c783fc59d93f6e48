import type { JsonBody } from '../bytes/index.js';
import type { FaultKind } from '../core/retry.js';
import { contentsOf, decodeJinaLike, imageUrl, readRows, readUsage } from './dialects.js';
import {
  defineProvider,
  onlyFor,
  OPTIONAL_API_KEY,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { COSINE_MODELS, pathSetting, SELF_HOSTED } from './self-hosted.js';

const NO_RERANKER = /does not support (rerank|score|.*score api)/i;

/** Versions before 0.10 report errors with status 200; `readReply` knows those. Here: a model that is not a reranker. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  const isError = reply.status >= 400 || reply.json?.maybe('object').value === 'error';
  return isError && NO_RERANKER.test(readErrorMessage(reply)) ? 'misconfigured' : undefined;
}

const IMAGE_MODELS = /vl\b|vl-|reranker-m0|multimodal|vision/i;

const profile: ProviderProfile = {
  ...SELF_HOSTED,
  truncates: true,
  echo: 'always',
  documents: { objects: false, images: onlyFor(IMAGE_MODELS) },
  scoreScale: {
    default: 'probability',
    models: [
      { match: /ms-marco/i, value: 'logit' },
      { match: /colbert/i, value: 'unbounded' },
      { match: COSINE_MODELS, value: 'cosine' },
    ],
  },
};

/** Strings, or lists of parts if there are images; `{text}` objects are refused. */
function contents({ documents }: UpstreamCall): JsonBody {
  if (documents.images === 'none') return documents.texts();
  return contentsOf(documents, ({ text, image }) => ({
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(image === undefined ? [] : [{ type: 'image_url', image_url: { url: imageUrl(image) } }]),
    ],
  }));
}

/** By default a single overlong document fails the request: −1 has each cut to the model's limit. */
function truncation({ options }: UpstreamCall): number | undefined {
  return options.truncation === false ? undefined : -1;
}

const dialect = {
  ...pathSetting('/v1/rerank'),
  credentials: OPTIONAL_API_KEY,
  body: (call) => ({
    model: call.model,
    query: call.query,
    documents: contents(call),
    top_n: call.topN,
    truncate_prompt_tokens: truncation(call),
    max_tokens_per_doc: call.options.maxTokensPerDoc,
    instruction: call.options.instruction,
  }),
  decode: decodeJinaLike,
  fault,
  profile,
  exampleModels: ['BAAI/bge-reranker-v2-m3', 'Qwen/Qwen3-Reranker-0.6B'],
} as const satisfies Partial<HttpProvider>;

const OPEN_PATHS =
  'A server started with a key asks for it only on paths that begin with /v1: keep to those, so that a wrong key shows. Newer servers log that the routes have moved to /rerank and /score: if /v1 goes, set the path, and protect the server by other means.';

/** vLLM's rerank route. */
export const vllm = defineProvider({
  ...dialect,
  id: 'vllm',
  title: 'vLLM',
  notes: [
    OPEN_PATHS,
    'The model must be a name under which the server serves it; Qwen3 rerankers need --hf-overrides and a score template, else scores look plausible and are wrong.',
    'Documents come back unrequested, which doubles the reply.',
    "Oracle's Private AI Services Container and KServe's Hugging Face runtime speak the same form (kserve has the path of the latter).",
  ],
});

/** vLLM's score route, for servers without a rerank route: all scores, in the order of the documents. */
export const vllmScore = defineProvider({
  ...dialect,
  ...pathSetting('/v1/score'),
  id: 'vllm-score',
  title: 'vLLM (score)',
  body: (call) => ({
    model: call.model,
    text_1: call.query,
    text_2: call.documents.texts(),
    truncate_prompt_tokens: truncation(call),
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'score'),
    usage: readUsage(reply),
  }),
  profile: {
    ...profile,
    sorted: false,
    topN: 'unsupported',
    echo: 'never',
    documents: { objects: false, images: { default: false } },
  },
  notes: [OPEN_PATHS],
});

/** A fork of vLLM with its routes and its errors. */
export const aphrodite = defineProvider({
  ...dialect,
  id: 'aphrodite',
  title: 'Aphrodite',
  notes: [OPEN_PATHS],
});

/** The router in front of several vLLM servers: its own errors are plain strings, and its replies come in chunks. */
export const vllmProductionStack = defineProvider({
  ...dialect,
  id: 'vllm-production-stack',
  title: 'vLLM production stack',
});
