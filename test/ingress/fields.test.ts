import { describe, expect, it } from '@jest/globals';
import { areFields } from '../../src/bytes/fields.js';
import { cohere } from '../../src/ingress/cohere.js';
import type { IngressDialect } from '../../src/ingress/dialect.js';
import { mixedbread } from '../../src/ingress/mixedbread.js';
import { pinecone } from '../../src/ingress/pinecone.js';
import { leftToParser } from '../support/documents.js';
import { mutatedJson } from '../support/mutated.js';
import { fc } from '../support/property.js';
import { readingOf, textsOf, written } from '../support/readings.js';

const FORMS: readonly [string, IngressDialect, string][] = [
  ['cohere', cohere, 'documents'],
  ['mixedbread', mixedbread, 'input'],
  ['pinecone', pinecone, 'documents'],
];
/** The same body, once as it is and once so that it has to be parsed. */
function bodiesOf(list: string, documents: string, fields: readonly string[]): [Buffer, Buffer] {
  const body = `{"query":"q","rank_fields":${JSON.stringify(fields)},"${list}":${documents}}`;
  return [Buffer.from(body), Buffer.from(leftToParser(body, list))];
}

const NAMES = ['text', 'title', 'a\nb', '标题', 'é', '__proto__', 'text.x', ''];
const text = fc.oneof(
  fc.constantFrom('', ' ', '\n\u3000', 'a', 'half \ud83d', '\udc00', '"\\', '汉字 🪐'),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
);
const value = fc.oneof(
  { weight: 6, arbitrary: text },
  fc.constantFrom<unknown>(null, 0, -1.5e-7, true, false, 1e300, [], {}, ['a', { text: '\ud83d' }]),
  fc.jsonValue({ maxDepth: 2 }),
);
const element = fc.oneof(
  { weight: 1, arbitrary: text },
  { weight: 8, arbitrary: fc.dictionary(fc.constantFrom(...NAMES), value) },
);
const list = fc.array(element, { minLength: 1, maxLength: 8 });
const fields = fc.uniqueArray(fc.constantFrom(...NAMES.slice(0, 7)), {
  minLength: 1,
  maxLength: 4,
});

describe.each(FORMS)('documents ranked by fields, %s', (_name, dialect, name) => {
  it('are read from their bytes as the plain parser reads them', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(list, fields, fc.nat(3), async (documents, named, form) => {
        const [body, plain] = bodiesOf(name, written(documents, form), named);
        const [asBytes, asPlain] = [
          await readingOf(dialect, body),
          await readingOf(dialect, plain),
        ];
        if (!asBytes.wasParsed && typeof asBytes.seen !== 'string') read += 1;

        expect(asBytes.seen).toEqual(asPlain.seen);
      }),
      { numRuns: 100 },
    );
    expect(read).toBeGreaterThan(5);
  });

  it('are the same for mutated bodies', async () => {
    const documents = '[{"title":"a","text":"b","n":{"x":[1,null]}},{"text":"c","title":null},"d"]';
    await fc.assert(
      fc.asyncProperty(mutatedJson(documents), fields, async (mutated, named) => {
        const [body, plain] = bodiesOf(name, mutated, named);

        expect((await readingOf(dialect, body)).seen).toEqual(
          (await readingOf(dialect, plain)).seen,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('are not parsed if they have these fields', async () => {
    const documents = '[{"title":"a","text":"b"},{"year":5,"text":"c","title":"d"}]';
    for (const named of [['title'], ['title', 'text'], ['text', 'title']]) {
      const [body] = bodiesOf(name, documents, named);

      expect((await readingOf(dialect, body)).wasParsed).toBe(false);
    }
  });
});

describe('documents ranked by fields', () => {
  it('are the same wherever a window of the walk ends, and in steps', async () => {
    const document = {
      title: 'é "t"\n',
      n: [1, { text: 'x' }],
      text: '汉\ud83d字',
      id: -12.5,
      z: true,
    };
    const long = { ...document, text: 'long '.repeat(60_000) };
    const fields = ['title', 'n', 'text', 'id', 'z'];
    for (let cut = 0; cut < 160; cut += 1) {
      const pad = { pad: 'x'.repeat(65_536 - cut) };
      const [body, plain] = bodiesOf(
        'documents',
        written([pad, document, 'alone'], cut & 3),
        fields,
      );

      expect((await readingOf(cohere, body, textsOf)).seen).toEqual(
        (await readingOf(cohere, plain, textsOf)).seen,
      );
    }
    const all = written([{ title: 'x'.repeat(1_100_000) }, document, 'y'.repeat(300_000), long], 0);
    const [body, plain] = bodiesOf('documents', all, fields);

    expect((await readingOf(cohere, body)).seen).toEqual((await readingOf(cohere, plain)).seen);
  });
});

describe('fields that a walk can locate', () => {
  it('are few, short, well formed, and named once', () => {
    expect(areFields(['title', 'text'])).toBe(true);
    expect(areFields(['x'.repeat(63)])).toBe(true);
    expect(areFields(['x'.repeat(64)])).toBe(false);
    expect(areFields(['é'.repeat(32)])).toBe(false);
    expect(areFields(['\ud83d'])).toBe(false);
    expect(areFields(['a', 'b', 'a'])).toBe(false);
    expect(areFields('a b c d e f g h'.split(' '))).toBe(true);
    expect(areFields('a b c d e f g h i'.split(' '))).toBe(false);
  });
});
