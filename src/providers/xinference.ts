import { faultByWords, jinaLikeBody, readMeta, readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { pathSetting, scaleUnless, SELF_HOSTED } from './self-hosted.js';

const UNKNOWN_MODEL = /model not found/i;

const route = pathSetting('/v1/rerank');

/** Xinference. Further members, such as `max_chunks_per_doc`, make some engines fail. */
export const xinference = defineProvider({
  ...route,
  id: 'xinference',
  title: 'Xinference',
  credentials: OPTIONAL_API_KEY,
  settings: {
    ...route.settings,
    countTokens: {
      type: 'boolean',
      default: false,
      describe: 'ask for the number of tokens (return_len), which not every engine can tell',
    },
  },
  body: (call) => ({
    ...jinaLikeBody(call),
    return_len: call.settings.countTokens === true ? true : undefined,
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score', 'null'),
    usage: readMeta(reply),
  }),
  // In older versions. A failed validation causes a 500, indistinguishable from a crash.
  fault: faultByWords([400, UNKNOWN_MODEL, 'misconfigured']),
  profile: {
    ...SELF_HOSTED,
    echo: 'optional',
    scoreScale: scaleUnless('probability', /jina-reranker-m0|gguf|flag/i, 'logit'),
  },
  exampleModels: ['bge-reranker-v2-m3', 'Qwen3-Reranker-0.6B'],
  notes: [
    'The model is the uid that it was launched with.',
    'The engine decides on the scale of the scores: FlagEmbedding and llama.cpp give logits.',
  ],
});
