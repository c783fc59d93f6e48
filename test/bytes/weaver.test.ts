import { describe, expect, it } from '@jest/globals';
import type { Documents } from '../../src/bytes/documents.js';
import { scanBody } from '../../src/bytes/scan.js';
import { ROW } from '../../src/bytes/scanner.js';
import { weaver } from '../../src/bytes/weaver.js';
import { sentDocuments } from '../../src/bytes/sent-documents.js';
import { fc } from '../support/property.js';

/** Documents of a body with this much else in it: if it is far more than they are, lists are written without the weaver. */
function documentsBeside(list: readonly unknown[], characters: number): Documents {
  const query = 'q'.repeat(characters);
  const body = Buffer.from(JSON.stringify({ query, documents: list }));
  const scanned = scanBody(body);
  if (scanned === undefined) throw new Error('the list was not found');
  return sentDocuments(scanned);
}

const someName = fc
  .tuple(fc.string({ unit: 'grapheme' }), fc.nat(40))
  .map(([text, times]) => text.toWellFormed().repeat(times + 1));
const someText = fc
  .tuple(someName, fc.constantFrom('', '', ' \ud83d', '\ude00 half'))
  .map(([text, half]) => text + half);
const someDocument = fc.oneof(
  someText,
  fc.record({ id: fc.nat(), text: someText }),
  fc.record({ text: someText, more: fc.json().map((json): unknown => JSON.parse(json)) }),
);
const someList = fc.array(someDocument, { minLength: 1, maxLength: 20 });

/** What is ranked of it: no halves of characters. */
function textOf(document: unknown): string {
  const text = typeof document === 'string' ? document : (document as { text: string }).text;
  return text.toWellFormed();
}

function echoOf(document: unknown): unknown {
  return typeof document === 'string' ? { text: document } : document;
}

