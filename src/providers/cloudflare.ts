import type { Json } from '../core/json.js';
import type { UpstreamRanking } from '../core/rerank.js';
import type { FaultKind } from '../core/retry.js';
import { objectsOf, readRows, readUsage } from './dialects.js';
import { HOSTED } from './hosted.js';
import {
  bearer,
  bearerWith,
  defineProvider,
  textSetting,
  type HttpProvider,
  type SettingSpec,
  type UpstreamReply,
} from './provider.js';

const API_TOKEN = {
  apiKey: { required: true, describe: 'API token with the permission Workers AI' },
} as const;

const ACCOUNT: SettingSpec = { type: 'string', required: true, describe: 'account id' };

const FAULTS: ReadonlyMap<number, FaultKind> = new Map([
  [3006, 'limit'],
  [3007, 'timeout'],
  [3008, 'timeout'],
  [3023, 'misconfigured'],
  // The day's free allocation is used up, which is reported like a rate limit.
  [3036, 'misconfigured'],
  [3039, 'misconfigured'],
  [3040, 'busy'],
  [3041, 'misconfigured'],
  [3042, 'misconfigured'],
  [5005, 'misconfigured'],
  [5007, 'misconfigured'],
  [5016, 'misconfigured'],
  [5018, 'misconfigured'],
  [5019, 'misconfigured'],
  [7000, 'misconfigured'],
  [7003, 'misconfigured'],
  [10_000, 'misconfigured'],
]);

/** Judges by the first error's code; a refusal usually has a matching status, but may come with 200. */
function fault({ status, json }: UpstreamReply): FaultKind | undefined {
  const errors = json?.maybe('errors');
  const first = errors?.isArray() === true ? errors.item(0) : undefined;
  const code = first?.maybe('code').optionalNumber();
  const kind = code === undefined ? undefined : FAULTS.get(code);
  const refused = json?.maybe('success').value === false;
  return kind ?? (refused && status < 300 ? 'invalid' : undefined);
}

/** The result is in an envelope, unless a gateway before Workers AI removed it. A row's `id` is its index. */
function decode(reply: Json): UpstreamRanking {
  const result = reply.maybe('result').isObject() ? reply.field('result') : reply;
  return { rows: readRows(result.field('response'), 'id', 'score'), usage: readUsage(result) };
}

/** A model's name with its `@` and slashes unescaped. */
function modelPath(model: string): string {
  return model
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/^%40/, '@'))
    .join('/');
}

const dialect = {
  body: ({ query, documents, topN }) => ({
    query,
    contexts: objectsOf(documents),
    top_k: topN,
  }),
  decode,
  fault,
  profile: {
    ...HOSTED,
    scoreScale: { default: 'logit' },
    ranking: { default: 'pointwise' },
    billing: 'compute',
  },
  exampleModels: ['@cf/baai/bge-reranker-base'],
} as const satisfies Partial<HttpProvider>;

const SCALE =
  'Scores are treated as logits, as one source says; others show small positive numbers. They are passed on as they are unless the channel asks for normalized scores.';

/** Cloudflare Workers AI: `contexts` in, `id` and `score` out. */
export const cloudflare = defineProvider({
  ...dialect,
  id: 'cloudflare',
  title: 'Cloudflare Workers AI',
  baseUrl: 'https://api.cloudflare.com',
  chatPath: '/ai/v1',
  path: ({ model, settings }) =>
    `/client/v4/accounts/${encodeURIComponent(textSetting(settings, 'accountId'))}/ai/run/${modelPath(model)}`,
  credentials: API_TOKEN,
  settings: {
    accountId: ACCOUNT,
    gatewayId: {
      type: 'string',
      default: '',
      describe: 'AI Gateway that the request is routed through; empty: none',
    },
  },
  headers: bearerWith({ gatewayId: 'cf-aig-gateway-id' }),
  notes: [SCALE],
});

/** Workers AI behind an AI Gateway's own address. */
export const cloudflareGateway = defineProvider({
  ...dialect,
  id: 'cloudflare-gateway',
  title: 'Cloudflare AI Gateway (Workers AI)',
  baseUrl: 'https://gateway.ai.cloudflare.com',
  path: ({ model, settings }) =>
    `/v1/${encodeURIComponent(textSetting(settings, 'accountId'))}/${encodeURIComponent(textSetting(settings, 'gatewayId'))}/workers-ai/${modelPath(model)}`,
  credentials: {
    ...API_TOKEN,
    gatewayToken: {
      required: false,
      describe: 'token of a gateway with authentication, sent as cf-aig-authorization',
    },
  },
  settings: {
    accountId: ACCOUNT,
    gatewayId: { type: 'string', required: true, describe: 'name of the gateway' },
  },
  headers: (endpoint) => {
    const token = endpoint.credentials.gatewayToken;
    return {
      ...bearer(endpoint),
      ...(token === undefined ? {} : { 'cf-aig-authorization': `Bearer ${token.reveal()}` }),
    };
  },
  notes: [SCALE],
});
