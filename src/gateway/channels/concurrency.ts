import type { Channel } from '../../core/channel.js';

/** What may have so many calls in flight at once, on all nodes together. */
export interface Bounded {
  /** The name by which the store counts them. */
  readonly counter: string;
  /** 0: no limit. */
  readonly most: number;
}

/** The calls in flight that all nodes together may have with a channel. */
export function placesOf({ id, maxConcurrency }: Channel): Bounded {
  return { counter: `channel:${id}`, most: maxConcurrency };
}

/** The same for one of its keys. */
export function placesOfKey({ id, keyMaxConcurrency }: Channel, keyName: string): Bounded {
  return { counter: `channel:${id}:key:${keyName}`, most: keyMaxConcurrency };
}
