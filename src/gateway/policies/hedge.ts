import type { RetryBudget } from '../../core/hedge.js';
import { ask, type AskDeps } from '../failover.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Offer, Turn } from '../rank.js';
import type { OwnedScope } from '../scope.js';

export interface HedgeDeps extends AskDeps {
  /** How long an answer of this channel may take before it counts as slow; `undefined` while that is unknown. */
  readonly slowAfterMs: (offer: Offer) => number | undefined;
  /** Both calls are paid for: this is what hedging may add to the traffic. */
  readonly budget: RetryBudget;
}

interface Runner {
  readonly offer: Offer;
  readonly scope: OwnedScope;
  readonly ended: Promise<{ readonly runner: Runner; readonly outcome: AttemptOutcome }>;
}

/**
 * Tries the next candidate, and a second one alongside it when the first is slower than its recent answers: the first
 * ranking wins, and the other call ends. If one fails, the other is waited for.
 */
export function hedged(deps: HedgeDeps, attempt: Attempt): Turn {
  const { slowAfterMs, budget } = deps;
  const start = (offer: Offer, job: Job, candidates: Candidates): Runner => {
    const scope = job.scope.child();
    const runner: Runner = {
      offer,
      scope,
      ended: ask(deps, attempt, offer, { ...job, scope }, candidates).then((outcome) => ({
        runner,
        outcome,
      })),
    };
    return runner;
  };

  const finish = async (
    runners: readonly Runner[],
    candidates: Candidates,
  ): Promise<AttemptOutcome> => {
    let running = runners;
    for (;;) {
      const { runner, outcome } = await Promise.race(running.map(({ ended }) => ended));
      candidates.heard(runner.offer, outcome);
      running = running.filter((other) => other !== runner);
      if (outcome.kind === 'ranked' || running.length === 0) return outcome;
    }
  };

  return async (job, candidates) => {
    budget.earn();
    const offer = candidates.next();
    if (offer === undefined) return undefined;
    const slowMs = slowAfterMs(offer);
    const runners = [start(offer, job, candidates)];
    const [first] = runners;
    try {
      if (slowMs !== undefined && first !== undefined && (await isSlow(first, slowMs))) {
        const second = budget.spend() ? candidates.next() : undefined;
        if (second !== undefined) runners.push(start(second, job, candidates));
      }
      return await finish(runners, candidates);
    } finally {
      for (const { scope, ended } of runners) {
        scope.end('lost');
        scope.release();
        // How the loser ends matters to nobody; its own layers have counted it.
        ended.catch(() => undefined);
      }
    }
  };
}

/** Whether a call is still in flight after that long. */
async function isSlow({ ended }: Runner, slowMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), slowMs);
  });
  try {
    return await Promise.race([slow, ended.then(() => false)]);
  } finally {
    clearTimeout(timer);
  }
}
