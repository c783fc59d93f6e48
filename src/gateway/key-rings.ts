import { KeyRing } from '../core/key-ring.js';
import type { BreakerRule } from '../core/breaker.js';
import type { ChannelPause } from './channel-state.js';
import type { Route, RouteKey } from './route.js';

/** The keys of one channel. */
interface Ring {
  readonly ring: KeyRing;
  readonly most: number;
  keys: readonly RouteKey[];
}

/** What a node knows about the keys of its channels between requests. */
export class KeyRings {
  readonly #breaker: BreakerRule;
  readonly #rings = new Map<number, Ring>();

  constructor(breaker: BreakerRule) {
    this.#breaker = breaker;
  }

  /** The keys of a channel that has several. What is known about them ends when the keys change. */
  of({ id, channel, keys = [] }: Route): KeyRing {
    const known = this.#rings.get(id);
    const most = channel.keyMaxConcurrency;
    if (known?.most === most && isSameKeys(known.keys, keys)) {
      known.keys = keys;
      return known.ring;
    }
    const { openMs: refusedMs, longestMs } = this.#breaker;
    const ring = new KeyRing(keys.length, { most, refusedMs, longestMs });
    this.#rings.set(id, { ring, most, keys });
    return ring;
  }

  /** Keys that are left alone now. */
  pauses(nowMs: number): ChannelPause[] {
    return [...this.#rings].flatMap(([channelId, { ring, keys }]) =>
      ring.pauses(nowMs).map(({ key, state, sinceMs, untilMs }) => ({
        channelId,
        key: keys[key]?.hint ?? '',
        state,
        reason: state === 'open' ? 'misconfigured' : 'busy',
        sinceMs,
        untilMs,
      })),
    );
  }

  forget(channelId: number): void {
    this.#rings.delete(channelId);
  }
}

function isSameKeys(one: readonly RouteKey[], other: readonly RouteKey[]): boolean {
  if (one === other) return true;
  return (
    one.length === other.length &&
    one.every(({ secret }, at) => secret.reveal() === other[at]?.secret.reveal())
  );
}
