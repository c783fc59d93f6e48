import type { Json } from '../core/json.js';
import type { UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import {
  defineProvider,
  OPTIONAL_API_KEY,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { SELF_HOSTED } from './self-hosted.js';

/** The envelope states the outcome. */
function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  const outcome = json?.maybe('status').optionalString();
  if (outcome === 'validation_error') return 'caller';
  if (outcome === 'provider_error') return 'transient';
  return status === 200 && outcome !== undefined && outcome !== 'success' ? 'invalid' : undefined;
}

/**
 * Listwise models do not score: the n-th row gets whatever score the n-th candidate was sent with. So candidates are sent
 * with descending scores, and rows that still have exactly those, or all the same score, state only an order.
 */
function decode(reply: Json, { documents }: UpstreamCall): UpstreamRanking {
  const artifact = reply.field('artifacts').item(0);
  const rows = readRows(
    artifact.field('value').item(0).field('candidates'),
    'docid',
    'score',
    'absent',
  );
  const [first] = rows;
  const inherited = rows.every(({ score }, at) => score === documents.count - at);
  const equal =
    rows.every(({ score }) => score === first?.score) && (rows.length > 1 || first?.score === 0);
  return { rows, orderOnly: inherited || equal };
}

/** RankLLM's server: its own envelope, and often an order without scores. */
export const rankllm = defineProvider({
  id: 'rankllm',
  title: 'RankLLM',
  path: '/v1/rerank',
  credentials: OPTIONAL_API_KEY,
  // Strings would be numbered from 1; explicit ids number the candidates as in the caller's list.
  body: ({ query, documents, topN }) => ({
    query: { text: query },
    candidates: documents.texts(
      (index) => `{"docid":"${index}","score":${documents.count - index},"text":`,
      '}',
    ),
    overrides: { top_k_rerank: topN },
  }),
  decode,
  fault,
  profile: {
    ...SELF_HOSTED,
    echo: 'always',
    scoreScale: { default: 'unbounded' },
    ranking: { default: 'listwise' },
  },
  exampleModels: ['castorini/rank_zephyr_7b_v1_full'],
  notes: [
    'The server was started with its model and reads no name.',
    'A request is several passes of a language model and may take minutes: give the channel a generous timeout.',
  ],
});
