import { decodeJinaLike } from './dialects.js';
import { bearerWith, defineProvider, REQUIRED_API_KEY, type ProviderProfile } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

const profile: ProviderProfile = {
  ...SELF_HOSTED,
  isRelay: true,
  limits: { documents: { default: 10_000 }, bodyBytes: 32 * 1_024 * 1_024 },
  echo: 'optional',
  documents: { objects: true, images: { default: true } },
};

/** Another instance of this gateway: documents and options are passed on as the caller sent them. */
export const rerankGateway = defineProvider({
  id: 'rerank-gateway',
  title: 'Another rerank gateway',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  settings: {
    tag: { type: 'string', describe: "tag of that gateway's channels to use, as X-Rerank-Tag" },
  },
  headers: bearerWith({ tag: 'x-rerank-tag' }),
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: documents.sources(),
    top_n: topN,
    return_documents: false,
    rank_fields: options.rankFields,
    max_chunks_per_doc: options.maxChunksPerDoc,
    max_tokens_per_doc: options.maxTokensPerDoc,
    overlap_tokens: options.overlapTokens,
    instruction: options.instruction,
    truncation: options.truncation,
    priority: options.priority,
  }),
  decode: decodeJinaLike,
  profile,
  exampleModels: ['rerank-v3.5'],
  notes: [
    'Scores are those of the channel that answered there.',
    'Two gateways that name each other send requests in a loop until the deadline: avoid that.',
  ],
});
