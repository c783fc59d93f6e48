import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { textDocuments } from '../../src/core/text-documents.js';
import {
  completeUsage,
  estimateTokens,
  searchUnits,
  withoutForeignUnits,
  InvalidRankingError,
  normalizeRanking,
  type UpstreamRow,
} from '../../src/core/rerank.js';

const row = (index: number, score: number | undefined): UpstreamRow => ({ index, score });

describe('normalizeRanking', () => {
  it('sorts best first and keeps the order of equal scores', () => {
    const rows = [row(2, 0.5), row(0, 0.9), row(1, 0.5), row(3, 0.7)];

    const ranked = normalizeRanking({ rows }, 4, 4, 'none');

    expect(ranked.map(({ index }) => index)).toEqual([0, 3, 2, 1]);
  });

  it('cuts to top_n after sorting', () => {
    const ranked = normalizeRanking({ rows: [row(0, 0.1), row(1, 0.9)] }, 2, 1, 'none');

    expect(ranked).toEqual([{ index: 1, score: 0.9 }]);
  });

  it('ranks a score beyond all numbers first or last, as a number that JSON can tell', () => {
    const rows = [row(0, -Infinity), row(1, 0.5), row(2, Infinity)];

    expect(normalizeRanking({ rows }, 3, 3, 'none')).toEqual([
      { index: 2, score: Number.MAX_VALUE },
      { index: 1, score: 0.5 },
      { index: 0, score: -Number.MAX_VALUE },
    ]);
    expect(normalizeRanking({ rows }, 3, 3, 'logistic').map(({ score }) => score)).toEqual([
      1,
      expect.closeTo(0.62, 2),
      0,
    ]);
  });

  it('puts documents that could not be scored last, with the lowest score there is', () => {
    const rows = [row(0, undefined), row(1, -3), row(2, undefined), row(3, -1)];

    const ranked = normalizeRanking({ rows }, 4, 4, 'none');

    expect(ranked).toEqual([
      { index: 3, score: -1 },
      { index: 1, score: -3 },
      { index: 0, score: -3 },
      { index: 2, score: -3 },
    ]);
  });

  it('sorts by logits before the logistic function makes them equal', () => {
    const ranked = normalizeRanking({ rows: [row(0, 40), row(1, 50)] }, 2, 2, 'logistic');

    expect(ranked).toEqual([
      { index: 1, score: 1 },
      { index: 0, score: 1 },
    ]);
  });

  it('gives falling scores to an order without scores', () => {
    const rows = [row(2, 0), row(0, 0), row(1, 0)];

    const ranked = normalizeRanking({ rows, orderOnly: true }, 3, 3, 'none');

    expect(ranked).toEqual([
      { index: 2, score: 1 },
      { index: 0, score: expect.closeTo(2 / 3, 9) },
      { index: 1, score: expect.closeTo(1 / 3, 9) },
    ]);
  });

  it.each([
    ['an index twice', [row(0, 1), row(0, 0.5)], 'index 0 came back twice'],
    ['an index beyond the list', [row(0, 1), row(2, 0.5)], 'row 1 has no valid index'],
    ['a negative index', [row(0, 1), row(-1, 0.5)], 'row 1 has no valid index'],
    ['a fractional index', [row(0, 1), row(0.5, 0.5)], 'row 1 has no valid index'],
    ['no index', [row(0, 1), row(Number.NaN, 0.5)], 'row 1 has no valid index'],
    ['too few rows', [row(0, 1)], '1 rows came back, but 2 were expected'],
    ['too many rows', [row(0, 1), row(1, 1), row(2, 1)], '3 rows came back for 2 documents'],
    ['no score at all', [row(0, undefined), row(1, undefined)], 'no row has a score'],
    ['a score that is not a number', [row(0, 1), row(1, Number.NaN)], 'row 1 has no valid score'],
  ])('refuses %s', (_name, rows, reason) => {
    const judge = () => normalizeRanking({ rows }, 2, 2, 'none');

    expect(judge).toThrow(InvalidRankingError);
    expect(judge).toThrow(reason);
  });

  it('finds an index that came back twice in lists of any length, one after another', () => {
    for (const count of [10, 3_000, 10, 5_000]) {
      const rows = Array.from({ length: count }, (_, index) => row(index, 1 - index / count));
      const twice = [...rows.slice(0, -1), row(count - 2, 0)];

      expect(normalizeRanking({ rows }, count, count, 'none')).toEqual(rows);
      expect(() => normalizeRanking({ rows: twice }, count, count, 'none')).toThrow(
        `index ${count - 2} came back twice`,
      );
    }
  });

  it('says that there are more rows than documents', () => {
    const rows = [row(0, 1), row(1, 1), row(1, 1)];

    expect(() => normalizeRanking({ rows }, 2, 2, 'none')).toThrow('3 rows came back for 2');
  });

  it('keeps its promises for any permutation and any scores', () => {
    const ranking = fc.integer({ min: 1, max: 40 }).chain((count) =>
      fc.record({
        order: fc.shuffledSubarray(
          Array.from({ length: count }, (_, index) => index),
          { minLength: count },
        ),
        scores: fc.array(fc.oneof(fc.double({ noNaN: true }), fc.constant(undefined)), {
          minLength: count,
          maxLength: count,
        }),
        topN: fc.integer({ min: 1, max: count }),
      }),
    );
    fc.assert(
      fc.property(ranking, ({ order, scores, topN }) => {
        fc.pre(scores.some((score) => score !== undefined && Number.isFinite(score)));
        const rows = order.map((index, at) => row(index, scores[at]));

        const ranked = normalizeRanking({ rows }, order.length, topN, 'none');

        expect(ranked).toHaveLength(topN);
        expect(new Set(ranked.map(({ index }) => index)).size).toBe(topN);
        for (let at = 0; at < ranked.length; at += 1) {
          expect(Number.isFinite(ranked[at]?.score)).toBe(true);
          if (at > 0)
            expect(ranked[at - 1]?.score).toBeGreaterThanOrEqual(ranked[at]?.score ?? NaN);
        }
      }),
    );
  });
});

