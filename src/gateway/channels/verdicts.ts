import type { AdaptiveLimit } from '../../core/adaptive-limit.js';
import type { Verdict } from '../../core/breaker.js';
import type { KeyVerdict } from '../../core/key-ring.js';
import { certaintyOf } from '../../core/outage.js';
import { FAULTS, type FaultKind } from '../../core/retry.js';
import type { AttemptOutcome, Job } from '../rank.js';
import type { ChannelState } from './state.js';

/** How an attempt ended; `abandoned`: the request ended before its answer. */
export type AttemptEnd = AttemptOutcome | 'abandoned';

/** The parts of a request that an upstream may have quoted. */
export type Asked = Pick<Job, 'query' | 'documents'>;

/** Ends an attempt that was counted in; called exactly once. */
export type EndAttempt = (outcome: AttemptEnd, nowMs: number, asked?: Asked) => void;

/** How long to leave an overloaded channel alone if it does not say so itself. */
export const DEFAULT_COOLDOWN_MS = 1_000;

/** Failures that show that there was too much at once. */
const OVERLOADS: ReadonlySet<FaultKind> = new Set<FaultKind>(['busy', 'timeout']);

const TOO_MANY_REQUESTS = 429;

/** Adjusts how many attempts a channel may have at once by how one of them ended. */
export function adapt(
  limit: AdaptiveLimit | undefined,
  outcome: AttemptEnd,
  underWay: number,
  startedMs: number,
  nowMs: number,
): void {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return;
  if (outcome.kind === 'ranked') limit?.answered(nowMs - startedMs, underWay, nowMs);
  else if (OVERLOADS.has(outcome.failure.kind)) limit?.overloaded(nowMs);
}

/** Adds how long an attempt took to what is known of its channel: answers show how fast it is, and so does a timeout. */
export function timed(
  { latencies, patience }: Pick<ChannelState, 'latencies' | 'patience'>,
  outcome: AttemptEnd,
  durationMs: number,
  bytes: number,
): void {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return;
  if (outcome.kind === 'ranked') {
    latencies.add(durationMs);
    patience.answered(durationMs, bytes);
  } else if (outcome.failure.kind === 'timeout') {
    latencies.add(durationMs);
    if (outcome.failure.isEarly === true) patience.gaveUp(durationMs, bytes);
  }
}

/** What an attempt says about its channel. An overloaded one works but asks for a pause; a refusal shows that it is up. */
export function verdictOn(outcome: AttemptEnd): Verdict {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return 'none';
  if (outcome.kind === 'ranked') return 'praise';
  const { kind, isEarly } = outcome.failure;
  // Given up early, it may only be slow, as others may be: whether one is faster shows later.
  if (kind === 'timeout') return isEarly === true ? 'none' : 'late';
  const { health } = FAULTS[kind];
  if (health === 'fails') return 'blame';
  return health === 'cools' ? 'none' : 'praise';
}

/** What an attempt says about the key it used: refused credentials and a rate limit concern only that key. */
export function keyVerdictOn(
  outcome: AttemptEnd,
  nowMs: number,
  maxCooldownMs: number,
): KeyVerdict {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return { kind: 'none' };
  if (outcome.kind === 'ranked') return { kind: 'works' };
  const { failure } = outcome;
  if (certaintyOf(failure) !== undefined) return { kind: 'refused' };
  if (failure.kind !== 'busy' || failure.status !== TOO_MANY_REQUESTS) return { kind: 'none' };
  const waitMs = Math.min(failure.retryAfterMs ?? DEFAULT_COOLDOWN_MS, maxCooldownMs);
  return { kind: 'rests', untilMs: nowMs + waitMs, reason: 'busy' };
}

/** Whether an attempt failed through its key alone, so that another key may do. */
export function isFaultOfKey(outcome: AttemptEnd): boolean {
  const { kind } = keyVerdictOn(outcome, 0, 0);
  return kind === 'refused' || kind === 'rests';
}
