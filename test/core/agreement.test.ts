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

/** By its definition: over all pairs. */
function tauOfPairs(a: readonly number[], b: readonly number[]): number {
  let [sum, inA, inB] = [0, 0, 0];
  for (const [i, ofA] of a.entries()) {
    for (const [j, otherOfA] of a.entries()) {
      if (j <= i) continue;
      const signs = [Math.sign(ofA - otherOfA), Math.sign((b[i] ?? 0) - (b[j] ?? 0))] as const;
      sum += signs[0] * signs[1];
      inA += Math.abs(signs[0]);
      inB += Math.abs(signs[1]);
    }
  }
  return sum / Math.sqrt(inA * inB);
}

describe('Kendall’s tau-b', () => {
  it('is what scipy.stats.kendalltau says', () => {
    expect(kendallTauB([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])).toBeCloseTo(-0.4714045207910316, 12);
    expect(kendallTauB([1, 2, 3, 4], [1, 3, 2, 4])).toBeCloseTo(2 / 3, 12);
    expect(kendallTauB([1, 1, 1], [1, 2, 3])).toBeUndefined();
    expect(kendallTauB([], [])).toBeUndefined();
    expect(kendallTauB([1, 0, 1, 2, 0], [2, 2, 2, 0, 0])).toBeCloseTo(-0.14433756729740643, 9);
    expect(
      kendallTauB([1, 0, 4, 3, 0, 6, 4, 0, 1, 5, 5, 4], [1, 0, 1, 6, 3, 0, 4, 0, 1, 4, 5, 4]),
    ).toBeCloseTo(0.31305531422428423, 9);
  });

  it('is that of all pairs, ties included', () => {
    const score = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, min: -9 }));
    const scores = fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(scores, (pairs) => {
        const [a, b] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)];
        expect(kendallTauB(a, b) ?? Number.NaN).toBeCloseTo(tauOfPairs(a, b), 9);
      }),
    );
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

  it('is what the rbo package of Python says, by equation 32, for lists of two lengths too', () => {
    const list = [2, 7, 13, 0, 4, 11, 3, 8, 6, 12];
    expect(rankBiasedOverlap(list, [5, 12, 9, 1, 8, 3, 6, 7, 10, 13])).toBeCloseTo(
      0.27711231743571435,
      9,
    );
    const other = [6, 1, 10, 0, 7, 8, 5, 12, 3, 11];
    expect(rankBiasedOverlap(other, [1, 4, 9, 13, 3, 10])).toBeCloseTo(0.3437020179, 9);
    const long = [
      ...[14, 1, 3, 0, 15, 7, 28, 11, 27, 9, 23, 26, 20, 6, 19, 13, 22, 17, 16, 5, 8, 2, 21, 4, 18],
    ];
    const alsoLong = [
      ...[24, 28, 21, 0, 3, 20, 19, 22, 11, 6, 1, 23, 10, 4, 25, 27, 15, 14, 9, 13, 17, 5, 16, 7],
      2,
    ];
    expect(rankBiasedOverlap(long, alsoLong, 0.98)).toBeCloseTo(0.7220849253542267, 9);
    // Webber, Moffat and Zobel’s measure of two lists whose first two change places: 1 − (1 − p).
    expect(rankBiasedOverlap([1, 2, 3, 4, 5, 6, 7], [2, 1, 3, 4, 5, 6, 7])).toBeCloseTo(0.9, 9);
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
