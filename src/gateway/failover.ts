import type { RetryBudget } from '../core/hedge.js';
import { attemptShareMs, FAULTS, retryWaitMs } from '../core/retry.js';
import { withStandIn } from '../core/stand-in.js';
import { boundJob } from './job.js';
import type {
  Attempt,
  AttemptOutcome,
  Candidates,
  Freshness,
  Job,
  Offer,
  Rank,
  Turn,
} from './rank.js';
import { beforeEnd, type Scope } from './scope.js';

export interface FailoverDeps {
  readonly freshness: Freshness;
  readonly maxAttempts: number;
  readonly candidatesOf: (job: Job) => Candidates;
  /** How much traffic retries on the same channel may add, so that an outage is not multiplied. */
  readonly retries: RetryBudget;
  readonly now: () => number;
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** Refusals that may or may not be the caller's fault: after this many, the request is refused. */
const REJECTIONS_BELIEVED = 2;

/**
 * Tries channel after channel until one answers with a ranking, never on knowledge older than the bound. If none is left,
 * one whose failure may have passed is tried again after a pause, within the budget and the deadline.
 */
export function failover(deps: FailoverDeps, turn: Turn): Rank {
  const { freshness, retries } = deps;
  return async (job) => {
    const candidates = deps.candidatesOf(job);
    let failed = 0;
    let rejections = 0;
    let last: AttemptOutcome | undefined;
    let isSlow = false;
    retries.earn();
    while (failed < deps.maxAttempts) {
      job.scope.throwIfEnded();
      if (!freshness.isFresh()) await beforeEnd(job.scope, freshness.ensureFresh());
      const offer = candidates.next();
      if (offer === undefined) {
        // One that was given up early has had its pause, and may still answer.
        const waitMs = isSlow ? 0 : pauseAfter(deps, last, failed, job.scope);
        last = undefined;
        isSlow = false;
        if (waitMs === undefined || !retries.spend()) break;
        await beforeEnd(job.scope, deps.wait(waitMs));
        candidates.again();
        continue;
      }
      const outcome = await turn(offer, job, candidates);
      if (outcome.kind === 'ranked') return outcome;
      if (outcome.kind === 'withdrawn') continue;
      last = outcome;
      failed += 1;
      const { failure } = outcome;
      isSlow ||= failure.isEarly === true;
      if (failure.kind === 'rejected') rejections += 1;
      if (!FAULTS[failure.kind].failsOver || rejections >= REJECTIONS_BELIEVED) {
        return { kind: 'none', why: { kind: 'refused', failure } };
      }
    }
    job.scope.throwIfEnded();
    return { kind: 'none', why: candidates.whyNone() };
  };
}

/** How long to wait before the same channel is tried again; `undefined` if that makes no sense. */
function pauseAfter(
  { now, random }: FailoverDeps,
  last: AttemptOutcome | undefined,
  failed: number,
  scope: Scope,
): number | undefined {
  if (last?.kind !== 'failed') return undefined;
  return retryWaitMs(last.failure, failed, scope.deadlineMs - now(), random);
}

export interface AskDeps {
  readonly now: () => number;
  readonly attemptTimeoutMs: number;
}

/** One candidate after the other. */
export function single(deps: AskDeps, attempt: Attempt): Turn {
  return (offer, job, candidates) => askAndHear(deps, attempt, offer, job, candidates);
}

/** One attempt, whose outcome the candidates hear. */
export async function askAndHear(
  deps: AskDeps,
  attempt: Attempt,
  offer: Offer,
  job: Job,
  candidates: Candidates,
): Promise<AttemptOutcome> {
  const asked = await begin(deps, attempt, offer, job, candidates);
  const outcome = heardOf(asked, offer, job);
  candidates.heard(offer, outcome);
  return outcome;
}

/**
 * One attempt that ends early enough for another one if there is another to try, with the model named as the caller knows
 * it.
 */
export async function ask(
  deps: AskDeps,
  attempt: Attempt,
  offer: Offer,
  job: Job,
  candidates: AskedCandidates,
): Promise<AttemptOutcome> {
  const asked = await begin(deps, attempt, offer, job, candidates);
  return heardOf(asked, offer, job);
}

type AskedCandidates = Pick<Candidates, 'hasMore' | 'patienceMs' | 'twinOf' | 'heard'>;

function begin(
  { now, attemptTimeoutMs }: AskDeps,
  attempt: Attempt,
  offer: Offer,
  job: Job,
  candidates: AskedCandidates,
): Promise<AttemptOutcome> {
  const timeoutMs = offer.route.channel.timeoutMs ?? attemptTimeoutMs;
  const shareMs = attemptShareMs(job.scope.deadlineMs - now());
  const mostMs =
    candidates.patienceMs(offer, Math.min(timeoutMs, shareMs)) ??
    (timeoutMs > shareMs && candidates.hasMore() ? shareMs : job.mostMs);
  const elsewhere = offer.window === undefined ? job.elsewhere : candidates;
  return attempt(offer, boundJob(job, job.scope, mostMs, elsewhere));
}

/** An attempt as callers see it: upstreams quote their own name for the model, which a caller need not know. */
function heardOf(
  outcome: AttemptOutcome,
  { upstreamModel }: Offer,
  { model }: Job,
): AttemptOutcome {
  if (outcome.kind !== 'failed' || upstreamModel === model) return outcome;
  const { failure } = outcome;
  const message = withStandIn(failure.message, upstreamModel, model);
  return { kind: 'failed', failure: { ...failure, message } };
}
