import type { FaultKind } from '../core/retry.js';
import { readPositional } from './dialects.js';
import {
  defineProvider,
  textSetting,
  type CredentialSpec,
  type Endpoint,
  type SettingSpec,
  type UpstreamReply,
} from './provider.js';
import { readErrorMessage } from './reply.js';
import { tencentSigner } from './signing/tencent.js';
import { USUAL } from './self-hosted.js';

export const TENCENT_CREDENTIALS = {
  secretId: { required: true, describe: 'SecretId of an API key' },
  secretKey: { required: true, describe: 'SecretKey of an API key' },
  token: { required: false, describe: 'token of temporary credentials' },
} as const satisfies Record<string, CredentialSpec>;

export const TENCENT_SETTINGS = {
  region: { type: 'string', default: 'ap-guangzhou', describe: 'region, sent as X-TC-Region' },
} as const satisfies Record<string, SettingSpec>;

/** The action is in the headers: all of Tencent's API 3.0 has the same path. */
export function tencentHeaders(version: string) {
  return ({ settings }: Endpoint): Record<string, string> => ({
    'x-tc-action': 'RunRerank',
    'x-tc-version': version,
    'x-tc-region': textSetting(settings, 'region'),
  });
}

/** Beginnings of error codes; the first that matches decides. */
const FAULTS: readonly (readonly [string, FaultKind])[] = [
  ['AuthFailure', 'misconfigured'],
  ['UnauthorizedOperation', 'misconfigured'],
  ['OperationDenied', 'misconfigured'],
  ['InvalidAction', 'misconfigured'],
  ['NoSuch', 'misconfigured'],
  ['Unsupported', 'misconfigured'],
  ['ResourceNotFound', 'misconfigured'],
  ['RequestSizeLimitExceeded', 'limit'],
  ['RequestLimitExceeded', 'busy'],
  ['LimitExceeded', 'busy'],
  ['ResourceInsufficient', 'busy'],
  ['Invalid', 'caller'],
  ['Missing', 'caller'],
  ['Unknown', 'caller'],
  ['RequestTimeout', 'timeout'],
  ['ResourceUnavailable', 'transient'],
  ['FailedOperation', 'transient'],
  ['InternalError', 'transient'],
];

const OUT_OF_CREDIT = /arrears|balance|credit/i;
const TOO_MUCH = /length|exceed|too (long|many|large)|超/i;

/** Errors come with status 200, in `Response.Error`. */
export function tencentFault(reply: UpstreamReply): FaultKind | undefined {
  const error = reply.json?.maybe('Response').maybe('Error');
  if (error?.isObject() !== true) return undefined;
  const code = error.maybe('Code').optionalString() ?? '';
  if (code.startsWith('FailedOperation') && OUT_OF_CREDIT.test(code)) return 'misconfigured';
  if (code === 'InvalidParameterValue' && TOO_MUCH.test(readErrorMessage(reply))) return 'limit';
  return FAULTS.find(([start]) => code.startsWith(start))?.[1] ?? 'transient';
}

/** Reranking by Tencent's knowledge engine: scores by position, and room for only two thousand characters. */
export const tencentLkeap = defineProvider({
  id: 'tencent-lkeap',
  title: 'Tencent LKEAP',
  baseUrl: 'https://lkeap.tencentcloudapi.com',
  path: '/',
  credentials: TENCENT_CREDENTIALS,
  settings: TENCENT_SETTINGS,
  headers: tencentHeaders('2024-05-22'),
  sign: tencentSigner('lkeap'),
  body: ({ model, query, documents }) => ({
    Query: query,
    Docs: documents.texts(),
    Model: model,
  }),
  decode: (reply, { documents }) => {
    const response = reply.field('Response');
    return {
      rows: readPositional(response.field('ScoreList'), documents.count),
      usage: { inputTokens: response.maybe('Usage').maybe('TotalTokens').optionalNumber() },
    };
  },
  fault: tencentFault,
  profile: {
    ...USUAL,
    limits: { documents: { default: 60 }, requestCharacters: 2_000 },
    truncates: false,
    sorted: false,
    topN: 'unsupported',
    blanks: 'as_space',
    scoreScale: { default: 'unbounded' },
  },
  exampleModels: ['lke-reranker-base'],
  notes: [
    'Query and documents together may have 2 000 characters: unfit for long passages.',
    'The range of its scores is not documented.',
  ],
});
