import { describe, expect, it } from '@jest/globals';
import { nearest } from '../../../src/core/json/decimal.js';
import { fc } from '../../support/property.js';

/** The digits of a number, as they are read: the first fifteen, those behind them, and how many come behind the point. */
function read(digits: string, scale: number): number {
  const head = digits.slice(0, 15);
  const tail = digits.slice(15);
  return nearest(Number(head), Number(tail), tail.length, scale);
}

describe('nearest', () => {
  it('is what the engine reads, or does not tell', () => {
    const digits = fc.oneof(
      fc.stringMatching(/^[1-9]\d{15,24}$/),
      // As languages write doubles.
      fc
        .double({ min: 1e-3, max: 1, noNaN: true })
        .map((value) => value.toPrecision(17).replace(/^0?\.0*|\./g, '')),
      // The middle between two doubles, and next to it.
      fc
        .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n }), fc.integer({ min: -1, max: 1 }))
        .map(([mantissa, off]) => String((mantissa * 2n + 1n) * 50n + BigInt(off))),
    );
    let told = 0;
    fc.assert(
      fc.property(digits, fc.nat(22), (text, scale) => {
        const value = read(text, scale);
        if (Number.isNaN(value)) return;
        told += 1;
        expect(value).toBe(Number(`${text}e-${scale}`));
      }),
      { numRuns: 20_000 },
    );
    expect(told).toBeGreaterThan(13_000);
  });

  it.each([
    ['0.9990871548652649', '9990871548652649', 16],
    ['0.99900000000000011', '99900000000000011', 17],
    ['0.30000000000000004', '30000000000000004', 17],
  ])('reads %s', (text, digits, scale) => {
    expect(read(digits, scale)).toBe(Number(text));
  });

  it('does not tell what is in the middle', () => {
    expect(read('9007199254740993', 0)).toBeNaN();
    expect(read('90071992547409930000', 4)).toBeNaN();
    expect(read('90071992547409930001', 4)).toBe(9007199254740994);
  });
});
