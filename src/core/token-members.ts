import { BUDGET_MEMBERS } from './budget.js';
import { LABEL_MEMBERS } from './labels.js';
import { defaultsOf, type MembersOf, type MemberSpec } from './members.js';

/** The plain members of a key's policy, one row each, like `CHANNEL_MEMBERS` for a channel. */
export const TOKEN_MEMBERS = {
  /** Requests per minute; 0: no limit. */
  rateLimit: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000,
    default: 0,
    flag: 'rate-limit <count>',
    label: 'rate limit',
    title: 'Requests a minute',
    hint: '0: no limit.',
    unset: 'none',
    unit: 'per minute',
    help: 'Requests a minute; 0: no limit.',
  },
  /** The form that the key's client speaks on paths that several forms share; `auto`: judged by its requests. */
  dialect: {
    type: 'choice',
    choices: [
      'auto',
      'cohere',
      'combined',
      'infinity',
      'jina',
      'ollama',
      'openrouter',
      'pinecone',
      'tei',
      'vllm',
      'voyage',
    ],
    default: 'auto',
    flag: 'dialect <form>',
    label: 'dialect',
    title: 'Form that its client speaks',
    hint: 'On paths that several forms share. auto: recognised from the request.',
    unset: 'as its requests look',
    help: 'The form that its client uses on /v1/rerank, if its requests do not show it; auto: recognise it from the request.',
  },
  /** Requests in flight at once, on all nodes together; 0: no limit. */
  maxConcurrency: {
    type: 'integer',
    least: 0,
    most: 1_000_000_000,
    default: 0,
    flag: 'max-concurrency <count>',
    label: 'at once',
    title: 'Concurrent requests',
    hint: '0: no limit.',
    unset: 'no limit',
    help: 'Requests at once, across all nodes; 0: no limit.',
  },
  /** Whether rankings that were kept answer its requests, where the model's rule keeps them. */
  replyCache: {
    type: 'boolean',
    default: true,
    flag: 'reply-cache <true|false>',
    label: 'reply cache',
    title: 'Answer its requests with kept rankings',
    help: 'Whether kept rankings of its account may answer its requests, if the model’s rule keeps them.',
  },
  /** How long kept rankings answer its requests; 0: as long as the model's rule says. */
  replyCacheTtlMs: {
    type: 'integer',
    least: 0,
    most: 604_800_000,
    default: 0,
    flag: 'reply-cache-ttl <ms>',
    label: 'rankings kept',
    title: 'Use kept rankings for (ms)',
    hint: '0: as long as the rule of the model says.',
    unset: "as the model's rule says",
    unit: 'ms',
    help: 'How long rankings that were kept answer its requests, in place of the cache_ttl_ms of a model that keeps them; 0: as long as the model’s rule says.',
  },
  /** Whether its requests may be explained, channels included; an admin's keys always may. */
  mayExplain: {
    type: 'boolean',
    default: false,
    flag: 'may-explain <true|false>',
    label: 'may explain',
    title: 'It may ask how it was routed (the answer names channels)',
    help: 'Whether it may ask for explanations, which reveal channels; only admins may set it.',
  },
  ...BUDGET_MEMBERS,
  ...LABEL_MEMBERS,
} as const satisfies Readonly<Record<string, MemberSpec>>;

export type TokenMembers = MembersOf<typeof TOKEN_MEMBERS>;

/** A policy's defaults; also used for members that a record from an older release lacks. */
export const TOKEN_DEFAULTS: TokenMembers = defaultsOf(TOKEN_MEMBERS);
