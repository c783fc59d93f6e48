import { decodeJinaLike, jinaLikeBody } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

const MAX_TOP_N = 100;

/** embed-rerank on a Mac, through its Cohere-like path. A `top_n` above 100 is refused; without one, all rows come back. */
export const embedRerank = defineProvider({
  ...pathSetting('/v1/rerank'),
  id: 'embed-rerank',
  title: 'embed-rerank',
  credentials: OPTIONAL_API_KEY,
  body: (call) => ({
    ...jinaLikeBody(call),
    top_n: call.topN > MAX_TOP_N ? undefined : call.topN,
  }),
  decode: decodeJinaLike,
  profile: {
    ...SELF_HOSTED,
    limits: { documents: { default: 1_000 }, queryCharacters: 2_048 },
    echo: 'optional',
  },
  exampleModels: ['Qwen3-Reranker-0.6B'],
});
