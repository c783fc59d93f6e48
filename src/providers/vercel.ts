import { cohere, LONG_DOCUMENTS_NOTE } from './cohere.js';
import { decodeJinaLike } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';

/** Vercel's AI Gateway, in the form of Cohere's second API. */
export const vercel = defineProvider({
  id: 'vercel',
  title: 'Vercel AI Gateway',
  baseUrl: 'https://ai-gateway.vercel.sh',
  path: '/v2/rerank',
  credentials: REQUIRED_API_KEY,
  ...(cohere.settings === undefined ? {} : { settings: cohere.settings }),
  ...(cohere.mistakes === undefined ? {} : { mistakes: cohere.mistakes }),
  body: cohere.body,
  decode: decodeJinaLike,
  profile: {
    ...cohere.profile,
    limits: { pairTokens: { default: 32_000, models: [{ match: /rerank-v3/, value: 4_096 }] } },
    echo: 'optional',
  },
  exampleModels: [
    'cohere/rerank-v3.5',
    'cohere/rerank-v4-fast',
    'cohere/rerank-v4-pro',
    'voyage/rerank-3',
    'voyage/rerank-2.5',
  ],
  notes: [
    'A relay: scores and limits are those of the provider before the slash.',
    `Cohere's models: ${LONG_DOCUMENTS_NOTE}`,
  ],
});
