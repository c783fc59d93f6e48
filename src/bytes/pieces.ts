import type { ParseLimits } from './scan.js';
import type { VectorReader } from './vector-reader.js';

/**
 * Parses many megabytes of JSON piece by piece, so that others get their turn in between: `JSON.parse` blocks everything
 * until it is done. Consecutive members and elements are handed to `JSON.parse` together, some sixty kilobytes at a time;
 * anything larger is assembled from its parts. The result equals that of `JSON.parse` on the whole text, and whatever that
 * refuses is refused here, and a number of more than a megabyte, too.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LOWER_U = 0x75;
const ESCAPE_BYTES = 2;
const UNIT_BYTES = 6;

/** About how much `JSON.parse` gets at once. */
const PIECE_BYTES = 65_536;
/** Other text is its own value. */
const NEEDS_PARSING = /[^ -\uffff]|["\\]/;
/** Besides digits and small letters: the plus, the minus, the point and the E of numbers. */
const SIGNS = [0x2b, 0x2d, 0x2e, 0x45];
/** A number may have no more digits. */
const MOST_DIGITS = 1_048_576;
/** What is unread is looked at from so many pieces on, and up to so many: it is one number, white space, or no JSON. */
const LEAST_UNREAD = 2;
const MOST_UNREAD = 16;
/** What may follow where members of an array, or of an object, have been read up to any place between tokens. */
const ARRAY_ENDINGS = [']', '0]'];
const OBJECT_ENDINGS = ['}', ':0}', '0}', '"":0}'];
/** Searching for the next quote or bracket has a fixed cost, equal to a few bytes of parsing. */
const STEP_TOKENS = 16_384;

export type PiecewiseResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'excess'; readonly excess: keyof ParseLimits }
  /** `byte`: approximate position. */
  | { readonly kind: 'invalid'; readonly byte: number };

/**
 * What is kept of a text that is judged as a whole: all, all but for long texts, of which it is the beginnings, nothing, or of an
 * object's members what is said of each, where it is known how many bytes a text has.
 */
export type Keeps = 'all' | 'beginnings' | 'nothing' | ((name: string, textBytes?: number) => Kept);
/** `little` reads as empty, a long text as its beginning; `length` as white space that is as long. */
export type Kept = 'whole' | 'little' | 'length';

/** An open array or object. */
interface Frame {
  readonly isObject: boolean;
  readonly isKept: boolean;
  readonly start: number;
  /** Where its unparsed members begin. */
  runStart: number;
  /** Where the current member begins, after the comma. */
  memberStart: number;
  /** What has been parsed of it; absent as long as its parent may parse it whole. */
  parts: unknown[] | Record<string, unknown> | undefined;
  /** Whether an assembled member precedes `runStart`, so that only a comma may follow. */
  isBehindPart: boolean;
  /** Whether a comma precedes `runStart`, so that a member must follow. */
  isBehindComma: boolean;
  /** How many commas it has had. */
  commas: number;
}

/** A string that is read in parts. */
interface LongString {
  readonly start: number;
  readonly end: number;
  readonly kept: Kept;
  at: number;
  text: string;
  /** How many UTF-16 units it has so far. */
  units: number;
}

/** Ends the walk with a result. */
class Ended extends Error {
  readonly result: PiecewiseResult;

  constructor(result: PiecewiseResult) {
    super();
    this.result = result;
  }
}

/** A text being parsed. */
export class PiecewiseParser {
  readonly #text: Buffer;
  readonly #limits: ParseLimits;
  /** The first entry stands for whatever holds the text: an array of one. */
  readonly #frames: Frame[] = [openFrame(false, -1, true)];
  readonly #pieceBytes: number;
  readonly #vectors: VectorReader | undefined;
  readonly #keeps: Keeps;
  #at = 0;
  /** How many bytes without a token or white space are behind it. */
  #digits = 0;
  #values = 0;
  /** The string whose end is being searched: where it opens, and where to search from. */
  #open: { readonly start: number; from: number } | undefined;
  #long: LongString | undefined;
  /** Where the list of bare numbers begins that is being read. */
  #listStart: number | undefined;
  /** How far what is unread has been looked at. */
  #lookedAt = 0;
  #result: PiecewiseResult | undefined;

  /** @param vectors reads lists of numbers and long texts, which then are no arrays and strings. */
  constructor(
    text: Buffer,
    limits: ParseLimits,
    pieceBytes = PIECE_BYTES,
    vectors?: VectorReader,
    keeps: Keeps = 'all',
  ) {
    this.#keeps = keeps;
    this.#text = text;
    this.#limits = limits;
    this.#pieceBytes = pieceBytes;
    this.#vectors = vectors;
  }

