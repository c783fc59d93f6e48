import type { JsonBody } from '../core/json.js';
import { faultOfStatus, type FaultKind } from '../core/retry.js';
import { readRows, readUsage } from './dialects.js';
import {
  bearer,
  defineProvider,
  optionalTextSetting,
  REQUIRED_API_KEY,
  type Endpoint,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';

/** The most telling prefix first; codes are those of both envelopes. */
const CODES: readonly (readonly [match: RegExp, kind: FaultKind])[] = [
  [/^Arrearage|insufficient_quota/i, 'misconfigured'],
  [/^Throttling|limit_requests|rate_limit/i, 'busy'],
  // What it will not look at is its own rule; another provider may take it.
  [/^DataInspectionFailed|data_inspection_failed/i, 'limit'],
  [/api_?key|AccessDenied|ModelNotFound|model_not_found/i, 'misconfigured'],
  [/^BadRequest\.Empty|^InvalidURL|^UnsupportedOperation/i, 'misconfigured'],
  [/Unavailable$/i, 'busy'],
  [/^InternalError/i, 'transient'],
];

const DOCUMENT_REFUSED = /document index:\s*\d+ is invalid|batch size is invalid/i;

/** Judges by the code, which says more than the status: an unpaid account is a 400. An empty code is a success. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  const code = errorCode(reply);
  if (code === '') return undefined;
  const known = CODES.find(([match]) => match.test(code))?.[1];
  if (known !== undefined) return known;
  if (DOCUMENT_REFUSED.test(readErrorMessage(reply))) return 'limit';
  return faultOfStatus(reply.status);
}

function errorCode({ json }: UpstreamReply): string {
  const own = json?.maybe('code').optionalString() ?? '';
  return own === '' ? (json?.maybe('error').maybe('code').optionalString() ?? '') : own;
}

const settings = {
  workspace: {
    type: 'string',
    describe: 'workspace id, sent as X-DashScope-WorkSpace; unset: the default workspace',
  },
} as const;

function headers(endpoint: Endpoint): Record<string, string> {
  const workspace = optionalTextSetting(endpoint.settings, 'workspace');
  return {
    ...bearer(endpoint),
    ...(workspace === undefined ? {} : { 'x-dashscope-workspace': workspace }),
  };
}

const IMAGE_MODELS = /-vl-/;

function profile(requestTokens: number): ProviderProfile {
  return {
    limits: {
      documents: { default: 500, models: [{ match: IMAGE_MODELS, value: 100 }] },
      requestTokens: { default: requestTokens, models: [{ match: IMAGE_MODELS, value: 800_000 }] },
      pairTokens: { default: 4_000, models: [{ match: IMAGE_MODELS, value: 8_000 }] },
      documentCharacters: 300_000,
    },
    truncates: true,
    sorted: true,
    topN: 'honoured',
    echo: 'optional',
    documents: {
      objects: false,
      images: { default: false, models: [{ match: IMAGE_MODELS, value: true }] },
    },
    blanks: 'accepted',
    scoreScale: { default: 'probability' },
    ranking: { default: 'pointwise' },
    billing: 'tokens',
  };
}

const CHINA = profile(30_000);
const INTERNATIONAL = profile(120_000);

const native = {
  path: '/api/v1/services/rerank/text-rerank/text-rerank',
  credentials: REQUIRED_API_KEY,
  settings,
  headers,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    input: { query, documents: documents.hasImages ? documents.objects() : documents.texts() },
    // A call without `parameters` is refused, whatever is in them.
    parameters: { top_n: topN, return_documents: false, instruct: options.instruction },
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('output').field('results'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  fault,
  exampleModels: ['qwen3-rerank', 'gte-rerank-v2', 'qwen3-vl-rerank'],
} as const satisfies Partial<HttpProvider>;

function compatibleBody({ model, query, documents, topN, options }: UpstreamCall): JsonBody {
  return {
    model,
    query,
    documents: documents.texts(),
    top_n: topN,
    instruct: options.instruction,
  };
}

function withoutImages(of: ProviderProfile): ProviderProfile {
  return { ...of, documents: { objects: false, images: { default: false } } };
}

const compatible = {
  path: '/compatible-api/v1/reranks',
  credentials: REQUIRED_API_KEY,
  settings,
  headers,
  body: compatibleBody,
  decode: (reply) => ({
    rows: readRows(reply.field('results'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  fault,
  exampleModels: ['qwen3-rerank', 'qwen3.7-text-rerank'],
  notes: ['The path is compatible-api, in the plural: below compatible-mode there is no rerank.'],
} as const satisfies Partial<HttpProvider>;

const BEIJING_URL = 'https://dashscope.aliyuncs.com';
const SINGAPORE_URL = 'https://dashscope-intl.aliyuncs.com';
const VIRGINIA_URL = 'https://dashscope-us.aliyuncs.com';

/** Alibaba Model Studio in its own dialect, nested under `input` and `parameters`. Keys belong to one region. */
export const dashscope = defineProvider({
  ...native,
  id: 'dashscope',
  title: 'Alibaba DashScope (Beijing)',
  baseUrl: BEIJING_URL,
  profile: CHINA,
});

export const dashscopeInternational = defineProvider({
  ...native,
  id: 'dashscope-international',
  title: 'Alibaba DashScope (Singapore)',
  baseUrl: SINGAPORE_URL,
  profile: INTERNATIONAL,
});

export const dashscopeUs = defineProvider({
  ...native,
  id: 'dashscope-us',
  title: 'Alibaba DashScope (United States)',
  baseUrl: VIRGINIA_URL,
  profile: INTERNATIONAL,
});

/** The same models in a flat dialect. */
export const dashscopeCompatible = defineProvider({
  ...compatible,
  id: 'dashscope-compatible',
  title: 'Alibaba DashScope, compatible (Beijing)',
  baseUrl: BEIJING_URL,
  profile: withoutImages(CHINA),
});

export const dashscopeCompatibleInternational = defineProvider({
  ...compatible,
  id: 'dashscope-compatible-international',
  title: 'Alibaba DashScope, compatible (Singapore)',
  baseUrl: SINGAPORE_URL,
  profile: withoutImages(INTERNATIONAL),
});

export const dashscopeCompatibleUs = defineProvider({
  ...compatible,
  id: 'dashscope-compatible-us',
  title: 'Alibaba DashScope, compatible (United States)',
  baseUrl: VIRGINIA_URL,
  profile: withoutImages(INTERNATIONAL),
});
