import { readPositional } from './dialects.js';
import { defineProvider } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/**
 * Nexa SDK: only numbers, in the order of the documents. Its softmax would make each score depend on the other documents,
 * so it is declined.
 */
export const nexa = defineProvider({
  id: 'nexa',
  title: 'Nexa SDK',
  path: '/v1/reranking',
  credentials: {},
  settings: {
    batchSize: {
      type: 'number',
      default: 8,
      least: 1,
      describe: 'documents that it computes at once',
    },
  },
  headers: () => ({}),
  body: ({ model, query, documents, settings }) => ({
    model,
    query,
    documents: documents.texts(),
    batch_size: Number(settings.batchSize ?? 8),
    normalize: false,
  }),
  decode: (reply, { documents }) => ({
    rows: readPositional(reply.field('result'), documents.count),
  }),
  profile: {
    ...SELF_HOSTED,
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'logit' },
  },
  exampleModels: ['NexaAI/jina-v2-rerank-npu'],
});
