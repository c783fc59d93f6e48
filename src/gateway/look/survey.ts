import { chancesOf } from '../../core/channel.js';
import type { Selection } from '../../core/model-rules.js';
import type { CandidatesDeps } from '../candidates.js';
import type { ChannelHealth } from '../channels/health.js';
import { obstacleOf, type Obstacle, type Sought } from '../channels/obstacles.js';
import type { Offer } from '../rank.js';
import { ringOf } from '../tier.js';

/** A model's offers as a job finds them at a moment. */
export interface Survey {
  /** By priority; `chance` is the probability of being tried first among those of the same priority. */
  readonly prospects: readonly { readonly offer: Offer; readonly chance: number }[];
  readonly passedOver: readonly { readonly offer: Offer; readonly obstacle: Obstacle }[];
}

/**
 * The candidates of a job as `candidatesOf` would hand them out now, with their probabilities, and what rules out the
 * others.
 */
export function surveyOf(deps: CandidatesDeps, job: Sought): Survey {
  const plan = deps.planOf(job.model);
  if (plan === undefined) return { prospects: [], passedOver: [] };
  const nowMs = deps.now();
  const passedOver = plan.offers.flatMap((offer) => {
    const obstacle = obstacleOf(deps.health, job, offer, nowMs);
    return obstacle === undefined ? [] : [{ offer, obstacle }];
  });
  const out = new Set(passedOver.map(({ offer }) => offer.id));
  const served = new Set<number>();
  const prospects = plan.tiers.flatMap((tier) => {
    const usable = tier.offers.filter(({ id }) => !out.has(id));
    const order =
      plan.select === 'sticky' ? ringOf(tier, job).filter((one) => usable.includes(one)) : usable;
    const [first] = order;
    const isFirst = first !== undefined && !served.has(first.priority);
    if (isFirst) served.add(first.priority);
    // A dearer tier of a priority waits for the cheaper ones.
    const chances = isFirst ? chancesBy(plan.select, deps.health, order) : [];
    return order
      .map((offer, at) => ({ offer, chance: chances[at] ?? 0 }))
      .sort((one, other) => other.chance - one.chance);
  });
  return { prospects, passedOver };
}

/** The probability of each usable offer of a tier to be tried first. */
function chancesBy(
  select: Selection,
  health: Pick<ChannelHealth, 'load' | 'expectedMs'>,
  offers: readonly Offer[],
): number[] {
  const drawn = chancesOf(offers);
  switch (select) {
    case 'weighted':
    case 'cheapest':
      return drawn;
    case 'sticky':
      return offers.map((_, at) => (at === 0 ? 1 : 0));
    case 'least_busy':
      return chancesOfBetter(drawn, offers, (offer) => health.load(offer));
    case 'fastest':
      return chancesOfBetter(drawn, offers, (offer) => health.expectedMs(offer));
  }
}

/** Of two offers drawn in turn, the second replaces the first if it is better. */
function chancesOfBetter(
  drawn: readonly number[],
  offers: readonly Offer[],
  costOf: (offer: Offer) => number,
): number[] {
  const costs = offers.map(costOf);
  const chances = offers.map(() => 0);
  offers.forEach((_, first) => {
    const rest = chancesOf(offers.filter((_offer, at) => at !== first));
    offers.forEach((_offer, second) => {
      if (second === first) return;
      const pair = (drawn[first] ?? 0) * (rest[second < first ? second : second - 1] ?? 0);
      const better = (costs[second] ?? 0) < (costs[first] ?? 0) ? second : first;
      chances[better] = (chances[better] ?? 0) + pair;
    });
  });
  return offers.length === 1 ? [1] : chances;
}
