import { describe, expect, it } from '@jest/globals';
import { JsonFragment, writeJson, withoutLongTexts } from '../../src/bytes/index.js';
import { documentsIn, encodeJson } from '../support/documents.js';
import { fc } from '../support/property.js';

const json = fc.json().map((text): unknown => JSON.parse(text));

describe('writeJson', () => {
  it('writes values as the engine does, but for halves of characters', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(encodeJson(value as never).toString()).toBe(
          JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd'),
        );
      }),
    );
  });

  it('writes half of a character as a replacement for it', () => {
    expect(encodeJson({ model: 'half \ud83d' }).toString()).toBe('{"model":"half \ufffd"}');
  });

  it('leaves out what is undefined, and writes fragments as they stand', () => {
    const body = {
      a: undefined,
      b: [new JsonFragment('1.0'), new JsonFragment(Buffer.from('{"x": 1}')), null],
      c: JsonFragment.joined(['[', Buffer.from('2'), new JsonFragment(',3'), ']']),
    };

    expect(encodeJson(body).toString()).toBe('{"b":[1.0,{"x": 1},null],"c":[2,3]}');
  });

  it('leaves a long list where it lies, whatever is around it', () => {
    const documents = documentsIn(
      JSON.stringify(Array.from({ length: 500 }, () => 'é'.repeat(30))),
    );
    const { lying } = documents.texts();
    const written = writeJson({ query: 'ü', documents: documents.texts(), n: 1 });
    if (written instanceof Promise) throw new Error('there is nothing to wait for');

    expect(written.pieces).toHaveLength(3);
    expect(written.pieces[1]).toBe(lying);
    expect(Buffer.concat(written.pieces).equals(written.bytes)).toBe(true);
    expect(written.size).toBe(written.bytes.length);
    expect(JSON.parse(written.toString())).toMatchObject({ query: 'ü', n: 1 });
  });

  it('gives others their turn while it writes what is large', async () => {
    const texts = Array.from({ length: 3_000 }, (_, at) => ({ text: `${at} ${'x'.repeat(700)}` }));
    const documents = documentsIn(JSON.stringify(texts.slice(0, 1_000)));
    const objects = { a: documents.texts('{"a":', '}'), b: documents.texts('{"b":', '}') };
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);

    const written = await writeJson(objects);
    clearImmediate(timer);

    expect(turns).toBeGreaterThanOrEqual(Math.floor(written.size / 262_144) - 1);
    const { b } = JSON.parse(written.toString()) as { readonly b: readonly object[] };
    expect(b[999]).toEqual({ b: texts[999]?.text });
  });
});

describe('a large reply', () => {
  const long = (text: string): string => text.repeat(Math.ceil(600 / text.length));

  it.each([
    ['nothing of long texts in lists', 0],
    ['their beginnings', 100],
  ])('keeps %s', async (_name, kept) => {
    const rows = Array.from({ length: 2_500 }, (_, index) => ({
      ...{
        index,
        document: { text: long('\\"é') },
        tags: [long('a'), 'short'],
        n: '1'.repeat(600),
      },
    }));
    const reply = Buffer.from(JSON.stringify({ note: long('n'), results: rows }));

    const short = await withoutLongTexts(reply, kept);

    const read = JSON.parse(short.toString()) as typeof reply & { results: typeof rows };
    expect(short.length).toBeLessThan(reply.length / 1.5);
    for (const [index, row] of read.results.entries()) {
      const { document, tags, n } = row;
      expect([row.index, tags[1], n]).toEqual([index, 'short', '1'.repeat(600)]);
      expect(rows[index]?.document.text.startsWith(document.text)).toBe(true);
      expect(document.text.length).toBeLessThanOrEqual(kept);
      expect(document.text.length).toBeGreaterThanOrEqual(Math.min(kept, kept / 6 - 1));
    }
  });

  it('stays as it is where it is small', () => {
    const reply = Buffer.from(JSON.stringify([long('a')]));
    expect(withoutLongTexts(reply)).toBe(reply);
  });
});
