import type { ChannelPlaces } from '../channels/places.js';
import { placesOf } from '../channels/concurrency.js';
import { WITHDRAWN, type Attempt, type Layer } from '../rank.js';

/**
 * Keeps a channel's `max_concurrency` for all nodes together. A call for which there is no place is not sent, and its channel
 * is passed over until there is one.
 */
export function placed(places: Pick<ChannelPlaces, 'takeNow' | 'take' | 'leave'>): Layer<Attempt> {
  return (next) => async (offer, job) => {
    const bounded = placesOf(offer.route.channel);
    if (bounded.most === 0) return next(offer, job);
    if (!places.takeNow(bounded) && !(await places.take(bounded, job.scope))) return WITHDRAWN;
    try {
      return await next(offer, job);
    } finally {
      places.leave(bounded);
    }
  };
}
