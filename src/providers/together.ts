import { decodeJinaLike, faultByWords, pickFields } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';

/** Only these, on dedicated endpoints, rank objects. */
const OBJECT_MODELS = /llama-rank/i;
const NOT_AVAILABLE = /non-serverless model|model_not_available/i;
const TOO_MUCH = /too many documents|at most [\d,]+ documents/i;

/** Together AI. Unknown members are refused; `document` is in every row, empty if no echo was asked for. */
export const together = defineProvider({
  id: 'together',
  title: 'Together AI',
  baseUrl: 'https://api.together.ai',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: (call) => {
    // All strings or all objects: a mixed list is refused.
    const picked = OBJECT_MODELS.test(call.model) ? pickFields(call) : undefined;
    return {
      model: call.model,
      query: call.query,
      documents: picked ?? call.documents.texts(),
      top_n: call.topN,
      return_documents: false,
      rank_fields: picked === undefined ? undefined : call.options.rankFields,
    };
  },
  decode: decodeJinaLike,
  fault: faultByWords([400, NOT_AVAILABLE, 'misconfigured'], [400, TOO_MUCH, 'limit']),
  profile: {
    ...HOSTED,
    limits: { pairTokens: { default: 8_192 } },
    echo: 'optional',
    documents: { objects: true, images: { default: false } },
    scoreScale: { default: 'unbounded', models: [{ match: /mxbai/i, value: 'probability' }] },
  },
  exampleModels: [
    'your-account/mixedbread-ai/Mxbai-Rerank-Large-V2-0123abcd',
    'your-account/Salesforce/Llama-Rank-v1-4567cdef',
  ],
  notes: [
    'Every rerank model needs a dedicated endpoint; the name of the model is the name of the endpoint. None is serverless any longer.',
    "The scale of the scores is read from the model's name: keep mxbai, or llama-rank, in the name of the endpoint.",
  ],
});
