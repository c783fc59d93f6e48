import type { FaultKind } from '../core/retry.js';
import { readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY, textSetting, type UpstreamReply } from './provider.js';

/** By the code in the body; other errors are judged by their status. */
const CODES: readonly (readonly [match: RegExp, kind: FaultKind])[] = [
  [/throttl|ratelimit|rate_limit|QpsLimit/i, 'busy'],
  [/apikey|accessdenied|forbidden|notfound|notexist/i, 'misconfigured'],
  [/toolong|toolarge|exceed/i, 'limit'],
];

function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  const code = json?.maybe('code').optionalString() ?? '';
  const kind = CODES.find(([match]) => match.test(code))?.[1];
  // A rate is exceeded too.
  return kind === 'limit' && status === 429 ? 'busy' : kind;
}

/** Alibaba's AI Search Open Platform, a different product from Model Studio: the model is a service in the path. */
export const aliyunOpensearch = defineProvider({
  id: 'aliyun-opensearch',
  title: 'Alibaba Cloud OpenSearch (AI Search)',
  path: ({ model, settings }) =>
    `/v3/openapi/workspaces/${encodeURIComponent(textSetting(settings, 'workspace'))}/ranker/${encodeURIComponent(model)}`,
  credentials: REQUIRED_API_KEY,
  settings: {
    workspace: { type: 'string', default: 'default', describe: 'name of the workspace' },
  },
  body: ({ query, documents }) => ({ query, docs: documents.texts() }),
  decode: (reply) => {
    const usage = reply.maybe('usage');
    return {
      rows: readRows(reply.field('result').field('scores'), 'index', 'score'),
      usage: {
        inputTokens: readUsage(reply).inputTokens ?? usage.maybe('token_count').optionalNumber(),
      },
    };
  },
  fault,
  profile: {
    ...HOSTED,
    limits: {
      bodyBytes: 8_000_000,
      pairTokens: { default: 512, models: [{ match: /qwen3/, value: 32_000 }] },
    },
    sorted: false,
    topN: 'unsupported',
    scoreScale: { default: 'unbounded' },
    billing: 'requests',
  },
  exampleModels: ['ops-bge-reranker-larger', 'ops-text-reranker-001', 'ops-qwen3-reranker-0.6b'],
  notes: [
    'The base URL is the address that the console shows, public or of a VPC.',
    'An account has 20 requests a second.',
  ],
});
