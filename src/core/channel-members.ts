import { BUDGET_MEMBERS } from './budget.js';
import { MAX_QUOTA } from './quota.js';
import { defaultsOf, type MembersOf, type MemberSpec } from './members.js';

/**
 * The plain members of a channel, one row each. Configuration files, store defaults, the API and its document, the command
 * line with `--json`, and the table in docs/configuration.md are generated from it. To add a member, add a row here and the
 * code that reads it.
 */
export const CHANNEL_MEMBERS = {
  /** Higher is tried first. */
  priority: {
    type: 'integer',
    least: Number.MIN_SAFE_INTEGER,
    most: Number.MAX_SAFE_INTEGER,
    default: 0,
    flag: 'priority <number>',
    label: 'priority',
    title: 'Priority',
    hint: 'Higher is tried first.',
    help: 'Higher is tried first.',
  },
  /** Share of the traffic within one priority; 0: used only when nothing else is left. */
  weight: {
    type: 'number',
    least: 0,
    most: 1_000_000,
    default: 1,
    flag: 'weight <number>',
    label: 'weight',
    title: 'Weight',
    hint: 'Its share among equal priorities; 0: only when nothing else is left.',
    help: 'Its share among channels of the same priority; 0: only when no other is left.',
  },
  /** Time limit of one attempt; `undefined`: the gateway's default. */
  timeoutMs: {
    type: 'integer',
    least: 1,
    most: 3_600_000,
    default: undefined,
    flag: 'timeout <ms>',
    label: 'timeout',
    title: 'Timeout of an attempt, in ms',
    hint: 'Empty: the gateway’s.',
    unset: "the gateway's",
    unit: 'ms',
    help: 'How long one attempt may take, instead of the gateway’s attempt_timeout_ms.',
  },
  /** What `costPer` costs the operator there; `undefined`: not known, see `upstreamCost` in `gateway/offer.ts`. */
  cost: {
    type: 'units',
    least: 0,
    most: MAX_QUOTA,
    default: undefined,
    flag: 'cost <amount>',
    label: 'cost',
    title: 'What you pay there, in dollars',
    hint: 'For your margin, and for models whose cheapest channel is tried first. Empty: not counted.',
    unset: "by its model's price",
    help: 'What you pay there for each cost_per, in units: for the margin and the selection cheapest. Without it, cheapest takes nothing for a server that does not bill, otherwise the price of its model for 5 000 tokens.',
  },
  costPer: {
    type: 'choice',
    choices: ['request', 'search_unit', 'million_tokens'],
    default: 'request',
    flag: 'cost-per <what>',
    label: 'cost for each',
    title: 'You pay it for each',
    choiceTitles: {
      request: 'request',
      search_unit: 'search unit: a query with up to 100 documents',
      million_tokens: 'million tokens',
    },
    help: 'What cost is for: each request sent there, each search unit (a query with up to 100 documents) or each million tokens.',
  },
  /** Attempts in flight at once, on all nodes together; 0: no limit. */
  maxConcurrency: {
    type: 'integer',
    least: 0,
    most: 1_000_000,
    default: 0,
    flag: 'max-concurrency <count>',
    label: 'at once',
    title: 'Concurrent requests',
    hint: '0: no limit.',
    unset: 'no bound',
    help: 'Attempts at once, on all nodes together; 0: no limit.',
  },
  /** Calls a minute that the upstream account takes, from all nodes together; 0: no limit. */
  requestsPerMinute: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000,
    default: 0,
    flag: 'requests-per-minute <count>',
    label: 'requests a minute',
    title: 'Requests a minute',
    hint: 'The limit of your account at the provider, for all gateways together. 0: no limit.',
    unset: 'no limit',
    help: 'Calls a minute that its upstream account allows, for all nodes together; 0: no limit.',
  },
  /** Tokens a minute that the upstream account takes, from all nodes together; 0: no limit. */
  tokensPerMinute: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000_000,
    default: 0,
    flag: 'tokens-per-minute <count>',
    label: 'tokens a minute',
    title: 'Tokens a minute',
    hint: 'The limit of your account at the provider, for all gateways together. 0: no limit.',
    unset: 'no limit',
    help: 'Tokens a minute that its upstream account allows, for all nodes together; 0: no limit.',
  },
  /** Whether concurrency adapts to response times, below `maxConcurrency`. */
  adaptiveConcurrency: {
    type: 'boolean',
    default: false,
    flag: 'adaptive-concurrency <true|false>',
    label: 'adaptive',
    title: 'Find out from response times how many concurrent requests it takes',
    help: 'Whether each node works out from response times how many attempts at once the channel can handle; max_concurrency stays the maximum.',
  },
  /** Attempts in flight at once per key, on all nodes together; 0: no limit. */
  keyMaxConcurrency: {
    type: 'integer',
    least: 0,
    most: 1_000_000,
    default: 0,
    flag: 'key-max-concurrency <count>',
    label: 'at once with one key',
    title: 'Concurrent requests with one of several API keys',
    hint: 'From all gateways together. 0: no limit.',
    unset: 'no limit',
    help: 'Attempts at once with each of its API keys, on all nodes together; 0: no limit.',
  },
  /** Calls a minute that the account of each key takes, from all nodes together; 0: no limit. */
  keyRequestsPerMinute: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000,
    default: 0,
    flag: 'key-requests-per-minute <count>',
    label: 'requests a minute with one key',
    title: 'Requests a minute with one of several API keys',
    hint: 'From all gateways together. 0: no limit.',
    unset: 'no limit',
    help: 'Calls a minute with each of its API keys, for all nodes together; 0: no limit.',
  },
  /** Tokens a minute that the account of each key takes, from all nodes together; 0: no limit. */
  keyTokensPerMinute: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000_000,
    default: 0,
    flag: 'key-tokens-per-minute <count>',
    label: 'tokens a minute with one key',
    title: 'Tokens a minute with one of several API keys',
    hint: 'From all gateways together. 0: no limit.',
    unset: 'no limit',
    help: 'Tokens a minute with each of its API keys, for all nodes together; 0: no limit.',
  },
  /** Whether logits become probabilities: `normalized` applies the logistic function. */
  scores: {
    type: 'choice',
    choices: ['raw', 'normalized'],
    default: 'raw',
    flag: 'scores <kind>',
    label: 'scores',
    title: 'Scores',
    choiceTitles: { raw: 'as the provider gives them', normalized: 'as probabilities' },
    help: 'Whether logits become probabilities: normalized puts them through the logistic function.',
  },
  /** Tokens that the model reads of query and document together; `undefined`: what the provider is known to read. */
  pairTokens: {
    type: 'integer',
    least: 16,
    most: 10_000_000,
    default: undefined,
    flag: 'pair-tokens <count>',
    label: 'reads',
    title: 'Tokens of the query and one document together',
    hint: 'As many as its model can read. Empty: what is known of the provider.',
    unset: 'what its provider reads',
    unit: 'tokens',
    help: 'How many tokens of query and document together its model can read, if that differs from what is known about its provider.',
  },
  longDocuments: {
    type: 'choice',
    choices: ['truncate', 'chunk'],
    default: 'truncate',
    flag: 'long-documents <how>',
    label: 'long documents',
    title: 'Documents longer than the model can read',
    choiceTitles: {
      truncate: 'their beginning is ranked',
      chunk: 'the best of their parts is ranked',
    },
    help: 'What happens to documents longer than its model can read: truncate ranks only their beginning, chunk ranks all parts and counts the best.',
  },
  /** Documents per window when a listwise model is shown a long list in parts; `undefined`: lists are not divided. */
  windowSize: {
    type: 'integer',
    least: 2,
    most: 100_000,
    default: undefined,
    flag: 'window-size <count>',
    label: 'window',
    title: 'Documents per window',
    hint: 'For models that compare all documents: longer lists go out in windows of this size.',
    unset: 'none',
    unit: 'documents',
    help: 'Shows longer lists to a model that ranks all documents together, in windows of this size, from the end to the beginning.',
  },
  /** How far the next window is shifted; `undefined`: half a window. */
  windowStride: {
    type: 'integer',
    least: 1,
    most: 99_999,
    default: undefined,
    flag: 'window-stride <count>',
    label: 'next window',
    title: 'Documents to the next window',
    hint: 'Empty: half a window.',
    unset: 'half a window on',
    unit: 'documents on',
    help: 'How far apart windows begin, less than window_size; half of it by default.',
  },
  /**
   * Whether a request that the upstream may have served may be sent again, at the risk of paying for it twice. Servers that
   * do not bill get it again in any case.
   */
  retryUnsafe: {
    type: 'boolean',
    default: false,
    flag: 'retry-unsafe <true|false>',
    label: 'retry unsafe',
    title: 'Retry what the provider may have served already: it may charge twice',
    help: 'Whether a request that was sent in full is sent again after its connection broke; it may be paid for twice. Servers that do not bill always get it again.',
  },
  /** Seconds between health checks; 0: none; `undefined`: see `healthCheckMs` in `core/health-check.ts`. */
  healthCheckS: {
    type: 'integer',
    least: 0,
    most: 86_400,
    default: undefined,
    flag: 'health-check <seconds>',
    label: 'health check',
    title: 'Seconds between health checks',
    hint: 'Each ranks two short documents. 0: none. Empty: as suits its provider.',
    unset: "the provider's",
    unit: 's',
    help: 'Seconds between health checks, each a rerank of two short documents, made by one node for all; 0: none. By default, model servers of your own (TEI, Infinity, vLLM, SGLang, NIM, OpenVINO, Mosec) are checked every 60 s, and nothing else is.',
  },
  budget: BUDGET_MEMBERS.budget,
  /** Whose budget it is: the channel's own, or one for all channels of its tag. */
  budgetScope: {
    type: 'choice',
    choices: ['channel', 'tag'],
    default: 'channel',
    flag: 'budget-scope <scope>',
    label: 'budget of',
    title: 'The budget is',
    choiceTitles: { channel: 'for this channel alone', tag: 'shared by all channels with its tag' },
    help: 'Whether the budget is for this channel alone or shared by all channels with its tag, whichever of them declares it; if they declare different amounts, the lowest counts.',
  },
  budgetPeriod: BUDGET_MEMBERS.budgetPeriod,
  budgetTimeZone: BUDGET_MEMBERS.budgetTimeZone,
} as const satisfies Readonly<Record<string, MemberSpec>>;

