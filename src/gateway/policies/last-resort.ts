import { isLastResort } from '../offer.js';
import type { Layer, Offer, Rank } from '../rank.js';

/**
 * Marks a ranking of the lexical ranker that came in place of a better channel's: one of another provider that has at least its
 * priority and that the job may reach, whether it failed, was switched off, or another was drawn. `false` for a model without both.
 */
export function lastResort(offers: readonly Offer[]): Layer<Rank> | false {
  const better = new Map(
    offers.filter(isLastResort).map(({ id, priority }) => {
      const those = offers.filter((other) => !isLastResort(other) && other.priority >= priority);
      return [id, those] as const;
    }),
  );
  if (![...better.values()].some(({ length }) => length > 0)) return false;
  return (next) => async (job) => {
    const outcome = await next(job);
    if (outcome.kind !== 'ranked') return outcome;
    const isDegraded = outcome.ranking.servedBy.some(({ channelId }) =>
      better.get(channelId)?.some(({ route }) => job.admits(route)),
    );
    return isDegraded ? { ...outcome, ranking: { ...outcome.ranking, isDegraded } } : outcome;
  };
}
