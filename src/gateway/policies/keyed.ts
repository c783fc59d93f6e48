import type { RestReason } from '../../core/key-ring.js';
import type { ChannelHealth } from '../channels/health.js';
import type { ChannelLimits, TakenWithKey } from '../channels/limits.js';
import { FULL_MS, type ChannelPlaces } from '../channels/places.js';
import {
  WITHDRAWN,
  type Attempt,
  type AttemptOutcome,
  type Job,
  type Layer,
  type Offer,
} from '../rank.js';
import type { Route, RouteKey } from '../channels/route.js';

export interface KeyedDeps {
  readonly health: Pick<ChannelHealth, 'ringOf' | 'keyEnded' | 'keyRests'>;
  readonly limits: Pick<ChannelLimits, 'takeWithKey'>;
  readonly places: Pick<ChannelPlaces, 'takeNow' | 'take' | 'leave'>;
  readonly now: () => number;
}

/** Keys of one channel tried for one attempt; after that, another channel gets its turn. */
const MAX_KEYS = 3;

/** What a call has taken with a key, or until when that key rests. */
type Taken =
  | Extract<TakenWithKey, { readonly kind: 'taken' }>
  | { readonly kind: 'none'; readonly reason: RestReason; readonly untilMs: number };

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
    for (let tries = 0; tries < Math.min(MAX_KEYS, keys.length);) {
      const at = health.ringOf(route).take(now());
      const key = at === undefined ? undefined : keys[at];
      // Others have taken what was free when the channel was chosen.
      if (at === undefined || key === undefined) break;
      const use = await useKey(deps, next, offer, job, at, key);
      if (use.outcome !== undefined) {
        outcome = use.outcome;
        tries += 1;
        if (!use.isFaultOfKey) return outcome;
      }
      job.scope.throwIfEnded();
    }
    return outcome ?? WITHDRAWN;
  };
}

async function useKey(
  deps: KeyedDeps,
  next: Attempt,
  offer: Offer,
  job: Job,
  at: number,
  key: RouteKey,
): Promise<KeyUse> {
  const { health, now } = deps;
  const { route } = offer;
  const end = (outcome: AttemptOutcome | 'abandoned'): boolean =>
    health.keyEnded(route, at, outcome, now(), job);
  let taken: Taken;
  try {
    taken = await takeAll(deps, route, key, job);
  } catch (error) {
    end('abandoned');
    throw error;
  }
  if (taken.kind === 'none') {
    health.keyRests(route, at, taken.reason, taken.untilMs, now());
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

/** Takes a place and what the key's limits have room for, or nothing. */
async function takeAll(
  { limits, places, now }: KeyedDeps,
  route: Route,
  key: RouteKey,
  job: Job,
): Promise<Taken> {
  const hasPlace = key.places.most === 0 || places.takeNow(key.places);
  if (!hasPlace && !(await places.take(key.places, job.scope))) {
    return { kind: 'none', reason: 'busy', untilMs: now() + FULL_MS };
  }
  const leave = (): void => {
    if (key.places.most > 0) places.leave(key.places);
  };
  let taken: TakenWithKey | undefined;
  try {
    taken = await limits.takeWithKey(route, key, job);
  } finally {
    if (taken?.kind !== 'taken') leave();
  }
  if (taken.kind === 'used_up')
    return { kind: 'none', reason: taken.limit, untilMs: taken.untilMs };
  const { end } = taken;
  return {
    kind: 'taken',
    end: (outcome) => {
      end(outcome);
      leave();
    },
  };
}
