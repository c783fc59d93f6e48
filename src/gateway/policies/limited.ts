import type { ChannelLimits } from '../channels/limits.js';
import { WITHDRAWN, type Attempt, type AttemptOutcome, type Layer } from '../rank.js';

/**
 * Keeps the limits that a channel's upstream account or its operator has set, for all nodes together. A call that is one too
 * many is not sent, and its channel is passed over until there is room.
 */
export function limited(limits: Pick<ChannelLimits, 'take'>): Layer<Attempt> {
  return (next) => async (offer, job) => {
    if (offer.route.limits.length === 0) return next(offer, job);
    const end = await limits.take(offer.route, job);
    if (end === undefined) return WITHDRAWN;
    let outcome: AttemptOutcome | 'abandoned' = 'abandoned';
    try {
      outcome = await next(offer, job);
      return outcome;
    } finally {
      end(outcome);
    }
  };
}
