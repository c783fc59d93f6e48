import { decodeJinaLike, plainBody } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { pathSetting, SELF_HOSTED } from './self-hosted.js';

/** Ollama built with the proposed rerank route; released versions have none. */
export const ollama = defineProvider({
  ...pathSetting('/api/rerank'),
  id: 'ollama',
  title: 'Ollama (proposed rerank route)',
  credentials: OPTIONAL_API_KEY,
  body: plainBody,
  decode: decodeJinaLike,
  profile: { ...SELF_HOSTED, sorted: false, echo: 'always' },
  exampleModels: ['bge-reranker-v2-m3'],
  notes: [
    'Released versions have no rerank route and answer 404; builds with the proposed one have.',
    'ollama-embeddings and ollama-listwise rank by what released versions have.',
  ],
});