describe('withoutForeignUnits', () => {
  const query = 'Which planet has the most moons?';
  const latin = textDocuments(['Saturn is circled by well over a hundred moons. '.repeat(20)]);
  const chinese = textDocuments(['土星有一百多颗卫星。'.repeat(50)]);

  it.each([
    ['tokens of an alphabet', latin, 240, 240],
    ['characters of an alphabet', latin, 992, undefined],
    ['tokens of Chinese', chinese, 520, 520],
    ['the bytes of Chinese', chinese, 1_600, undefined],
    ['nothing', latin, undefined, undefined],
  ])('judges %s', (_name, documents, inputTokens, expected) => {
    expect(withoutForeignUnits({ inputTokens, searchUnits: 1 }, query, documents)).toEqual({
      inputTokens: expected,
      searchUnits: 1,
    });
  });
});

describe('completeUsage', () => {
  const documents = textDocuments(['aaaa', 'bbbb']);

  it('believes the upstream within reason', () => {
    const usage = completeUsage({ inputTokens: 12.2, searchUnits: 3 }, 'q', documents);

    expect(usage).toEqual({ inputTokens: 13, searchUnits: 3, estimated: false });
  });

  it.each([
    [
      { inputTokens: 0, searchUnits: 0 },
      { inputTokens: 0, searchUnits: 1, estimated: false },
    ],
    [{ inputTokens: 600 }, { inputTokens: 600, searchUnits: 1, estimated: false }],
    [{ inputTokens: 601 }, { inputTokens: 5, searchUnits: 1, estimated: true }],
    [{ inputTokens: Infinity }, { inputTokens: 5, searchUnits: 1, estimated: true }],
    [{ searchUnits: 200 }, { inputTokens: 5, searchUnits: 200, estimated: true }],
    [{ searchUnits: 201 }, { inputTokens: 5, searchUnits: 1, estimated: true }],
  ])('makes of %j at most a hundred times its own estimate: %j', (reported, usage) => {
    expect(completeUsage(reported, 'q', documents)).toEqual(usage);
  });

  it.each([
    undefined,
    {},
    { inputTokens: -1, searchUnits: 0 },
    { inputTokens: 1e12, searchUnits: 1e9 },
  ])('estimates where the upstream gives %j', (reported) => {
    const usage = completeUsage(reported, 'q', documents);

    expect(usage.estimated).toBe(true);
    expect(usage.searchUnits).toBe(1);
    expect(Number.isInteger(usage.inputTokens)).toBe(true);
  });
});

it.each([
  [1, 1],
  [100, 1],
  [101, 2],
  [200, 2],
  [201, 3],
  [0, 1],
])('%d documents are %d search units', (documents, units) => {
  expect(searchUnits(documents)).toBe(units);
});

it('a token is estimated for every four bytes, the query counted once for each document', () => {
  const documents = textDocuments(['aaaa', 'bbbb']);

  expect(
    [estimateTokens('', documents), estimateTokens('é', documents)].map((tokens) => 4 * tokens),
  ).toEqual([0, 4].map((bytes) => 4 * Math.ceil((documents.meantBytes + bytes) / 4)));
  expect(estimateTokens('', textDocuments([]))).toBe(1);
});
