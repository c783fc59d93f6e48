import { AT_ONCE_BYTES, STEP_BYTES, worked, type Paced } from './pace.js';
import { parseAroundRows, type NumberRows } from './rows.js';
import { excessOf, type ParseLimits } from './scan.js';
import { ROW, Walk } from './scanner.js';
import { partedAt } from './text.js';

/** Replies up to this size are parsed whatever they contain. */
const LIGHT_BYTES = 65_536;

/** A reply as a value, in which the list of its rows is `rows` if its numbers could be read off the bytes. */
export interface ReadReply {
  readonly value: unknown;
  readonly rows: NumberRows | undefined;
}

/**
 * Reads a reply; `undefined` if it is not JSON, or exceeds the limits.
 * @param mostRows how many rows it may have; none if there are no rows to look for.
 */
export function readRows(
  bytes: Buffer,
  mostRows: number,
  limits: ParseLimits,
): ReadReply | undefined {
  const read = mostRows === 0 ? undefined : parseAroundRows(bytes, mostRows);
  if (read !== undefined) return read;
  if (bytes.length > LIGHT_BYTES && excessOf(bytes, limits) !== undefined) return undefined;
  const text = bytes.toString('utf8').trim();
  try {
    return { value: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text), rows: undefined };
  } catch {
    // HTML, plain text, a truncated body, a bare NaN: what that means is for the caller to say.
    return undefined;
  }
}

/** Strings of at least this length are left out. */
const LONG_BYTES = 512;
/** By its beginning it may be a number written as a string, whose every digit counts. */
const NUMERIC = /^[\d\s.+e-]*$/i;
const BEGINNING_BYTES = 64;

/**
 * A large reply without the texts that its rows have beside their numbers, such as the documents that some upstreams return: long
 * strings in arrays become empty ones. Parsed, they would be megabytes that are never read. A small one, text that is not JSON, or
 * is deeply nested, stays as it is.
 * @param keptBytes how much is kept of each: nothing but quotes, or a beginning of about so many bytes.
 */
export function withoutLongTexts(bytes: Buffer, keptBytes = 0): Buffer | Promise<Buffer> {
  if (bytes.length <= AT_ONCE_BYTES) return bytes;
  return worked(shortening(bytes, keptBytes), bytes.length);
}

function* shortening(bytes: Buffer, keptBytes: number): Paced<Buffer> {
  const walk = yield* Walk.forLongStrings(bytes, LONG_BYTES + keptBytes).walking();
  const rows = walk.longStrings;
  const kept: Buffer[] = [];
  let from = 0;
  for (let row = 0; row < rows.length; row += ROW) {
    const [start = 0, end = 0] = rows.subarray(row, row + 2);
    const beginning = bytes.toString('latin1', start + 1, start + 1 + BEGINNING_BYTES);
    if (NUMERIC.test(beginning)) continue;
    const json = bytes.subarray(start, end);
    const until = keptBytes === 0 ? 1 : partedAt(json, 1 + keptBytes);
    kept.push(bytes.subarray(from, start + until));
    from = end - 1;
  }
  if (from === 0) return bytes;
  kept.push(bytes.subarray(from));
  if (bytes.length > STEP_BYTES) yield;
  return Buffer.concat(kept);
}
