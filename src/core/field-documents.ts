import { copyPiece } from './document-json.js';
import type { Documents } from './document-list.js';
import { bufferWithRoom } from './json/room.js';
import { widthOf } from './field-places.js';
import { copyBytes } from './memory.js';
import type { LoneHalves } from './json/halves.js';
import { FIELD, ROW, type FoundList } from './json/scan.js';
import { rankedDocuments } from './sent-documents.js';
import { Pace, type Steps } from './steps.js';

const QUOTE = 0x22;
/** Between the lines of a text, in JSON. */
const NEXT_LINE = Buffer.from('\\n');
const QUOTES = Buffer.from('"');
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
/** A value that is no string is read and written in one go: the plain parser has steps for larger ones. */
const MOST_VALUE_BYTES = 65_536;
/** More is copied in pieces. */
const MOST_COPIED_BYTES = 262_144;
/** What a document takes, in units of a step. */
const DOCUMENT_UNITS = 32;

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
  const texts = new FieldTexts(body, fields, areAllNeeded);
  const rows = new Uint32Array((list.rows.length / texts.width) * ROW);
  if (!(yield* texts.place(list.rows, rows))) return undefined;
  const kept = { rows, hasObjects: true, blanks: list.blanks };
  if (texts.areInBody) return rankedDocuments({ body, list: kept, replaced }, body, places);
  const all = yield* texts.write(list.rows);
  return rankedDocuments({ body, list: kept, replaced }, all, places, true);
}

/** The texts of elements of a body by their fields, as a JSON array. */
class FieldTexts {
  /** Numbers per element. */
  readonly width: number;
  /** Whether each text is a string of the body by itself, so that nothing has to be written. */
  areInBody: boolean;
  readonly #body: Buffer;
  readonly #areAllNeeded: boolean;
  /** What comes before the value of each field. */
  readonly #heads: readonly Buffer[];
  /** Values that are no strings, as the insides of strings, by where they are in the body. */
  readonly #written = new Map<number, Buffer>();
  /** How many bytes of the body those are. */
  #parsed = 0;
  #size = 1;

