import { decodeAny, jinaLikeBody } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';
import { pathSetting, scaleUnless, SELF_HOSTED } from './self-hosted.js';

/** GPUStack passes requests and replies on unchanged: the reply of each of its backends is read. */
export const gpustack = defineProvider({
  ...pathSetting('/v1/rerank'),
  id: 'gpustack',
  title: 'GPUStack',
  credentials: REQUIRED_API_KEY,
  body: jinaLikeBody,
  decode: decodeAny,
  profile: {
    ...SELF_HOSTED,
    sorted: false,
    topN: 'ignored',
    echo: 'always',
    scoreScale: scaleUnless('probability', /gguf|llama-box/i, 'logit'),
  },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: ['Its vLLM backend gives probabilities, llama-box logits.'],
});
