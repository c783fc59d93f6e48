import { describe, expect, it } from '@jest/globals';
import { fc } from '../support/property.js';
import { partDocuments, textDocuments } from '../../src/core/documents.js';
import { inSteps } from '../../src/core/steps.js';
import { documentsIn } from '../support/documents.js';
import type { JsonFragment } from '../../src/core/json/json.js';

const read = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());
const fromBytes = (texts: string[]) => documentsIn(JSON.stringify(texts));

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

describe('documents that are kept as they were sent', () => {
  const LIST =
    '[{"id":9223372036854775807,"text":"a\\u0041"}, "b\\n" ,{"text":" \\u3000","f":1.0}]';
  const documents = documentsIn(LIST);
  const TEXTS = ['aA', 'b\n', ' \u3000'];

  it('give texts of objects and strings alike, and what was sent in its own bytes', () => {
    expect(read(documents.texts())).toEqual(TEXTS);
    expect(documents.sizeBytes).toBe(documents.texts().size);
    expect(read(documents.objects('content'))).toEqual(TEXTS.map((content) => ({ content })));
    expect(documents.sources().bytes.toString()).toBe(LIST);
    expect(documents.echo(0).toString()).toBe('{"id":9223372036854775807,"text":"a\\u0041"}');
    expect(documents.echo(1).toString()).toBe('{"text":"b\\n"}');
    expect(documents.parts()).toEqual(
      (JSON.parse(LIST) as unknown[]).map((source, index) => ({ text: TEXTS[index], source })),
    );
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
    expect(picked.echo(0).toString()).toBe('{"text":" \\u3000","f":1.0}');
  });
});

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

    expect(JSON.parse(documents.echo(0).toString())).toEqual(source);
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
    expect(JSON.parse(documents.echo(0).toString())).toEqual({ text: 'a', id: 7 });
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

describe('documents with other texts', () => {
  it.each([
    ['sent as strings', fromBytes(['a', 'b'])],
    ['parsed', textDocuments(['a', 'b'])],
  ])('have these as parts too, and echo what was sent: %s', (_name, documents) => {
    const other = documents.withTexts(new Map([[1, 'c']]));

    expect(other.parts().map(({ text }) => text)).toEqual(['a', 'c']);
    expect(JSON.parse(other.echo(1).toString())).toEqual({ text: 'b' });
  });

  const sent = '[{"id":1,"text":"one"},"two",{"text":" "}]';
  const image = 'https://images.test/a.png';
  const parts = partDocuments([
    { text: 'one', image, source: { text: 'one', image } },
    { text: 'two', source: 'two' },
  ]);

  it('keep what the caller sent', () => {
    const given = documentsIn(sent);
    const changed = given.withTexts(new Map([[0, 'eins']]));

    expect(read(changed.texts())).toEqual(['eins', 'two', ' ']);
    expect(changed.echo(0).toString()).toBe('{"id":1,"text":"one"}');
    expect(changed.blanks()).toEqual([2]);
    expect(given.withTexts(new Map())).toBe(given);
  });

  it('keep their images, also when one is there several times', () => {
    const changed = parts.pick([0, 0, 1]).withTexts(new Map([[1, 'eins']]));

    expect(read(changed.texts())).toEqual(['one', 'eins', 'two']);
    expect(changed.parts()[1]?.image).toBe(image);
  });

  it('know how long each is without reading it', () => {
    expect([0, 1, 2].map((index) => documentsIn(sent).textBytes(index))).toEqual([5, 5, 3]);
    expect(textDocuments(['süß']).textBytes(0)).toBe(5);
  });

  it('are not written again, nor measured, where that was done in advance', async () => {
    const image = 'https://images.example/a.png';
    const given = partDocuments([
      { text: 'süß', source: 'süß' },
      { text: 'two', image, source: {} },
      { image, source: {} },
      { text: 'half \ud83d', source: 'half \ud83d' },
    ]);
    await given.prepare(() => Promise.resolve());
    const texts = new Map([
      [1, 'zwei "2"'],
      [2, '\ud800'],
    ]);
    const changed = given.withTexts(texts);

    expect([0, 1, 2, 3].map((index) => changed.textBytes(index))).toEqual([7, 12, 5, 10]);
    expect(changed.textJson(0).bytes).toBe(given.textJson(0).bytes);
    expect(read(changed.texts())).toEqual(['süß', 'zwei "2"', '\ufffd', 'half \ufffd']);
    expect(read(changed.objects())).toEqual([
      { text: 'süß' },
      { text: 'zwei "2"', image },
      { text: '\ufffd', image },
      { text: 'half \ufffd' },
    ]);
  });

  it('pause on the way through long ones', async () => {
    const given = textDocuments(['a', 'b', 'c']);
    await given.prepare(() => Promise.resolve());
    const long = 'x'.repeat(500_000);
    let pauses = 0;

    const changed = await inSteps(
      given.withTextsInSteps(new Map([0, 2].map((index) => [index, long]))),
      () => {
        pauses += 1;
        return Promise.resolve();
      },
    );

    expect(read(changed.texts())).toEqual([long, 'b', long]);
    expect(pauses).toBe(2);
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
