import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import type { Documents } from '../../src/core/documents.js';
import { encodeJson, type JsonFragment } from '../../src/core/json/json.js';
import { areLocatable } from '../../src/core/json/scan.js';
import { cohere } from '../../src/ingress/cohere.js';
import type { IngressDialect, ParsedRerank } from '../../src/ingress/dialect.js';
import { mixedbread } from '../../src/ingress/mixedbread.js';
import { pinecone } from '../../src/ingress/pinecone.js';
import { IngressRequest } from '../../src/ingress/read.js';
import { TOO_DEEP, withTexts } from '../support/documents.js';
import { mutatedJson } from '../support/mutated.js';
import { fc } from '../support/property.js';

const FORMS: readonly [string, IngressDialect, string][] = [
  ['cohere', cohere, 'documents'],
  ['mixedbread', mixedbread, 'input'],
  ['pinecone', pinecone, 'documents'],
];
const MOST = 40;

const textOf = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());

/** All that is asked of documents, each in the same order, so that what one leaves behind meets the next. */
function viewsOf(documents: Documents, fields: readonly string[]): unknown {
  const { count, hasImages, hasLoneImages } = documents;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const rows = Buffer.from(indexes.map((index) => `{"index":${index}}`).join());
  const fieldsOf = (some: Documents): unknown => {
    const objects = some.count === 0 ? undefined : some.picked(fields);
    if (objects === undefined) return undefined;
    const bytes = Buffer.concat([...objects.pieces()]);
    expect(objects.size).toBe(bytes.length);
    expect(objects.bytes.equals(bytes)).toBe(true);
    return textOf(objects);
  };
  const odd = indexes.filter((index) => index % 2 === 1);
  const filled = documents.fillBlanks('-');
  const other = withTexts(documents, [0, 'other "text"']);
  return {
    ...{ count, hasImages, hasLoneImages },
    texts: textOf(documents.texts()),
    each: indexes.map((index) => [
      documents.text(index),
      [...documents.pieces(index)].join(''),
      documents.beginning(index, 3).slice(0, 3),
      textOf(documents.textJson(index)),
      encodeJson(documents.echo(index)).toString(),
    ]),
    objects: textOf(documents.objects('content')),
    around: [
      textOf(documents.around('{"a":', '}')),
      textOf(documents.around((index) => `{"é":${index},"a":`, '}')),
    ],
    sources: textOf(documents.sources()),
    echoes: documents.echoes(indexes, rows).toString(),
    parts: documents.parts(),
    fields: fieldsOf(documents),
    blanks: documents.blanks(),
    filled: [textOf(filled.texts()), textOf(filled.sources()), filled.blanks()],
    other: [textOf(other.texts()), textOf(other.sources()), other.blanks()],
    picked: [documents, filled, other].map((all) => {
      const some = all.pick(odd);
      return [textOf(some.texts()), textOf(some.sources()), some.blanks(), fieldsOf(some)];
    }),
  };
}

function textsOf(documents: Documents): unknown {
  return [textOf(documents.texts()), documents.blanks()];
}

/** Halves of characters as they are replaced, since not all that is asked of parsed documents does so. */
function wellFormed(views: unknown): unknown {
  return JSON.parse(JSON.stringify(views).replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd'));
}

interface Reading {
  readonly wasParsed: boolean;
  readonly seen: unknown;
}

/** What a form makes of a body, or why it refuses it. */
async function readingOf(dialect: IngressDialect, body: Buffer, view = viewsOf): Promise<Reading> {
  const request = new IngressRequest(Buffer.from(body), {}, {}, MOST);
  let wasParsed = false;
  const value = request.value.bind(request);
  request.value = () => {
    wasParsed = true;
    return value();
  };
  let parsed: ParsedRerank;
  try {
    parsed = await request.read(
      () => dialect.lists,
      () => dialect.parse(request),
      () => Promise.resolve(),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { wasParsed, seen: error.message };
  }
  const { documents, kept, ...rest } = parsed;
  const rows = Array.from({ length: documents.count }, (_, index) => ({ index, score: 0.5 }));
  const ranking = {
    ...{ rows, written: undefined, warnings: [] },
    usage: { inputTokens: 1, searchUnits: 1, estimated: false },
  };
  const asked = { ...rest, documents, returnDocuments: true, model: 'm' };
  const clock = { nowMs: 0, elapsedMs: 0 };
  const reply = dialect.reply('id', asked, ranking, kept, clock).toString();
  const views = view(documents, rest.options.rankFields ?? ['text']);
  return { wasParsed, seen: [rest, wellFormed([JSON.parse(reply), views])] };
}

/** The same body, once as it is and once so deep that it has to be parsed. */
function bodiesOf(list: string, documents: string, fields: readonly string[]): [Buffer, Buffer] {
  const members = `"query":"q","rank_fields":${JSON.stringify(fields)},"${list}":${documents}`;
  return [Buffer.from(`{${members}}`), Buffer.from(`{"deep":${TOO_DEEP},${members}}`)];
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

/** JSON as others write it: everything beyond ASCII escaped, or with white space, or both. */
function written(json: unknown, form: number): string {
  const all = JSON.stringify(json, null, form & 1 ? 2 : 0);
  return (form & 2) === 0
    ? all
    : all.replace(/[^\0-\x7f]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
}

describe.each(FORMS)('documents ranked by fields, %s', (_name, dialect, name) => {
  it('are read from their bytes as the plain parser reads them', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(list, fields, fc.nat(3), async (documents, named, form) => {
        const [body, deep] = bodiesOf(name, written(documents, form), named);
        const [asBytes, asPlain] = [await readingOf(dialect, body), await readingOf(dialect, deep)];
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
        const [body, deep] = bodiesOf(name, mutated, named);

        expect((await readingOf(dialect, body)).seen).toEqual(
          (await readingOf(dialect, deep)).seen,
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
      const [body, deep] = bodiesOf(
        'documents',
        written([pad, document, 'alone'], cut & 3),
        fields,
      );

      expect((await readingOf(cohere, body, textsOf)).seen).toEqual(
        (await readingOf(cohere, deep, textsOf)).seen,
      );
    }
    const all = written([{ title: 'x'.repeat(1_100_000) }, document, 'y'.repeat(300_000), long], 0);
    const [body, deep] = bodiesOf('documents', all, fields);

    expect((await readingOf(cohere, body)).seen).toEqual((await readingOf(cohere, deep)).seen);
  });
});

describe('fields that a walk can locate', () => {
  it('are few, short, well formed, and named once', () => {
    expect(areLocatable(['title', 'text'])).toBe(true);
    expect(areLocatable(['x'.repeat(63)])).toBe(true);
    expect(areLocatable(['x'.repeat(64)])).toBe(false);
    expect(areLocatable(['é'.repeat(32)])).toBe(false);
    expect(areLocatable(['\ud83d'])).toBe(false);
    expect(areLocatable(['a', 'b', 'a'])).toBe(false);
    expect(areLocatable('a b c d e f g h'.split(' '))).toBe(true);
    expect(areLocatable('a b c d e f g h i'.split(' '))).toBe(false);
  });
});
