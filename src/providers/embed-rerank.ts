import { decodeJinaLike } from './dialects.js';
import { bearer, defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

const MAX_TOP_N = 100;

/** embed-rerank on a Mac, through its Cohere-like path. A `top_n` above 100 is refused; without one, all rows come back. */
export const embedRerank = defineProvider({
  ...pathSetting('/v1/rerank'),
  id: 'embed-rerank',
  title: 'embed-rerank',
  baseUrl: undefined,
  credentials: OPTIONAL_API_KEY,
  headers: bearer,
  body: ({ model, query, documents, topN }) => ({
    model,
    query,
    documents: documents.texts(),
    top_n: topN > MAX_TOP_N ? undefined : topN,
    return_documents: false,
  }),
  decode: decodeJinaLike,
  profile: {
    ...SELF_HOSTED,
    limits: { documents: { default: 1_000 }, queryCharacters: 2_048 },
    echo: 'optional',
  },
  exampleModels: ['Qwen3-Reranker-0.6B'],
});