describe('lists that are woven', () => {
  it('are what the plain way writes, byte for byte, and what was sent', () => {
    fc.assert(
      fc.property(someList, someName, (list, key) => {
        const woven = documentsBeside(list, 0);
        const plain = documentsBeside(list, 200_000);
        const order = list.map((_, index) => index).reverse();
        const rows = Buffer.from(order.map((index) => `{"index":${index},"s":0.5}`).join(','));
        const echoes = woven.echoes(order, rows).toString();

        expect(woven.texts().toString()).toBe(plain.texts().toString());
        expect(woven.objects(key).toString()).toBe(plain.objects(key).toString());
        expect(echoes).toBe(plain.echoes(order, rows).toString());
        for (const name of ['document', 'input']) {
          const texts = { name, areTexts: true };
          const whole = { name, areTexts: false };
          const shown = woven.echoes(order, rows, texts).toString();

          expect(shown).toBe(plain.echoes(order, rows, texts).toString());
          expect(JSON.parse(`[${shown}]`)).toEqual(
            order.map((index) => ({ index, s: 0.5, [name]: textOf(list[index]) })),
          );
          expect(woven.echoes(order, rows, whole).toString()).toBe(
            plain.echoes(order, rows, whole).toString(),
          );
        }
        expect(JSON.parse(woven.texts().toString())).toEqual(list.map(textOf));
        expect(JSON.parse(woven.objects(key).toString())).toEqual(
          list.map((document) => Object.fromEntries([[key, textOf(document)]])),
        );
        expect(JSON.parse(`[${echoes}]`)).toEqual(
          order.map((index) => ({ index, s: 0.5, document: echoOf(list[index]) })),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('are the same of thousands of documents in large bodies', () => {
    fc.assert(
      fc.property(someList, fc.integer({ min: 30_000, max: 900_000 }), (some, bytes) => {
        const times = Math.ceil(bytes / JSON.stringify(some).length);
        const list = Array.from({ length: times }, () => some)
          .flat()
          .slice(0, 10_000);
        const body = Buffer.from(JSON.stringify({ documents: list }));
        const scanned = scanBody(body);
        if (scanned === undefined) throw new Error('the list was not found');
        const order = list.map((_, index) => (index * 7_919) % list.length);
        const rows = Buffer.from(order.map((index) => `{"index":${index}}`).join(','));
        const woven = sentDocuments(scanned);
        const plain = documentsBeside(list, 4_000_000);

        expect(woven.texts().bytes.equals(plain.texts().bytes)).toBe(true);
        expect(woven.objects().bytes.equals(plain.objects().bytes)).toBe(true);
        expect(woven.echoes(order, rows).bytes.equals(plain.echoes(order, rows).bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('may be of a part of the documents, with other texts', () => {
    const list = ['one', { id: 2, text: 'two' }, ' ', { text: 'four' }];
    const some = documentsBeside(list, 0).fillBlanks('-').pick([3, 2, 0]);

    expect(some.texts().toString()).toBe('["four","-","one"]');
    expect(some.echoes([2, 0], Buffer.from('{"i":2},{"i":0}')).toString()).toBe(
      '{"i":2,"document":{"text":"one"}},{"i":0,"document":{"text":"four"}}',
    );
  });

  it('keep nothing from one to the next', () => {
    const first = documentsBeside([{ text: 'first' }], 0).texts();
    documentsBeside([{ text: 'other' }], 0).texts();

    expect(first.toString()).toBe('["first"]');
  });

  it.each([1, 2_000])('have the same around them after rows were written: %d', (times) => {
    const documents = documentsBeside([{ text: 'one' }, { text: 'two' }], 0);
    const [before, after] = [`{"${'k'.repeat(times)}":`, ',"n":1}'];
    const expected = `[${before}"one"${after},${before}"two"${after}]`;
    const rows = Buffer.from(`{"index":0},{"index":1,"s":${'9'.repeat(3_000)}}`);

    expect(documents.around(before, after).toString()).toBe(expected);
    documents.echoes([0, 1], rows);
    expect(documents.around(before, after).toString()).toBe(expected);
  });
});

describe('what has no room, or is written faster one by one', () => {
  const body = Buffer.from(`["${'x'.repeat(30_000)}"]`);
  const rowOf = (times: number, length = 30_002) =>
    new Uint32Array(
      Array.from({ length: times }, () => [1, 1 + length, 1, 1 + length, length]).flat(),
    );
  const large = Buffer.alloc(1_310_721);

  it.each([
    ['a long body', large, rowOf(10_000, 10), '', ''],
    ['few documents of a body', Buffer.alloc(65_537), rowOf(13, 10), '', ''],
    ['few documents of a large body', Buffer.alloc(600_000), rowOf(428, 10), '', ''],
    ['long documents', Buffer.alloc(100_000), rowOf(30, 2_000), '', ''],
    ['a list that is longer than its body', body, rowOf(62), '', ''],
    ['many documents', body, new Uint32Array(ROW * 10_241), '', ''],
    ['much between them', body, rowOf(1), 'ü'.repeat(200_000), ''],
    ['much between many', body, new Uint32Array(ROW * 10_000), 'b'.repeat(90), 'a'.repeat(95)],
  ])('is not woven: %s', (_what, bytes, rows, before, after) => {
    expect(weaver().join({ body: bytes, rows, place: 0 }, before, after)).toBeUndefined();
  });

  it.each([
    ['a long body', large, 1, 10],
    ['few documents of a body', Buffer.alloc(100_000), 13, 10],
    ['rows that are long', body, 1, 786_433],
    ['documents that are long together', body, 62, 10],
    ['many documents', body, 10_241, 10],
  ])('has no document added to its rows: %s', (_what, bytes, times, length) => {
    const places = { body: bytes, rows: rowOf(1), place: 0 };
    const indexes = Array.from({ length: times }, () => 0);

    const shown = { name: 'document', bare: false };

    expect(weaver().echo(places, indexes, Buffer.alloc(length), shown)).toBeUndefined();
  });

  it('is woven where it just fits', () => {
    const of = (bytes: Buffer, rows: Uint32Array) =>
      weaver().join({ body: bytes, rows, place: 0 }, '', '');

    expect(of(Buffer.alloc(65_537), rowOf(14, 10))?.length).toBe(14 * 11 + 1);
    expect(of(Buffer.alloc(600_000), rowOf(432, 10))?.length).toBe(432 * 11 + 1);
    expect(of(Buffer.alloc(1_310_720), rowOf(1_000, 10))?.length).toBe(1_000 * 11 + 1);
    expect(of(body, rowOf(60))?.length).toBe(60 * 30_003 + 1);
    expect(of(body, new Uint32Array(ROW * 10_240))?.length).toBe(10_241);
  });
});
