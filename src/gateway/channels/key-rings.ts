import { KeyRing } from '../../core/key-ring.js';
import type { BreakerRule } from '../../core/breaker.js';
import type { Availability, ChannelPause } from './state.js';
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

  /** When a key of the channel can be taken: now, as soon as one is free, or at a time, and what keeps them out until then. */
  readiness(
    route: Route,
    nowMs: number,
  ): 'ready' | 'full' | Omit<Extract<Availability, { kind: 'until' }>, 'kind'> {
    const readiness = this.of(route).readiness(nowMs);
    if (readiness === 'ready' || readiness === 'full') return readiness;
    const { untilMs: atMs, reason } = readiness;
    if (reason === 'misconfigured') return { atMs, isRefused: true };
    return reason === 'busy' ? { atMs } : { atMs, limit: reason };
  }

  /** Keys that are paused now. */
  pauses(nowMs: number): ChannelPause[] {
    return [...this.#rings].flatMap(([channelId, { ring, keys }]) =>
      ring.pauses(nowMs).map(({ key, ...pause }) => ({
        channelId,
        key: keys[key]?.hint ?? '',
        ...pause,
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
