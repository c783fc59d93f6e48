import type { ChannelHealth } from '../channels/health.js';
import type { Attempt, Layer, Offer } from '../rank.js';

/** Counts each outgoing call in and out of its channel's health. `onFree` is called when there may be room for another one. */
export function leased(
  health: Pick<ChannelHealth, 'begin'>,
  now: () => number,
  onFree: (offer: Offer) => void,
): Layer<Attempt> {
  return (next) => async (offer, job) => {
    const end = health.begin(offer, now());
    let outcome: Awaited<ReturnType<Attempt>> | 'abandoned' = 'abandoned';
    try {
      outcome = await next(offer, job);
      return outcome;
    } finally {
      end(outcome, now(), job);
      onFree(offer);
    }
  };
}
