import { decodeJinaLike, objectsOf } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** Bifrost, a gateway: documents are objects, none of them blank. */
export const bifrost = defineProvider({
  id: 'bifrost',
  title: 'Bifrost',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: objectsOf(documents),
    top_n: topN,
    max_tokens_per_doc: options.maxTokensPerDoc,
    priority: options.priority,
  }),
  decode: decodeJinaLike,
  profile: { ...SELF_HOSTED, isRelay: true, truncates: true, echo: 'optional', blanks: 'refused' },
  exampleModels: ['cohere/rerank-v3.5', 'vertex/semantic-ranker-default-004'],
  notes: [
    'The model names the provider before a slash: Cohere, Bedrock, Vertex AI or vLLM.',
    'Scores and limits are those of the provider behind the model.',
  ],
});
