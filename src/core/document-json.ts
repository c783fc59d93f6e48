import { JsonFragment } from './json/json.js';

const ECHO_HEAD = Buffer.from('{"text":');
const ECHO_TAIL = Buffer.from('}');

/** A document as a reply shows it, copied when the reply is written. */
export function echoOf(source: Buffer, isText: boolean): JsonFragment {
  if (!isText) return new JsonFragment(source);
  return new JsonFragment({
    size: ECHO_HEAD.length + source.length + ECHO_TAIL.length,
    iterate: () => [ECHO_HEAD, source, ECHO_TAIL],
    copy: (target: Buffer, start: number) => {
      const at = start + ECHO_HEAD.copy(target, start);
      ECHO_TAIL.copy(target, at + source.copy(target, at));
    },
  });
}

const OPEN_LIST = Buffer.from('[');
const CLOSE_LIST = Buffer.from(']');
const NEXT = Buffer.from(',');

/** An array whose elements are in pieces; they are joined when it is written. */
export function inList(elements: readonly (readonly Buffer[])[]): JsonFragment {
  const pieces = elements.flatMap((element, index) => [index === 0 ? OPEN_LIST : NEXT, ...element]);
  if (pieces.length === 0) pieces.push(OPEN_LIST);
  pieces.push(CLOSE_LIST);
  return new JsonFragment({
    size: pieces.reduce((bytes, { length }) => bytes + length, 0),
    iterate: () => pieces,
    copy: (target: Buffer, start: number) => {
      let end = start;
      for (const piece of pieces) end += piece.copy(target, end);
    },
  });
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
