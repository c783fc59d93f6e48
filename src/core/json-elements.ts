import { skipSpace } from './json-scan.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
/** How much of a string is stepped through before its end is searched for natively, which pays for long ones. */
const SHORT = 64;

/**
 * Where each of the `count` elements of the array `name` lies in an object: start and end (behind it) in turn. `json` must
 * be text that `JSON.parse` has taken; of several members with that name the last one counts, as there. `undefined` where
 * the text is not as it should be.
 */
export function elementRanges(json: Buffer, name: string, count: number): Uint32Array | undefined {
  const reader = new Reader(json);
  let found: Uint32Array | undefined;
  let at = skipSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return undefined;
  do {
    const keyStart = skipSpace(json, at + 1);
    if (json[keyStart] !== QUOTE) return undefined;
    const keyEnd = reader.endOfString(keyStart);
    at = skipSpace(json, keyEnd);
    if (json[at] !== COLON) return undefined;
    at = skipSpace(json, at + 1);
    if (JSON.parse(json.toString('utf8', keyStart, keyEnd)) === name) {
      found = reader.elements(at, count);
      const last = found?.at(-1);
      at = last === undefined ? reader.endOfValue(at) : skipSpace(json, last) + 1;
    } else {
      at = reader.endOfValue(at);
    }
    at = skipSpace(json, at);
  } while (json[at] === COMMA);
  return json[at] === CLOSE_BRACE && skipSpace(json, at + 1) === json.length ? found : undefined;
}

class Reader {
  readonly #json: Buffer;
  /** The next backslash from some place on that was asked about; behind the text where there is none. */
  #backslash = -1;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Of the array at `start`; `undefined` where there is none, or one of another length. */
  elements(start: number, count: number): Uint32Array | undefined {
    const json = this.#json;
    if (json[start] !== OPEN_BRACKET) return undefined;
    const ranges = new Uint32Array(count * 2);
    let at = skipSpace(json, start + 1);
    for (let index = 0; index < count; index += 1) {
      if (index > 0) {
        if (json[at] !== COMMA) return undefined;
        at = skipSpace(json, at + 1);
      }
      const end = this.endOfValue(at);
      if (end === at) return undefined;
      ranges[index * 2] = at;
      ranges[index * 2 + 1] = end;
      at = skipSpace(json, end);
    }
    return json[at] === CLOSE_BRACKET ? ranges : undefined;
  }

  endOfValue(start: number): number {
    const json = this.#json;
    let depth = 0;
    let at = start;
    while (at < json.length) {
      const byte = json[at] ?? 0;
      if (byte === QUOTE) {
        at = this.endOfString(at);
        if (depth === 0) return at;
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (depth === 0 && (byte === COMMA || byte <= SPACE)) return at;
      at += 1;
    }
    return at;
  }

  endOfString(start: number): number {
    const json = this.#json;
    let at = start + 1;
    for (const near = Math.min(at + SHORT, json.length); at < near;) {
      if (json[at] === QUOTE) return at + 1;
      at += json[at] === BACKSLASH ? 2 : 1;
    }
    const end = indexOf(json, QUOTE, at);
    if (this.#backslash < at) this.#backslash = indexOf(json, BACKSLASH, at);
    if (end < this.#backslash) return end + 1;
    at = this.#backslash;
    // Byte by byte: escapes may be dense, and a search for each of them costs a hundred times as much as a step.
    while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    return at + 1;
  }
}

function indexOf(json: Buffer, byte: number, from: number): number {
  const at = json.indexOf(byte, from);
  return at < 0 ? json.length : at;
}
