import type { Json } from '../core/json.js';
import type { UpstreamRanking } from '../core/rerank.js';
import { plainBody, readRows, readUsage } from './dialects.js';
import {
  defineProvider,
  OPTIONAL_API_KEY,
  type HttpProvider,
  type ProviderProfile,
} from './provider.js';
import { pathSetting, scaleUnless, SELF_HOSTED } from './self-hosted.js';

/** Replaces the score of a document that could not be evaluated. */
const FAILED = -1_000_000;

/** The reply of llama.cpp's own handler, which other servers pass on. */
export function decodeLlamaCpp(reply: Json): UpstreamRanking {
  const rows = readRows(reply.field('results'), 'index', 'relevance_score', 'null');
  return {
    rows: rows.map(({ index, score }) => ({ index, score: score === FAILED ? undefined : score })),
    usage: readUsage(reply),
  };
}

const profile: ProviderProfile = {
  ...SELF_HOSTED,
  sorted: false,
  topN: 'ignored',
  scoreScale: scaleUnless('logit', /qwen3/i, 'probability'),
};

const dialect = {
  ...pathSetting('/v1/rerank'),
  credentials: OPTIONAL_API_KEY,
  // `texts` next to `documents` would switch the reply to another form.
  body: plainBody,
  decode: decodeLlamaCpp,
  profile,
  exampleModels: ['bge-reranker-v2-m3-Q8_0.gguf'],
} as const satisfies Partial<HttpProvider>;

const LOGITS = 'Scores are raw logits for most models; Qwen3 rerankers give probabilities.';

/** llama.cpp's server, started with --reranking. Builds before the end of 2025 neither sort nor cut. */
export const llamacpp = defineProvider({
  ...dialect,
  id: 'llamacpp',
  title: 'llama.cpp (llama-server)',
  notes: [
    LOGITS,
    'Query and document together must fit the physical batch (-ub, 512 tokens by default); one that does not fails the whole request.',
    'By default it listens only on 127.0.0.1, so write that and not localhost.',
  ],
});

/** A proxy that swaps llama.cpp servers by model; the first call after a swap may take a long time. */
export const llamaSwap = defineProvider({
  ...dialect,
  id: 'llama-swap',
  title: 'llama-swap',
  notes: [LOGITS, 'The first call of a model loads it: give the channel a generous timeout.'],
});

/** Lemonade passes requests to llama.cpp; its documentation says that rows come in the order of the documents. */
export const lemonade = defineProvider({
  ...dialect,
  ...pathSetting('/api/v1/rerank'),
  id: 'lemonade',
  title: 'Lemonade',
  exampleModels: ['bge-reranker-v2-m3-GGUF'],
  notes: [LOGITS, 'The first call of a model loads it: give the channel a generous timeout.'],
});
