import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY, type UpstreamReply } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** 503 means that the model is being loaded, 502 that it cannot be. */
function fault({ status }: UpstreamReply): FaultKind | undefined {
  return status === 502 ? 'misconfigured' : undefined;
}

/** Superlinked's inference engine: the model in the path, rows by the id that was sent with an item. */
export const sie = defineProvider({
  id: 'sie',
  title: 'Superlinked SIE',
  // The model's slashes are not escaped.
  path: ({ model }) => `/v1/score/${model.split('/').map(encodeURIComponent).join('/')}`,
  credentials: OPTIONAL_API_KEY,
  body: ({ query, documents, options }) => ({
    query: { text: query },
    items: documents.texts((index) => `{"id":"${index}","text":`, '}'),
    instruction: options.instruction,
  }),
  // Rows name the id that was sent with an item, which is its position.
  decode: (reply) => ({ rows: readRows(reply.field('scores'), 'item_id', 'score') }),
  fault,
  profile: { ...SELF_HOSTED, topN: 'unsupported', scoreScale: { default: 'unbounded' } },
  exampleModels: ['BAAI/bge-reranker-v2-m3', 'jinaai/jina-reranker-v2-base-multilingual'],
  notes: [
    'While a model is loaded it answers 503, and the request goes to another channel.',
    'Scores come from the model unchanged, logits for most.',
  ],
});
