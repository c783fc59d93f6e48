import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { partDocuments, textDocuments } from '../../src/bytes/documents.js';
import { documentsIn } from '../support/documents.js';
import type { JsonFragment } from '../../src/bytes/fragment.js';
import { encodeJson } from '../../src/bytes/encode.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());
const fromBytes = (texts: string[]) => documentsIn(JSON.stringify(texts));

describe('documents that were parsed and prepared', () => {
  const text = fc.string({ unit: 'binary' });
  const image = fc.constantFrom('https://images.example/a.png', 'data:image/png;base64,AAAA', '"');
  const part = fc.oneof(fc.record({ text }), fc.record({ image }), fc.record({ text, image }));
  const parts = fc.array(part).map((some) => some.map((one) => ({ ...one, source: one })));

  it('are written like those that were not', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (some) => {
        const plain = partDocuments(some);
        const prepared = partDocuments(some);
        await prepared.prepare(() => Promise.resolve());

        const indexes = some.map((_, index) => index).filter((index) => index % 2 === 0);
        const pairs = [
          [prepared, plain],
          [prepared.pick(indexes), plain.pick(indexes)],
          [prepared.fillBlanks('-"'), plain.fillBlanks('-"')],
          [prepared.withoutImages(), plain.withoutImages()],
        ] as const;
        for (const [left, right] of pairs) {
          expect(left.sizeBytes).toBe(right.sizeBytes);
          expect(left.texts().bytes).toEqual(right.texts().bytes);
          expect(left.objects('content').bytes).toEqual(right.objects('content').bytes);
          expect(left.around('[', ']').bytes).toEqual(right.around('[', ']').bytes);
        }
      }),
    );
  });

  it('echo what was sent, though their text is only a part of it', async () => {
    const source = { text: 'a', more: 1 };
    const documents = partDocuments([{ text: 'a', source }]);
    await documents.prepare(() => Promise.resolve());

    expect(JSON.parse(encodeJson(documents.echo(0)).toString())).toEqual(source);
  });

  it('are prepared a part of a long text at a time', async () => {
    const texts = [0, 1].map((shift) => 'x'.repeat(shift) + '🪐\ud800'.repeat(300_000));
    const documents = textDocuments(texts);

    await documents.prepare(() => Promise.resolve());

    const wellFormed = JSON.stringify(texts.map((text) => text.toWellFormed()));
    expect(documents.texts().bytes.equals(Buffer.from(wellFormed))).toBe(true);
  });

  it('are prepared with a pause after some hundred kilobytes', async () => {
    const documents = textDocuments(Array.from({ length: 40 }, () => 'x'.repeat(100_000)));
    let pauses = 0;

    await documents.prepare(() => {
      pauses += 1;
      return Promise.resolve();
    });

    expect(pauses).toBeGreaterThan(10);
    expect(documents.sizeBytes).toBe(40 * 100_002 + 41);
  });
});

describe('documents that are objects', () => {
  const image = 'https://images.test/a.png';
  const documents = partDocuments([
    { text: 'a', source: { text: 'a', id: 7 } },
    { image, source: { image } },
    { text: 'lone \ud800', source: 'lone \ud800' },
  ]);

  it('echo the whole object as the caller sent it', () => {
    expect(JSON.parse(encodeJson(documents.echo(0)).toString())).toEqual({ text: 'a', id: 7 });
  });

  it('are not blank when they have an image', () => {
    expect(documents.hasImages).toBe(true);
    expect(documents.blanks()).toEqual([]);
  });

  it('tell an image alone from one beside a text', () => {
    const both = partDocuments([{ text: '', image, source: { text: '', image } }]);
    const plain = partDocuments([{ text: 'a', source: { text: 'a', image: {} } }]);

    expect([documents.hasImages, documents.hasLoneImages]).toEqual([true, true]);
    expect([both.hasImages, both.hasLoneImages]).toEqual([true, false]);
    expect([plain.hasImages, plain.hasLoneImages]).toEqual([false, false]);
    expect(fromBytes(['a'])).toMatchObject({ hasImages: false, hasLoneImages: false });
  });

  it('go by their texts without their images, and are still what the caller sent', () => {
    const source = { text: ' ', image, id: 7 };
    const both = partDocuments([
      { text: 'a', source: 'a' },
      { text: ' ', image, source },
    ]);

    const texts = both.withoutImages();

    expect(texts.hasImages).toBe(false);
    expect(read(texts.objects())).toEqual([{ text: 'a' }, { text: ' ' }]);
    expect(texts.parts().map((part) => part.image)).toEqual([undefined, undefined]);
    expect(texts.blanks()).toEqual([1]);
    expect(JSON.parse(encodeJson(texts.echo(1)).toString())).toEqual(source);
    expect(texts.withoutImages()).toBe(texts);
  });

  it('leave no lone surrogate in what is sent', () => {
    expect(read(documents.texts())).toEqual(['a', '', 'lone \ufffd']);
    expect(read(documents.objects())).toEqual([{ text: 'a' }, { image }, { text: 'lone \ufffd' }]);
  });
});

