import type { JsonBody } from '../bytes/index.js';
import { faultByWords, objectsOf, pickFields, readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, requiredCredential, textSetting, type UpstreamCall } from './provider.js';

function isCohere(model: string): boolean {
  return model.startsWith('cohere-');
}

const MONTHLY = /month/i;
const TOO_MUCH = /too many documents|maximum|exceed|at most \d/i;
const WRONG_VERSION = /api[- ]version/i;

/** Only Cohere's models take several fields, and each field must be in every document. */
function rankedDocuments(call: UpstreamCall): Record<string, JsonBody> {
  const fields = call.options.rankFields ?? [];
  const picked = fields.length <= 1 || isCohere(call.model) ? pickFields(call) : undefined;
  return picked === undefined
    ? { documents: objectsOf(call.documents), rank_fields: ['text'] }
    : { documents: picked, rank_fields: fields };
}

/**
 * A parameter that a model does not know is refused. Cohere's models split long documents into chunks (3.5) or truncate
 * them (4); the others cut long input only when told to.
 */
function parameters({ model, options }: UpstreamCall): Record<string, string | number> | undefined {
  const { maxChunksPerDoc, maxTokensPerDoc } = options;
  if (!isCohere(model)) {
    return { truncate: options.truncation === false ? 'NONE' : 'END' };
  }
  if (model.includes('rerank-3')) {
    return maxChunksPerDoc === undefined ? undefined : { max_chunks_per_doc: maxChunksPerDoc };
  }
  return maxTokensPerDoc === undefined ? undefined : { max_tokens_per_doc: maxTokensPerDoc };
}

/** Pinecone Inference: documents are objects, and the key and the version each have their own header. */
export const pinecone = defineProvider({
  id: 'pinecone',
  title: 'Pinecone Inference',
  baseUrl: 'https://api.pinecone.io',
  path: '/rerank',
  credentials: { apiKey: { required: true, describe: 'API key, sent in the header Api-Key' } },
  settings: {
    apiVersion: {
      type: 'string',
      default: '2026-04',
      describe: 'value of the header X-Pinecone-Api-Version',
    },
  },
  headers: (endpoint) => ({
    'api-key': requiredCredential(endpoint, 'apiKey'),
    'x-pinecone-api-version': textSetting(endpoint.settings, 'apiVersion'),
  }),
  body: (call) => ({
    model: call.model,
    query: call.query,
    ...rankedDocuments(call),
    top_n: call.topN,
    return_documents: false,
    parameters: parameters(call),
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'score'),
    usage: { searchUnits: reply.maybe('usage').maybe('rerank_units').optionalNumber() },
  }),
  fault: faultByWords(
    // An exhausted monthly quota is reported like a rate limit.
    [429, MONTHLY, 'misconfigured'],
    [400, WRONG_VERSION, 'misconfigured'],
    [400, TOO_MUCH, 'limit'],
  ),
  profile: {
    ...HOSTED,
    limits: {
      documents: { default: 100, models: [{ match: /^cohere-/, value: 200 }] },
      pairTokens: {
        default: 1_024,
        models: [
          { match: /^pinecone-rerank/, value: 512 },
          { match: /^cohere-rerank-3/, value: 40_000 },
          { match: /^cohere-/, value: 32_000 },
        ],
      },
    },
    echo: 'optional',
    documents: { objects: true, images: { default: false } },
    billing: 'search_units',
  },
  exampleModels: ['bge-reranker-v2-m3', 'cohere-rerank-4-fast'],
  notes: [
    'cohere-rerank-3.5 is retired: since August 2026 its name is answered by cohere-rerank-4-fast, whose scores differ, so set thresholds again. It counts a document of more than about 500 tokens as several; max_tokens_per_doc limits that.',
    'A free plan has a quota per model and month; beyond it the answer is 429, and waiting does not help.',
  ],
});
