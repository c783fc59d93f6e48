import { copyPiece } from './document-json.js';
import { JsonFragment } from './fragment.js';
import { FIELD, ROW } from './scan.js';
import { Pace, type Steps } from './steps.js';

const QUOTE = 0x22;

/** Where the values of members of documents are in a body. */
export interface FieldPlaces {
  readonly names: readonly string[];
  /** Rows of a `FoundList`, with the places of these fields. */
  readonly rows: Uint32Array;
}

/** The same of the documents at `indexes`. */
export function pickedPlaces(
  { names, rows }: FieldPlaces,
  indexes: readonly number[],
): FieldPlaces {
  const width = widthOf(names);
  const picked = new Uint32Array(indexes.length * width);
  for (const [at, index] of indexes.entries()) {
    for (let place = 0; place < width; place += 1) {
      picked[at * width + place] = rows[index * width + place] ?? 0;
    }
  }
  return { names, rows: picked };
}

/** How many numbers a row with these fields has. */
export function widthOf(fields: readonly string[]): number {
  return ROW + FIELD * fields.length;
}

/** What an element takes to be compared, in units of a step. */
const ELEMENT_UNITS = 200;

/** Whether all elements have these fields, and are the same around their values, byte for byte. */
export function* areAlike(body: Buffer, { names, rows }: FieldPlaces): Steps<boolean> {
  const width = widthOf(names);
  // In the order in which the first element has them.
  const places = Array.from(names, (_name, field) => ROW + field * FIELD).sort(
    (one, other) => (rows[one] ?? 0) - (rows[other] ?? 0),
  );
  if (places.some((place) => rows[place] === 0)) return false;
  const pace = new Pace();
  for (let row = width; row < rows.length; row += width) {
    let [from = 0, start = 0] = [rows[0], rows[row]];
    for (const place of places) {
      if (!isSame(body, from, rows[place] ?? 0, start, rows[row + place] ?? 0)) return false;
      from = rows[place + 1] ?? 0;
      start = rows[row + place + 1] ?? 0;
    }
    if (!isSame(body, from, rows[1] ?? 0, start, rows[row + 1] ?? 0)) return false;
    if (pace.fills(ELEMENT_UNITS)) yield;
  }
  return true;
}

/** Whether the bytes from `from` to `to` are those from `start` to `end`. */
function isSame(body: Buffer, from: number, to: number, start: number, end: number): boolean {
  if (end - start !== to - from) return false;
  const shift = start - from;
  for (let at = from; at < to; at += 1) if (body[at] !== body[at + shift]) return false;
  return true;
}

/**
 * An array of at least one object with these fields, copied when it is written; `undefined` if a document lacks one of them as a
 * string.
 */
export function pickedStrings(
  body: Buffer,
  { names, rows }: FieldPlaces,
): JsonFragment | undefined {
  const width = widthOf(names);
  const heads = names.map((name, at) =>
    Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`),
  );
  let size = CLOSE.length - BETWEEN.length + OPEN.length;
  for (let row = 0; row < rows.length; row += width) {
    size += BETWEEN.length;
    for (const [field, head] of heads.entries()) {
      const place = row + ROW + field * FIELD;
      const start = rows[place] ?? 0;
      if (body[rows[row] ?? 0] === QUOTE || start === 0 || body[start] !== QUOTE) return undefined;
      size += head.length + (rows[place + 1] ?? 0) - start;
    }
  }
  function* iterate(): Iterable<Buffer> {
    yield OPEN;
    for (let row = 0; row < rows.length; row += width) {
      if (row > 0) yield BETWEEN;
      for (const [field, head] of heads.entries()) {
        const place = row + ROW + field * FIELD;
        yield head;
        yield body.subarray(rows[place], rows[place + 1]);
      }
    }
    yield CLOSE;
  }
  return new JsonFragment({
    size,
    iterate,
    copy: (target: Buffer, start: number) => {
      let end = start;
      for (let row = 0; row < rows.length; row += width) {
        const before = row === 0 ? OPEN : BETWEEN;
        end += copyPiece(before, 0, before.length, target, end);
        for (let field = 0; field < heads.length; field += 1) {
          const head = heads[field] ?? OPEN;
          const place = row + ROW + field * FIELD;
          end += copyPiece(head, 0, head.length, target, end);
          end += copyPiece(body, rows[place] ?? 0, rows[place + 1] ?? 0, target, end);
        }
      }
      CLOSE.copy(target, end);
    },
  });
}

const OPEN = Buffer.from('[');
const BETWEEN = Buffer.from('},');
const CLOSE = Buffer.from('}]');
