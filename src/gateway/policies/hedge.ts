import type { RetryBudget } from '../../core/hedge.js';
import { ask, askAndHear, type AskDeps } from '../failover.js';
import { boundJob } from '../job.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Offer, Turn } from '../rank.js';
import type { OwnedScope } from '../scope.js';

export interface HedgeDeps extends AskDeps {
  /** How long an answer of this channel may take before it counts as slow; `undefined` while that is unknown. */
  readonly slowAfterMs: (offer: Offer) => number | undefined;
  /** Told of an offer that another one, asked later, has overtaken. */
  readonly onOvertaken: (offer: Offer) => void;
  /** Both calls are paid for: this is what hedging may add to the traffic. */
  readonly budget: RetryBudget;
}

interface Runner {
  readonly offer: Offer;
  readonly scope: OwnedScope;
  readonly outcome: Promise<AttemptOutcome>;
}

/**
 * Tries the next candidate, and a second one alongside it when the first is slower than its recent answers: the first
 * ranking wins, and the other call ends. If one fails, the other is waited for. Where there is no other candidate, or nothing
 * is known of what is slow, it costs nothing.
 */
export function hedged(deps: HedgeDeps, attempt: Attempt): Turn {
  const { slowAfterMs, onOvertaken, budget } = deps;
  const start = (offer: Offer, job: Job, candidates: Candidates): Runner => {
    const scope = job.scope.child();
    return { offer, scope, outcome: ask(deps, attempt, offer, boundJob(job, scope), candidates) };
  };

  const finish = async (
    runners: readonly Runner[],
    candidates: Candidates,
  ): Promise<AttemptOutcome> => {
    let running = runners;
    for (;;) {
      const { runner, outcome } = await Promise.race(running.map(ended));
      candidates.heard(runner.offer, outcome);
      running = running.filter((other) => other !== runner);
      const [left] = running;
      if (outcome.kind === 'ranked' && left === runners[0] && left !== undefined) {
        onOvertaken(left.offer);
      }
      if (outcome.kind === 'ranked' || left === undefined) return outcome;
    }
  };

  return async (offer, job, candidates) => {
    budget.earn();
    const slowMs = candidates.hasMore() ? slowAfterMs(offer) : undefined;
    if (slowMs === undefined) return askAndHear(deps, attempt, offer, job, candidates);
    const first = start(offer, job, candidates);
    const runners = [first];
    try {
      const outcome = await within(first.outcome, slowMs);
      if (outcome !== undefined) {
        candidates.heard(offer, outcome);
        return outcome;
      }
      const second = budget.spend() ? candidates.next() : undefined;
      if (second !== undefined) runners.push(start(second, job, candidates));
      return await finish(runners, candidates);
    } finally {
      // The end of the loser is ignored; its own layers have counted it.
      for (const { scope } of runners) {
        scope.end('lost');
        scope.release();
      }
    }
  };
}

async function ended(runner: Runner): Promise<{ runner: Runner; outcome: AttemptOutcome }> {
  return { runner, outcome: await runner.outcome };
}

/** The outcome of a call; `undefined` if it is still in flight after that long. */
function within(
  outcome: Promise<AttemptOutcome>,
  slowMs: number,
): Promise<AttemptOutcome | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), slowMs);
    outcome.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
