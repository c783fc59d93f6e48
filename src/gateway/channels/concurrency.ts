import type { Channel } from '../../core/channel.js';

/** Something with a limit on its calls in flight, counted over all nodes. */
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
