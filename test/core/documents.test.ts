import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { partDocuments, stringDocuments, textDocuments } from '../../src/core/documents.js';
import type { JsonFragment } from '../../src/core/json.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());
const fromBytes = (texts: string[]) =>
  stringDocuments(Buffer.from(JSON.stringify(texts)), texts.length);

describe.each([
  ['sent as strings', fromBytes],
  ['parsed', textDocuments],
])('documents %s', (_name, make) => {
  const texts = ['plain', 'with "quotes" and \\ and \n', '', ' \t ', 'été 汉字 🪐'];

  it('give texts, objects and echoes of the same text', () => {
    const documents = make(texts);

    expect(documents.count).toBe(5);
    expect(read(documents.texts())).toEqual(texts);
    expect(read(documents.objects())).toEqual(texts.map((text) => ({ text })));
    expect(read(documents.objects('content'))).toEqual(texts.map((content) => ({ content })));
    expect(read(documents.sources())).toEqual(texts);
    expect(texts.map((_, index) => documents.text(index))).toEqual(texts);
    expect(JSON.parse(documents.echo(1).toString())).toEqual({ text: texts[1] });
    expect(documents.parts().map(({ text }) => text)).toEqual(texts);
  });

  it('find blanks, fill them and leave them out', () => {
    const documents = make(texts);

    expect(documents.blanks()).toEqual([2, 3]);
    expect(read(documents.fillBlanks(' ').texts())).toEqual([
      texts[0],
      texts[1],
      ' ',
      ' ',
      texts[4],
    ]);
    expect(read(documents.pick([4, 0]).texts())).toEqual([texts[4], texts[0]]);
    expect(read(documents.pick([]).texts())).toEqual([]);
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
    expect(JSON.parse(documents.echo(0).toString())).toEqual({ text: 'a', id: 7 });
  });

  it('are no blank when they have an image', () => {
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
    expect(JSON.parse(texts.echo(1).toString())).toEqual(source);
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
    expect(SENT.map((_, index) => documents.echo(index).toString())).toEqual(
      SENT.map((sent) => (sent.startsWith('"') ? `{"text":${sent}}` : sent)),
    );
  });

  it('are found however deep they are', () => {
    const deep = `{"a":${'['.repeat(200)}1.0${']'.repeat(200)}}`;

    expect(fromBody(`[${deep}]`, objectOnly).echo(0).toString()).toBe(deep);
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
    expect(documents.echo(0).toString()).toBe(ID);
    expect(blank.fillBlanks('-').echo(0).toString()).toBe('{"a":1.0}');
  });

  it.each([
    ['that is no list', '{"documents":7}'],
    ['of fewer', '{"documents":[]}'],
    ['of more', '{"documents":[{"a":1.0},{"a":1.0}]}'],
    ['of another name', '{"texts":[{"a":1.0}]}'],
    ['that goes on', '{"documents":[{"a":1.0}]} x'],
    ['that ends early', '{"documents":[{"a":1.0'],
    ['that is no object', '[{"a":1.0}]'],
    ['of nothing', ''],
    ['without values', '{"documents"}'],
    ['without names', '{1:2}'],
    ['without commas', '{"documents":[{"a":1.0}"b"]}'],
  ])('are written anew where the body is one %s', (_what, body) => {
    const documents = partDocuments([{ text: 'a', source: { a: 1 } }], Buffer.from(body));

    expect(documents.echo(0).toString()).toBe('{"a":1}');
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
