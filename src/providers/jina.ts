import { decodeJinaLike, faultByWords, objectsOf } from './dialects.js';
import { defineProvider, onlyFor, REQUIRED_API_KEY } from './provider.js';
import { COSINE_MODELS, LISTWISE_MODELS, USUAL } from './self-hosted.js';

const NO_BALANCE = /balance not enough|insufficient balance/i;
const IMAGE_MODELS = /reranker-m0/;

/** Jina AI, whose form most others follow. The default of `return_documents` changed once, so it is always sent. */
export const jina = defineProvider({
  id: 'jina',
  title: 'Jina AI',
  baseUrl: 'https://api.jina.ai',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: documents.images !== 'none' ? objectsOf(documents) : documents.texts(),
    top_n: topN,
    return_documents: false,
    max_doc_length: options.maxTokensPerDoc,
    truncation: options.truncation,
  }),
  decode: decodeJinaLike,
  fault: faultByWords(['any', NO_BALANCE, 'misconfigured']),
  profile: {
    ...USUAL,
    limits: {
      pairTokens: {
        default: 131_072,
        models: [
          { match: /reranker-v2/, value: 1_024 },
          { match: /colbert-v2/, value: 8_192 },
          { match: IMAGE_MODELS, value: 10_240 },
        ],
      },
    },
    echo: 'optional',
    documents: { objects: true, images: onlyFor(IMAGE_MODELS) },
    scoreScale: { default: 'probability', models: [{ match: COSINE_MODELS, value: 'cosine' }] },
    ranking: { default: 'pointwise', models: [{ match: LISTWISE_MODELS, value: 'listwise' }] },
  },
  exampleModels: [
    'jina-reranker-v3',
    'jina-reranker-v3.5',
    'jina-reranker-m0',
    'jina-reranker-v2-base-multilingual',
  ],
  notes: [
    'jina-reranker-v3 and later read all documents of a request together: their scores depend on the other documents and may be slightly negative.',
  ],
});
