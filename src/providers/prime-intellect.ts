import { decodeJinaLike, faultByWords, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import { bearerWith, defineProvider, REQUIRED_API_KEY } from './provider.js';

const TOO_MUCH = /token|context|too (long|many|large)|at most/i;

/** Prime Intellect: nothing is cut, and rows whose scores are rounded to the same value stay in order. */
export const primeIntellect = defineProvider({
  id: 'prime-intellect',
  title: 'Prime Intellect',
  baseUrl: 'https://api.pinference.ai',
  path: '/api/v1/rerank',
  credentials: REQUIRED_API_KEY,
  settings: { team: { type: 'string', describe: 'id of the team, sent as X-Prime-Team-ID' } },
  headers: bearerWith({ team: 'x-prime-team-id' }),
  body: (call) => ({
    ...plainBody(call),
    instruction: call.options.instruction,
  }),
  decode: decodeJinaLike,
  fault: faultByWords([400, TOO_MUCH, 'limit']),
  profile: {
    ...HOSTED,
    limits: {
      documents: { default: 1_000 },
      bodyBytes: 16 * 1_024 * 1_024,
      pairTokens: { default: 32_768 },
    },
    truncates: false,
    echo: 'always',
  },
  exampleModels: ['qwen/qwen3-reranker-0.6b'],
  notes: ['A text that is too long is refused; nothing is cut.'],
});
