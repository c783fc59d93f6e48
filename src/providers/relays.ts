import type { JsonBody } from '../bytes/index.js';
import type { FaultKind } from '../core/retry.js';
import { cohere } from './cohere.js';
import { decodeJinaLike, jinaLikeBody, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  REQUIRED_API_KEY,
  type Declaration,
  type HttpProvider,
  type Provider,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { siliconflowBody } from './siliconflow.js';

const NO_MODEL = /model_not_found|no available channel|无可用渠道|model .*(not found|not exist)/i;
const NO_BALANCE =
  /insufficient.*(quota|balance)|quota.*(exhausted|exceeded|not enough)|余额|额度不足/i;

/** Most run relay software that reports an unknown model with 503 and an empty account with 403 or 429. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  // To ask for the text decodes all of it.
  if (reply.status < 400) return undefined;
  const { json } = reply;
  const error = json?.maybe('error');
  const code = error?.maybe('code').optionalString() ?? '';
  const words = `${code} ${error?.maybe('message').optionalString() ?? reply.text}`;
  return NO_MODEL.test(words) || NO_BALANCE.test(words) ? 'misconfigured' : undefined;
}

const dialect = {
  path: '/v1/rerank',
  credentials: REQUIRED_API_KEY,
  decode: decodeJinaLike,
  fault,
} as const satisfies Partial<HttpProvider>;

/** Hosts that document the members of the most common form, including the echo flag. */
const jinaLike = {
  ...dialect,
  body: jinaLikeBody,
  profile: { ...HOSTED, echo: 'optional' },
  exampleModels: ['bge-reranker-v2-m3'],
} as const satisfies Partial<HttpProvider>;

/** Hosts without a known echo flag. */
const plain = {
  ...dialect,
  body: plainBody,
  profile: HOSTED,
  exampleModels: ['bge-reranker-v2-m3'],
} as const satisfies Partial<HttpProvider>;

const RELAY = 'A relay: scores and limits are those of the provider behind the model.';

/** Not known to take a number of rows. */
const huawei = {
  ...plain,
  body: ({ model, query, documents }: UpstreamCall): JsonBody => ({
    model,
    query,
    documents: documents.texts(),
  }),
  profile: { ...HOSTED, topN: 'unsupported' },
} as const satisfies Partial<HttpProvider>;

/** Hosts that have adopted SiliconFlow's members: chunk limits for some models and instructions for others. */
const siliconflowLike = {
  ...dialect,
  body: siliconflowBody,
  profile: { ...HOSTED, echo: 'optional' },
  exampleModels: ['BAAI/bge-reranker-v2-m3'],
} as const satisfies Partial<HttpProvider>;

const HOSTS: readonly Declaration<HttpProvider>[] = [
  {
    ...huawei,
    id: 'huawei-maas',
    title: 'Huawei Cloud MaaS',
    baseUrl: 'https://api.modelarts-maas.com',
  },
  {
    ...huawei,
    id: 'huawei-maas-singapore',
    title: 'Huawei Cloud MaaS (Singapore)',
    baseUrl: 'https://api-ap-southeast-1.modelarts-maas.com',
  },
  // UCloud's model platform, also sold as Astraflow.
  {
    ...plain,
    id: 'ucloud-modelverse',
    title: 'UCloud Modelverse',
    baseUrl: 'https://api.modelverse.cn',
  },
  {
    ...plain,
    id: 'qiniu',
    title: 'Qiniu AI',
    baseUrl: 'https://api.qnaigc.com',
    notes: ['The host is the one of its chat API; that rerank is on it is not documented.'],
  },
  { ...plain, id: 'fpt-cloud', title: 'FPT Cloud', baseUrl: 'https://mkp-api.fptcloud.com' },
  // APIYI: an unknown model causes a 503.
  { ...plain, id: 'apiyi', title: 'APIYI', baseUrl: 'https://api.apiyi.com', notes: [RELAY] },
  // 302.AI, on the route with Jina's form.
  {
    ...jinaLike,
    id: '302ai',
    title: '302.AI',
    baseUrl: 'https://api.302.ai',
    path: '/jina/v1/rerank',
    exampleModels: ['jina-reranker-v2-base-multilingual'],
    notes: [RELAY],
  },
  {
    ...jinaLike,
    id: 'aihubmix',
    title: 'AiHubMix',
    baseUrl: 'https://aihubmix.com',
    exampleModels: ['jina-reranker-v2-base-multilingual'],
    notes: [RELAY],
  },
  {
    ...jinaLike,
    id: 'greenpt',
    title: 'GreenPT',
    baseUrl: 'https://api.greenpt.ai',
    exampleModels: ['green-rerank'],
  },
  { ...jinaLike, id: 'n1n', title: 'n1n', baseUrl: 'https://api.n1n.ai', notes: [RELAY] },
  {
    ...jinaLike,
    id: 'ragcon',
    title: 'Ragcon',
    baseUrl: 'https://connect.ragcon.com',
    notes: [RELAY],
  },
  {
    ...jinaLike,
    id: 'futurmix',
    title: 'FuturMix',
    baseUrl: 'https://futurmix.ai',
    notes: [RELAY],
  },
  // MWS: Cohere's second API under its own path, with the same refusals.
  {
    ...dialect,
    id: 'mws',
    title: 'MWS',
    baseUrl: 'https://api.gpt.mws.ru',
    path: '/cohere/v2/rerank',
    body: cohere.body,
    fault: (reply) => cohere.fault?.(reply) ?? fault(reply),
    profile: { ...HOSTED, blanks: 'as_space' },
    exampleModels: ['bge-reranker-v2-m3'],
    notes: ['The host is the one of its chat API; set a base URL where yours is another.'],
  },
  {
    ...jinaLike,
    id: 'matrixorigin',
    title: 'MatrixOrigin Genesis',
    baseUrl: 'https://token.moi.matrixorigin.cn',
  },
  // QingCloud's CoresHub: short lists of short texts, none of them empty.
  {
    ...plain,
    id: 'coreshub',
    title: 'QingCloud CoresHub',
    baseUrl: 'https://openapi.coreshub.cn',
    profile: {
      ...HOSTED,
      limits: { documents: { default: 64 }, documentCharacters: 4_096, queryCharacters: 1_600 },
      echo: 'always',
      blanks: 'refused',
    },
  },
  // AIPing, which routes between providers.
  {
    ...plain,
    id: 'aiping',
    title: 'AIPing',
    baseUrl: 'https://aiping.cn',
    path: '/api/v1/rerank',
    exampleModels: ['Qwen3-Reranker-8B'],
    notes: [RELAY, 'Its own choice of providers (extra_body.provider) is left to its defaults.'],
  },
  {
    ...siliconflowLike,
    id: 'rongcloud',
    title: 'RongCloud',
    baseUrl: 'https://ai.rong-api.com',
    path: '/llm/v1/rerank',
    notes: [RELAY, 'North America has the host ai.us-light-api.com: set the base URL.'],
  },
  {
    ...siliconflowLike,
    id: 'dmxapi',
    title: 'DMXAPI',
    baseUrl: 'https://www.dmxapi.cn',
    notes: [RELAY],
  },
  // Beijing's supercomputing centre.
  {
    ...plain,
    id: 'blsc',
    title: 'BLSC',
    baseUrl: 'https://llmapi.blsc.cn',
    path: '/v1/p002/rerank',
    profile: { ...HOSTED, limits: { pairTokens: { default: 4_000 } } },
    exampleModels: ['GLM-Rerank'],
  },
  // LemonData: an echo is a plain string.
  {
    ...jinaLike,
    id: 'lemondata',
    title: 'LemonData',
    exampleModels: ['rerank-v3.5'],
    notes: [
      RELAY,
      'Its models: GET /v1/models?recommended_for=rerank.',
      'Its page on reranking names only the path: the base URL is that of your account.',
    ],
  },
];

/** Hosts and relays that differ in little more than their address. */
export const RELAYS: readonly Provider[] = HOSTS.map((host) => defineProvider(host));
