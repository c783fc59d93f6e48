import { JsonShapeError, type Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import type { UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import {
  defineProvider,
  OPTIONAL_API_KEY,
  REQUIRED_API_KEY,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { MAX_DOCUMENTS, SELF_HOSTED } from './self-hosted.js';

const WRONG_MODEL = /not a re-?ranker model/i;
const BATCH_LIMIT = /batch size \d+ > maximum/i;

/** The same limits are 413 or 422 by version; the web framework's own refusals are plain text with the same statuses. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  const { status, json } = reply;
  if (status < 400) return undefined;
  const message = readErrorMessage(reply);
  if (status === 424) return WRONG_MODEL.test(message) ? 'misconfigured' : 'transient';
  if (status === 422 && BATCH_LIMIT.test(message)) return 'limit';
  // The framework did not understand the gateway's body: the server is not TEI, or is another version.
  if (status === 422 && json === undefined) return 'misconfigured';
  return undefined;
}

/** There is no `top_n`: all rows come back. Long input is cut unless declined, since versions differ in their default. */
function body({ query, documents, options }: UpstreamCall): Record<string, JsonBody> {
  return {
    query,
    texts: documents.texts(),
    truncate: options.truncation ?? true,
    raw_scores: false,
    return_text: false,
  };
}

/** Tokens are reported only in a header. */
function ranking(list: Json, http: UpstreamReply): UpstreamRanking {
  const tokens = Number(http.headers['x-compute-tokens']);
  return {
    rows: readRows(list, 'index', 'score'),
    usage: { inputTokens: Number.isFinite(tokens) ? tokens : undefined },
  };
}

const profile: ProviderProfile = {
  ...SELF_HOSTED,
  limits: { documents: { default: 32 }, bodyBytes: 2_000_000 },
  truncates: true,
  topN: 'unsupported',
  echo: 'optional',
};

const dialect = {
  path: '/rerank',
  settings: MAX_DOCUMENTS,
  body,
  decode: (reply, _call, http) => ranking(reply, http),
  fault,
  profile,
  exampleModels: ['BAAI/bge-reranker-v2-m3', 'BAAI/bge-reranker-base'],
} as const satisfies Partial<HttpProvider>;

const BATCH_NOTE =
  'A server takes 32 documents at once; if it was started with another --max-client-batch-size, set maxDocuments.';

/** Hugging Face text-embeddings-inference: `texts` in, a bare array out. */
export const tei = defineProvider({
  ...dialect,
  id: 'tei',
  title: 'Hugging Face text-embeddings-inference',
  credentials: OPTIONAL_API_KEY,
  notes: [BATCH_NOTE],
});

/** The build for Google's platform: the same request and reply inside `instances` and `predictions`. */
export const teiVertex = defineProvider({
  ...dialect,
  id: 'tei-vertex',
  title: 'Hugging Face text-embeddings-inference (Vertex build)',
  credentials: OPTIONAL_API_KEY,
  path: '/vertex',
  body: (call) => ({ instances: [body(call)] }),
  decode: (reply, _call, http) => {
    const predictions = reply.field('predictions');
    if (predictions.count() !== 1) {
      throw new JsonShapeError('predictions should have one entry, as there was one instance');
    }
    return ranking(predictions.first(), http);
  },
  notes: [BATCH_NOTE],
});

/** A hosted endpoint that runs TEI; each has its own address. */
export const huggingface = defineProvider({
  ...dialect,
  id: 'huggingface',
  title: 'Hugging Face Inference Endpoints',
  credentials: REQUIRED_API_KEY,
  profile: { ...profile, billing: 'compute' },
  notes: [
    BATCH_NOTE,
    'An endpoint that has scaled to zero answers 502 or 503 until it is up.',
    'The serverless router has no rerank task: only a dedicated endpoint works.',
  ],
});

/** Ascend's image wraps an older TEI, which reports its limits with 413. */
export const ascendTei = defineProvider({
  ...dialect,
  id: 'ascend-tei',
  title: 'Ascend TEI (MindIE)',
  credentials: OPTIONAL_API_KEY,
  notes: [BATCH_NOTE, 'MindIE itself has no rerank route; its companion image mis-tei has one.'],
});
