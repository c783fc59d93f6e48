import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, jinaLikeBody } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY, type UpstreamReply } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** Codes say more than the status: a model that no channel serves causes a 503. */
function fault({ json }: UpstreamReply): FaultKind | undefined {
  const code = json?.maybe('error').maybe('code').optionalString() ?? '';
  if (code === 'model_not_found' || code.includes('quota')) return 'misconfigured';
  return undefined;
}

/** new-api and its descendants. */
export const newApi = defineProvider({
  id: 'new-api',
  title: 'new-api',
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: (call) => ({
    ...jinaLikeBody(call),
    // new-api's own spelling, in the singular.
    max_chunk_per_doc: call.options.maxChunksPerDoc,
    overlap_tokens: call.options.overlapTokens,
  }),
  decode: decodeJinaLike,
  fault,
  profile: {
    ...SELF_HOSTED,
    isRelay: true,
    sorted: false,
    topN: 'ignored',
    echo: 'optional',
    documents: { objects: true, images: { default: false } },
  },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: [
    'Scores are those of the provider behind it: logits come through as they are.',
    'one-api, which it comes from, has no rerank route.',
  ],
});
