import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { textDocuments } from '../../src/core/text-documents.js';
import { mergeWindows, sumUsage, windowsOf } from '../../src/core/split.js';
import { mostTokens } from '../../src/core/tokens.js';

const NONE = {
  documents: undefined,
  characters: undefined,
  bytes: undefined,
  tokens: undefined,
};

describe('windows', () => {
  it.each([
    ['no limit', 5, NONE, ['0-5']],
    ['a list that fits', 3, { ...NONE, documents: 3 }, ['0-3']],
    ['a list of one more', 4, { ...NONE, documents: 3 }, ['0-2', '2-4']],
    ['windows of like size', 10, { ...NONE, documents: 4 }, ['0-4', '4-8', '8-10']],
    ['characters, the query counted each time', 4, { ...NONE, characters: 7 }, ['0-2', '2-4']],
    ['bytes, with what stands between', 4, { ...NONE, bytes: 13 }, ['0-2', '2-4']],
    ['bytes, short by what stands between', 4, { ...NONE, bytes: 16 }, ['0-2', '2-4']],
    ['tokens, the query for each document', 4, { ...NONE, tokens: 7 }, ['0-2', '2-4']],
    ['so many tokens that all surely fit', 4, { ...NONE, tokens: 40 }, ['0-4']],
    ['a document that is too long by itself', 2, { ...NONE, characters: 2 }, ['0-1', '1-2']],
  ])('of %s', (_what, count, limits, expected) => {
    const documents = textDocuments(Array.from({ length: count }, () => 'xxx'));

    const windows = windowsOf(documents, 'q', limits);

    expect(windows.map(({ from, to }) => `${from}-${to}`)).toEqual(expected);
  });

  it('cover every document once, in order, and keep to the limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 60 }),
        fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        fc.constantFrom('a', 'abc', 'a query that is longer', 'ü'.repeat(9)),
        (texts, documents, characters, bytes, tokens, query) => {
          const limits = { documents, characters, bytes, tokens };
          const windows = windowsOf(textDocuments(texts), query, limits);

          expect(windows.flatMap(({ from, to }) => texts.slice(from, to))).toEqual(texts);
          for (const { from, to } of windows) {
            expect(to).toBeGreaterThan(from);
            expect(to - from).toBeLessThanOrEqual(documents ?? Infinity);
            const length = texts.slice(from, to).join('').length + query.length;
            if (to - from === 1) continue;
            expect(length).toBeLessThanOrEqual(characters ?? Infinity);
            const own = texts.slice(from, to);
            const sent = Buffer.byteLength(query) + Buffer.byteLength(own.join('","'));
            expect(sent).toBeLessThanOrEqual(bytes ?? Infinity);
            const counts = own.map((text) => mostTokens(query) + mostTokens(text));
            expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(
              tokens ?? Infinity,
            );
          }
        },
      ),
    );
  });
});

describe('merged windows', () => {
  it('are one ranking, best first, equal scores in the order of the list', () => {
    const rows = mergeWindows(
      [
        {
          window: { from: 0, to: 2 },
          rows: [
            { index: 1, score: 0.5 },
            { index: 0, score: 0.1 },
          ],
        },
        {
          window: { from: 2, to: 4 },
          rows: [
            { index: 0, score: 0.9 },
            { index: 1, score: 0.5 },
          ],
        },
      ],
      3,
    );

    expect(rows).toEqual([
      { index: 2, score: 0.9 },
      { index: 1, score: 0.5 },
      { index: 3, score: 0.5 },
    ]);
  });

  it('know what was used where each of them said so', () => {
    expect(
      sumUsage([{ inputTokens: 3, searchUnits: 1 }, { inputTokens: 4 }, { inputTokens: 5 }]),
    ).toEqual({ inputTokens: 12, searchUnits: undefined });
    expect(sumUsage([{ inputTokens: 3 }, undefined]).inputTokens).toBeUndefined();
  });
});
