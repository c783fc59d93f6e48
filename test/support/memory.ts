import { afterAll, beforeAll } from '@jest/globals';
import { countInUse, uncleared } from '../../src/core/memory.js';

const PLENTY = 2 ** 40;

/** Lets what is large be taken where the engine does not count it, however much other suites of this process have left. */
export function takeUncounted(): void {
  beforeAll(() => countInUse(PLENTY));
  afterAll(() => countInUse(-PLENTY));
}

/** Room before a body, and enough of its beginning. */
const LOOKED_AT = 4_000;

/** How often a text is at the beginning of what the next ones of so many bytes get, until one is new. */
export function timesLeft(marker: string, bytes: number): number {
  for (let times = 0; ;) {
    const next = uncleared(bytes, () => 0).subarray(0, LOOKED_AT);
    if (next.includes(marker)) times += 1;
    if (next.every((byte) => byte === 0)) return times;
  }
}