export type ChannelMembers = MembersOf<typeof CHANNEL_MEMBERS>;

/** A limit of a channel that is kept for all nodes together, as the API names it. */
export type LimitName =
  'requests_per_minute' | 'tokens_per_minute' | 'budget' | 'tag_budget' | KeyLimitName;
/** One that each of its keys has for itself. */
export type KeyLimitName = 'key_requests_per_minute' | 'key_tokens_per_minute';

/** Whether each key of a channel has its own limits. */
export function limitsKeys({
  keyMaxConcurrency,
  keyRequestsPerMinute,
  keyTokensPerMinute,
}: Pick<
  ChannelMembers,
  'keyMaxConcurrency' | 'keyRequestsPerMinute' | 'keyTokensPerMinute'
>): boolean {
  return keyMaxConcurrency > 0 || keyRequestsPerMinute > 0 || keyTokensPerMinute > 0;
}

/** Which combination of well-formed members is wrong; `undefined` if none is. */
export function windowMistake({
  windowSize,
  windowStride,
}: Pick<ChannelMembers, 'windowSize' | 'windowStride'>): string | undefined {
  if (windowStride === undefined) return undefined;
  if (windowSize === undefined) return 'has no effect without window_size';
  return windowStride < windowSize
    ? undefined
    : 'must be less than window_size, so that windows overlap';
}

/** A channel's defaults; also used for members that a record from an older release lacks. */
export const CHANNEL_DEFAULTS: ChannelMembers = defaultsOf(CHANNEL_MEMBERS);
