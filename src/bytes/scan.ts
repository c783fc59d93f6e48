import { atOnce, type Steps } from './steps.js';
import { LoneHalves } from './halves.js';
import {
  areLocatable,
  FIELD,
  listName,
  locatedList,
  ROW,
  Walk,
  type FoundList,
  type ListName,
} from './scanner.js';

export { areLocatable, FIELD, listName, locatedList, ROW, Walk, type FoundList, type ListName };

/**
 * Finds the documents of a request in its body without parsing them: they are scanned once and passed on as the bytes that
 * the caller sent. For anything unusual (lists of several names, elements that are neither strings nor objects,
 * invalid JSON) the answer is `undefined` and `JSON.parse` decides, so that both ways accept
 * and mean the same.
 */

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
/** What surrounds the documents is parsed here if it is no larger than this, and has no more values. */
const MAX_AROUND_BYTES = 65_536;
const MAX_AROUND_VALUES = 10_000;

const DOCUMENTS: readonly ListName[] = [listName('documents')];

export interface ScannedBody {
  readonly body: Buffer;
  /** Every member but the list, parsed. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The name of the list. */
  readonly name: string;
  /** Its elements: strings, and objects that have a text. */
  readonly list: FoundList;
  /** How many values the body has, about. */
  readonly values: number;
  /** Lone halves of surrogate pairs that have been replaced in the texts, where they lie. */
  readonly replaced?: LoneHalves;
}

/**
 * Splits a body, which must be valid UTF-8, at the one list whose name is among `names`; `undefined` if `JSON.parse` has to
 * decide.
 * @param maxDocuments how many of them are located; all are judged and counted.
 */
export function scanBody(
  body: Buffer,
  names: readonly ListName[] = DOCUMENTS,
  maxDocuments = Infinity,
): ScannedBody | undefined {
  const walk = new Walk(body, names, maxDocuments);
  walk.go();
  const scanned = atOnce(splitBody(body, walk));
  return scanned !== undefined && areTextsAlone(scanned.list) ? scanned : undefined;
}

/** Whether each element has a text and none an image. */
export function areTextsAlone({ lacksTexts, hasImages }: FoundList): boolean {
  return !lacksTexts && !hasImages;
}

/** Whether nothing was looked for in its elements, whatever they are. */
function isLocated({ name: { text, fields } }: FoundList): boolean {
  return text === '' && fields.length === 0;
}

/**
 * The same from a completed walk over the body, whose elements may lack their text or have images.
 * @param mostAround how many bytes around the list are parsed.
 */
export function* splitBody(
  body: Buffer,
  { list, otherValues, values }: Walk,
  mostAround = Infinity,
): Steps<ScannedBody | undefined> {
  if (list === undefined) return undefined;
  const cuts = cutsOf(list);
  const aroundBytes = cuts.reduce((bytes, { start, end }) => bytes - (end - start), body.length);
  if (aroundBytes > mostAround) return undefined;
  if (aroundBytes > MAX_AROUND_BYTES && otherValues > MAX_AROUND_VALUES) return undefined;
  const members = parseMembers(body, cuts);
  if (members === undefined) return undefined;
  const split = { body, members, name: list.name.name, list, values };
  if (!areTextsAlone(list) || isLocated(list)) return split;
  const replaced = yield* LoneHalves.replace(body, list.halves);
  return replaced === undefined ? split : { ...split, replaced };
}

/**
 * How much JSON may be parsed whole. Bytes alone do not show it: `{},` is three bytes of text, and a hundred in memory.
 */
export interface ParseLimits {
  /** Nesting depth of arrays and objects. */
  readonly depth: number;
  /** Values of every kind, approximately. */
  readonly values: number;
  /** Of one object, and how long the name of one may be, if text is parsed piece by piece. */
  readonly members?: number;
  readonly keyBytes?: number;
}

/** Which limit a JSON text exceeds, found without parsing it; for invalid JSON it may return either. */
export function excessOf(body: Buffer, limits: ParseLimits): keyof ParseLimits | undefined {
  const walk = new Walk(body);
  walk.go();
  if (!walk.isValid) return excessByStep(body, limits);
  if (walk.levels > limits.depth) return 'depth';
  return walk.values > limits.values ? 'values' : undefined;
}

/** The same for text that the walk refuses: deep, or invalid JSON. */
function excessByStep(body: Buffer, limits: ParseLimits): keyof ParseLimits | undefined {
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

/** Members that are not parsed, in order. */
type Cuts = readonly { readonly start: number; readonly end: number }[];

function cutsOf({ before, keyStart, end }: FoundList): Cuts {
  const list = { start: keyStart, end };
  return before === undefined ? [list] : [before, list];
}

function parseMembers(body: Buffer, cuts: Cuts): Record<string, unknown> | undefined {
  let text = '';
  let from = 0;
  for (const { start, end } of cuts) {
    text = joinedAtCut(text, body.toString('utf8', from, start));
    from = end;
  }
  text = joinedAtCut(text, body.toString('utf8', from));
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Not an error yet: `JSON.parse` reads the same bytes and words the error.
    return undefined;
  }
}

/** What is before and behind a member that is cut out, without the comma that only one of them needs. */
function joinedAtCut(before: string, behind: string): string {
  const [head, after] = [before.trimEnd(), behind.trimStart()];
  if (after.startsWith(',') && !head.endsWith(',')) return head + after.slice(1);
  return (head.endsWith(',') ? head.slice(0, -1) : head) + after;
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
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(body, start);
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
