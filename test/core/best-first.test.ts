import { describe, expect, it } from '@jest/globals';
import { bestFirst } from '../../src/core/best-first.js';
import { fc } from '../support/property.js';

describe('bestFirst', () => {
  it('sorts as the engine does: the highest first, equal ones in their order', () => {
    const score = fc.oneof(
      fc.double({ noNaN: true }),
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom(0, -0, Infinity, -Infinity),
    );
    fc.assert(
      fc.property(fc.array(score, { maxLength: 200 }), (scores) => {
        const rows = scores.map((one, index) => ({ index, score: one }));
        const before = [...rows];

        expect(bestFirst(rows)).toStrictEqual([...rows].sort((a, b) => compare(b.score, a.score)));
        expect(rows).toStrictEqual(before);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([0, 1, 7, 8, 9, 15, 16, 17, 64, 65, 1_000, 10_000])('sorts %i rows', (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({ index, score: (index * 7) % 11 }));

    expect(bestFirst(rows)).toStrictEqual([...rows].sort((a, b) => b.score - a.score));
  });
});

/** The difference of two infinite ones is no number. */
function compare(one: number, other: number): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
