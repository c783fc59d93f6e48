import { hasControlByte } from './control-bytes.js';

/**
 * Finds `documents` in a request body without parsing it. A megabyte of documents is looked at once, natively where
 * possible, and handed on as the bytes that the caller sent. Whatever is unusual (escaped keys, a second `documents`,
 * elements that are not strings, lone surrogates, invalid JSON) answers `undefined`: the plain parser then decides,
 * so that both ways accept and mean the same.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LOWER_U = 0x75;
const FIRST_PRINTABLE = 0x20;
/** Deeper members than this are left to the plain parser. */
const MAX_DEPTH = 64;
/** What lies around the documents is parsed here if it is no larger: more of it has to be judged first. */
const MAX_AROUND_BYTES = 65_536;

const AROUND_LIMITS: ParseLimits = { depth: MAX_DEPTH, values: 10_000 };

const DOCUMENTS_KEY = Buffer.from('documents');

export interface ScannedBody {
  /** Every member but `documents`, parsed. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The array of strings as sent, `[` to `]`: valid JSON, no lone surrogates. */
  readonly documents: Buffer;
  readonly count: number;
  /** Whether any string begins as one with nothing but white space does. */
  readonly mayHaveBlanks: boolean;
}

/** Splits a body, which must be valid UTF-8; `undefined` where the plain parser has to look. */
export function scanBody(body: Buffer): ScannedBody | undefined {
  let at = skipSpace(body, 0);
  if (body[at] !== OPEN_BRACE) return undefined;
  at = skipSpace(body, at + 1);
  let found: { keyStart: number; start: number; array: ScannedArray } | undefined;
  for (;;) {
    if (body[at] !== QUOTE) return undefined;
    const keyStart = at;
    const keyEnd = body.indexOf(QUOTE, at + 1);
    if (keyEnd < 0 || hasByte(body, BACKSLASH, at + 1, keyEnd)) return undefined;
    at = skipSpace(body, keyEnd + 1);
    if (body[at] !== COLON) return undefined;
    at = skipSpace(body, at + 1);
    if (isDocumentsKey(body, keyStart + 1, keyEnd)) {
      if (found !== undefined) return undefined;
      const array = scanStrings(body, at);
      if (array === undefined) return undefined;
      found = { keyStart, start: at, array };
      at = array.end;
    } else {
      at = skipValue(body, at);
      if (at < 0) return undefined;
    }
    at = skipSpace(body, at);
    if (body[at] === CLOSE_BRACE) break;
    if (body[at] !== COMMA) return undefined;
    at = skipSpace(body, at + 1);
  }
  if (found === undefined || skipSpace(body, at + 1) !== body.length) return undefined;
  const { end, count, mayHaveBlanks } = found.array;
  const around = [body.subarray(0, found.keyStart), body.subarray(end)];
  const isDear = (part: Buffer) => excessOf(part, AROUND_LIMITS) !== undefined;
  if (body.length - (end - found.keyStart) > MAX_AROUND_BYTES && around.some(isDear)) {
    return undefined;
  }
  const members = parseMembers(body, found.keyStart, end);
  if (members === undefined) return undefined;
  return { members, documents: body.subarray(found.start, end), count, mayHaveBlanks };
}

/**
 * Where each string of a scanned array lies: start and end (behind the closing quote) in turn, quotes included.
 * The array must come from `scanBody`.
 */
export function stringRanges(array: Buffer, count: number): Uint32Array {
  const ranges = new Uint32Array(count * 2);
  let backslash = nextOf(array, BACKSLASH, 0);
  let at = 1;
  for (let index = 0; index < count; index += 1) {
    while (array[at] !== QUOTE) at += 1;
    ranges[index * 2] = at;
    let end = nextOf(array, QUOTE, at + 1);
    if (backslash < end) {
      // Byte by byte: escapes may be dense, and a search for each of them costs a hundred times as much as a step.
      end = backslash;
      while (array[end] !== QUOTE) end += array[end] === BACKSLASH ? 2 : 1;
      backslash = nextOf(array, BACKSLASH, end);
    }
    at = end + 1;
    ranges[index * 2 + 1] = at;
  }
  return ranges;
}

/** Whether a string whose first byte (behind the quote) this is may be white space alone; most begin with a letter. */
export function mayBeginBlank(first: number): boolean {
  return first === QUOTE || first === FIRST_PRINTABLE || first === BACKSLASH || first >= 0x80;
}

/** How much JSON may be parsed as a whole. Bytes alone do not tell: `{},` takes three of them, and a hundred in memory. */
export interface ParseLimits {
  /** Of arrays and objects in each other. */
  readonly depth: number;
  /** Of values of every kind, about. */
  readonly values: number;
}

/** Which limit a JSON text goes beyond, found without parsing it; of what is no JSON it may say either. */
export function excessOf(body: Buffer, limits: ParseLimits): keyof ParseLimits | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(body, at);
      if (at < 0) return undefined;
    } else if (byte === COMMA) {
      values += 1;
      if (values > limits.values) return 'values';
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > limits.depth) return 'depth';
      values += 1;
      if (values > limits.values) return 'values';
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return undefined;
}

