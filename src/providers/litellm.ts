import { decodeJinaLike, faultByWords, jinaLikeBody } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

/** A spent budget, or a wrong key where there is no database to look it up in: neither is the caller's fault, nor temporary. */
const OURS = /budget|no connected db/i;

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
  fault: faultByWords([400, OURS, 'misconfigured'], [429, OURS, 'misconfigured']),
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
