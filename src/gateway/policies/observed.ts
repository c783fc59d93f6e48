import { exactCost } from '../../core/quota.js';
import { completeUsage } from '../../core/rerank.js';
import type { Observe } from '../events.js';
import { boundJob } from '../job.js';
import { loggable } from '../loggable.js';
import { declaredCost } from '../offer.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer, Ranking } from '../rank.js';
import type { AttemptEnd, AttemptRecord } from '../trace.js';

/** Records each outgoing call in its request's trace, and reports it to logs and metrics. */
export function observed(observe: Observe, now: () => number): Layer<Attempt> {
  return (next) => async (offer, job) => {
    const startedMs = now();
    const span = job.trace.beginAttempt(startedMs);
    let outcome: AttemptOutcome | undefined;
    try {
      outcome = await next(offer, boundJob(job, job.scope, job.mostMs, job.elsewhere, span));
      return outcome;
    } finally {
      // Member by member: copied with a spread, objects of one shape get separate shapes, which costs more than the rest.
      const [{ channelId, provider, tag }] = offer.servedBy;
      const failure = outcome?.kind === 'failed' ? outcome.failure : undefined;
      const record: AttemptRecord = {
        channelId,
        provider,
        tag,
        outcome: endOf(outcome),
        status: outcome?.kind === 'ranked' ? 200 : failure?.status,
        message: failure === undefined ? '' : loggable(failure, job),
        // A clock that is set back in the meantime must not take anything off the metrics.
        durationMs: Math.max(0, now() - startedMs),
      };
      job.trace.made.push(record);
      if (outcome?.kind === 'ranked') job.trace.cost += costOf(offer, job, outcome.ranking);
      observe({
        kind: 'attempt',
        requestId: job.requestId,
        channelId,
        model: job.model,
        provider,
        tag,
        outcome: record.outcome === 'withdrawn' ? 'cancelled' : record.outcome,
        status: record.status,
        message: record.message,
        atMs: startedMs,
        durationMs: record.durationMs,
        span,
      });
    }
  };
}

/** An attempt that threw ended with its request. */
function endOf(outcome: AttemptOutcome | undefined): AttemptEnd {
  if (outcome === undefined) return 'cancelled';
  if (outcome.kind === 'failed') return outcome.failure.kind;
  return outcome.kind === 'ranked' ? 'ok' : 'withdrawn';
}

/** What a call cost the operator, by what its channel declares. The upstream's own count of tokens comes first. */
function costOf({ route }: Offer, { query, documents }: Job, { usage }: Ranking): number {
  const price = declaredCost(route.channel);
  if (price === undefined) return 0;
  return exactCost(price, documents.count, completeUsage(usage, query, documents));
}
