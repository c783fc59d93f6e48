import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hasControlByte } from '../../src/core/control-bytes.js';

const WINDOW = 65_536;

describe('hasControlByte', () => {
  it.each([0, 1, 15, 16, 17, 31, 32, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW + 7])(
    'sees each control byte and nothing else in %d bytes',
    (length) => {
      const bytes = Buffer.alloc(length, 0x20);
      expect(hasControlByte(bytes, 0, length)).toBe(false);
      const places = [0, 1, 15, 16, length >> 1, WINDOW - 1, WINDOW, length - 1];
      for (const at of places.filter((place) => place >= 0 && place < length)) {
        for (const [byte, expected] of [
          [0x00, true],
          [0x1f, true],
          [0x20, false],
          [0x7f, false],
          [0x80, false],
          [0xff, false],
        ] as const) {
          bytes[at] = byte;
          expect([at, byte, hasControlByte(bytes, 0, length)]).toEqual([at, byte, expected]);
        }
        bytes[at] = 0x20;
      }
    },
  );

  it('looks at the range alone, and forgets what it looked at before', () => {
    const random = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(random, fc.nat(200), fc.nat(200), (bytes, from, to) => {
        const start = Math.min(from, bytes.length);
        const end = Math.min(to, bytes.length);
        const expected = bytes.subarray(start, Math.max(start, end)).some((byte) => byte < 0x20);
        expect(hasControlByte(bytes, start, end)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });
});
