import type { AdaptiveLimit } from '../../core/adaptive-limit.js';
import type { Verdict } from '../../core/breaker.js';
import type { KeyVerdict } from '../../core/key-ring.js';
import { certaintyOf } from '../../core/outage.js';
import { FAULTS, type FaultKind } from '../../core/retry.js';
import type { AttemptOutcome } from '../rank.js';

/** How an attempt ended; `abandoned`: the request ended before its answer. */
export type AttemptEnd = AttemptOutcome | 'abandoned';

/** How long to leave an overloaded channel alone if it does not say so itself. */
export const DEFAULT_COOLDOWN_MS = 1_000;

/** Failures that show that there was too much at once. */
const OVERLOADS: ReadonlySet<FaultKind> = new Set<FaultKind>(['busy', 'timeout']);

const TOO_MANY_REQUESTS = 429;

/** Adjusts how many attempts a channel may have at once by how one of them ended. */
export function adapt(
  limit: AdaptiveLimit,
  outcome: AttemptEnd,
  underWay: number,
  startedMs: number,
  nowMs: number,
): void {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return;
  if (outcome.kind === 'ranked') limit.answered(nowMs - startedMs, underWay, nowMs);
  else if (OVERLOADS.has(outcome.failure.kind)) limit.overloaded(nowMs);
}

/** Answers show how fast a channel is, and so does a timeout. */
export function tellsLatency(outcome: AttemptEnd): boolean {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return false;
  return outcome.kind === 'ranked' || outcome.failure.kind === 'timeout';
}

/** What an attempt says about its channel. An overloaded one works but asks for a pause; a refusal shows that it is up. */
export function verdictOn(outcome: AttemptEnd): Verdict {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return 'none';
  if (outcome.kind === 'ranked') return 'praise';
  const { health } = FAULTS[outcome.failure.kind];
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
