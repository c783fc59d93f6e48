import type { Json } from '../core/json.js';
import type { UpstreamRow } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { readRows } from './dialects.js';
import { defineProvider, optionalTextSetting, type UpstreamReply } from './provider.js';
import { signForVolcengine } from './signing/volcengine.js';
import { VOLCENGINE_CREDENTIALS, volcengineFault, volcengineMistakes } from './volcengine.js';
import { USUAL } from './self-hosted.js';

/** The data plane names its errors but does not list the names, so they are judged by the words in them. */
const NAMED_FAULTS: readonly (readonly [RegExp, FaultKind])[] = [
  [/unauthor|forbidden|denied|signature|auth|notfound|notexist|arrear|unpaid/i, 'misconfigured'],
  [/ratelimit|quota|throttl|toomany|overload|busy/i, 'busy'],
  [/invalid|missing|param|illegal/i, 'caller'],
  [/timeout/i, 'timeout'],
  [/internal|unavailable|fail/i, 'transient'],
];

function fault(reply: UpstreamReply): FaultKind | undefined {
  const code = reply.json?.maybe('code').optionalString();
  if (code === undefined || /^\d+$/.test(code)) return volcengineFault(reply);
  if (code === 'Success') return undefined;
  const named = NAMED_FAULTS.find(([words]) => words.test(code));
  return named?.[1] ?? (reply.status === 200 ? 'invalid' : undefined);
}

/** One row per document, in their order; but if the `id`s give the position of every row, they take precedence. */
function readScores(reply: Json, documentCount: number): UpstreamRow[] {
  const list = reply.field('result').field('data');
  const rows = readRows(list, 'id', 'score');
  if (rows.length !== documentCount) throw list.mismatch(`a list of ${documentCount} scores`);
  const places = new Set(rows.map(({ index }) => index));
  const told = rows.every(
    ({ index }) => Number.isInteger(index) && index >= 0 && index < rows.length,
  );
  if (told && places.size === rows.length) return rows;
  return rows.map(({ score }, index) => ({ index, score }));
}

/** Reranking by the VikingDB data plane: each document is a list of parts. */
export const vikingdb = defineProvider({
  id: 'vikingdb',
  title: 'Volcengine VikingDB',
  baseUrl: 'https://api-vikingdb.vikingdb.cn-beijing.volces.com',
  path: '/api/vikingdb/rerank',
  credentials: VOLCENGINE_CREDENTIALS,
  settings: {
    region: { type: 'string', default: 'cn-beijing', describe: 'region to sign for' },
    service: { type: 'string', default: 'vikingdb', describe: 'service name to sign for' },
    modelVersion: { type: 'string', describe: 'version of the model, such as 251028' },
  },
  mistakes: volcengineMistakes,
  sign: signForVolcengine,
  body: ({ model, query, documents, options, settings }) => ({
    model_name: model,
    model_version: optionalTextSetting(settings, 'modelVersion'),
    query: [{ text: query }],
    data: documents.texts('[{"text":', '}]'),
    instruction: options.instruction,
  }),
  decode: (reply, { documents }) => ({
    rows: readScores(reply, documents.count),
    usage: {
      inputTokens: reply
        .field('result')
        .maybe('token_usage')
        .maybe('total_tokens')
        .optionalNumber(),
    },
  }),
  fault,
  profile: {
    ...USUAL,
    sorted: false,
    topN: 'unsupported',
    blanks: 'as_space',
  },
  exampleModels: ['doubao-seed-rerank'],
  notes: ['Known from a single adapter: only the scores in result.data are certain.'],
});
