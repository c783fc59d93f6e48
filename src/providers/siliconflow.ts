import type { FaultKind } from '../core/retry.js';
import type { ReportedUsage } from '../core/rerank.js';
import type { Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import { readMeta, readRows } from './dialects.js';
import {
  defineProvider,
  REQUIRED_API_KEY,
  type HttpProvider,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { USUAL } from './self-hosted.js';

const OVERLOADED = 50_505;
const UNKNOWN_MODEL = /no such model|model does not exist|model disabled/i;

function fault(reply: UpstreamReply): FaultKind | undefined {
  if (reply.status < 400) return undefined;
  if (reply.json?.maybe('code').optionalNumber() === OVERLOADED) return 'busy';
  return reply.status === 400 && UNKNOWN_MODEL.test(readErrorMessage(reply))
    ? 'misconfigured'
    : undefined;
}

/** Only the older models take chunking, and only Qwen3 takes instructions; each refuses the other's members. */
function modelOptions({
  model,
  options,
}: UpstreamCall): Record<string, string | number | undefined> {
  if (/qwen3/i.test(model)) return { instruction: options.instruction };
  if (!/bge|bce/i.test(model)) return {};
  return { max_chunks_per_doc: options.maxChunksPerDoc, overlap_tokens: options.overlapTokens };
}

/** Tokens are in `meta`, or in older replies in the member `tokens`. */
function usage(reply: Json): ReportedUsage {
  const meta = readMeta(reply);
  return {
    inputTokens: meta.inputTokens ?? reply.maybe('tokens').maybe('input_tokens').optionalNumber(),
  };
}

/** The request, which several other hosts have adopted. */
export function siliconflowBody(call: UpstreamCall): JsonBody {
  return {
    model: call.model,
    query: call.query,
    documents: call.documents.texts(),
    top_n: call.topN,
    return_documents: false,
    ...modelOptions(call),
  };
}

const dialect = {
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  body: siliconflowBody,
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: usage(reply),
  }),
  fault,
  profile: {
    ...USUAL,
    echo: 'optional',
  },
  notes: [
    'Images are not sent: whether a Qwen3-VL reranker is served, and in what form, is not documented.',
  ],
} as const satisfies Partial<HttpProvider>;

/** SiliconFlow in China. */
export const siliconflow = defineProvider({
  ...dialect,
  id: 'siliconflow',
  title: 'SiliconFlow',
  baseUrl: 'https://api.siliconflow.cn',
  exampleModels: ['BAAI/bge-reranker-v2-m3', 'Qwen/Qwen3-Reranker-8B'],
});

/** SiliconFlow outside China: separate keys, Qwen3 models only. */
export const siliconflowInternational = defineProvider({
  ...dialect,
  id: 'siliconflow-international',
  title: 'SiliconFlow (international)',
  baseUrl: 'https://api.siliconflow.com',
  exampleModels: ['Qwen/Qwen3-Reranker-8B', 'Qwen/Qwen3-Reranker-0.6B'],
});
