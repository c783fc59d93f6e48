import type { Json } from '../core/json.js';
import type { UpstreamRanking } from '../core/rerank.js';
import { decodeJinaLike, jinaLikeBody, objectsOf, readRows } from './dialects.js';
import { HOSTED } from './hosted.js';
import { bearer, defineProvider, REQUIRED_API_KEY, type HttpProvider } from './provider.js';

const common = {
  credentials: REQUIRED_API_KEY,
  settings: {
    failover: {
      type: 'boolean',
      default: false,
      describe: 'lets the platform try another of its own suppliers (X-Failover-Enabled)',
    },
  },
  headers: (endpoint) => ({
    ...bearer(endpoint),
    ...(endpoint.settings.failover === true ? { 'x-failover-enabled': 'true' } : {}),
  }),
} as const satisfies Partial<HttpProvider>;

/** The echo seems to be on unless declined. */
const dialect = {
  ...common,
  path: '/v1/rerank',
  body: jinaLikeBody,
  decode: decodeJinaLike,
  profile: { ...HOSTED, echo: 'optional' },
  exampleModels: ['Qwen3-Reranker-8B', 'bge-reranker-v2-m3', 'bce-reranker-base_v1'],
} as const satisfies Partial<HttpProvider>;

/** A bare list with indexes that are strings and start at 1, on this route only. */
function decodeFromOne(reply: Json): UpstreamRanking {
  const rows = readRows(reply, 'index', 'score');
  return { rows: rows.map(({ index, score }) => ({ index: index - 1, score })) };
}

const multimodal = {
  ...common,
  path: '/v1/rerank/multimodal',
  body: ({ model, query, documents }) => ({
    model,
    query: { text: query },
    documents: objectsOf(documents),
    return_documents: false,
  }),
  decode: decodeFromOne,
  profile: {
    ...HOSTED,
    limits: { pairTokens: { default: 10_240 } },
    topN: 'unsupported',
    echo: 'optional',
    documents: { objects: false, images: { default: true } },
  },
  exampleModels: ['jina-reranker-m0'],
  notes: ['The form of this route is known from one adapter; text models are on the other one.'],
} as const satisfies Partial<HttpProvider>;

/** Gitee AI, on the host that it is moving away from. */
export const gitee = defineProvider({
  ...dialect,
  id: 'gitee',
  title: 'Gitee AI',
  baseUrl: 'https://ai.gitee.com',
  notes: ['This host is being retired: moark is the new one.'],
});

/** Gitee AI's route for images. */
export const giteeMultimodal = defineProvider({
  ...multimodal,
  id: 'gitee-multimodal',
  title: 'Gitee AI (multimodal)',
  baseUrl: 'https://ai.gitee.com',
});

/** Moark in China. */
export const moark = defineProvider({
  ...dialect,
  id: 'moark',
  title: 'Moark',
  baseUrl: 'https://api.moark.com',
});

/** Moark outside China. */
export const moarkInternational = defineProvider({
  ...dialect,
  id: 'moark-international',
  title: 'Moark (international)',
  baseUrl: 'https://api.moark.ai',
});

/** Moark's route for images. */
export const moarkMultimodal = defineProvider({
  ...multimodal,
  id: 'moark-multimodal',
  title: 'Moark (multimodal)',
  baseUrl: 'https://api.moark.com',
});
