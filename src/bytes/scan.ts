import { Walk } from './scanner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LOWER_U = 0x75;
const FIRST_PRINTABLE = 0x20;
/** Text nested deeper than this is left to `JSON.parse` here. */
const MAX_DEPTH = 64;

/**
 * How much JSON may be parsed whole. Bytes alone do not show it: `{},` is three bytes of text, and a hundred in memory.
 */
export interface ParseLimits {
  /** Nesting depth of arrays and objects. */
  readonly depth: number;
  /** Values of every kind, approximately. */
  readonly values: number;
  /** Of one object. */
  readonly members?: number;
}

/** Which limit a JSON text exceeds, found without parsing it; for invalid JSON it may return any. */
export function excessOf(json: Buffer, limits: ParseLimits): keyof ParseLimits | undefined {
  const walk = new Walk(json);
  walk.go();
  if (walk.isValid) {
    if (walk.levels > limits.depth) return 'depth';
    if (walk.values > limits.values) return 'values';
    if (walk.values < (limits.members ?? Infinity)) return undefined;
  }
  return excessByStep(json, limits);
}

/** The same for text that the walk refuses, deep or invalid JSON, and for objects that may have too many members. */
function excessByStep(
  json: Buffer,
  { depth: most, values: mostValues, members: mostMembers = Infinity }: ParseLimits,
): keyof ParseLimits | undefined {
  let values = 0;
  /** For each level how many commas it has; below zero in arrays, where they do not count. */
  const commas: number[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(json, at);
      if (at < 0) return undefined;
    } else if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      values += 1;
      if (values > mostValues) return 'values';
      if (byte !== COMMA) {
        if (commas.length === most) return 'depth';
        commas.push(byte === OPEN_BRACE ? 0 : -Infinity);
      } else if (commas.length > 0) {
        const members = (commas.pop() ?? 0) + 1;
        if (members >= mostMembers) return 'members';
        commas.push(members);
      }
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      commas.pop();
    }
  }
  return undefined;
}

/** Position of the closing quote of the string that opens at `start`; -1 if it is not a valid string. */
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

/**
 * The end of any value (exclusive), checked only as far as needed to find it; -1 if that fails or the value is nested deeper
 * than `maxDepth`.
 */
export function skipValue(body: Buffer, start: number, maxDepth = MAX_DEPTH): number {
  const first = body[start];
  if (first === QUOTE) {
    const end = endOfString(body, start);
    return end < 0 ? -1 : end + 1;
  }
  const isNested = first === OPEN_BRACE || first === OPEN_BRACKET;
  return isNested ? skipNested(body, start, maxDepth) : skipScalar(body, start);
}

function skipNested(body: Buffer, start: number, maxDepth: number): number {
  let depth = 0;
  for (let at = start; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(body, at);
      if (at < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > maxDepth) return -1;
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