describe('documents that were parsed from a body', () => {
  const fromBody = (array: string, around: (array: string) => string) => {
    const sources = JSON.parse(array) as unknown[];
    const parts = sources.map((source) => ({ text: 'ranked', source }));
    return partDocuments(parts, Buffer.from(around(array)));
  };
  const objectOnly = (array: string) => `{"documents":${array}}`;
  const ID = '{ "id": 9223372036854775807, "f":1.0, "h":1e400, "__proto__":{"a":[1,"]}"]} }';
  const ARRAY = `[${ID} ,\n "a \\"b\\\\", {},"\\ud800","汉字"]`;
  const SENT = [ID, '"a \\"b\\\\"', '{}', '"\\ud800"', '"汉字"'];

  it.each<[string, (array: string) => string]>([
    ['alone', objectOnly],
    ['first', (array) => `{"documents":${array},"query":"q"}`],
    ['last', (array) => ` {\r\n "top_n" : 1 , "x":null,"documents"\t: ${array} } \n`],
    [
      'behind others of that name',
      (array) => `{"documents":["x"],"documents":7,"documents":${array}}`,
    ],
    [
      'behind a nested one',
      (array) => `{"x":{"documents":["x"]},"y":["documents"],"documents":${array}}`,
    ],
    [
      'ahead of a longer name',
      (array) => `{"documents":${array},"documents2":["x"],"a\\"":"\\\\"}`,
    ],
    ['under an escaped name', (array) => `{"documents":["x"],"docum\\u0065nts":${array}}`],
  ])('are in the caller’s own bytes: the list %s', (_place, around) => {
    const documents = fromBody(ARRAY, around);

    expect(documents.sources().bytes.toString()).toBe(`[${SENT.join(',')}]`);
    expect(SENT.map((_, index) => encodeJson(documents.echo(index)).toString())).toEqual(
      SENT.map((sent) => (sent.startsWith('"') ? `{"text":${sent}}` : sent)),
    );
  });

  it('are found however deep they are', () => {
    const deep = `{"a":${'['.repeat(200)}1.0${']'.repeat(200)}}`;

    expect(encodeJson(fromBody(`[${deep}]`, objectOnly).echo(0)).toString()).toBe(deep);
  });

  it.each([
    ['long', 'a'.repeat(500)],
    ['long with escapes far behind', `${'a'.repeat(200)}\\"b\\\\`],
    ['long with escapes all along', '\\"\\\\'.repeat(100)],
    ['just at the length of a step, and an escape across it', `${'a'.repeat(63)}\\"b`],
  ])('are found where a string is %s', (_kind, text) => {
    const list = [`{"t":"${text}"}`, `"${text}"`, `{"a":1.0,"${text}":["${text}"]}`];

    expect(fromBody(`[${list.join()}]`, objectOnly).sources().bytes.toString()).toBe(
      `[${list.join()}]`,
    );
  });

  it('stay so when some are picked, twice over, and when blanks are filled', () => {
    const documents = fromBody(ARRAY, objectOnly).pick([4, 2, 0]).pick([2, 0]);
    const blank = partDocuments(
      [{ text: ' ', source: {} }],
      Buffer.from('{"documents":[{"a":1.0}]}'),
    );

    expect(documents.sources().bytes.toString()).toBe(`[${ID},"汉字"]`);
    expect(encodeJson(documents.echo(0)).toString()).toBe(ID);
    expect(encodeJson(blank.fillBlanks('-').echo(0)).toString()).toBe('{"a":1.0}');
  });

  it.each([
    ['that is not a list', '{"documents":7}'],
    ['of fewer', '{"documents":[]}'],
    ['of more', '{"documents":[{"a":1.0},{"a":1.0}]}'],
    ['of another name', '{"texts":[{"a":1.0}]}'],
    ['that goes on', '{"documents":[{"a":1.0}]} x'],
    ['that ends early', '{"documents":[{"a":1.0'],
    ['that is not an object', '[{"a":1.0}]'],
    ['of nothing', ''],
    ['without values', '{"documents"}'],
    ['without names', '{1:2}'],
    ['without commas', '{"documents":[{"a":1.0}"b"]}'],
  ])('are written anew where the body is one %s', (_what, body) => {
    const documents = partDocuments([{ text: 'a', source: { a: 1 } }], Buffer.from(body));

    expect(encodeJson(documents.echo(0)).toString()).toBe('{"a":1}');
    expect(documents.sources().bytes.toString()).toBe('[{"a":1}]');
  });

  it('are those that the parser reads, whatever the body', () => {
    const documents = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.object()), {
      minLength: 1,
    });
    const body = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), documents, fc.boolean());
    fc.assert(
      fc.property(body, ([members, list, spaced]) => {
        const text = JSON.stringify({ ...members, documents: list }, null, spaced ? 2 : 0);
        const { documents: read } = JSON.parse(text) as { documents: unknown[] };

        const made = partDocuments(
          read.map(() => ({ source: undefined })),
          Buffer.from(text),
        );

        expect(JSON.parse(made.sources().bytes.toString())).toEqual(read);
      }),
    );
  });
});
