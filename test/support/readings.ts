import { expect } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import { JsonFragment, writeJson, type Documents } from '../../src/bytes/index.js';
import { pickFields } from '../../src/providers/dialects.js';
import { readIn, type IngressDialect, type ParsedRerank } from '../../src/ingress/dialect.js';
import { echoOf, encodeJson, filled as filledOf, requestOf, withTexts } from './documents.js';

/** What forms make of bodies, so that one way of reading can be compared with another. */

const MOST = 40;

const textOf = ({ bytes }: JsonFragment): unknown => JSON.parse(bytes.toString());

/** All that is asked of documents, each in the same order, so that what one leaves behind meets the next. */
function viewsOf(documents: Documents, fields: readonly string[]): unknown {
  const { count, images } = documents;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const rows = Buffer.from(indexes.map((index) => `{"index":${index}}`).join());
  const fieldsOf = (some: Documents): unknown => {
    const picked = pickFields({ documents: some, options: { rankFields: fields } });
    return some.count === 0 || picked === undefined
      ? undefined
      : (JSON.parse(encodeJson(picked).toString()) as unknown);
  };
  const odd = indexes.filter((index) => index % 2 === 1);
  const filled = filledOf(documents, '-');
  const other = withTexts(documents, [0, 'other "text"']);
  const alone = documents.pick(undefined, { images: 'none' });
  return {
    ...{ count, images },
    texts: textOf(documents.texts()),
    meant: meantBy(documents),
    each: indexes.map((index) => [
      documents.text(index),
      documents.text(index, 3).slice(0, 3),
      textOf(new JsonFragment(encodeJson(echoOf(documents, index)))),
    ]),
    around: [
      textOf(documents.texts('{"a":', '}')),
      textOf(documents.texts((index) => `{"é":${index},"a":`, '}')),
    ],
    sources: textOf(documents.sources()),
    echoes: JSON.parse(`[${documents.echoes(indexes, rows).toString()}]`) as unknown,
    bare: JSON.parse(
      `[${documents.echoes(indexes, rows, { name: 'text', areTexts: true }).toString()}]`,
    ) as unknown,
    contents: contentsOf(documents),
    alone: [textOf(alone.texts()), alone.blanks, meantBy(alone)],
    fields: fieldsOf(documents),
    blanks: documents.blanks,
    filled: [textOf(filled.texts()), textOf(filled.sources()), filled.blanks, meantBy(filled)],
    other: [
      textOf(other.texts()),
      textOf(other.sources()),
      other.blanks,
      contentsOf(other),
      meantBy(other),
    ],
    picked: [documents, filled, other].map((all) => {
      const some = all.pick(odd);
      const texts = [textOf(some.texts()), textOf(some.sources()), some.blanks, fieldsOf(some)];
      return [...texts, contentsOf(some), some.images, meantBy(some)];
    }),
  };
}

/** What the texts mean as one counts it who has parsed them: the length of each in UTF-8, and what JSON has around it. */
function meantBy(documents: Documents): number {
  const { count, meantBytes } = documents;
  const texts = Array.from({ length: count }, (_, index) => documents.text(index));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 3, 0);
  const expected = count === 0 ? 2 : bytes + 1;
  // An assertion for each would take longer than what it looks at.
  if (meantBytes !== expected) expect(meantBytes).toBe(expected);
  return meantBytes;
}

function contentsOf(documents: Documents): unknown {
  return Array.from({ length: documents.count }, (_, index) => {
    const { text, image } = documents.json(index);
    return [text && textOf(text), image && textOf(image)];
  });
}

/** Only the texts of documents, for long ones. */
export function textsOf(documents: Documents): unknown {
  return [textOf(documents.texts()), documents.blanks, meantBy(documents)];
}

/** Halves of characters as they are replaced, since not all that is asked of parsed documents does so. */
function wellFormed(views: unknown): unknown {
  return JSON.parse(JSON.stringify(views).replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd'));
}

export interface Reading {
  readonly wasParsed: boolean;
  readonly seen: unknown;
}

/** What a form makes of a body, or why it refuses it. */
export async function readingOf(
  dialect: IngressDialect,
  body: Buffer,
  view = viewsOf,
): Promise<Reading> {
  const request = await requestOf(dialect, Buffer.from(body), {}, {}, MOST);
  let wasParsed = request.list === undefined;
  const value = request.value.bind(request);
  request.value = () => {
    wasParsed = true;
    return value();
  };
  let parsed: ParsedRerank;
  try {
    parsed = await readIn(dialect, request);
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
  const reply = (await writeJson(dialect.reply('id', asked, ranking, kept, clock))).toString();
  const views = view(documents, rest.options.rankFields ?? ['text']);
  return { wasParsed, seen: [rest, wellFormed([JSON.parse(reply), views])] };
}

/** JSON as others write it: everything beyond ASCII escaped, or with white space, or both. */
export function written(json: unknown, form: number): string {
  const all = JSON.stringify(json, null, form & 1 ? 2 : 0);
  return (form & 2) === 0
    ? all
    : all.replace(/[^\0-\x7f]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
}
