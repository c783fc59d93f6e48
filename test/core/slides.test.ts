import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { orderRows, reorder, slidesOf } from '../../src/core/slides.js';

describe('windows that overlap', () => {
  it.each([
    [5, { size: 20, stride: 10 }, ['0-5']],
    [40, { size: 20, stride: 10 }, ['20-40', '10-30', '0-20']],
    [25, { size: 20, stride: 10 }, ['5-25', '0-20']],
    [21, { size: 20, stride: 19 }, ['1-21', '0-20']],
  ])('of %i documents go from the end to the beginning', (count, slides, expected) => {
    expect(slidesOf(count, slides).map(({ from, to }) => `${from}-${to}`)).toEqual(expected);
  });

  it('keep every document once, and bring the best to the front', () => {
    const lists = fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 90 });
    const slides = fc
      .integer({ min: 2, max: 30 })
      .chain((size) =>
        fc.record({ size: fc.constant(size), stride: fc.integer({ min: 1, max: size - 1 }) }),
      );
    fc.assert(
      fc.property(lists, slides, (worth, slides) => {
        let order = worth.map((_, index) => index);
        for (const window of slidesOf(worth.length, slides)) {
          const shown = order.slice(window.from, window.to);
          const rows = shown
            .map((index, at) => ({ index: at, score: worth[index] ?? 0 }))
            .sort((one, other) => other.score - one.score);
          order = reorder(order, window, rows);
        }

        expect([...order].sort((one, other) => one - other)).toEqual(worth.map((_, at) => at));
        const kept = Math.min(worth.length, slides.size - slides.stride);
        const best = worth.toSorted((one, other) => other - one).slice(0, kept);
        expect(order.slice(0, kept).map((index) => worth[index])).toEqual(best);
      }),
    );
  });

  it('are told as places', () => {
    expect(orderRows([2, 0, 1, 3], 2)).toEqual([
      { index: 2, score: 1 },
      { index: 0, score: 0.75 },
    ]);
  });
});
