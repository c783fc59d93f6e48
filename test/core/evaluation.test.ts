import { describe, expect, it } from '@jest/globals';
import {
  exponentialNdcg,
  hasRelevant,
  ndcg,
  randomNdcg,
  reciprocalRank,
  trecOrder,
} from '../../src/core/evaluation.js';

const rowsOf = (scores: readonly number[]) => scores.map((score, index) => ({ index, score }));

describe('ndcg', () => {
  // Measured with trec_eval (pytrec_eval 0.5), with the index as the name of a document.
  it.each([
    [[0.5, 0.9, 0.1, 0.9, 0.1], [3, 3, 0, 1, 3], 0.8331277807946136, 1],
    [[0.3, 0.1, 0.1], [0, 3, 1], 0.58688267143572, 0.5],
    [[0.1, 0.3, 0.3, 0.3, 0.3], [2, 1, 3, 1, 0], 0.6423281194822078, 0.5],
    [
      [0.1, 0.3, 0.9, 0.1, 0.3, 0.1, 0.3, 0.5, 0.9, 0.5, 0.5, 0.5, 0.9, 0.5, 0.3],
      [1, 3, 0, 0, 2, 3, 3, 2, 2, 0, 0, 0, 3, 2, 0],
      0.6005200232714338,
      1,
    ],
    [
      [0.5, 0.9, 0.3, 0.9, 0.3, 0.9, 0.3, 0.1, 0.3, 0.1, 0.1, 0.1, 0.9, 0.9, 0.1],
      [2, 0, 1, 0, 2, 0, 0, 1, 2, 2, 0, 0, 3, 3, 0],
      0.5694904978606056,
      1 / 3,
    ],
    [[0.9, 0.5, 0.7, 0.1], [-1, 1, 0, 2], 0.5174418337467067, 1 / 3],
    [[0.9], [0], 0, 0],
  ])('of scores %j for labels %j is what trec_eval says', (scores, relevance, gain, reciprocal) => {
    const order = trecOrder(rowsOf(scores));

    expect(ndcg(order, relevance, 10)).toBeCloseTo(gain, 12);
    expect(reciprocalRank(order, relevance)).toBeCloseTo(reciprocal, 12);
  });

  it('counts what is relevant and was not returned', () => {
    expect(ndcg([0, 1], [-1, 1, 0, 2], 10)).toBeCloseTo(0.23981246656813146, 12);
  });

  it('is exponential by name alone', () => {
    expect(ndcg([0, 1], [1, 2], 2)).toBeCloseTo(
      (1 + 2 / Math.log2(3)) / (2 + 1 / Math.log2(3)),
      12,
    );
    expect(exponentialNdcg([0, 1], [1, 2], 2)).toBeCloseTo(
      (1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3)),
      12,
    );
  });

  it('of a random order is the mean over all orders', () => {
    const relevance = [2, 0, 1];
    const orders = [0, 1, 2].flatMap((a) =>
      [0, 1, 2].flatMap((b) => (a === b ? [] : [[a, b, 3 - a - b]])),
    );
    const mean = orders.reduce((sum, order) => sum + ndcg(order, relevance, 2), 0) / orders.length;

    expect(randomNdcg(relevance, 2)).toBeCloseTo(mean, 12);
    expect(randomNdcg([0, 0], 10)).toBe(0);
    expect([hasRelevant(relevance), hasRelevant([0, -1]), hasRelevant([])]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('the order of trec_eval', () => {
  it('puts the greater name first where scores are equal, compared as text', () => {
    expect(trecOrder(rowsOf(Array.from({ length: 11 }, () => 0.5)))).toEqual([
      ...[9, 8, 7, 6, 5, 4, 3, 2, 10, 1, 0],
    ]);
    expect(trecOrder(rowsOf([0.5, 0.5, 0.9]), (index) => ['b', 'a', 'c'][index] ?? '')).toEqual([
      2, 0, 1,
    ]);
  });
});