  constructor(body: Buffer, fields: readonly string[], areAllNeeded: boolean) {
    this.#body = body;
    this.#areAllNeeded = areAllNeeded;
    this.width = widthOf(fields);
    this.areInBody = fields.length === 1;
    this.#heads = fields.map((name) =>
      Buffer.from(fields.length === 1 ? '' : JSON.stringify(`${name}: `).slice(1, -1)),
    );
  }

  /** Notes where each element is and where its text will be; false if that is for the plain parser. */
  *place(found: Uint32Array, rows: Uint32Array): Steps<boolean> {
    const pace = new Pace();
    for (let at = 0, row = 0; at < found.length; at += this.width, row += ROW) {
      const before = this.#parsed;
      if (!this.#writeOthers(found, at)) return false;
      const start = this.#size;
      this.#size += this.#sizeOf(found, at) + 1;
      rows[row] = found[at] ?? 0;
      rows[row + 1] = found[at + 1] ?? 0;
      rows[row + 2] = start;
      rows[row + 3] = this.#size - 1;
      if (pace.fills(DOCUMENT_UNITS + this.#parsed - before)) yield;
    }
    if (this.areInBody) this.#placeInBody(found, rows);
    return true;
  }

  #placeInBody(found: Uint32Array, rows: Uint32Array): void {
    for (let at = 0, row = 0; at < found.length; at += this.width, row += ROW) {
      const from = this.#isString(found, at) ? at : at + ROW;
      rows[row + 2] = found[from] ?? 0;
      rows[row + 3] = found[from + 1] ?? 0;
    }
  }

  /** Writes all texts. */
  *write(found: Uint32Array): Steps<Buffer> {
    const body = this.#body;
    const whole = bufferWithRoom(this.#size);
    const pace = new Pace();
    let end = 0;
    for (let at = 0; at < found.length; at += this.width) {
      const start = end;
      whole[end] = at === 0 ? OPEN : COMMA;
      end += 1;
      if (this.#sizeOf(found, at) > MOST_COPIED_BYTES) {
        for (const piece of this.#piecesOf(found, at)) {
          end += copyBytes(piece, whole, end);
          if (pace.fills(piece.length)) yield;
        }
      } else if (this.#isString(found, at)) {
        end += copyPiece(body, found[at] ?? 0, found[at + 1] ?? 0, whole, end);
      } else {
        end = this.#writeText(found, at, whole, end);
      }
      if (pace.fills(end - start)) yield;
    }
    whole[end] = CLOSE;
    return whole;
  }

  /** The text of the element whose numbers are at `at`, none of the pieces large. */
  *#piecesOf(found: Uint32Array, at: number): Iterable<Buffer> {
    if (this.#isString(found, at)) {
      yield* inPieces(this.#body.subarray(found[at], found[at + 1]));
      return;
    }
    let between = QUOTES;
    for (const [field, head] of this.#heads.entries()) {
      const place = at + ROW + field * FIELD;
      const from = found[place] ?? 0;
      if (from === 0) continue;
      yield between;
      yield head;
      yield* inPieces(
        this.#written.get(from) ?? this.#body.subarray(from + 1, (found[place + 1] ?? 0) - 1),
      );
      between = NEXT_LINE;
    }
    yield QUOTES;
  }

  #writeText(found: Uint32Array, at: number, target: Buffer, start: number): number {
    const body = this.#body;
    target[start] = QUOTE;
    let end = start + 1;
    for (const [field, head] of this.#heads.entries()) {
      const from = found[at + ROW + field * FIELD] ?? 0;
      if (from === 0) continue;
      if (end > start + 1) end += copyPiece(NEXT_LINE, 0, NEXT_LINE.length, target, end);
      end += copyPiece(head, 0, head.length, target, end);
      const written = this.#written.get(from);
      end +=
        written === undefined
          ? copyPiece(body, from + 1, (found[at + ROW + field * FIELD + 1] ?? 0) - 1, target, end)
          : written.copy(target, end);
    }
    target[end] = QUOTE;
    return end + 1;
  }

  /** How many bytes the text of the element takes whose numbers are at `at`. */
  #sizeOf(found: Uint32Array, at: number): number {
    if (this.#isString(found, at)) return (found[at + 1] ?? 0) - (found[at] ?? 0);
    let size = 2;
    for (let field = 0; field < this.#heads.length; field += 1) {
      const from = found[at + ROW + field * FIELD] ?? 0;
      if (from === 0) continue;
      if (size > 2) size += NEXT_LINE.length;
      size += this.#heads[field]?.length ?? 0;
      size +=
        this.#written.get(from)?.length ?? (found[at + ROW + field * FIELD + 1] ?? 0) - from - 2;
    }
    return size;
  }

  /** Writes the values of an element that are no strings; false if one is too large for that. */
  #writeOthers(found: Uint32Array, at: number): boolean {
    if (this.#isString(found, at)) return true;
    for (let place = at + ROW; place < at + this.width; place += FIELD) {
      const from = found[place] ?? 0;
      const to = found[place + 1] ?? 0;
      if (from !== 0 && this.#body[from] === QUOTE) continue;
      this.areInBody = false;
      if (from === 0 && this.#areAllNeeded) return false;
      if (from === 0) continue;
      if (to - from > MOST_VALUE_BYTES) return false;
      this.#parsed += to - from;
      const value: unknown = JSON.parse(this.#body.toString('utf8', from, to));
      const text = JSON.stringify(JSON.stringify(value));
      this.#written.set(from, Buffer.from(text.slice(1, -1)));
    }
    return true;
  }

  /** Whether the element whose numbers are at `at` is a string, which is its own text. */
  #isString(found: Uint32Array, at: number): boolean {
    return this.#body[found[at] ?? 0] === QUOTE;
  }
}

function* inPieces(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += MOST_COPIED_BYTES) {
    yield bytes.subarray(at, at + MOST_COPIED_BYTES);
  }
}
