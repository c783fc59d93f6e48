import { afterAll, beforeAll, jest } from '@jest/globals';
import { types } from 'node:util';
import { countInUse, Owned } from '../../src/bytes/memory.js';

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
    const next = Owned.uncleared(bytes, () => 0).bytes.subarray(0, LOOKED_AT);
    if (next.includes(marker)) times += 1;
    if (next.every((byte) => byte === 0)) return times;
  }
}

/** No JSON has such a character. */
const WIPED = 1;

/** Overwrites memory in the moment in which it is given back: whoever still reads it will be noticed. */
export function wipeWhatIsGivenBack(): void {
  const giveBack = Object.getOwnPropertyDescriptor(Owned.prototype, 'giveBack')?.value as (
    this: Owned,
  ) => void;
  beforeAll(() => {
    jest.spyOn(Owned.prototype, 'giveBack').mockImplementation(function (this: Owned) {
      const { buffer } = this.bytes;
      giveBack.call(this);
      if (!types.isSharedArrayBuffer(buffer)) return;
      // It is among those of its size, unless somebody holds it.
      const idle: Owned[] = [];
      let next: Owned;
      do {
        next = Owned.uncleared(buffer.byteLength, () => Infinity);
        if (next.includes(next.bytes)) idle.push(next);
      } while (next.includes(next.bytes) && next.bytes.buffer !== buffer);
      if (next.bytes.buffer === buffer) next.bytes.fill(WIPED);
      for (const one of idle) giveBack.call(one);
    });
  });
  afterAll(() => void jest.restoreAllMocks());
}
