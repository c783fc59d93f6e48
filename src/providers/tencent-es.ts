import { readRows } from './dialects.js';
import { defineProvider } from './provider.js';
import { tencentSigner } from './signing/tencent.js';
import {
  TENCENT_CREDENTIALS,
  TENCENT_SETTINGS,
  tencentFault,
  tencentHeaders,
} from './tencent-lkeap.js';
import { USUAL } from './self-hosted.js';

/** Reranking by Tencent's Elasticsearch service; any member of its reply may be null. */
export const tencentEs = defineProvider({
  id: 'tencent-es',
  title: 'Tencent Elasticsearch AI',
  baseUrl: 'https://es.tencentcloudapi.com',
  path: '/',
  credentials: TENCENT_CREDENTIALS,
  settings: TENCENT_SETTINGS,
  headers: tencentHeaders('2025-01-01'),
  sign: tencentSigner('es'),
  body: ({ model, query, documents, topN }) => ({
    ModelName: model,
    Query: query,
    Documents: documents.texts(),
    TopN: topN,
    ReturnDocuments: false,
  }),
  decode: (reply) => {
    const response = reply.field('Response');
    return {
      rows: readRows(response.field('Data'), 'Index', 'RelevanceScore', 'null'),
      usage: { inputTokens: response.maybe('Usage').maybe('TotalTokens').optionalNumber() },
    };
  },
  fault: tencentFault,
  profile: {
    ...USUAL,
    echo: 'optional',
    blanks: 'as_space',
    scoreScale: { default: 'unbounded' },
  },
  exampleModels: ['bge-reranker-v2-m3', 'bge-reranker-large'],
  notes: ['Limits, sort order and the range of its scores are not documented.'],
});
