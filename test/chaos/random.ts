/** Chance that can be told again: the same seed gives the same numbers. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Whether something of this probability happens. */
  hits(probability: number): boolean;
  /** A chance of its own, so that what one part does moves no other part's numbers. */
  fork(name: string): Chance;
}

export function chanceOf(seed: string): Chance {
  let state = hashOf(seed);
  const next = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    pick<T>(from: readonly T[]): T {
      const one = from[whole(0, from.length - 1)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
    hits: (probability) => next() < probability,
    fork: (name) => chanceOf(`${seed}/${name}`),
  };
}

/** FNV-1a with a last mix. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
