import { plainBody, readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type HttpProvider,
} from './provider.js';

const LATENCIES = ['fast', 'slow'];

const dialect = {
  path: '/v1/models/rerank',
  credentials: REQUIRED_API_KEY,
  settings: {
    latency: {
      type: 'string',
      default: '',
      describe: 'fast, slow, or empty: fast, and slow once the fast limit is reached',
    },
  },
  body: (call) => ({ ...plainBody(call), latency: optionalTextSetting(call.settings, 'latency') }),
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: { inputTokens: reply.maybe('total_tokens').optionalNumber() },
  }),
  // ZeroEntropy's own client retries after a conflict.
  fault: ({ status }) => (status === 409 ? 'transient' : undefined),
  mistakes: ({ settings }) => {
    const latency = optionalTextSetting(settings, 'latency');
    return [
      latency !== undefined &&
        !LATENCIES.includes(latency) &&
        'settings.latency must be fast, slow or empty',
    ];
  },
  profile: { ...HOSTED, limits: { bodyBytes: 5_000_000 } },
  exampleModels: ['zerank-2', 'zerank-1', 'zerank-1-small'],
  notes: [
    'A request may have 5 000 000 bytes; each document counts its own bytes, those of the query and 150 more.',
    'Beyond the fast limit a reply takes more than 10 s: give the channel a timeout of 30 s or more, or set latency to fast, which answers 429 instead.',
  ],
} as const satisfies Partial<HttpProvider>;

/** ZeroEntropy. */
export const zeroentropy = defineProvider({
  ...dialect,
  id: 'zeroentropy',
  title: 'ZeroEntropy',
  baseUrl: 'https://api.zeroentropy.dev',
});

/** ZeroEntropy in Europe. */
export const zeroentropyEu = defineProvider({
  ...dialect,
  id: 'zeroentropy-eu',
  title: 'ZeroEntropy (EU)',
  baseUrl: 'https://eu-api.zeroentropy.dev',
});
