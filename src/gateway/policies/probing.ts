import { ask, type AskDeps } from '../failover.js';
import { boundJob } from '../job.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Layer, Offer, Turn } from '../rank.js';
import { beforeEnd, type OwnedScope } from '../scope.js';

export interface ProbingDeps extends AskDeps {
  /** Whether the next attempt with an offer decides on its channel's circuit. */
  readonly isProbe: (offer: Offer) => boolean;
  /** A scope that no caller ends. */
  readonly createScope: (deadlineMs: number) => OwnedScope;
}

/** The most channels that are probed alongside one request. */
const MOST_PROBES = 4;

/** An attempt's own time limit comes first: that it took too long says something about the channel. */
const SLACK_MS = 1_000;
/** A probe takes no other channel's place. */
const ALONE: Pick<Candidates, 'twinOf' | 'heard' | 'hasMore' | 'patienceMs'> = {
  twinOf: () => undefined,
  heard: () => undefined,
  hasMore: () => false,
  patienceMs: () => undefined,
};

/**
 * Tries channels whose circuit is open without making a caller wait for them: while another channel can serve, the request
 * goes there as well, and the first ranking is the caller's. A probe that is still in flight by then goes on, and its outcome
 * decides on the circuit.
 */
export class Probing {
  readonly #deps: ProbingDeps;
  readonly #scopes = new Set<OwnedScope>();

  constructor(deps: ProbingDeps) {
    this.#deps = deps;
  }

  /** `attempt` makes the probes; whatever else is asked goes the usual way. */
  layer(attempt: Attempt): Layer<Turn> {
    const { isProbe } = this.#deps;
    return (next) => async (first, job, candidates) => {
      if (!isProbe(first)) return next(first, job, candidates);
      const probed: Offer[] = [];
      let offer = first;
      while (probed.length < MOST_PROBES && isProbe(offer)) {
        const other = candidates.next();
        if (other === undefined) break;
        probed.push(offer);
        offer = other;
      }
      if (probed.length === 0) return next(offer, job, candidates);
      const scope = job.scope.child();
      try {
        const usual = next(offer, boundJob(job, scope), candidates);
        const probes = probed.map((each) => this.#probe(attempt, each, job, candidates));
        return await firstRanking(usual, probes, job, candidates);
      } finally {
        scope.end('lost');
        scope.release();
      }
    };
  }

  /** Ends the probes in flight. */
  close(): void {
    for (const scope of this.#scopes) scope.end('lost');
  }

  async #probe(
    attempt: Attempt,
    offer: Offer,
    job: Job,
    candidates: Candidates,
  ): Promise<AttemptOutcome> {
    const { now, attemptTimeoutMs, createScope } = this.#deps;
    const timeoutMs = offer.route.channel.timeoutMs ?? attemptTimeoutMs;
    const scope = createScope(Math.max(job.scope.deadlineMs, now() + timeoutMs) + SLACK_MS);
    this.#scopes.add(scope);
    try {
      const outcome = await ask(this.#deps, attempt, offer, boundJob(job, scope), ALONE);
      candidates.heard(offer, outcome);
      return outcome;
    } finally {
      this.#scopes.delete(scope);
      scope.release();
    }
  }
}

/** The result of a request: a probe's ranking will do, but only one that cost no waiting, unless nothing else is left. */
async function firstRanking(
  usual: Promise<AttemptOutcome>,
  probes: readonly Promise<AttemptOutcome>[],
  { scope }: Job,
  candidates: Pick<Candidates, 'hasMore'>,
): Promise<AttemptOutcome> {
  const ranked = new Promise<AttemptOutcome>((resolve) => {
    for (const probe of probes) {
      probe.then(
        (outcome) => {
          if (outcome.kind === 'ranked') resolve(outcome);
        },
        // It ended with this process.
        () => undefined,
      );
    }
  });
  const outcome = await Promise.race([usual, ranked]);
  if (outcome.kind === 'ranked' || candidates.hasMore()) return outcome;
  const ended = Promise.allSettled(probes).then(() => outcome);
  return beforeEnd(scope, Promise.race([ranked, ended]));
}
