import { copyPiece } from './document-json.js';
import { JsonFragment } from './json/json.js';
import { FIELD, ROW } from './json/scan.js';

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
