import type { FaultKind } from '../core/retry.js';
import { jinaLikeBody, readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';
import { MAX_DOCUMENTS, pathSetting, SELF_HOSTED } from './self-hosted.js';

const NO_RERANKER = /invalid model|ModelNotDeployedError/i;
const TOO_MANY = /too_long|too_many_items|at most \d+/;

function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status === 400 && NO_RERANKER.test(readErrorMessage(reply))) return 'misconfigured';
  if (reply.status !== 422) return undefined;
  const detail = reply.json?.maybe('detail');
  if (detail?.isArray() !== true) return undefined;
  const isLimit = detail
    .map((entry) => entry.firstOf('type', 'msg').optionalString() ?? '')
    .some((text) => TOO_MANY.test(text));
  return isLimit ? 'limit' : undefined;
}

const route = pathSetting('/rerank');

/** Infinity, by Michael Feil. Its token count may be a count of characters, so it is not read. */
export const infinity = defineProvider({
  ...route,
  id: 'infinity',
  title: 'Infinity',
  credentials: OPTIONAL_API_KEY,
  settings: { ...route.settings, ...MAX_DOCUMENTS },
  body: (call) => ({
    ...jinaLikeBody(call),
    raw_scores: false,
  }),
  decode: (reply) => ({
    rows: readRows(reply.firstOf('results', 'data'), 'index', 'relevance_score', 'null'),
  }),
  fault,
  profile: {
    ...SELF_HOSTED,
    limits: {
      documents: { default: 2_048 },
      documentCharacters: 122_880,
      queryCharacters: 122_880,
    },
    truncates: true,
    echo: 'optional',
  },
  exampleModels: ['BAAI/bge-reranker-base', 'mixedbread-ai/mxbai-rerank-base-v2'],
  notes: ['A server started with a URL prefix, often /v1, has it in the base URL.'],
});