function parseMembers(
  body: Buffer,
  cutStart: number,
  cutEnd: number,
): Record<string, unknown> | undefined {
  const before = body.toString('utf8', 0, cutStart).trimEnd();
  let after = body.toString('utf8', cutEnd).trimStart();
  let head = before;
  if (after.startsWith(',') && !before.endsWith(',')) after = after.slice(1);
  else if (before.endsWith(',')) head = before.slice(0, -1);
  try {
    return JSON.parse(head + after) as Record<string, unknown>;
  } catch {
    // Not an answer yet: the plain parser reads the same bytes and words the error.
    return undefined;
  }
}

interface ScannedArray {
  /** Behind the closing bracket. */
  readonly end: number;
  readonly count: number;
  readonly mayHaveBlanks: boolean;
}

function scanStrings(body: Buffer, start: number): ScannedArray | undefined {
  if (body[start] !== OPEN_BRACKET) return undefined;
  let at = skipSpace(body, start + 1);
  if (body[at] === CLOSE_BRACKET) return { end: at + 1, count: 0, mayHaveBlanks: false };
  let mayHaveBlanks = false;
  let backslash = nextOf(body, BACKSLASH, at);
  let escapes = false;
  let count = 0;
  for (;;) {
    if (body[at] !== QUOTE) return undefined;
    mayHaveBlanks ||= mayBeginBlank(body[at + 1] ?? 0);
    let end = nextOf(body, QUOTE, at + 1);
    if (backslash < end) {
      escapes = true;
      end = endOfString(body, at);
      if (end < 0) return undefined;
      backslash = nextOf(body, BACKSLASH, end);
    } else if (end === Infinity) {
      return undefined;
    }
    count += 1;
    at = end + 1;
    if (body[at] !== COMMA) {
      at = skipSpace(body, at);
      if (body[at] === CLOSE_BRACKET) break;
      if (body[at] !== COMMA) return undefined;
    }
    at += 1;
    if (body[at] !== QUOTE) at = skipSpace(body, at);
  }
  const end = at + 1;
  if (hasControlByte(body, start, end) && !stringsAreClean(body, start, count)) return undefined;
  if (escapes && hasSurrogateEscape(body, start, end)) return undefined;
  return { end, count, mayHaveBlanks };
}

/** Position of the closing quote of the string that opens at `start`; -1 where it is not a valid string. */
function endOfString(body: Buffer, start: number): number {
  for (let at = start + 1; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < FIRST_PRINTABLE) return -1;
    if (byte === BACKSLASH) {
      at += 1;
      const escape = body[at] ?? 0;
      if (escape === LOWER_U) {
        for (let digit = 1; digit <= 4; digit += 1) {
          if (!isHexDigit(body[at + digit] ?? 0)) return -1;
        }
        at += 4;
      } else if (!isSimpleEscape(escape)) {
        return -1;
      }
    }
  }
  return -1;
}

/** The end of any value (behind it), judged only as far as finding its end needs; -1 where that fails. */
export function skipValue(body: Buffer, start: number): number {
  const first = body[start];
  if (first === QUOTE) {
    const end = endOfString(body, start);
    return end < 0 ? -1 : end + 1;
  }
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(body, start);
  let depth = 0;
  for (let at = start; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(body, at);
      if (at < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_DEPTH) return -1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function skipScalar(body: Buffer, start: number): number {
  let at = start;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_BRACE || byte <= FIRST_PRINTABLE) break;
    at += 1;
  }
  return at === start ? -1 : at;
}

/** Whether strings hold no raw control characters; asked only where the array has some, which may be line breaks between. */
function stringsAreClean(body: Buffer, start: number, count: number): boolean {
  let at = start + 1;
  for (let index = 0; index < count; index += 1) {
    while (body[at] !== QUOTE) at += 1;
    const end = endOfString(body, at);
    if (end < 0) return false;
    at = end + 1;
  }
  return true;
}

/** Whether a `\ud8xx` … `\udfxx` escape may be present; a false alarm only costs the fast path. */
function hasSurrogateEscape(body: Buffer, start: number, end: number): boolean {
  const lower = body.indexOf('\\ud', start);
  if (lower >= 0 && lower < end) return true;
  const upper = body.indexOf('\\uD', start);
  return upper >= 0 && upper < end;
}

function isDocumentsKey(body: Buffer, start: number, end: number): boolean {
  return end - start === DOCUMENTS_KEY.length && DOCUMENTS_KEY.compare(body, start, end) === 0;
}

function nextOf(body: Buffer, byte: number, from: number): number {
  const at = body.indexOf(byte, from);
  return at < 0 ? Infinity : at;
}

function hasByte(body: Buffer, byte: number, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (body[at] === byte) return true;
  return false;
}

export function skipSpace(body: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const byte = body[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
}

function isHexDigit(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66)
  );
}

function isSimpleEscape(byte: number): boolean {
  switch (byte) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return true;
    default:
      return false;
  }
}
