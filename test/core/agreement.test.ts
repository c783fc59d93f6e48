import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { kendallTauB, overlapAt, rankBiasedOverlap } from '../../src/core/agreement.js';

const permutation = fc.integer({ min: 2, max: 30 }).chain((length) => {
  const all = Array.from({ length }, (_, index) => index);
  return fc.tuple(
    fc.shuffledSubarray(all, { minLength: length }),
    fc.shuffledSubarray(all, { minLength: length }),
  );
});

describe('Kendall’s tau-b', () => {
  it('is what scipy.stats.kendalltau says', () => {
    expect(kendallTauB([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])).toBeCloseTo(-0.4714045207910316, 12);
    expect(kendallTauB([1, 2, 3, 4], [1, 3, 2, 4])).toBeCloseTo(2 / 3, 12);
    expect(kendallTauB([1, 1, 1], [1, 2, 3])).toBeUndefined();
  });

  it('is symmetric, 1 on itself, and −1 on the reverse', () => {
    fc.assert(
      fc.property(permutation, ([a, b]) => {
        expect(kendallTauB(a, b)).toBeCloseTo(kendallTauB(b, a) ?? Number.NaN, 12);
        expect(kendallTauB(a, a)).toBeCloseTo(1, 12);
        expect(
          kendallTauB(
            a,
            a.map((score) => -score),
          ),
        ).toBeCloseTo(-1, 12);
      }),
    );
  });
});

describe('rank-biased overlap', () => {
  it('is extrapolated from what was seen', () => {
    // By hand: overlaps of 1/1 and 1/2, then what is seen last goes on for ever.
    expect(rankBiasedOverlap([1, 2], [1, 3], 0.9)).toBeCloseTo(
      (0.1 / 0.9) * (0.9 + 0.5 * 0.81) + 0.5 * 0.81,
      12,
    );
    expect(rankBiasedOverlap([1, 2, 3], [4, 5, 6])).toBe(0);
    expect(rankBiasedOverlap([], [1])).toBeUndefined();
  });

  it('is 1 on itself, symmetric, and lies between 0 and 1, for lists that were cut too', () => {
    fc.assert(
      fc.property(permutation, fc.integer({ min: 1, max: 30 }), ([a, b], cut) => {
        const short = b.slice(0, cut);
        const value = rankBiasedOverlap(a, short) ?? Number.NaN;

        expect(rankBiasedOverlap(a, a)).toBeCloseTo(1, 12);
        expect(value).toBeCloseTo(rankBiasedOverlap(short, a) ?? Number.NaN, 12);
        expect(value).toBeGreaterThanOrEqual(-1e-12);
        expect(value).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });
});

describe('tops', () => {
  it('share places, whatever the order in them', () => {
    expect(overlapAt(3, [1, 2, 3, 4], [3, 2, 9, 1])).toBeCloseTo(2 / 3, 12);
    expect(overlapAt(10, [1, 2], [2, 1])).toBe(1);
  });
});
