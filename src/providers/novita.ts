import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, plainBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  defineProvider,
  REQUIRED_API_KEY,
  type HttpProvider,
  type UpstreamReply,
} from './provider.js';
import { pathSetting } from './self-hosted.js';

const FAULTS: ReadonlyMap<string, FaultKind> = new Map([
  ['FAILED_TO_AUTH', 'misconfigured'],
  ['INVALID_API_KEY', 'misconfigured'],
  ['NOT_ENOUGH_BALANCE', 'misconfigured'],
  ['ACCESS_DENY', 'misconfigured'],
  ['MODEL_NOT_FOUND', 'misconfigured'],
  ['RATE_LIMIT_EXCEEDED', 'busy'],
  ['TOKEN_LIMIT_EXCEEDED', 'busy'],
  ['SERVICE_NOT_AVAILABLE', 'busy'],
]);

/** The name of an error says more than its status. */
function fault({ json }: UpstreamReply): FaultKind | undefined {
  return FAULTS.get(json?.maybe('reason').optionalString() ?? '');
}

const dialect = {
  ...pathSetting('/openai/v1/rerank'),
  chatPath: '/v3/openai',
  credentials: REQUIRED_API_KEY,
  body: plainBody,
  decode: decodeJinaLike,
  fault,
  profile: {
    ...HOSTED,
    limits: { pairTokens: { default: 32_768, models: [{ match: /bge/i, value: 1_024 }] } },
    echo: 'always',
  },
  exampleModels: ['baai/bge-reranker-v2-m3', 'qwen/qwen3-reranker-8b'],
  notes: ["The vendor in a model's name is in lower case."],
} as const satisfies Partial<HttpProvider>;

/** Novita: documents are returned unasked. */
export const novita = defineProvider({
  ...dialect,
  id: 'novita',
  title: 'Novita AI',
  baseUrl: 'https://api.novita.ai',
});

/** PPIO, Novita's twin in China. */
export const ppio = defineProvider({
  ...dialect,
  id: 'ppio',
  title: 'PPIO',
  baseUrl: 'https://api.ppinfra.com',
});

/** Jiekou, which runs the same software. */
export const jiekou = defineProvider({
  ...dialect,
  id: 'jiekou',
  title: 'Jiekou AI',
  baseUrl: 'https://api.jiekou.ai',
});
