import type { Places } from './listed.js';
import { STEP_BYTES, type Paced } from './pace.js';
import { FIELD, ROW, type FoundList } from './scanner.js';
import { textOf } from './text.js';
import { Woven, type Kept } from './woven.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DELETE = 0x7f;
/** Where something begins that is not there. */
export const NO_PLACE = 0;
/** Where a row has the text of an element that is one. */
const OWN_TEXT = 2;
/** Values other than strings are read and written at once. */
const MOST_VALUE_BYTES = 65_536;
/** The bytes read in one step, and the share of an element beside its values. */
const MOST_PARSED_BYTES = 32_768;
const ELEMENT_BYTES = 32;

const MOST_FIELDS = 8;
const MOST_FIELD_BYTES = 63;

/** Whether a walk can locate these members of elements: a few with short names. Malformed text has no bytes here. */
export function areFields(names: readonly string[]): boolean {
  return (
    names.length > 0 &&
    names.length <= MOST_FIELDS &&
    new Set(names).size === names.length &&
    names.every((name) => name.isWellFormed() && Buffer.byteLength(name) <= MOST_FIELD_BYTES)
  );
}

/** Which fields make a text. */
interface Lines {
  /** Their columns in the rows, and what comes before the value of each. */
  readonly columns: readonly number[];
  readonly heads: readonly string[];
  /** Whether each element must have all of them. */
  readonly areAllNeeded: boolean;
}

type FieldPlaces = Pick<Places, 'rows' | 'blanks' | 'textsAt'> & { readonly ranked: Buffer };

/**
 * Documents that are ranked by fields: a line for each that an element has; a string is its own text. Their strings are copied as
 * they came. `undefined` if the plain parser has to decide.
 */
export function* fieldDocuments(
  body: Buffer,
  list: FoundList,
  lines: Lines,
): Paced<FieldPlaces | undefined> {
  const lying = textsInBody(body, list, lines);
  if (lying !== undefined) {
    return { ranked: body, rows: lying, blanks: blankTexts(body, lying), textsAt: undefined };
  }
  const written = yield* writtenTexts(body, list, lines);
  if (written === undefined) return undefined;
  const { ranked, rows } = written;
  return { ranked, rows, blanks: blankTexts(ranked, rows), textsAt: [0, ranked.length] };
}

/** The places of texts that are each one string of the body; `undefined` if one is not. */
function textsInBody(
  body: Buffer,
  { rows: found, width }: FoundList,
  { columns, heads }: Lines,
): Uint32Array | undefined {
  if (heads.some((head) => head !== '')) return undefined;
  const rows = new Uint32Array((found.length / width) * ROW);
  for (let at = 0, row = 0; at < found.length; at += width, row += ROW) {
    let only = body[found[at] ?? 0] === QUOTE ? at + OWN_TEXT : -1;
    for (const column of columns) {
      const place = at + ROW + column * FIELD;
      if ((found[place] ?? NO_PLACE) === NO_PLACE) continue;
      if (only >= 0 || body[found[place] ?? 0] !== QUOTE) return undefined;
      only = place;
    }
    if (only < 0) return undefined;
    rows.set(found.subarray(at, at + 2), row);
    rows.set(found.subarray(only, only + 3), row + 2);
  }
  return rows;
}

/** The text before a value, and how many bytes it adds to the meaning of the text. */
interface Head extends Kept {
  readonly meant: number;
}

/** The texts of all elements as a JSON array. */
function* writtenTexts(
  body: Buffer,
  { rows: found, width }: FoundList,
  { columns, heads, areAllNeeded }: Lines,
): Paced<{ readonly ranked: Buffer; readonly rows: Uint32Array } | undefined> {
  const rows = new Uint32Array((found.length / width) * ROW);
  const list = new Woven(body, (found.length / width) * (columns.length + 1));
  const quote = list.keep('"');
  const headsBehind = (before: string, meant: number): Head[] =>
    heads.map((head) => ({
      ...list.keep(before + JSON.stringify(head).slice(1, -1)),
      meant: meant + Buffer.byteLength(head),
    }));
  const [first, further] = [headsBehind('', 0), headsBehind('\\n', 1)];
  let parsedBytes = 0;
  for (let at = 0, row = 0; at < found.length; at += width, row += ROW) {
    list.addText(row === 0 ? '[' : ',');
    rows.set(found.subarray(at, at + 2), row);
    rows[row + 2] = list.size;
    let meant = 0;
    list.addText(quote);
    if (body[found[at] ?? 0] === QUOTE) {
      list.add(NOTHING, (found[at] ?? 0) + 1, (found[at + 1] ?? 0) - 1);
      meant = found[at + OWN_TEXT + 2] ?? 0;
    }
    let before = first;
    for (const [line, column] of columns.entries()) {
      const place = at + ROW + column * FIELD;
      const [from = NO_PLACE, to = 0] = found.subarray(place, place + 2);
      if (from === NO_PLACE) {
        if (areAllNeeded && body[found[at] ?? 0] !== QUOTE) return undefined;
        continue;
      }
      const head = before[line];
      before = further;
      meant += head?.meant ?? 0;
      if (body[from] === QUOTE) {
        list.add(head ?? NOTHING, from + 1, to - 1);
        meant += found[place + 2] ?? 0;
        continue;
      }
      if (to - from > MOST_VALUE_BYTES) return undefined;
      parsedBytes += to - from;
      const text = JSON.stringify(JSON.parse(body.toString('utf8', from, to)));
      list.addText(head ?? NOTHING);
      list.addText(JSON.stringify(text).slice(1, -1));
      meant += Buffer.byteLength(text);
    }
    list.addText(quote);
    rows[row + 3] = list.size;
    rows[row + 4] = meant;
    parsedBytes += ELEMENT_BYTES;
    if (parsedBytes < MOST_PARSED_BYTES) continue;
    parsedBytes = 0;
    yield;
  }
  list.addText(rows.length === 0 ? '[]' : ']');
  const fragment = list.fragment();
  const ranked = Buffer.allocUnsafeSlow(fragment.size);
  if (ranked.length > STEP_BYTES) yield;
  yield* fragment.copying(ranked, 0);
  return { ranked, rows };
}

const NOTHING: Kept = { start: 0, end: 0 };

/** By so many, nearly every text tells that it is not blank. */
const FEW_UNITS = 8;

/** Indexes of the texts that are only white space. */
function blankTexts(bytes: Buffer, rows: Uint32Array): number[] {
  const blanks: number[] = [];
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0] = rows.subarray(row + 2, row + 4);
    const first = bytes[start + 1] ?? 0;
    // Most begin with a letter.
    if (first > SPACE && first < DELETE && first !== BACKSLASH && first !== QUOTE) continue;
    const text = bytes.subarray(start, end);
    if (textOf(text, FEW_UNITS).trim() === '' && textOf(text).trim() === '') blanks.push(row / ROW);
  }
  return blanks;
}
