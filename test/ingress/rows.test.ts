import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { type Documents, JsonFragment } from '../../src/bytes/index.js';
import { documentsIn, encodeJson } from '../support/documents.js';
import type { WrittenRows } from '../../src/core/rerank.js';
import { AS_TEXT, MAIN_ROW, rescored, rowsJson } from '../../src/ingress/rows.js';
import { asLogits, asProbabilities, byPosition } from '../../src/ingress/write.js';
import { fc } from '../support/property.js';

const OTHER_ROW = (index: number, score: string): string => `{"score":${score},"i":${index}}`;
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '}', '"{', '汉字', '\u0001'),
);
const source = fc.oneof(text, fc.record({ id: fc.nat(), text }));
const score = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());

interface Case {
  readonly sources: readonly (string | { readonly text: string })[];
  readonly rows: readonly { readonly index: number; readonly score: number }[];
}

const someCase: fc.Arbitrary<Case> = fc
  .array(fc.tuple(source, score), { minLength: 1, maxLength: 12 })
  .chain((list) =>
    fc
      .shuffledSubarray(
        list.map((_, index) => index),
        { minLength: 1 },
      )
      .map((order) => ({
        sources: list.map(([one]) => one),
        rows: order.map((index) => ({ index, score: list[index]?.[1] ?? 0 })),
      })),
  );

/** The rows as an upstream may have written them: not at all, as texts, or in the main contract's form. */
function writtenOf(rows: Case['rows'], kind: number): WrittenRows | undefined {
  if (kind === 0) return undefined;
  const texts = rows.map(({ score: one }) => (Number.isInteger(one) ? '' : one.toExponential()));
  if (kind === 1) return { kind: 'scores', rows, texts };
  const bytes = Buffer.from(rows.map((row) => MAIN_ROW(row.index, String(row.score))).join());
  return { kind: 'rows', rows, bytes };
}

function read(json: ReturnType<typeof rowsJson>): unknown {
  const bytes = encodeJson(json);
  if (json instanceof JsonFragment) {
    expect(json.size).toBe(bytes.length);
  }
  return JSON.parse(bytes.toString());
}

describe('rows of a reply as text', () => {
  it('are those that objects would give, however they and the documents came', () => {
    fc.assert(
      fc.property(someCase, fc.nat(2), ({ sources, rows }, kind) => {
        const ranking = { rows, written: writtenOf(rows, kind) };
        const main = rows.map((row) => ({ index: row.index, relevance_score: row.score }));
        const texts = sources.map((one) => (typeof one === 'string' ? one : one.text));
        const all: readonly Documents[] = [
          documentsIn(JSON.stringify(sources)),
          textDocuments(texts),
        ];

        expect(read(rowsJson(ranking, MAIN_ROW))).toEqual(main);
        expect(read(rowsJson(ranking, OTHER_ROW))).toEqual(
          rows.map((row) => ({ i: row.index, score: row.score })),
        );
        for (const [at, documents] of all.entries()) {
          const shown = rows.map(({ index }) => {
            const sent = sources[index];
            return at === 0 && typeof sent === 'object' ? sent : { text: texts[index] };
          });

          expect(read(rowsJson(ranking, MAIN_ROW, documents))).toEqual(
            main.map((row, rank) => ({ ...row, document: shown[rank] })),
          );
          expect(read(rowsJson(ranking, MAIN_ROW, documents, AS_TEXT))).toEqual(
            main.map((row) => ({ ...row, document: texts[row.index] })),
          );
          expect(
            read(rowsJson(ranking, OTHER_ROW, documents, { name: 'input', areTexts: false })),
          ).toEqual(
            rows.map((row, rank) => ({ i: row.index, score: row.score, input: shown[rank] })),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are written as they came, unless their scores are others', () => {
    const rows = [
      { index: 1, score: 0.75 },
      { index: 0, score: 0.5 },
    ];
    const written: WrittenRows = { kind: 'scores', rows, texts: ['0.750', '5e-1'] };
    const one = (_index: number, text: string): string => text;
    const text = (ranking: Parameters<typeof rowsJson>[0]): string =>
      encodeJson(rowsJson(ranking, one)).toString();

    expect(text({ rows, written })).toBe('[0.750,5e-1]');
    expect(text({ rows: byPosition(rows), written })).toBe('[5e-1,0.750]');
    expect(text(rescored({ rows, written }, (same) => same))).toBe('[0.750,5e-1]');
    const doubled = rescored({ rows, written }, (all) =>
      all.map(({ index, score: half }) => ({ index, score: 2 * half })),
    );
    expect(text(doubled)).toBe('[1.5,1.0]');
  });

  it('are an empty list if there are none', () => {
    const ranking = { rows: [], written: undefined };

    expect(encodeJson(rowsJson(ranking, MAIN_ROW, textDocuments(['a']))).toString()).toBe('[]');
  });
});

it.each([
  ['from 0 to 1', [0.5, 1], 0, 0.5],
  ['one of which is a little below 0', [0.5, -0.01], 0.5, 0.6225],
  ['one of which is above 1', [0.5, 1.01], 0.5, 0.6225],
])('of scores %s, 0.5 is a logit or a probability', (_what, scores, logit, probability) => {
  const rows = scores.map((one, index) => ({ index, score: one }));

  expect(asLogits(rows)[0]?.score).toBeCloseTo(logit);
  expect(asProbabilities(rows)[0]?.score).toBeCloseTo(probability);
});
