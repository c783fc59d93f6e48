import { JsonFragment, type JsonBody } from './fragment.js';
import { encodeJson } from './encode.js';
import type { Shown } from './document-list.js';
import { copyBytes } from './memory.js';

export const ECHO_HEAD = '{"text":';
export const ECHO_TAIL = '}';

/** As the main contract shows them: a string as an object with a text. */
export const AS_DOCUMENT: Shown = { name: 'document', areTexts: false };

/** A document as a reply shows it, copied when the reply is written. */
export function echoOf(source: Buffer, isText: boolean): JsonBody {
  const sent = new JsonFragment(source);
  return isText ? { text: sent } : sent;
}

const OPEN_LIST = Buffer.from('[');
const CLOSE_LIST = Buffer.from(']');
const NEXT = Buffer.from(',');

/** How long a list of so many texts is, which have so many bytes together, with the marks of JSON around each. */
export function listBytes(count: number, bytes: number): number {
  return OPEN_LIST.length + bytes + 2 * count + Math.max(0, count - 1) + CLOSE_LIST.length;
}

/** What ends a row. */
export const ROW_END = '}';

/**
 * What stands before each document among rows of a reply, which are objects of numbers with a comma in between: each row but
 * for its end, which comes before the next, and the name of the member that the document is.
 */
export function headsOf(rows: string, name: string): readonly string[] {
  const parts = rows.split(ROW_END);
  return parts.slice(0, -1).map((row, at) => `${at === 0 ? '' : ROW_END}${row},"${name}":`);
}

/** An array of objects with the strings that `sources` have in `fields`; `undefined` if one of them has none. */
export function pickStrings(
  sources: readonly unknown[],
  fields: readonly string[],
): JsonFragment | undefined {
  const objects: Record<string, string>[] = [];
  for (const source of sources) {
    if (typeof source !== 'object' || source === null) return undefined;
    const members = new Map<string, unknown>(Object.entries(source));
    const picked: [string, string][] = [];
    for (const field of fields) {
      const value = members.get(field);
      if (typeof value !== 'string') return undefined;
      picked.push([field.toWellFormed(), value]);
    }
    objects.push(Object.fromEntries(picked));
  }
  return new JsonFragment(encodeJson(objects));
}

/** An array whose elements are in pieces; they are joined when it is written. */
export function inList(elements: readonly (readonly Buffer[])[]): JsonFragment {
  const pieces = elements.flatMap((element, index) => [index === 0 ? OPEN_LIST : NEXT, ...element]);
  if (pieces.length === 0) pieces.push(OPEN_LIST);
  pieces.push(CLOSE_LIST);
  return inTurn(pieces);
}

/** Pieces one after the other; they are joined when written. */
export function inTurn(pieces: readonly Buffer[]): JsonFragment {
  return new JsonFragment({
    size: pieces.reduce((bytes, { length }) => bytes + length, 0),
    iterate: () => pieces,
    copy: (target: Buffer, start: number) => {
      let end = start;
      for (const piece of pieces) end += copyPiece(piece, 0, piece.length, target, end);
    },
  });
}

/** Up to this length, a byte at a time is faster. */
const SHORT_BYTES = 96;

/** Copies a part of `piece` to `at` in `target`, and returns how many bytes that are. */
export function copyPiece(
  piece: Buffer,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  if (to - from > SHORT_BYTES) return copyBytes(piece, target, at, from, to);
  const shift = at - from;
  for (let index = from; index < to; index += 1) target[index + shift] = piece[index] ?? 0;
  return to - from;
}

export function wrapEach(
  count: number,
  prefix: string | ((index: number) => string),
  raw: (index: number) => Buffer,
  suffix: string,
): JsonFragment {
  const [before, after] = [
    Buffer.from(typeof prefix === 'string' ? prefix : ''),
    Buffer.from(suffix),
  ];
  return inList(
    Array.from({ length: count }, (_, index) => [
      typeof prefix === 'string' ? before : Buffer.from(prefix(index)),
      raw(index),
      after,
    ]),
  );
}