  /** Continues for some sixty kilobytes; returns the result once it is complete. */
  step(): PiecewiseResult | undefined {
    try {
      this.#result ??= this.#go();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      this.#result = error.result;
    }
    return this.#result;
  }

  #go(): PiecewiseResult | undefined {
    const text = this.#text;
    const until = Math.min(text.length, this.#at + this.#pieceBytes);
    for (let tokens = 0; tokens < STEP_TOKENS; tokens += 1) {
      if (this.#open !== undefined && !this.#seekEnd(this.#open)) return undefined;
      if (this.#long !== undefined && !this.#readLong(this.#long)) return undefined;
      if (this.#listStart !== undefined && !this.#readList(this.#listStart)) return undefined;
      const from = this.#at;
      let at = from;
      while (at < until && !isToken(text[at] ?? 0)) at += 1;
      this.#at = at;
      if (at >= until) {
        this.#passQuiet(from, at);
        break;
      }
      this.#digits = 0;
      this.#token(text[at] ?? 0, at);
    }
    this.#lookAtUnread(this.#frame());
    const isWithin = this.#open ?? this.#long ?? this.#listStart;
    return this.#at >= text.length && isWithin === undefined ? this.#end() : undefined;
  }

  /** What has no token from `from` to `at`: long white space is done with, so that nobody looks at it again in one go. */
  #passQuiet(from: number, at: number): void {
    const frame = this.#frame();
    this.#digits = this.#hasBlank(from, at) ? 0 : this.#digits + at - from;
    if (this.#digits > MOST_DIGITS) throw invalidAt(at);
    if (at - frame.memberStart < this.#pieceBytes) return;
    if (this.#isBlank(frame.memberStart, at)) {
      if (frame.memberStart > frame.runStart) {
        this.#parse(frame, frame.memberStart - 1);
        frame.isBehindPart = false;
        frame.isBehindComma = true;
      }
    } else {
      // In an object, the colon may be still to come.
      if (frame.isObject || frame.isBehindPart || from === at || !this.#isBlank(from, at)) return;
      this.#parse(frame, at);
      frame.isBehindPart = true;
      frame.isBehindComma = false;
    }
    frame.runStart = at;
    frame.memberStart = at;
  }

  /** Finds out what is no JSON before all of it has been gone through, where no comma has had it parsed. */
  #lookAtUnread({ isObject, isBehindPart, runStart }: Frame): void {
    const end = this.#open?.start ?? this.#at;
    const isSeen = this.#lookedAt > runStart;
    const least = isSeen ? 2 * (this.#lookedAt - runStart) : LEAST_UNREAD * this.#pieceBytes;
    const most = MOST_UNREAD * this.#pieceBytes;
    if (isBehindPart || end - runStart < least || end - runStart > most) return;
    this.#lookedAt = end;
    const text = this.#text.toString('utf8', runStart, this.#wholeUntil(end, runStart));
    const [open, endings] = isObject ? ['{', OBJECT_ENDINGS] : ['[', ARRAY_ENDINGS];
    let failure: unknown;
    for (const ending of endings) {
      try {
        parsed(open, text, ending, runStart);
        return;
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  /** `end`, or where a number or a literal begins that may be torn there. */
  #wholeUntil(end: number, start: number): number {
    let at = end;
    while (at > start && isScalar(this.#text[at - 1] ?? 0)) at -= 1;
    return at;
  }

  #token(byte: number, at: number): void {
    const frame = this.#frame();
    this.#at = at + 1;
    switch (byte) {
      case QUOTE:
        this.#open = { start: at, from: at + 1 };
        break;
      case COMMA:
        this.#count(1);
        this.#countMember(frame);
        if (frame.isBehindPart || at - frame.runStart >= this.#pieceBytes) {
          this.#parse(frame, at);
          frame.runStart = at + 1;
          frame.isBehindPart = false;
          frame.isBehindComma = true;
        }
        frame.memberStart = at + 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (this.#frames.length > this.#limits.depth) {
          throw new Ended({ kind: 'excess', excess: 'depth' });
        }
        if (byte === OPEN_BRACKET && this.#vectors?.begins(at) === true) {
          this.#listStart = at;
          break;
        }
        this.#count(1);
        this.#frames.push(openFrame(byte === OPEN_BRACE, at, this.#isKept(frame, at, byte)));
        break;
      default:
        this.#close(frame, byte, at);
    }
  }

  #close(frame: Frame, byte: number, at: number): void {
    const isRight = byte === (frame.isObject ? CLOSE_BRACE : CLOSE_BRACKET);
    if (!isRight || this.#frames.length === 1) throw invalidAt(at);
    this.#frames.pop();
    if (frame.parts === undefined && at - frame.start < this.#pieceBytes) return;
    this.#parse(frame, at);
    this.#attach(this.#frame(), frame.start, frame.parts, at + 1);
  }

  /** Reads on in what may be a list of bare numbers; true once it is complete, or is any other list. */
  #readList(start: number): boolean {
    const vectors = this.#vectors;
    if (vectors?.readOn() !== true) {
      this.#listStart = undefined;
      this.#count(1);
      this.#frames.push(openFrame(false, start, this.#isKept(this.#frame(), start, OPEN_BRACKET)));
      return true;
    }
    if (this.#values + vectors.length > this.#limits.values) this.#count(vectors.length);
    const list = vectors.list();
    if (list === undefined) return false;
    this.#listStart = undefined;
    this.#count(list.count);
    this.#at = list.end;
    if (list.value !== undefined) this.#attach(this.#frame(), start, list.value, list.end);
    return true;
  }

  /** Searches for the closing quote, skipping escaped ones; true once it is found. */
  #seekEnd(open: { readonly start: number; from: number }): boolean {
    const until = open.from + this.#pieceBytes;
    for (let tokens = 0; open.from < until && tokens < STEP_TOKENS; tokens += 1) {
      const quote = this.#text.indexOf(QUOTE, open.from);
      if (quote < 0) throw invalidAt(open.start);
      if (backslashesBefore(this.#text, quote, open.from) % 2 === 0) {
        this.#open = undefined;
        this.#string(this.#frame(), open.start, quote);
        return true;
      }
      open.from = quote + 1;
    }
    return false;
  }

  /** Skips a string; a long one is read in parts, unless it is a key. */
  #string(frame: Frame, start: number, end: number): void {
    this.#at = end + 1;
    const isLong = end - start >= this.#pieceBytes;
    const lying = isLong ? undefined : this.#vectors?.text(start, end);
    if (!isLong && lying === undefined) return;
    if (frame.isObject && this.#isBlank(frame.memberStart, start)) {
      const { keyBytes = Infinity } = this.#limits;
      if (end - start > keyBytes) throw new Ended({ kind: 'excess', excess: 'keyBytes' });
      return;
    }
    if (lying !== undefined) {
      this.#attach(frame, start, lying, end + 1);
      return;
    }
    const kept = this.#keptOf(frame, start, QUOTE, end - start);
    this.#long = { start, end, kept, at: start + 1, text: '', units: 0 };
  }

  /** Whether an array or object is kept that begins with this byte, in this one. */
  #isKept(frame: Frame, start: number, byte: number): boolean {
    return this.#keptOf(frame, start, byte) === 'whole';
  }

  #keptOf(frame: Frame, start: number, byte: number, textBytes?: number): Kept {
    const keeps = this.#keeps;
    if (keeps === 'beginnings') return byte === QUOTE ? 'little' : 'whole';
    if (typeof keeps === 'string') return keeps === 'all' ? 'whole' : 'little';
    // Of the whole, only the members of an object.
    if (this.#frames.length === 1) return byte === OPEN_BRACE ? 'whole' : 'little';
    if (this.#frames.length > 2 || !frame.isKept) return frame.isKept ? 'whole' : 'little';
    const [name = ''] = Object.keys(this.#member(frame, start));
    return keeps(name, textBytes);
  }

  /** Continues reading a long string; true once it is complete. */
  #readLong(long: LongString): boolean {
    const { start, end, at } = long;
    const most = at + this.#pieceBytes;
    const cut = end <= most ? end : cutBefore(this.#text, at, most);
    const text = this.#text.toString('utf8', at, cut);
    const part = NEEDS_PARSING.test(text) ? parsed('"', text, '"', at) : text;
    if (typeof part !== 'string') throw invalidAt(at);
    long.units += part.length;
    if (long.kept === 'whole' || long.text === '') long.text += part;
    long.at = cut;
    if (cut < end) return false;
    this.#long = undefined;
    const value = long.kept === 'length' ? ' '.repeat(long.units) : long.text;
    this.#attach(this.#frame(), start, value, end + 1);
    return true;
  }

  /** Adds a value, which starts at `start`, to the array or object that contains it. */
  #attach(frame: Frame, start: number, value: unknown, end: number): void {
    const { memberStart } = frame;
    if (frame.isBehindPart && memberStart === frame.runStart) throw invalidAt(start);
    if (memberStart > frame.runStart) this.#parse(frame, memberStart - 1);
    frame.parts ??= frame.isObject ? {} : [];
    if (Array.isArray(frame.parts)) {
      if (!this.#isBlank(memberStart, start)) throw invalidAt(memberStart);
      if (frame.isKept) frame.parts.push(value);
    } else {
      const member = this.#member(frame, start);
      if (frame.isKept) for (const key of Object.keys(member)) setMember(frame.parts, key, value);
    }
    frame.runStart = end;
    frame.memberStart = end;
    frame.isBehindPart = true;
    frame.isBehindComma = false;
  }

  /** The member whose value starts at `start`: its key and colon, and nothing else, make an object with any value. */
  #member({ memberStart }: Frame, start: number): object {
    return this.#json('{', memberStart, start, 'null}') as object;
  }

  /** Passes the members that have not been read, up to `end`, to `JSON.parse`. */
  #parse(frame: Frame, end: number): void {
    const { isObject, runStart } = frame;
    frame.parts ??= isObject ? {} : [];
    const isBlank = this.#isBlank(runStart, end);
    if (frame.isBehindPart) {
      if (!isBlank) throw invalidAt(runStart);
    } else if (isBlank) {
      // Only an empty one may contain nothing at all.
      const byte = this.#text[end];
      if (frame.isBehindComma || (byte !== CLOSE_BRACE && byte !== CLOSE_BRACKET)) {
        throw invalidAt(end);
      }
    } else if (Array.isArray(frame.parts)) {
      const values = this.#json('[', runStart, end, ']') as unknown[];
      if (frame.isKept) for (const value of values) frame.parts.push(value);
    } else {
      const members = this.#json('{', runStart, end, '}') as Record<string, unknown>;
      if (!frame.isKept) return;
      for (const key of Object.keys(members)) setMember(frame.parts, key, members[key]);
    }
  }

  #end(): PiecewiseResult {
    const [root, ...open] = this.#frames;
    if (root === undefined || open.length > 0) throw invalidAt(this.#text.length);
    this.#parse(root, this.#text.length);
    const values = root.parts as readonly unknown[];
    if (values.length !== 1) throw invalidAt(0);
    return { kind: 'value', value: values[0] };
  }

  /** Parses the bytes between with `JSON.parse`, with a prefix and a suffix. */
  #json(before: string, start: number, end: number, after: string): unknown {
    return parsed(before, this.#text.toString('utf8', start, end), after, start);
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > this.#limits.values) throw new Ended({ kind: 'excess', excess: 'values' });
  }

  /** An object grows as a whole: with very many members that takes long each time. */
  #countMember(frame: Frame): void {
    frame.commas += 1;
    const { members = Infinity } = this.#limits;
    if (frame.isObject && frame.commas >= members) {
      throw new Ended({ kind: 'excess', excess: 'members' });
    }
  }

  #isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const byte = this.#text[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
    }
    return true;
  }

  #hasBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) if ((this.#text[at] ?? 0) <= 0x20) return true;
    return false;
  }

  #frame(): Frame {
    const frame = this.#frames[this.#frames.length - 1];
    if (frame === undefined) throw new RangeError('no frame is open');
    return frame;
  }
}

/** What `JSON.parse` makes of a text that lies at `start`, with a prefix and a suffix. */
function parsed(before: string, text: string, after: string, start: number): unknown {
  try {
    return JSON.parse(before + text + after);
  } catch (error) {
    const place = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const units = place === undefined ? text.length : Number(place) - before.length;
    throw invalidAt(start + Buffer.byteLength(text.slice(0, Math.max(0, units))));
  }
}

function openFrame(isObject: boolean, start: number, isKept: boolean): Frame {
  return {
    isObject,
    isKept,
    start,
    runStart: start + 1,
    memberStart: start + 1,
    parts: undefined,
    isBehindPart: false,
    isBehindComma: false,
    commas: 0,
  };
}

function invalidAt(byte: number): Ended {
  return new Ended({ kind: 'invalid', byte });
}

/** Whether numbers and literals may have it. */
function isScalar(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || SIGNS.includes(byte);
}

function isToken(byte: number): boolean {
  return (
    byte === QUOTE ||
    byte === COMMA ||
    byte === OPEN_BRACE ||
    byte === CLOSE_BRACE ||
    byte === OPEN_BRACKET ||
    byte === CLOSE_BRACKET
  );
}

/** As `JSON.parse` does it: every member name is allowed, and the last duplicate wins. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, property);
  }
}

function backslashesBefore(text: Buffer, end: number, start: number): number {
  let at = end;
  while (at > start && text[at - 1] === BACKSLASH) at -= 1;
  return end - at;
}

/** The last place up to `end` where a string may be cut; `start` is never inside an escape. */
function cutBefore(text: Buffer, start: number, end: number): number {
  for (let at = end - 1; at >= Math.max(start, end - UNIT_BYTES + 1); at -= 1) {
    if (text[at] !== BACKSLASH) continue;
    const begins = backslashesBefore(text, at + 1, start) % 2 === 1;
    const bytes = text[at + 1] === LOWER_U ? UNIT_BYTES : ESCAPE_BYTES;
    if (begins && at + bytes > end) return at;
    break;
  }
  let cut = end;
  // Not within a character.
  while (((text[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
