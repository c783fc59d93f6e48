import { readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';

/** OpenGateLLM, called Albert when run by the French state: `prompt` and `input` for query and documents. */
export const opengatellm = defineProvider({
  id: 'opengatellm',
  title: 'OpenGateLLM (Albert)',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: ({ model, query, documents }) => ({ model, prompt: query, input: documents.texts() }),
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'score'),
    usage: readUsage(reply),
  }),
  profile: { ...HOSTED, sorted: false, topN: 'unsupported', billing: 'none', isRelay: true },
  exampleModels: ['BAAI/bge-reranker-v2-m3'],
  notes: [
    'The form is that of July 2025; a version that has taken over the form of Jina and Cohere is openai-compatible.',
  ],
});
