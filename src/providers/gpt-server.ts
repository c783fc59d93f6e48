import { decodeJinaLike, jinaLikeBody } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** gpt_server, a server in the style of FastChat. */
export const gptServer = defineProvider({
  id: 'gpt-server',
  title: 'gpt_server',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  body: jinaLikeBody,
  decode: decodeJinaLike,
  profile: { ...SELF_HOSTED, echo: 'optional' },
  exampleModels: ['bge-reranker-v2-m3'],
});
