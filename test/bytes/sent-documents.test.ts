import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { encodeJson } from '../../src/bytes/encode.js';
import { sentDocuments, textDocuments } from '../../src/bytes/documents.js';
import { listName, scanBody } from '../../src/bytes/scan.js';
import { documentsIn, withTexts } from '../support/documents.js';
import { takeUncounted, timesLeft } from '../support/memory.js';
import { atOnce, Pace } from '../../src/bytes/steps.js';
import { leastTokens } from '../../src/core/tokens.js';
import type { JsonFragment } from '../../src/bytes/fragment.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());

describe('documents that are kept as they were sent', () => {
  takeUncounted();

  const LIST =
    '[{"id":9223372036854775807,"text":"a\\u0041"}, "b\\n" ,{"text":" \\u3000","f":1.0}]';
  const documents = documentsIn(LIST);
  const TEXTS = ['aA', 'b\n', ' \u3000'];

  it('give texts of objects and strings alike, and what was sent in its own bytes', () => {
    expect(read(documents.texts())).toEqual(TEXTS);
    expect(documents.sizeBytes).toBe(documents.texts().size);
    expect(read(documents.objects('content'))).toEqual(TEXTS.map((content) => ({ content })));
    expect(documents.sources().bytes.toString()).toBe(LIST);
    expect(encodeJson(documents.echo(0)).toString()).toBe(
      '{"id":9223372036854775807,"text":"a\\u0041"}',
    );
    expect(encodeJson(documents.echo(1)).toString()).toBe('{"text":"b\\n"}');
    expect(documents.parts()).toEqual(
      (JSON.parse(LIST) as unknown[]).map((source, index) => ({ text: TEXTS[index], source })),
    );
  });

  it.each([
    ['text', ['text'], [{ text: 't0' }, { text: 't1' }]],
    ['content', ['text'], [{ text: 't0' }, { text: 't1' }]],
    ['content', ['content'], [{ content: 'c0' }, { content: 'c1' }]],
    ['content', ['content', 'text'], [0, 1].map((at) => ({ content: `c${at}`, text: `t${at}` }))],
    ['part.content', ['part.content'], [{ 'part.content': 'p0' }, { 'part.content': 'p1' }]],
    ['content', ['title'], undefined],
  ])('ranked by %s are reduced to %j of what was sent', (text, fields, due) => {
    const sources = [0, 1].map((at) => ({
      ...{ text: `t${at}`, content: `c${at}`, 'part.content': `p${at}`, part: { content: 'x' } },
    }));
    const body = Buffer.from(JSON.stringify({ documents: sources }));
    const scanned = scanBody(body, [listName('documents', { text })]);
    if (scanned === undefined) throw new Error('the body was not split');
    const all = sentDocuments(scanned);

    const picked = all.picked(fields);

    expect(picked && read(picked)).toEqual(due);
    const last = all.pick([1]).picked(fields);
    expect(last && read(last)).toEqual(due?.slice(1));
  });

  it('leave behind no memory in which new texts were written one by one', () => {
    const sent = documentsIn(JSON.stringify(['one', 'two', 'three']));
    const text = `new texts ${'x'.repeat(600_000)}`;

    const changed = withTexts(sent, [0, text], [1, text], [2, text]);

    // The first lies apart.
    expect(timesLeft('new texts', 600_000)).toBe(2);
    expect([0, 1, 2].every((index) => changed.text(index) === text)).toBe(true);
  });

  it('fill blanks and leave some out without a change to what was sent', () => {
    expect(documents.blanks()).toEqual([2]);
    const filled = documents.fillBlanks('-');
    const picked = filled.pick([2, 0]);

    expect(read(filled.texts())).toEqual(['aA', 'b\n', '-']);
    expect(filled.blanks()).toEqual([]);
    expect(read(picked.texts())).toEqual(['-', 'aA']);
    expect(documents.pick([2, 1]).blanks()).toEqual([0]);
    expect(read(picked.sources())).toEqual([
      { text: ' \u3000', f: 1 },
      { id: Number('9223372036854775807'), text: 'aA' },
    ]);
    expect(encodeJson(picked.echo(0)).toString()).toBe('{"text":" \\u3000","f":1.0}');
  });
});

describe('blanks of a list', () => {
  const blank = fc.constantFrom('', ' ', '\n\u3000');
  const text = fc.oneof(blank, fc.string({ unit: 'grapheme' }));
  const element = fc.oneof(text, fc.record({ id: fc.nat(), text }));
  const textOf = (item: string | { readonly text: string }) =>
    typeof item === 'string' ? item : item.text;

  it('are filled and picked as in a list that was parsed', () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1 }), fc.string(), (list, other) => {
        const documents = documentsIn(JSON.stringify(list));
        const filled = documents.fillBlanks(other);
        const order = list.map((_, index) => index).filter((index) => index % 3 !== 1);
        const picked = documents.pick(order.reverse());
        const texts = list.map(textOf);
        const meant = texts.map((one) => (one.trim() === '' ? other.toWellFormed() : one));

        expect(read(filled.texts())).toEqual(meant);
        expect(meant.map((_, index) => filled.text(index))).toEqual(meant);
        expect(filled.blanks()).toEqual([]);
        expect(read(filled.sources())).toEqual(list);
        expect(read(picked.sources())).toEqual(order.map((index) => list[index]));
        expect(picked.blanks()).toEqual(
          order.flatMap((index, at) => (texts[index]?.trim() === '' ? [at] : [])),
        );
      }),
    );
  });
});

describe('a long text', () => {
  const parts = ['\\', '\\\\', '"', '\n', 'a', 'é', '汉', '🪐', '\u0001', '\ud83d\ude00', ' '];
  const escaped = (text: string): string =>
    JSON.stringify(text).replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const someText = fc
    .tuple(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 9 }), fc.nat(8))
    .map(([row, shift]) => 'x'.repeat(shift) + row.join('').repeat(30_000));

  it.each([
    ['as it is', (text: string) => JSON.stringify(text)],
    ['in escapes', escaped],
  ])('comes in pieces, and by its beginning: written %s', (_how, write) => {
    fc.assert(
      fc.property(someText, fc.nat(70_000), (text, units) => {
        const documents = documentsIn(`[${write(text)}]`);

        const pieces = [...documents.pieces(0)];
        const beginning = documents.beginning(0, units);

        expect(pieces.join('') === text).toBe(true);
        expect(atOnce(documents.leastTokens(0, Infinity, new Pace()))).toBe(leastTokens(text));
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
        expect(text.startsWith(beginning)).toBe(true);
        expect(beginning.length).toBeGreaterThanOrEqual(Math.min(units, text.length));
        expect(beginning.length).toBeLessThanOrEqual(6 * (units + 2));
      }),
      { numRuns: 30 },
    );
  });

  it('that was parsed has the same', () => {
    const documents = textDocuments(['moon '.repeat(100)]);

    expect([...documents.pieces(0)].join('')).toBe('moon '.repeat(100));
    expect(documents.beginning(0, 7)).toBe('moon mo');
  });
});
