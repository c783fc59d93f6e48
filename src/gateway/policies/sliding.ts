import { orderRows, reorder, slidesOf } from '../../core/slides.js';
import { sumUsage } from '../../core/split.js';
import type { ReportedUsage } from '../../core/rerank.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer } from '../rank.js';

const PLACES = 'Ranked in overlapping windows: scores only reflect the order.';

/**
 * Shows a long list in windows to a model that ranks all documents together, from the end of the list to its beginning, one
 * window after the other: the best of each window are in the next one too. A window that fails fails the attempt.
 */
export function sliding(now: () => number): Layer<Attempt> {
  return (next) => (offer, job) => {
    const { slides } = offer;
    if (slides === undefined || job.documents.count <= slides.size) return next(offer, job);
    return inSlides(next, offer, job, slidesOf(job.documents.count, slides));
  };

  async function inSlides(
    next: Attempt,
    offer: Offer,
    job: Job,
    windows: ReturnType<typeof slidesOf>,
  ): Promise<AttemptOutcome> {
    const untilMs = job.mostMs === undefined ? undefined : now() + job.mostMs;
    const usage: (ReportedUsage | undefined)[] = [];
    const warnings = new Set([PLACES]);
    let order = Array.from({ length: job.documents.count }, (_, index) => index);
    for (const window of windows) {
      const documents = job.documents.pick(order.slice(window.from, window.to));
      const left = untilMs === undefined ? {} : { mostMs: Math.max(1, untilMs - now()) };
      const outcome = await next(offer, { ...job, ...left, documents, topN: documents.count });
      if (outcome.kind !== 'ranked') return outcome;
      const { ranking } = outcome;
      order = reorder(order, window, ranking.rows);
      usage.push(ranking.usage);
      for (const warning of ranking.warnings) warnings.add(warning);
    }
    return {
      kind: 'ranked',
      ranking: {
        rows: orderRows(order, job.topN),
        usage: sumUsage(usage),
        warnings: [...warnings],
        written: undefined,
        servedBy: offer.servedBy,
      },
    };
  }
}
