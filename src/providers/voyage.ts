import { readRows, readUsage } from './dialects.js';
import { bearer, defineProvider, REQUIRED_API_KEY } from './provider.js';

/** Voyage AI: `top_k` for `top_n` (which it refuses by name), rows under `data`. */
export const voyage = defineProvider({
  id: 'voyage',
  title: 'Voyage AI',
  baseUrl: 'https://api.voyageai.com',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  headers: bearer,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: documents.texts(),
    top_k: topN,
    return_documents: false,
    truncation: options.truncation,
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  profile: {
    limits: {
      documents: { default: 1_000 },
      requestTokens: { default: 600_000, models: [{ match: /^rerank-1/, value: 300_000 }] },
    },
    truncates: true,
    sorted: true,
    topN: 'honoured',
    echo: 'optional',
    documents: { objects: false, images: { default: false } },
    blanks: 'as_space',
    scoreScale: { default: 'probability' },
    ranking: { default: 'pointwise' },
    billing: 'tokens',
  },
  exampleModels: ['rerank-2.5', 'rerank-2.5-lite'],
});
