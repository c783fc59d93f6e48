import { endOfString, skipSpace, skipValue } from './scan.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Where each of the `count` elements of the array `name` lies in an object: start and end (exclusive) in turn. `json` must
 * be text that `JSON.parse` accepts, and the elements strings or objects. If several members have that name, the last one
 * counts, as in `JSON.parse`. `undefined` if the text is not as expected.
 */
export function elementRanges(json: Buffer, name: string, count: number): Uint32Array | undefined {
  let found: Uint32Array | undefined;
  let at = skipSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return undefined;
  do {
    const keyStart = skipSpace(json, at + 1);
    const keyEnd = json[keyStart] === QUOTE ? endOfString(json, keyStart) : -1;
    at = skipSpace(json, keyEnd + 1);
    if (keyEnd < 0 || json[at] !== COLON) return undefined;
    at = skipSpace(json, at + 1);
    if (JSON.parse(json.toString('utf8', keyStart, keyEnd + 1)) === name) {
      found = elements(json, at, count);
    }
    at = skipValue(json, at, Infinity);
    if (at < 0) return undefined;
    at = skipSpace(json, at);
  } while (json[at] === COMMA);
  return json[at] === CLOSE_BRACE && skipSpace(json, at + 1) === json.length ? found : undefined;
}

/** The ranges in the array at `start`; `undefined` if there is no array there, or one of another length. */
function elements(json: Buffer, start: number, count: number): Uint32Array | undefined {
  if (json[start] !== OPEN_BRACKET) return undefined;
  const ranges = new Uint32Array(count * 2);
  let at = skipSpace(json, start + 1);
  for (let index = 0; index < count; index += 1) {
    if (index > 0) {
      if (json[at] !== COMMA) return undefined;
      at = skipSpace(json, at + 1);
    }
    const end = skipValue(json, at, Infinity);
    if (end < 0) return undefined;
    ranges[index * 2] = at;
    ranges[index * 2 + 1] = end;
    at = skipSpace(json, end);
  }
  return json[at] === CLOSE_BRACKET ? ranges : undefined;
}
