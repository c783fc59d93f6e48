import { faultByWords, readRows, readUsage } from './dialects.js';
import { defineProvider, REQUIRED_API_KEY, type Endpoint, type HttpProvider } from './provider.js';
import { USUAL } from './self-hosted.js';

const BATCH_TOO_LARGE = /tokens per (submitted )?batch|batch size|at most 1,?000 documents/i;
const UNKNOWN_MODEL = /^model \S+ is not supported/i;

/** Keys of the twin that MongoDB runs begin with this; neither host takes the other's keys. */
const MONGODB_KEY = 'al-';

function keyBeginsWith(channel: Pick<Endpoint, 'credentials'>, prefix: string): boolean {
  return channel.credentials.apiKey?.reveal().startsWith(prefix) ?? false;
}

const dialect = {
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    query,
    documents: documents.texts(),
    top_k: topN,
    return_documents: false,
    truncation: options.truncation,
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('data'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  fault: faultByWords([400, BATCH_TOO_LARGE, 'limit'], [400, UNKNOWN_MODEL, 'misconfigured']),
  profile: {
    ...USUAL,
    limits: {
      documents: { default: 1_000 },
      requestTokens: {
        default: 600_000,
        models: [{ match: /^rerank-(lite-)?1/, value: 300_000 }],
      },
      pairTokens: {
        default: 32_000,
        models: [
          { match: /^rerank-(2-lite|lite-2|1)/, value: 8_000 },
          { match: /^rerank-lite-1/, value: 4_000 },
          { match: /^rerank-2$/, value: 16_000 },
        ],
      },
    },
    echo: 'optional',
    blanks: 'as_space',
  },
  exampleModels: ['rerank-2.5', 'rerank-2.5-lite', 'rerank-3', 'rerank-3-lite'],
} as const satisfies Partial<HttpProvider>;

/** Voyage AI: `top_k` in place of `top_n` (which it refuses by name), rows under `data`. */
export const voyage = defineProvider({
  ...dialect,
  id: 'voyage',
  title: 'Voyage AI',
  baseUrl: 'https://api.voyageai.com',
  mistakes: (channel) => [
    keyBeginsWith(channel, MONGODB_KEY) &&
      `credentials.api_key begins with "${MONGODB_KEY}": such keys belong to the provider voyage-mongodb`,
  ],
});

/** Voyage's models as MongoDB runs them: the same wire form, other keys. */
export const voyageMongodb = defineProvider({
  ...dialect,
  id: 'voyage-mongodb',
  title: 'Voyage AI by MongoDB',
  baseUrl: 'https://ai.mongodb.com',
  mistakes: (channel) => [
    keyBeginsWith(channel, 'pa-') &&
      'credentials.api_key begins with "pa-": such keys belong to the provider voyage',
  ],
});
