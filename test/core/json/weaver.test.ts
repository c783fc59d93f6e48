import { describe, expect, it } from '@jest/globals';
import type { Documents } from '../../../src/core/documents.js';
import { scanBody } from '../../../src/core/json/scan.js';
import { weaver } from '../../../src/core/json/weaver.js';
import { sentDocuments } from '../../../src/core/sent-documents.js';
import { fc } from '../../support/property.js';

/** Documents of a body with this much else in it: beyond 64 kB, lists are written without the weaver. */
function documentsBeside(list: readonly unknown[], characters: number): Documents {
  const query = 'q'.repeat(characters);
  const body = Buffer.from(JSON.stringify({ query, documents: list }));
  const scanned = scanBody(body);
  if (scanned === undefined) throw new Error('the list was not found');
  return sentDocuments(scanned);
}

const someText = fc
  .tuple(fc.string({ unit: 'grapheme' }), fc.nat(40))
  .map(([text, times]) => text.toWellFormed().repeat(times + 1));
const someDocument = fc.oneof(
  someText,
  fc.record({ id: fc.nat(), text: someText }),
  fc.record({ text: someText, more: fc.json().map((json): unknown => JSON.parse(json)) }),
);
const someList = fc.array(someDocument, { minLength: 1, maxLength: 20 });

function textOf(document: unknown): string {
  return typeof document === 'string' ? document : (document as { text: string }).text;
}

function echoOf(document: unknown): unknown {
  return typeof document === 'string' ? { text: document } : document;
}

describe('lists that are woven', () => {
  it('are what the plain way writes, byte for byte, and what was sent', () => {
    fc.assert(
      fc.property(someList, someText, (list, key) => {
        const woven = documentsBeside(list, 0);
        const plain = documentsBeside(list, 70_000);
        const order = list.map((_, index) => index).reverse();
        const rows = Buffer.from(order.map((index) => `{"index":${index},"s":0.5}`).join(','));
        const echoes = woven.echoes(order, rows).toString();

        expect(woven.texts().toString()).toBe(plain.texts().toString());
        expect(woven.objects(key).toString()).toBe(plain.objects(key).toString());
        expect(echoes).toBe(plain.echoes(order, rows).toString());
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
});

describe('what has no room', () => {
  const body = Buffer.from(`["${'x'.repeat(30_000)}"]`);
  const rowOf = (times: number) =>
    new Uint32Array(Array.from({ length: times }, () => [1, 30_003, 1, 30_003]).flat());

  it.each([
    ['a long body', Buffer.alloc(65_537), new Uint32Array([0, 1, 0, 1]), '', ''],
    ['a list that is longer than its body', body, rowOf(5), '', ''],
    ['many documents', body, new Uint32Array(4 * 4_097), '', ''],
    ['much between them', body, rowOf(1), 'ü'.repeat(12_000), ''],
    ['much between many', body, new Uint32Array(4 * 4_000), 'b'.repeat(20), 'a'.repeat(20)],
  ])('is not woven: %s', (_what, bytes, rows, before, after) => {
    expect(weaver().join({ body: bytes, rows, place: 0 }, before, after)).toBeUndefined();
  });

  it.each([
    ['a long body', Buffer.alloc(65_537), 1, 10],
    ['rows that are long', body, 1, 65_537],
    ['documents that are long together', body, 5, 10],
    ['many documents', body, 4_097, 10],
  ])('has no document added to its rows: %s', (_what, bytes, times, length) => {
    const places = { body: bytes, rows: rowOf(1), place: 0 };
    const indexes = Array.from({ length: times }, () => 0);

    expect(weaver().echo(places, indexes, Buffer.alloc(length))).toBeUndefined();
  });
});
