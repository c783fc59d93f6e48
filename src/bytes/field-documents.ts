import type { Documents } from './document-list.js';
import { widthOf } from './field-places.js';
import { Interleaved, type Kept } from './interleaved.js';
import type { LoneHalves } from './halves.js';
import { FIELD, ROW, type FoundList } from './scan.js';
import { stringPieces } from './text-pieces.js';
import { rankedDocuments, sentTexts } from './sent-documents.js';
import { Pace, type Steps } from './steps.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;
/** Between the lines of a text, in JSON. */
const NEXT_LINE = '\\n';
/** A value that is no string is read and written in one go: the plain parser has steps for larger ones. */
const MOST_VALUE_BYTES = 65_536;
/** What a document takes, in units of a step. */
const DOCUMENT_UNITS = 32;
/** How much is read and written in one step: nested lists take a millisecond for so many bytes. */
const PLACED_UNITS = 32_768;

/** A body whose list has the places of fields. */
interface FieldList {
  readonly body: Buffer;
  readonly list: FoundList;
  readonly replaced: LoneHalves | undefined;
  readonly fields: readonly string[];
  /** Whether each element must have all of them. */
  readonly areAllNeeded: boolean;
}

/**
 * Documents that are ranked by the values of `fields`, in this order, as `fieldsText` puts them together: what was sent stays
 * where it came, and its strings are copied as they are written. There must be one at least. `undefined` if the plain parser has
 * to decide.
 */
export function* fieldDocuments({
  body,
  list,
  replaced,
  fields,
  areAllNeeded,
}: FieldList): Steps<Documents | undefined> {
  const places = { names: fields, rows: list.rows };
  const heads = fields.map((name) => (fields.length === 1 ? '' : `${name}: `));
  const texts = yield* fieldTexts(body, list.rows, { heads, width: widthOf(fields), areAllNeeded });
  if (texts === undefined) return undefined;
  const { ranked, rows } = texts;
  const kept = { rows, hasObjects: true, blanks: list.blanks };
  return rankedDocuments(
    { body, list: kept, replaced },
    ranked ?? body,
    places,
    ranked !== undefined,
  );
}

/** A body whose list has the places of fields, and what comes before those that make a text. */
interface LineList {
  readonly body: Buffer;
  readonly list: Pick<FoundList, 'rows' | 'name'>;
  readonly replaced?: LoneHalves | undefined;
  /** For each of the first few fields. */
  readonly heads: readonly string[];
}

/**
 * Documents that are nothing but texts: a line for each of the first few fields that an element has. `undefined` if that is for
 * the plain parser: where a value is large, and no string.
 */
export function* lineDocuments({
  body,
  list,
  replaced,
  heads,
}: LineList): Steps<Documents | undefined> {
  const width = widthOf(list.name.fields);
  const texts = yield* fieldTexts(body, list.rows, { heads, width, areAllNeeded: false });
  if (texts === undefined) return undefined;
  const { ranked = body, rows } = texts;
  const blanks = yield* blankTexts(ranked, rows);
  return ranked === body
    ? sentTexts({ body, list: { rows, blanks }, replaced })
    : sentTexts({ body: ranked, list: { rows, blanks } }, true);
}

/** Indexes of the texts that are only white space. */
function* blankTexts(bytes: Buffer, rows: Uint32Array): Steps<number[]> {
  const blanks: number[] = [];
  const pace = new Pace();
  for (let row = 0; row < rows.length; row += ROW) {
    const start = rows[row + 2] ?? 0;
    const first = bytes[start + 1] ?? 0;
    // Most begin with a letter.
    const isSure = first > SPACE && first < DELETE && first !== BACKSLASH && first !== QUOTE;
    if (pace.fills(isSure ? 1 : DOCUMENT_UNITS)) yield;
    if (!isSure && (yield* isBlank(bytes.subarray(start, rows[row + 3]), pace))) {
      blanks.push(row / ROW);
    }
  }
  return blanks;
}

function* isBlank(raw: Buffer, pace: Pace): Steps<boolean> {
  for (const piece of stringPieces(raw)) {
    if (piece.trim() !== '') return false;
    if (pace.fills(piece.length)) yield;
  }
  return true;
}

/** How texts are put together. */
interface Lines {
  /** What comes before the value of each field. */
  readonly heads: readonly string[];
  /** Numbers per element, whose fields may be more than these. */
  readonly width: number;
  /** Whether each element must have all of these. */
  readonly areAllNeeded: boolean;
}

/** Where elements are and their texts: in a JSON array of their own, if there is one, else in the body. */
interface FieldTexts {
  readonly rows: Uint32Array;
  readonly ranked: Buffer | undefined;
}

/**
 * The texts of elements: a line for each of the fields that they have. Strings are their own texts. `undefined` if that is
 * for the plain parser.
 */
function* fieldTexts(
  body: Buffer,
  found: Uint32Array,
  lines: Lines,
): Steps<FieldTexts | undefined> {
  const rows = new Uint32Array((found.length / lines.width) * ROW);
  if (areInBody(body, found, lines, rows)) return { rows, ranked: undefined };
  const writer = new LineWriter(body, lines, rows.length / ROW);
  const pace = new Pace(PLACED_UNITS);
  for (let at = 0, row = 0; at < found.length; at += lines.width, row += ROW) {
    rows[row] = found[at] ?? 0;
    rows[row + 1] = found[at + 1] ?? 0;
    rows[row + 2] = writer.start;
    const parsed = writer.add(found, at);
    if (parsed === undefined) return undefined;
    rows[row + 3] = writer.end;
    rows[row + 4] = writer.meant;
    if (pace.fills(DOCUMENT_UNITS + parsed)) yield;
  }
  return { rows, ranked: yield* writer.write() };
}

