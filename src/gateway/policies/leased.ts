import type { ChannelHealth } from '../channel-health.js';
import type { Attempt, Layer } from '../rank.js';

/** Counts each outgoing call in and out of its channel's health. */
export function leased(health: Pick<ChannelHealth, 'begin'>, now: () => number): Layer<Attempt> {
  return (next) => async (offer, job) => {
    const end = health.begin(offer, now());
    let outcome: Awaited<ReturnType<Attempt>> | 'abandoned' = 'abandoned';
    try {
      outcome = await next(offer, job);
      return outcome;
    } finally {
      end(outcome, now(), job);
    }
  };
}
