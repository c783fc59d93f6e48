import type { Json } from '../core/json.js';
import { faultOfStatus, type FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';
import { LISTWISE_MODELS, pathSetting, SELF_HOSTED } from './self-hosted.js';

const WRONG_MODEL = /does not appear to be an embedding model/i;

/** Some errors carry their true status as text in `type`. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status < 400) return undefined;
  if (WRONG_MODEL.test(readErrorMessage(reply))) return 'misconfigured';
  const type = reply.json?.maybe('type').optionalNumber();
  return type !== undefined && type >= 400 ? faultOfStatus(type) : undefined;
}

/** Tokens of all rows; `undefined` if one does not report them. */
function promptTokens(rows: Json): number | undefined {
  let sum = 0;
  for (const row of rows.array()) {
    const tokens = new Map(Object.entries(row ?? {})).get('meta_info') as unknown;
    const count =
      typeof tokens === 'object' && tokens !== null && 'prompt_tokens' in tokens
        ? tokens.prompt_tokens
        : undefined;
    if (typeof count !== 'number') return undefined;
    sum += count;
  }
  return sum;
}

/** SGLang: a bare array, an echo unless declined, and a scale that depends on the model. */
export const sglang = defineProvider({
  ...pathSetting('/v1/rerank'),
  id: 'sglang',
  title: 'SGLang',
  credentials: OPTIONAL_API_KEY,
  body: ({ query, documents, topN, options }) => ({
    query,
    documents: documents.texts(),
    top_n: topN,
    return_documents: false,
    instruct: options.instruction,
  }),
  decode: (reply) => ({
    rows: readRows(reply, 'index', 'score'),
    usage: { inputTokens: promptTokens(reply) },
  }),
  fault,
  profile: {
    ...SELF_HOSTED,
    topN: 'ignored',
    echo: 'optional',
    blanks: 'refused',
    scoreScale: {
      default: 'logit',
      models: [
        { match: /qwen3/i, value: 'probability' },
        { match: LISTWISE_MODELS, value: 'cosine' },
      ],
    },
  },
  exampleModels: ['BAAI/bge-reranker-v2-m3', 'Qwen/Qwen3-Reranker-8B'],
  notes: [
    'It serves one model and reads no name; cross-encoders need --is-embedding, Qwen3 rerankers a chat template.',
    'Versions before 2026 always return the documents and all of them.',
  ],
});
