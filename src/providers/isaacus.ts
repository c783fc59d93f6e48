import type { FaultKind } from '../core/retry.js';
import { readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';

const QUERY_TOO_LONG = /too long|longer than/i;
const METHODS = ['auto', 'chunk_max', 'chunk_avg', 'chunk_min'];

/** Errors are problem documents (RFC 7807); the title names the kind. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status < 400) return undefined;
  const title = reply.json?.maybe('title').optionalString() ?? '';
  const message = `${title} ${readErrorMessage(reply)}`;
  if (reply.status === 400 && QUERY_TOO_LONG.test(message)) return 'limit';
  return reply.status === 500 && /time ?out/i.test(message) ? 'timeout' : undefined;
}

/** Isaacus: `texts` in, `score` out; long documents are cut into chunks. */
export const isaacus = defineProvider({
  id: 'isaacus',
  title: 'Isaacus',
  baseUrl: 'https://api.isaacus.com',
  path: '/v1/rerankings',
  credentials: REQUIRED_API_KEY,
  settings: {
    scoringMethod: {
      type: 'string',
      default: '',
      describe: 'auto, chunk_max, chunk_avg or chunk_min; empty leaves it to Isaacus',
    },
  },
  body: ({ model, query, documents, topN, options, settings }) => ({
    model,
    query,
    texts: documents.texts(),
    top_n: topN,
    scoring_method: optionalTextSetting(settings, 'scoringMethod'),
    chunking_options:
      options.overlapTokens === undefined ? undefined : { overlap_tokens: options.overlapTokens },
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'score'),
    usage: readUsage(reply),
  }),
  fault,
  mistakes: ({ settings }) => {
    const method = optionalTextSetting(settings, 'scoringMethod');
    return [
      method !== undefined &&
        !METHODS.includes(method) &&
        `settings.scoring_method must be one of ${METHODS.join(', ')}`,
    ];
  },
  profile: {
    ...HOSTED,
    limits: { queryCharacters: 10_000_000 },
    blanks: 'refused',
  },
  exampleModels: ['kanon-2-reranker', 'kanon-universal-classifier'],
  notes: ['A query that does not fit the model is refused; documents are cut into chunks.'],
});
