import { jinaLikeBody, readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY } from './provider.js';

/** Fireworks AI: rows under `data`, an echo unless declined, and an instruction under `task`. */
export const fireworks = defineProvider({
  id: 'fireworks',
  title: 'Fireworks AI',
  baseUrl: 'https://api.fireworks.ai',
  path: '/inference/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: (call) => ({
    ...jinaLikeBody(call),
    task: call.options.instruction,
  }),
  decode: (reply) => ({
    rows: readRows(reply.firstOf('data', 'results'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  profile: { ...HOSTED, echo: 'optional' },
  exampleModels: [
    'accounts/fireworks/models/qwen3-reranker-8b',
    'accounts/fireworks/models/qwen3-reranker-4b',
  ],
  notes: [
    'A model that is not deployed for the account gets a 404; a suspended account or a model that failed to load gets a 412.',
  ],
});
