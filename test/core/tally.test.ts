import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import {
  addPacked,
  addTally,
  boundOf,
  count,
  newTally,
  packTally,
  percentile,
  readTally,
  writeTally,
} from '../../src/core/tally.js';

function tallyOf(durations: readonly number[]) {
  const tally = newTally();
  for (const ms of durations) count(tally, { requests: 1, quota: Math.round(ms) }, ms);
  return tally;
}

const DURATIONS = fc.array(fc.double({ min: 1.001, max: 200_000, noNaN: true }), { minLength: 1 });

describe('a tally', () => {
  it('counts a duration under the smallest bound that it does not exceed', () => {
    expect([0, 0.4, 1, 1.2, 1.5, 2, 3, 4, 1e9, Number.NaN].map(boundOf)).toEqual([
      0, 0, 0, 1, 2, 2, 4, 4, 36, 0,
    ]);
  });

  it('adds the same when it was packed in between', () => {
    fc.assert(
      fc.property(DURATIONS, DURATIONS, (one, other) => {
        const [sum, packed] = [tallyOf(one), tallyOf(one)];
        addTally(sum, tallyOf(other));
        addPacked(packed, packTally(tallyOf(other)));

        expect(packed).toEqual(sum);
      }),
    );
  });

  it('is the same whether things are counted in one or in two that are added', () => {
    fc.assert(
      fc.property(DURATIONS, DURATIONS, (one, other) => {
        const sum = tallyOf(one);
        addTally(sum, tallyOf(other));

        expect(readTally(writeTally(sum))).toEqual(
          readTally(writeTally(tallyOf([...one, ...other]))),
        );
        expect(sum.sums.requests).toBe(one.length + other.length);
      }),
    );
  });

  it('tells a percentile that is at most the distance of two bounds off', () => {
    fc.assert(
      fc.property(DURATIONS, fc.constantFrom(0.5, 0.95, 0.99), (durations, share) => {
        const sorted = [...durations].sort((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
        const told = percentile(tallyOf(durations), share) ?? 0;

        expect(told).toBeGreaterThanOrEqual(exact / Math.SQRT2 - 1e-6);
        expect(told).toBeLessThanOrEqual(exact * Math.SQRT2 + 1e-6);
      }),
    );
    expect(percentile(newTally(), 0.5)).toBeUndefined();
    expect(percentile(tallyOf([0.1, 0.2]), 0.5)).toBe(0.5);
  });

  it('is kept as text, and reads as nothing where there is none', () => {
    const tally = tallyOf([3, 3, 200]);

    expect(writeTally(tally)).toBe('3 0 0 0 0 206 0|4:2,16:1');
    expect(readTally(writeTally(tally))).toEqual(tally);
    expect(readTally('')).toEqual(newTally());
    // As releases without costs wrote it.
    expect(readTally('3 0 0 0 0 206|4:2,16:1')).toEqual(tally);
  });
});
