import { describe, expect, it } from '@jest/globals';
import { documentsOf, type Documents, type JsonFragment } from '../../src/bytes/index.js';
import { textDocuments } from '../../src/core/text-documents.js';
import {
  documentsIn,
  echoOf,
  encodeJson,
  filled,
  openedBody,
  withTexts,
} from '../support/documents.js';
import { fc } from '../support/property.js';

const read = ({ bytes, size }: JsonFragment): unknown => {
  expect(bytes.length).toBe(size);
  return JSON.parse(bytes.toString());
};

type Source = string | { readonly text: string };

const textOf = (source: Source): string => (typeof source === 'string' ? source : source.text);

/** The same documents as bytes that came, beside so much else, and as values. */
function both(list: readonly Source[], beside = 0): readonly Documents[] {
  const body = openedBody(JSON.stringify({ query: 'q'.repeat(beside), documents: list }));
  const sent = body.documents({ elements: 'any' }) as Documents | undefined;
  if (sent === undefined) throw new Error('the list was not found');
  return [sent, documentsOf(list.map((source) => ({ text: textOf(source), source })))];
}

const text = fc
  .tuple(
    fc.oneof(fc.constantFrom('', ' ', '\n\u3000', 'été 汉字 🪐'), fc.string({ unit: 'grapheme' })),
    fc.constantFrom('', '', ' \ud83d', '\ude00 half'),
  )
  .map(([some, half]) => some + half);
const source: fc.Arbitrary<Source> = fc.oneof(
  text,
  fc.record({ id: fc.nat(), text }),
  fc.record({ text, more: fc.json().map((json): unknown => JSON.parse(json)) }),
);
const sources = fc.array(source, { minLength: 1, maxLength: 20 });
const name = fc.string({ unit: 'grapheme', maxLength: 20 }).map((some) => some.toWellFormed());

