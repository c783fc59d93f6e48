import { decodeLlamaCpp } from './llamacpp.js';
import { decodeAny, faultByWords, plainBody } from './dialects.js';
import { defineProvider, optionalTextSetting } from './provider.js';
import { scaleUnless, SELF_HOSTED } from './self-hosted.js';

/** Docker Model Runner passes requests on, mostly to llama.cpp, also to vLLM and SGLang, and returns their replies. */
export const dockerModelRunner = defineProvider({
  id: 'docker-model-runner',
  title: 'Docker Model Runner',
  path: ({ settings }) => {
    const backend = optionalTextSetting(settings, 'backend');
    return backend === undefined
      ? '/engines/rerank'
      : `/engines/${encodeURIComponent(backend)}/rerank`;
  },
  credentials: {},
  settings: {
    backend: {
      type: 'string',
      describe: 'backend that the model runs on, such as llama.cpp or vllm; unset: it chooses',
    },
  },
  headers: () => ({}),
  body: plainBody,
  decode: (reply, call) =>
    reply.maybe('results').isArray() ? decodeLlamaCpp(reply) : decodeAny(reply, call),
  // The runner's own errors are plain text.
  fault: faultByWords([400, /request too large/i, 'limit']),
  profile: {
    ...SELF_HOSTED,
    limits: { bodyBytes: 10_000_000 },
    sorted: false,
    topN: 'ignored',
    echo: 'optional',
    scoreScale: scaleUnless('logit', /qwen3/i, 'probability'),
  },
  exampleModels: ['ai/bge-reranker-v2-m3'],
  notes: [
    'The base URL is just the host: /v1 and /engines/v1 do not have a rerank.',
    'The first call of a model loads it, which may take minutes: give the channel a generous timeout.',
  ],
});
