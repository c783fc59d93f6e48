import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, jinaLikeBody } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

/**
 * A spent budget is reported with 400 or 429, and a wrong key, where there is no database to look it up in, with 400: neither is the
 * caller's fault, nor temporary.
 */
function fault(reply: UpstreamReply): FaultKind | undefined {
  const { status } = reply;
  return (status === 400 || status === 429) &&
    /budget|no connected db/i.test(readErrorMessage(reply))
    ? 'misconfigured'
    : undefined;
}

/** LiteLLM's proxy. It returns documents by default; scores and order are those of the provider behind it. */
export const litellm = defineProvider({
  ...pathSetting('/v1/rerank'),
  id: 'litellm',
  title: 'LiteLLM proxy',
  credentials: REQUIRED_API_KEY,
  body: (call) => ({
    ...jinaLikeBody(call),
    max_chunks_per_doc: call.options.maxChunksPerDoc,
    max_tokens_per_doc: call.options.maxTokensPerDoc,
    instruction: call.options.instruction,
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
    mayCountOtherUnits: true,
  },
  exampleModels: ['local-rerank'],
  notes: [
    'Scores are those of the provider behind it: logits come through as they are.',
    'A token count that may count characters, as that of Infinity does, is checked against an estimate from the text, and left out if it cannot be checked.',
  ],
});
