import { describe, expect, it } from '@jest/globals';
import { judgeRanking, PROBE_DOCUMENTS, type ScoreScale } from '../../src/core/probe.js';

const rows = (right: number, other: number) => [
  { index: 0, score: other },
  { index: 1, score: right },
];

describe('a ranking of the two documents', () => {
  it('has the right one last among them, so that its order is no accident', () => {
    expect(PROBE_DOCUMENTS[1]).toContain('Paris');
  });

  it.each([
    [0.9, 0.1, 'right'],
    [0.1, 0.9, 'wrong'],
    [0.5, 0.5, 'undecided'],
  ])('with %p for the right one and %p for the other is %s', (right, other, order) => {
    expect(judgeRanking(rows(right, other), 'probability')).toMatchObject({
      order,
      scores: { right, other },
    });
  });

  it.each<[number, number, string, ScoreScale, boolean]>([
    [0.9, 0.1, 'probability', 'probability', true],
    [1.0005, -0.0005, 'probability', 'probability', true],
    [1.002, 0, 'unbounded', 'probability', false],
    [0.9, -0.5, 'cosine', 'cosine', true],
    [0.9, 0.1, 'probability', 'cosine', true],
    [0.9, -0.5, 'cosine', 'probability', false],
    [4, -7, 'unbounded', 'logit', true],
    [0.9, 0.1, 'probability', 'logit', false],
    [40, 7, 'unbounded', 'cosine', false],
    [40, 7, 'unbounded', 'unbounded', true],
    [40, 7, 'unbounded', 'order', true],
  ])(
    '%p and %p are on the scale %s; where %s is expected, that fits: %p',
    (right, other, observed, expected, fits) => {
      expect(judgeRanking(rows(right, other), expected).scale).toEqual({
        expected,
        observed,
        fits,
      });
    },
  );
});
