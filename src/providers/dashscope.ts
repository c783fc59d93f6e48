import type { JsonBody } from '../bytes/index.js';
import { faultOfStatus, type FaultKind } from '../core/retry.js';
import { decodeJinaLike, objectsOf, plainBody, readRows, readUsage } from './dialects.js';
import {
  bearer,
  bearerWith,
  defineProvider,
  onlyFor,
  REQUIRED_API_KEY,
  type HttpProvider,
  type ProviderProfile,
  type UpstreamCall,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { USUAL } from './self-hosted.js';

/** The most specific prefix first; the codes are those of both envelopes. */
const CODES: readonly (readonly [match: RegExp, kind: FaultKind])[] = [
  [/^Arrearage|insufficient_quota/i, 'misconfigured'],
  [/^Throttling|limit_requests|rate_limit/i, 'busy'],
  // Its content rules are its own; another provider may accept the request.
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

const headers = bearerWith({ workspace: 'x-dashscope-workspace' });

const IMAGE_MODELS = /-vl-/;

const profile: ProviderProfile = {
  ...USUAL,
  limits: {
    documents: { default: 500, models: [{ match: IMAGE_MODELS, value: 100 }] },
    imageDocuments: { default: 40 },
    requestTokens: { default: 120_000, models: [{ match: /^gte-rerank/, value: 30_000 }] },
    pairTokens: { default: 4_000, models: [{ match: IMAGE_MODELS, value: 8_000 }] },
    documentCharacters: 300_000,
  },
  echo: 'optional',
  documents: { objects: false, images: onlyFor(IMAGE_MODELS) },
};

const native = {
  path: '/api/v1/services/rerank/text-rerank/text-rerank',
  credentials: REQUIRED_API_KEY,
  settings,
  headers,
  body: ({ model, query, documents, topN, options }) => ({
    model,
    input: {
      query,
      documents: documents.images !== 'none' ? objectsOf(documents) : documents.texts(),
    },
    // A call without `parameters` is refused; their content does not matter.
    parameters: { top_n: topN, return_documents: false, instruct: options.instruction },
  }),
  decode: (reply) => ({
    rows: readRows(reply.field('output').field('results'), 'index', 'relevance_score'),
    usage: readUsage(reply),
  }),
  fault,
  profile,
  exampleModels: ['qwen3-rerank', 'gte-rerank-v2', 'qwen3-vl-rerank'],
} as const satisfies Partial<HttpProvider>;

function compatibleBody(call: UpstreamCall): JsonBody {
  return { ...plainBody(call), instruct: call.options.instruction };
}

const compatible = {
  path: '/compatible-api/v1/reranks',
  credentials: REQUIRED_API_KEY,
  settings,
  headers,
  body: compatibleBody,
  decode: decodeJinaLike,
  fault,
  profile: { ...profile, documents: { objects: false, images: { default: false } } },
  exampleModels: ['qwen3-rerank', 'qwen3.7-text-rerank'],
  notes: [
    'The path is compatible-api/v1/reranks, in the plural: compatible-mode does not have a rerank.',
  ],
} as const satisfies Partial<HttpProvider>;

const BEIJING_URL = 'https://dashscope.aliyuncs.com';
const SINGAPORE_URL = 'https://dashscope-intl.aliyuncs.com';
const VIRGINIA_URL = 'https://dashscope-us.aliyuncs.com';
const WORKSPACE_URL = 'https://{workspace}.{region}.maas.aliyuncs.com';

/** For a workspace's own host, whose name contains the workspace id. */
const workspaceHost = {
  baseUrl: WORKSPACE_URL,
  settings: {
    workspace: {
      type: 'string',
      required: true,
      describe: 'workspace id, the first part of its host',
    },
    region: {
      type: 'string',
      default: 'cn-beijing',
      describe: 'region of the workspace: cn-beijing or ap-southeast-1',
    },
  },
  headers: bearer,
} as const satisfies Partial<HttpProvider>;

const SHARED_HOST =
  'The shared host is now called legacy: a workspace has its own host with more throughput (dashscope-workspace, dashscope-compatible-workspace).';
const SINGAPORE_MODELS = 'The list of models has only qwen3-rerank for Singapore.';
const US_MODELS =
  'The list of models has none for the United States: it is not known whether any is served.';
const WORKSPACE_NOTE =
  'gte-rerank-v2 and qwen3-vl-rerank are only in Beijing. Hong Kong has the host cn-hongkong.dashscope.aliyuncs.com, as a base URL of dashscope.';

/** Alibaba Model Studio in its own dialect, nested under `input` and `parameters`. Keys belong to one region. */
export const dashscope = defineProvider({
  ...native,
  id: 'dashscope',
  title: 'Alibaba DashScope (Beijing)',
  baseUrl: BEIJING_URL,
  notes: [SHARED_HOST],
});

export const dashscopeInternational = defineProvider({
  ...native,
  id: 'dashscope-international',
  title: 'Alibaba DashScope (Singapore)',
  baseUrl: SINGAPORE_URL,
  exampleModels: ['qwen3-rerank'],
  notes: [SHARED_HOST, SINGAPORE_MODELS],
});

export const dashscopeUs = defineProvider({
  ...native,
  id: 'dashscope-us',
  title: 'Alibaba DashScope (United States)',
  baseUrl: VIRGINIA_URL,
  exampleModels: ['qwen3-rerank'],
  notes: [US_MODELS],
});

/** The host that the documentation recommends: one per workspace. */
export const dashscopeWorkspace = defineProvider({
  ...native,
  ...workspaceHost,
  id: 'dashscope-workspace',
  title: 'Alibaba DashScope (a workspace’s host)',
  notes: [WORKSPACE_NOTE],
});

/** The same models in a flat dialect. */
export const dashscopeCompatible = defineProvider({
  ...compatible,
  id: 'dashscope-compatible',
  title: 'Alibaba DashScope, compatible (Beijing)',
  baseUrl: BEIJING_URL,
  notes: [...compatible.notes, SHARED_HOST],
});

export const dashscopeCompatibleInternational = defineProvider({
  ...compatible,
  id: 'dashscope-compatible-international',
  title: 'Alibaba DashScope, compatible (Singapore)',
  baseUrl: SINGAPORE_URL,
  exampleModels: ['qwen3-rerank'],
  notes: [...compatible.notes, SHARED_HOST, SINGAPORE_MODELS],
});

export const dashscopeCompatibleUs = defineProvider({
  ...compatible,
  id: 'dashscope-compatible-us',
  title: 'Alibaba DashScope, compatible (United States)',
  baseUrl: VIRGINIA_URL,
  exampleModels: ['qwen3-rerank'],
  notes: [...compatible.notes, US_MODELS],
});

export const dashscopeCompatibleWorkspace = defineProvider({
  ...compatible,
  ...workspaceHost,
  id: 'dashscope-compatible-workspace',
  title: 'Alibaba DashScope, compatible (a workspace’s host)',
  notes: [...compatible.notes, WORKSPACE_NOTE],
});
