import type { FaultKind } from '../core/retry.js';
import { jinaLikeBody, readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';
import { MAX_DOCUMENTS, pathSetting, SELF_HOSTED } from './self-hosted.js';

const WRONG_KEY = /unauthorized request/i;
const TOO_MANY = /exceeds max_allowed_chunks/i;

/** A wrong key causes a 500 in some builds; malformed JSON causes a 412. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status < 400) return undefined;
  const message = readErrorMessage(reply);
  if (WRONG_KEY.test(message)) return 'misconfigured';
  return TOO_MANY.test(message) ? 'limit' : undefined;
}

const route = pathSetting('/v3/rerank');

/** OpenVINO Model Server: replies contain nothing but results. */
export const openvino = defineProvider({
  ...route,
  id: 'openvino',
  title: 'OpenVINO Model Server',
  credentials: OPTIONAL_API_KEY,
  settings: { ...route.settings, ...MAX_DOCUMENTS },
  body: jinaLikeBody,
  decode: (reply) => ({ rows: readRows(reply.field('results'), 'index', 'relevance_score') }),
  fault,
  profile: {
    ...SELF_HOSTED,
    // Documents are split into chunks, and the limit counts chunks; every document has at least one.
    limits: { documents: { default: 10_000 } },
    truncates: true,
    echo: 'optional',
  },
  exampleModels: ['BAAI/bge-reranker-large'],
  notes: ['The model is the name of the graph.'],
});
