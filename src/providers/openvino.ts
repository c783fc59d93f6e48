import { faultByWords, jinaLikeBody, readRows } from './dialects.js';
import { defineProvider, OPTIONAL_API_KEY } from './provider.js';
import { MAX_DOCUMENTS, pathSetting, SELF_HOSTED } from './self-hosted.js';

const WRONG_KEY = /unauthorized request/i;
const TOO_MANY = /exceeds max_allowed_chunks/i;

const route = pathSetting('/v3/rerank');

/** OpenVINO Model Server: replies contain nothing but results. */
export const openvino = defineProvider({
  ...route,
  id: 'openvino',
  title: 'OpenVINO Model Server',
  credentials: OPTIONAL_API_KEY,
  settings: { ...route.settings, ...MAX_DOCUMENTS },
  body: jinaLikeBody,
  decode: (reply) => ({ rows: readRows(reply.field('results'), 'index', 'relevance_score') }),
  // A wrong key causes a 500 in some builds; malformed JSON causes a 412.
  fault: faultByWords(['any', WRONG_KEY, 'misconfigured'], ['any', TOO_MANY, 'limit']),
  profile: {
    ...SELF_HOSTED,
    // Documents are split into chunks, and the limit counts chunks; every document has at least one.
    limits: { documents: { default: 10_000 } },
    truncates: true,
    echo: 'optional',
  },
  exampleModels: ['BAAI/bge-reranker-large'],
  notes: ['The model is the name of the graph.'],
});
