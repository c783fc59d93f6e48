import type { ChannelHealth } from '../channel-health.js';
import type { ChannelLimits } from '../channel-limits.js';
import type { Attempt, AttemptOutcome, Job, Layer, Offer } from '../rank.js';
import type { RouteKey } from '../route.js';

export interface KeyedDeps {
  readonly health: Pick<ChannelHealth, 'ringOf' | 'keyEnded' | 'keyUsedUp'>;
  readonly limits: Pick<ChannelLimits, 'takeWithKey'>;
  readonly now: () => number;
}

/** Keys of one channel tried for one attempt; after that, another channel gets its turn. */
const MAX_KEYS = 3;

const NO_KEY: AttemptOutcome = {
  kind: 'failed',
  failure: { kind: 'busy', status: undefined, message: 'every key is at work', unsent: true },
};
const PASSED_OVER: AttemptOutcome = { kind: 'withdrawn' };

/** What came of one key; `outcome` is absent if a limit of the key is used up, and nothing was sent. */
interface KeyUse {
  readonly outcome?: AttemptOutcome;
  readonly isFaultOfKey: boolean;
}

/**
 * Sends each call of a channel that has several keys with the next of them. If a fault concerns only the key, that key is
 * paused and the call is sent with another. A key at one of its limits is paused until there is room.
 */
export function keyed(deps: KeyedDeps): Layer<Attempt> {
  const { health, now } = deps;
  return (next) => async (offer, job) => {
    const { route } = offer;
    const { keys } = route;
    if (keys === undefined) return next(offer, job);
    let outcome: AttemptOutcome | undefined;
    let isUsedUp = false;
    for (let tries = 0; tries < Math.min(MAX_KEYS, keys.length);) {
      const at = health.ringOf(route).take(now());
      const key = at === undefined ? undefined : keys[at];
      if (at === undefined || key === undefined) {
        return outcome ?? (isUsedUp ? PASSED_OVER : NO_KEY);
      }
      const use = await useKey(deps, next, offer, job, at, key);
      if (use.outcome === undefined) {
        isUsedUp = true;
      } else {
        outcome = use.outcome;
        tries += 1;
        if (!use.isFaultOfKey) return outcome;
      }
      job.scope.throwIfEnded();
    }
    return outcome ?? NO_KEY;
  };
}

async function useKey(
  { health, limits, now }: KeyedDeps,
  next: Attempt,
  offer: Offer,
  job: Job,
  at: number,
  key: RouteKey,
): Promise<KeyUse> {
  const { route } = offer;
  const end = (outcome: AttemptOutcome | 'abandoned'): boolean =>
    health.keyEnded(route, at, outcome, now(), job);
  let taken: Awaited<ReturnType<KeyedDeps['limits']['takeWithKey']>>;
  try {
    taken = await limits.takeWithKey(route.channel, key, job);
  } catch (error) {
    end('abandoned');
    throw error;
  }
  if (taken.kind === 'used_up') {
    health.keyUsedUp(route, at, taken, now());
    return { isFaultOfKey: false };
  }
  let ended: AttemptOutcome | 'abandoned' = 'abandoned';
  let isFaultOfKey: boolean;
  try {
    ended = await next({ ...offer, route: key.route }, job);
  } finally {
    taken.end(ended);
    isFaultOfKey = end(ended);
  }
  return { outcome: ended, isFaultOfKey };
}