describe('documents', () => {
  it('are what was sent and meant, as bytes and as values', () => {
    fc.assert(
      fc.property(sources, name, fc.constantFrom(0, 70_000, 300_000), (list, key, beside) => {
        const texts = list.map((one) => textOf(one).toWellFormed());
        const order = list.map((_, index) => index).reverse();
        const rows = Buffer.from(order.map((index) => `{"index":${index},"s":0.5}`).join(','));
        const blanks = order.filter((index) => texts[index]?.trim() === '').reverse();
        for (const documents of both(list, beside)) {
          expect(documents.count).toBe(list.length);
          expect(documents.images).toBe('none');
          expect(documents.blanks).toEqual(blanks);
          expect(documents.sizeBytes).toBe(documents.texts().size);
          const meant = texts.reduce((bytes, one) => bytes + Buffer.byteLength(one) + 3, 1);
          expect(documents.meantBytes).toBe(meant);
          expect(read(documents.texts())).toEqual(texts);
          expect(read(documents.texts(`{${JSON.stringify(key)}:`, '}'))).toEqual(
            texts.map((one) => ({ [key]: one })),
          );
          expect(read(documents.texts((index) => `{"é":${index},"a":`, ',"b":2}'))).toEqual(
            texts.map((a, index) => ({ é: index, a, b: 2 })),
          );
          expect(read(documents.sources())).toEqual(list);
          for (const [index, one] of texts.entries()) {
            expect(documents.text(index)).toBe(one);
            expect(one.startsWith(documents.text(index, 3).slice(0, 3))).toBe(true);
            expect(documents.textBytes(index)).toBe(documents.json(index).text?.size);
          }
          const shown = `[${documents.echoes(order, rows).toString()}]`;
          expect(JSON.parse(shown)).toEqual(
            order.map((index) => {
              const sent = list[index];
              const document = typeof sent === 'string' ? { text: sent } : sent;
              return { index, s: 0.5, document };
            }),
          );
          const bare = documents.echoes(order, rows, { name: 'text', areTexts: true });
          expect(JSON.parse(`[${bare.toString()}]`)).toEqual(
            order.map((index) => ({ index, s: 0.5, text: texts[index] })),
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are picked, with other texts, and what was sent stays', () => {
    fc.assert(
      fc.property(sources, text, (list, other) => {
        const order = list.map((_, index) => index).filter((index) => index % 3 !== 1);
        order.reverse();
        const texts = list.map((one) => textOf(one).toWellFormed());
        const meant = texts.map((one) => (one.trim() === '' ? other.toWellFormed() : one));
        for (const documents of both(list)) {
          const whole = filled(documents, other);
          expect(read(whole.texts())).toEqual(meant);
          expect(whole.blanks).toEqual([]);
          expect(read(whole.sources())).toEqual(list);
          expect(whole.sizeBytes).toBe(whole.texts().size);
          const some = whole.pick(order);
          expect(read(some.texts())).toEqual(order.map((index) => meant[index]));
          expect(read(some.sources())).toEqual(order.map((index) => list[index]));
          expect(order.map((_, at) => some.text(at))).toEqual(order.map((index) => meant[index]));
          const changed = withTexts(some, [0, 'eins'], [order.length - 1, 'zwei']);
          expect(changed.text(order.length - 1)).toBe('zwei');
          expect(read(changed.sources())).toEqual(read(some.sources()));
          const rows = Buffer.from('{"index":0}');
          const bare = { name: 'text', areTexts: true };
          expect(JSON.parse(changed.echoes([order.length - 1], rows, bare).toString())).toEqual({
            index: 0,
            text: 'zwei',
          });
        }
        expect(read(documentsIn(JSON.stringify(list)).pick([]).texts())).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('show numbers and halves of characters as they came', () => {
    const list =
      '[{"id":9223372036854775807,"text":"a\\u0041"}, "half \\uD800" ,{"text":"b","f":1.0}]';
    const documents = documentsIn(list);

    expect(documents.sources().toString()).toBe(list);
    expect(read(documents.texts())).toEqual(['aA', 'half \ufffd', 'b']);
    expect([0, 1, 2].map((index) => encodeJson(echoOf(documents, index)).toString())).toEqual([
      '{"id":9223372036854775807,"text":"a\\u0041"}',
      '{"text":"half \\uD800"}',
      '{"text":"b","f":1.0}',
    ]);
  });

  it('tell the beginning of a long text', () => {
    for (const part of ['moon ', '\\n\\\\', '\\ud83e\\ude90', '汉', '\\u6c49']) {
      const json = `["${part.repeat(30_000)}"]`;
      const documents = documentsIn(json);
      const whole = (JSON.parse(json) as string[])[0] ?? '';
      for (const units of [0, 1, 2, 3, 1_000, 1_001, 60_000, 1_000_000]) {
        const beginning = documents.text(0, units);
        expect(whole.startsWith(beginning)).toBe(true);
        expect(beginning.length).toBeGreaterThanOrEqual(Math.min(units, whole.length));
        expect(beginning.length).toBeLessThanOrEqual(6 * (units + 2));
      }
    }
  });
});

describe('documents with images', () => {
  const image = 'https://images.test/a.png';
  const list = [
    { text: 'one', image },
    { image },
    'two',
    { text: ' ', image },
    { text: ' ', image: '' },
    { text: 'three', image: null },
  ];
  const parts = list.map((source) => {
    if (typeof source === 'string') return { text: source, source };
    const { text: own, image: of } = source;
    const isImage = of !== null && of !== '';
    return {
      ...(own === undefined ? {} : { text: own }),
      ...(isImage ? { image: of } : {}),
      source,
    };
  });

  it.each([
    ['sent', documentsIn(JSON.stringify(list))],
    ['as values', documentsOf(parts)],
  ])('have both, and may be left without: %s', (_name, documents) => {
    expect(documents.images).toBe('alone');
    expect(documents.blanks).toEqual([4]);
    const contents = list.map((_, index) => {
      const { text: own, image: of } = documents.json(index);
      return [own && read(own), of && read(of)];
    });
    expect(contents).toEqual([
      ['one', image],
      [undefined, image],
      ['two', undefined],
      [' ', image],
      [' ', undefined],
      ['three', undefined],
    ]);
    expect(read(documents.texts())).toEqual(['one', '', 'two', ' ', ' ', 'three']);
    expect(documents.sizeBytes).toBe(documents.texts().size);
    expect(documents.pick([0, 2]).images).toBe('beside');
    expect(documents.pick([2]).images).toBe('none');
    const changed = withTexts(documents.pick([1, 1]), [1, 'eins']);
    expect(changed.json(0).text).toBeUndefined();
    expect([changed.text(0), changed.text(1)]).toEqual(['', 'eins']);
    const without = documents.pick(undefined, { images: 'none' });
    expect([without.images, without.blanks]).toEqual(['none', [1, 3, 4]]);
    expect(read(without.sources())).toEqual(list);
  });
});

it('are made of nothing but texts', () => {
  const documents = textDocuments(['süß', '']);

  expect(documents.textBytes(0)).toBe(7);
  expect(read(documents.sources())).toEqual(['süß', '']);
});
