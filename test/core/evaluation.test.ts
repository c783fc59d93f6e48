import { describe, expect, it } from '@jest/globals';
import { ndcg, reciprocalRank } from '../../src/core/evaluation.js';

describe('ndcg', () => {
  it.each([
    ['the best order', [2, 0, 1], [1, 0, 2], 1],
    ['one relevant document in second place', [0, 1, 2], [0, 1, 0], 1 / Math.log2(3)],
    ['a relevant document beyond what is looked at', [0, 1, 2], [0, 0, 1], 0],
    ['less relevant before more', [0, 1], [1, 2], (1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3))],
  ])('of %s', (_name, order, relevance, expected) => {
    expect(ndcg(order, relevance, 2)).toBeCloseTo(expected, 12);
  });

  it('is none where nothing is relevant', () => {
    expect(ndcg([0, 1], [0, 0], 10)).toBeUndefined();
  });
});

describe('reciprocalRank', () => {
  it.each([
    [[2, 1, 0], 1],
    [[1, 2, 0], 1 / 2],
    [[1, 0], 0],
  ])('of %j', (order, expected) => {
    expect(reciprocalRank(order, [0, 0, 1])).toBe(expected);
  });
});
