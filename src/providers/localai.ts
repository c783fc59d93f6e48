import { decodeJinaLike, plainBody } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { scaleUnless, SELF_HOSTED } from './self-hosted.js';

/** LocalAI, whose backends determine order and scale. */
export const localai = defineProvider({
  id: 'localai',
  title: 'LocalAI',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  body: plainBody,
  decode: decodeJinaLike,
  profile: {
    ...SELF_HOSTED,
    limits: { bodyBytes: 15_000_000 },
    sorted: false,
    topN: 'ignored',
    echo: 'always',
    scoreScale: scaleUnless('probability', /gguf|llama/i, 'logit'),
  },
  exampleModels: ['jina-reranker-v1-base-en'],
  notes: [
    'The llama-cpp backend gives logits, and before version 3.8 neither sorts nor cuts.',
    'The Python backend counts words instead of tokens.',
  ],
});