/** Whether each text is a string of the body by itself; if so, notes where. */
function areInBody(
  body: Buffer,
  found: Uint32Array,
  { heads, width }: Lines,
  rows: Uint32Array,
): boolean {
  if (heads.some((head) => head !== '')) return false;
  for (let at = 0, row = 0; at < found.length; at += width, row += ROW) {
    let only = body[found[at] ?? 0] === QUOTE ? at + OWN_TEXT : NOWHERE;
    for (let field = 0; field < heads.length; field += 1) {
      const place = at + ROW + field * FIELD;
      if ((found[place] ?? 0) === 0) continue;
      if (only !== NOWHERE || body[found[place] ?? 0] !== QUOTE) return false;
      only = place;
    }
    if (only === NOWHERE) return false;
    rows[row] = found[at] ?? 0;
    rows[row + 1] = found[at + 1] ?? 0;
    rows[row + 2] = found[only] ?? 0;
    rows[row + 3] = found[only + 1] ?? 0;
    rows[row + 4] = found[only + 2] ?? 0;
  }
  return true;
}

const NOWHERE = -1;
/** Where a row has the text of an element that is one. */
const OWN_TEXT = 2;

/** What comes before the first value of an element, by its field, or before one that has none. */
interface Beginnings {
  readonly fields: readonly Head[];
  readonly bare: Head;
}

/** How many bytes what comes before a value adds to the meaning of the text. */
interface Head extends Kept {
  readonly meant: number;
}

/** What comes before an element that is not the first: it ends the text before it. */
const BETWEEN = '","';

/** Writes the texts of elements as a JSON array. */
class LineWriter {
  readonly #body: Buffer;
  readonly #areAllNeeded: boolean;
  readonly #list: Interleaved;
  readonly #first: Beginnings;
  readonly #next: Beginnings;
  /** What comes before a further value of an element. */
  readonly #lines: readonly Head[];
  #meant = 0;

  constructor(body: Buffer, { heads, areAllNeeded }: Lines, count: number) {
    const list = new Interleaved(body, count * heads.length + 1);
    const begun = (start: string, meant = 0): Head[] =>
      heads.map((head) => ({
        ...list.keep(start + JSON.stringify(head).slice(1, -1)),
        meant: meant + Buffer.byteLength(head),
      }));
    const bare = (start: string): Head => ({ ...list.keep(start), meant: 0 });
    this.#body = body;
    this.#areAllNeeded = areAllNeeded;
    this.#list = list;
    this.#first = { fields: begun('["'), bare: bare('["') };
    this.#next = { fields: begun(BETWEEN), bare: bare(BETWEEN) };
    this.#lines = begun(NEXT_LINE, 1);
  }

  /** Where the text of the next element will start. */
  get start(): number {
    return this.#list.size === 0 ? 1 : this.#list.size + BETWEEN.length - 1;
  }

  /** Where that of the last one ends. */
  get end(): number {
    return this.#list.size + 1;
  }

  /** How many bytes what it means has. */
  get meant(): number {
    return this.#meant;
  }

  /**
   * Adds the element whose numbers are at `at`. Returns how many bytes had to be parsed; `undefined` if it lacks a field, or has
   * one that is too large for that.
   */
  add(found: Uint32Array, at: number): number | undefined {
    const [body, list] = [this.#body, this.#list];
    const { fields, bare } = list.size === 0 ? this.#first : this.#next;
    const start = found[at] ?? 0;
    if (body[start] === QUOTE) {
      list.add(bare, start + 1, (found[at + 1] ?? 0) - 1);
      this.#meant = found[at + OWN_TEXT + 2] ?? 0;
      return 0;
    }
    this.#meant = 0;
    let before = fields;
    let parsed = 0;
    for (let field = 0; field < fields.length; field += 1) {
      const place = at + ROW + field * FIELD;
      const from = found[place] ?? 0;
      if (from === 0 && this.#areAllNeeded) return undefined;
      if (from === 0) continue;
      const to = found[place + 1] ?? 0;
      const head = before[field] ?? bare;
      before = this.#lines;
      this.#meant += head.meant;
      if (body[from] === QUOTE) {
        list.add(head, from + 1, to - 1);
        this.#meant += found[place + 2] ?? 0;
        continue;
      }
      if (to - from > MOST_VALUE_BYTES) return undefined;
      parsed += to - from;
      const value: unknown = JSON.parse(body.toString('utf8', from, to));
      const text = JSON.stringify(value);
      list.add(head, 0, 0);
      list.addText(JSON.stringify(text).slice(1, -1));
      this.#meant += Buffer.byteLength(text);
    }
    if (before === fields) list.add(bare, 0, 0);
    return parsed;
  }

  /** The array of all that have been added. */
  write(): Steps<Buffer> {
    this.#list.addText('"]');
    return this.#list.write();
  }
}
