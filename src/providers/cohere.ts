import type { JsonBody } from '../core/json.js';
import type { FaultKind } from '../core/retry.js';
import { pickFields, readMeta, readRows } from './dialects.js';
import {
  bearer,
  defineProvider,
  REQUIRED_API_KEY,
  type ProviderProfile,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';

const profile: ProviderProfile = {
  limits: {
    documents: { default: 10_000 },
    pairTokens: { default: 4_096, models: [{ match: /^rerank-v4/, value: 32_768 }] },
  },
  truncates: true,
  sorted: true,
  topN: 'honoured',
  echo: 'optional',
  documents: { objects: true, images: { default: false } },
  blanks: 'as_space',
  scoreScale: { default: 'probability' },
  ranking: { default: 'pointwise' },
  billing: 'search_units',
};

const MONTHLY_QUOTA = /\/ ?month|per month|monthly/i;
const CHUNK_LIMIT = /chunks|too many documents|10[ ,]?000/i;

function fault(reply: UpstreamReply): FaultKind | undefined {
  switch (reply.status) {
    case 400:
      return CHUNK_LIMIT.test(readErrorMessage(reply)) ? 'limit' : undefined;
    case 429:
      return MONTHLY_QUOTA.test(readErrorMessage(reply)) ? 'misconfigured' : undefined;
    case 499:
      return 'timeout';
    default:
      return undefined;
  }
}

/** Cohere's first rerank API: objects and chunk limits are its own. Unknown members are refused (422). */
export const cohereV1 = defineProvider({
  id: 'cohere-v1',
  title: 'Cohere (v1)',
  baseUrl: 'https://api.cohere.com',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  headers: bearer,
  body: (call) => ({
    model: call.model,
    query: call.query,
    ...rankedDocuments(call),
    top_n: call.topN,
    return_documents: false,
    max_chunks_per_doc: call.options.maxChunksPerDoc,
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: readMeta(reply),
  }),
  fault,
  profile,
  exampleModels: ['rerank-v3.5', 'rerank-multilingual-v3.0'],
});

/** Objects travel as objects only where the caller names their fields; everything else as text. */
function rankedDocuments(call: UpstreamCall): Record<string, JsonBody> {
  const objects = pickFields(call);
  return objects === undefined
    ? { documents: call.documents.texts() }
    : { documents: objects, rank_fields: call.options.rankFields };
}

/** Cohere's second rerank API: strings only, no echo. Unknown members are refused (422). */
export const cohere = defineProvider({
  id: 'cohere',
  title: 'Cohere (v2)',
  baseUrl: 'https://api.cohere.com',
  path: '/v2/rerank',
  credentials: REQUIRED_API_KEY,
  headers: bearer,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: documents.texts(),
    top_n: topN,
    max_tokens_per_doc: options.maxTokensPerDoc,
    priority: options.priority,
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: readMeta(reply),
  }),
  fault,
  profile: { ...profile, echo: 'never', documents: { objects: false, images: { default: false } } },
  exampleModels: ['rerank-v4.0-pro', 'rerank-v4.0-fast', 'rerank-v3.5'],
});
