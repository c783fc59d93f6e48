import { atOnce, Pace, type Steps } from './steps.js';
import { skipSpace, skipValue } from './scan.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Where each of the `count` elements of the array `name` lies in an object: start and end (exclusive) in turn. A name with a
 * dot is that of a member of a member. `json` must be text that `JSON.parse` accepts, and the elements strings or objects. If
 * several members have that name, the last one counts, as in `JSON.parse`. `undefined` if the text is not as expected.
 */
export function elementRanges(json: Buffer, name: string, count: number): Uint32Array | undefined {
  return atOnce(searchElements(json, name, count));
}

/** The same in steps. */
export function* searchElements(
  json: Buffer,
  name: string,
  count: number,
): Steps<Uint32Array | undefined> {
  const whole = yield* searchObject(json, skipSpace(json, 0), name.split('.'), count, new Pace());
  return whole !== undefined && skipSpace(json, whole.end) === json.length
    ? whole.found
    : undefined;
}

interface Searched {
  readonly found: Uint32Array | undefined;
  /** Behind the object. */
  readonly end: number;
}

/** Searches the object at `start` for the array at the end of the path; `undefined` if there is no object. */
function* searchObject(
  json: Buffer,
  start: number,
  [name, ...inner]: readonly string[],
  count: number,
  pace: Pace,
): Steps<Searched | undefined> {
  let found: Uint32Array | undefined;
  let at = start;
  if (json[at] !== OPEN_BRACE) return undefined;
  do {
    const keyStart = skipSpace(json, at + 1);
    const keyEnd = json[keyStart] === QUOTE ? yield* endOfText(json, keyStart, pace) : -1;
    at = skipSpace(json, keyEnd);
    if (keyEnd < 0 || json[at] !== COLON) return undefined;
    at = skipSpace(json, at + 1);
    if (JSON.parse(json.toString('utf8', keyStart, keyEnd)) === name) {
      found =
        inner.length === 0
          ? yield* elements(json, at, count, pace)
          : (yield* searchObject(json, at, inner, count, pace))?.found;
    }
    at = yield* endOfValue(json, at, pace);
    if (at < 0) return undefined;
    at = skipSpace(json, at);
  } while (json[at] === COMMA);
  return json[at] === CLOSE_BRACE ? { found, end: at + 1 } : undefined;
}

/** The ranges in the array at `start`; `undefined` if there is no array there, or one of another length. */
function* elements(
  json: Buffer,
  start: number,
  count: number,
  pace: Pace,
): Steps<Uint32Array | undefined> {
  if (json[start] !== OPEN_BRACKET) return undefined;
  const ranges = new Uint32Array(count * 2);
  let at = skipSpace(json, start + 1);
  for (let index = 0; index < count; index += 1) {
    if (index > 0) {
      if (json[at] !== COMMA) return undefined;
      at = skipSpace(json, at + 1);
    }
    const end = yield* endOfValue(json, at, pace);
    if (end < 0) return undefined;
    ranges[index * 2] = at;
    ranges[index * 2 + 1] = end;
    at = skipSpace(json, end);
  }
  return json[at] === CLOSE_BRACKET ? ranges : undefined;
}

/** The position after the value at `start`; -1 if it does not end. */
function* endOfValue(json: Buffer, start: number, pace: Pace): Steps<number> {
  const first = json[start];
  if (first === QUOTE) return yield* endOfText(json, start, pace);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipValue(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = yield* endOfText(json, at, pace);
      if (end < 0) return -1;
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (pace.fills(1)) {
      yield;
    }
  }
  return -1;
}

/** The position after the closing quote of the string that opens at `start`; -1 if it has none. */
function* endOfText(json: Buffer, start: number, pace: Pace): Steps<number> {
  for (let at = start + 1; ;) {
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) return -1;
    if (pace.fills(quote + 1 - at)) yield;
    at = quote + 1;
    if (!isEscaped(json, quote)) return at;
  }
}

/** Whether an odd number of backslashes stands before a byte. */
function isEscaped(json: Buffer, at: number): boolean {
  let from = at;
  while (json[from - 1] === BACKSLASH) from -= 1;
  return (at - from) % 2 === 1;
}
