import type { ChannelHealth } from '../channel-health.js';
import type { Attempt, AttemptOutcome, Layer } from '../rank.js';

/** Keys of one channel tried for one attempt; after that, another channel gets its turn. */
const MAX_KEYS = 3;

const NO_KEY: AttemptOutcome = {
  kind: 'failed',
  failure: { kind: 'busy', status: undefined, message: 'every key is at work', unsent: true },
};

/**
 * Sends each call of a channel that has several keys with the next of them. If a fault concerns only the key, that key is
 * paused and the call is sent with another.
 */
export function keyed(
  health: Pick<ChannelHealth, 'ringOf' | 'keyEnded'>,
  now: () => number,
): Layer<Attempt> {
  return (next) => async (offer, job) => {
    const { route } = offer;
    const { keys } = route;
    if (keys === undefined) return next(offer, job);
    let outcome = NO_KEY;
    for (let tries = 0; tries < Math.min(MAX_KEYS, keys.length); tries += 1) {
      const at = health.ringOf(route).take(now());
      const key = at === undefined ? undefined : keys[at];
      if (at === undefined || key === undefined) return outcome;
      let ended: AttemptOutcome | 'abandoned' = 'abandoned';
      let isFaultOfKey: boolean;
      try {
        ended = outcome = await next({ ...offer, route: key.route }, job);
      } finally {
        isFaultOfKey = health.keyEnded(route, at, ended, now(), job);
      }
      if (!isFaultOfKey) return outcome;
      job.scope.throwIfEnded();
    }
    return outcome;
  };
}
