import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import type { RerankRequest, WrittenRows } from '../../src/core/rerank.js';
import { rerankReplyBody } from '../../src/ingress/cohere.js';

const REQUEST: RerankRequest = {
  model: 'm"1',
  query: 'q',
  documents: textDocuments(['a', 'b', 'c']),
  topN: 2,
  returnDocuments: false,
  options: {},
};
const USAGE = { inputTokens: 4, searchUnits: 1, estimated: true };
const ROWS = [
  { index: 2, score: 0.5 },
  { index: 0, score: 0.0000001 },
] as const;
/** As an upstream may write them: the second number is not how the engine would write it. */
const WRITTEN = {
  kind: 'rows' as const,
  bytes: Buffer.from('{"index":2,"relevance_score":0.50},{"index":0,"relevance_score":1E-7}'),
  rows: ROWS.map((row) => ({ ...row })),
};

function bodyOf(written: WrittenRows | undefined, request = REQUEST): string {
  const reply = { rows: ROWS, usage: USAGE, warnings: [], written };
  return rerankReplyBody('rr_1', request, reply).toString();
}

describe('rerankReplyBody', () => {
  it.each([
    ['the same', WRITTEN],
    ['these very rows', { ...WRITTEN, rows: ROWS }],
  ])('has the rows in the upstream’s bytes if it wrote %s', (_name, written) => {
    const body = bodyOf(written);

    expect(body).toContain(`"results":[${WRITTEN.bytes.toString()}]`);
    expect(JSON.parse(body)).toEqual(JSON.parse(bodyOf(undefined)));
  });

  it.each([
    ['plain', 'm', []],
    ['beyond Latin', '模型🪐', ['汉字']],
    ['escaped', 'm\n"', ['half of a pair']],
  ])('knows how many bytes it has: %s', (_name, model, warnings) => {
    const reply = { rows: ROWS, usage: USAGE, warnings, written: undefined };
    const body = rerankReplyBody('rr_1', { ...REQUEST, model }, reply);

    expect(body).toHaveProperty('size', Buffer.byteLength(body.toString()));
  });

  it.each<[string, WrittenRows]>([
    ['others', { ...WRITTEN, rows: [ROWS[0], { index: 1, score: 0.0000001 }] }],
    ['more', { ...WRITTEN, rows: [...ROWS, { index: 1, score: 0.1 }] }],
    ['fewer', { ...WRITTEN, rows: [ROWS[0]] }],
    ['another score', { ...WRITTEN, rows: [ROWS[0], { index: 0, score: 0.0000002 }] }],
    ['another order', { ...WRITTEN, rows: [ROWS[1], ROWS[0]] }],
  ])('writes the rows itself where the upstream wrote %s', (_name, written) => {
    expect(bodyOf(written)).toBe(bodyOf(undefined));
  });

  it.each<[string, Omit<Extract<WrittenRows, { kind: 'scores' }>, 'kind'>]>([
    ['in its order', { rows: ROWS, texts: ['0.50', '1E-7'] }],
    ['in another order', { rows: ROWS.toReversed(), texts: ['1E-7', '0.50'] }],
    [
      'among more',
      { rows: [{ index: 1, score: -3 }, ...ROWS.toReversed()], texts: ['-3.0', '1E-7', '0.50'] },
    ],
    ['about rows like these', { rows: structuredClone(ROWS), texts: ['0.50', '1E-7'] }],
  ])('has the scores as the upstream wrote them %s', (_name, scores) => {
    const body = bodyOf({ kind: 'scores', ...scores });

    expect(body).toContain(
      '"results":[{"index":2,"relevance_score":0.50},{"index":0,"relevance_score":1E-7}]',
    );
  });

  it.each<[string, Omit<Extract<WrittenRows, { kind: 'scores' }>, 'kind'>]>([
    ['nothing that will do', { rows: ROWS, texts: ['', ''] }],
    ['fewer', { rows: [], texts: [] }],
    [
      'other scores',
      {
        rows: [
          { index: 2, score: 0.6 },
          { index: 0, score: undefined },
        ],
        texts: ['0.6', ''],
      },
    ],
    ['other rows', { rows: [{ index: 1, score: 0.7 }], texts: ['0.70'] }],
  ])('writes the scores itself where the upstream wrote %s', (_name, scores) => {
    expect(bodyOf({ kind: 'scores', ...scores })).toBe(bodyOf(undefined));
  });

  it.each([true, false])(
    'has no rows if there are none, documents wanted: %s',
    (returnDocuments) => {
      const reply = { rows: [], usage: USAGE, warnings: [], written: undefined };
      const body = rerankReplyBody('rr_1', { ...REQUEST, returnDocuments }, reply).toString();

      expect(JSON.parse(body)).toMatchObject({ results: [] });
    },
  );

  it('has them so with documents too, which come last', () => {
    const request = { ...REQUEST, returnDocuments: true };

    expect(bodyOf(WRITTEN, request)).toContain(
      '[{"index":2,"relevance_score":0.50,"document":{"text":"c"}},' +
        '{"index":0,"relevance_score":1E-7,"document":{"text":"a"}}]',
    );
    expect(JSON.parse(bodyOf(WRITTEN, request))).toEqual(JSON.parse(bodyOf(undefined, request)));
    expect(JSON.parse(bodyOf(WRITTEN, request))).toMatchObject({
      model: 'm"1',
      results: [{ document: { text: 'c' } }, { document: { text: 'a' } }],
    });
  });
});
