import type { FaultKind } from '../core/retry.js';
import { decodeJinaLike, jinaLikeBody } from './dialects.js';
import { HOSTED } from './hosted.js';
import { defineProvider, REQUIRED_API_KEY, type UpstreamReply } from './provider.js';
import { readErrorMessage } from './reply.js';

const TOO_LONG = /length|too (long|many|large)|exceed|at most|过长|长度|超过|超出/i;

/** The provider's codes; 429 on its own says nothing, since it may also mean an empty account. */
const FAULTS: readonly (readonly [code: RegExp, kind: FaultKind])[] = [
  [/^100\d$/, 'misconfigured'],
  [/^11[01]\d$/, 'misconfigured'],
  [/^12(00|3[014])$/, 'transient'],
  [/^1211$/, 'misconfigured'],
  [/^121\d$/, 'caller'],
  [/^122\d$/, 'misconfigured'],
  // A policy of this provider only.
  [/^130[01]$/, 'limit'],
  // The allowance of a day or a plan is used up.
  [/^13(04|08|09)$/, 'misconfigured'],
  [/^13\d\d$/, 'busy'],
];

/** Codes are strings of digits; relays turn them into numbers. */
function fault(reply: UpstreamReply): FaultKind | undefined {
  const { value } = reply.json?.maybe('error').maybe('code') ?? {};
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const kind = FAULTS.find(([code]) => code.test(String(value)))?.[1];
  return kind === 'caller' && TOO_LONG.test(readErrorMessage(reply)) ? 'limit' : kind;
}

/** Zhipu (BigModel). A key of the form `<id>.<secret>` is sent unchanged. */
export const zhipu = defineProvider({
  id: 'zhipu',
  title: 'Zhipu (BigModel)',
  baseUrl: 'https://open.bigmodel.cn',
  path: '/api/paas/v4/rerank',
  credentials: REQUIRED_API_KEY,
  body: jinaLikeBody,
  decode: decodeJinaLike,
  fault,
  profile: {
    ...HOSTED,
    limits: { documents: { default: 128 }, documentCharacters: 4_096, queryCharacters: 4_096 },
    truncates: false,
    echo: 'optional',
  },
  exampleModels: ['rerank'],
  notes: ['Scores are close to 1 for many pairs, so a threshold means little.'],
});
