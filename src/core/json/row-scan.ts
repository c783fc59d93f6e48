import { nearest, POWERS } from './decimal.js';
import { skipSpace } from './scan.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A member of each row: the column with its number, or the value that it has in all rows. */
type Member =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly constant: string | boolean | null };

/** A row of which a score has been read. */
export interface Scored {
  readonly score: number | undefined;
}

/** Where strings of a text lie that need not be looked at: quotes included, in order. The text is known to be JSON. */
export interface KnownStrings {
  readonly places: Uint32Array;
  /** Numbers for each place, of which the first two are its start and its end. */
  readonly stride: number;
}

/** The position after the closing quote of a key without escapes; -1 if there is no such key. */
export function endOfKey(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte < 0x20) return -1;
  }
  return -1;
}

/**
 * Values that may be equal in all rows: literals, and short strings that begin with a letter and so cannot spell a number.
 */
const CONSTANT = /^(?:null|true|false|"[A-Za-z][^"\\]{0,62}")(?=[\s,}])/;
const MAX_CONSTANT = 66;

/** The position after such a value; -1 for all others. */
function endOfConstant(bytes: Buffer, start: number): number {
  const first = bytes[start] ?? 0;
  if (first === MINUS || (first >= ZERO && first <= NINE)) return -1;
  const text = CONSTANT.exec(textOf(bytes, start, start + MAX_CONSTANT))?.[0];
  // Control characters are not allowed in a string.
  if (text === undefined || /[^ -~]/.test(text)) return -1;
  return start + text.length;
}

export function valueBehind(bytes: Buffer, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

/** Assigning to `__proto__` would not create a member. */
const NO_MEMBER = '__proto__';
/** By its content it may be a number written as a string. */
const SPELLED = /^[\d\s.+e-]+("|$)/i;
const MAX_SPELLED = 64;

function spellsNumber(bytes: Buffer, start: number): boolean {
  return SPELLED.test(textOf(bytes, start, start + MAX_SPELLED));
}

/** Up to here a double holds every integer, and so any sequence of digits. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** A number up to here takes a further digit; digits behind it make a second number. */
const MAX_HEAD = 1e14;
const MAX_TAIL_DIGITS = 15;
/** No engine writes a longer number than `-1.2345678901234567e-308`. */
export const MAX_WRITTEN = 24;
/** How long rows may be whose numbers are cut out: as long as their ranking is kept, all of them are. */
export const MAX_BETWEEN = 96;
/** A row with more values that vary is not a ranking; each number has a bit. */
const MAX_COLUMNS = 16;

/** Reads rows from their bytes. The first row sets the form; the others must have the same bytes around their numbers. */
export class RowScan {
  readonly keys: string[] = [];
  readonly members: Member[] = [];
  /** Once all have been read. */
  values: readonly number[] = [];
  /** Where each of them starts and ends. */
  #places: readonly number[] = [];
  #numbers = 0;
  /** The position after the closing bracket. */
  end = -1;
  /** Whether the first row has a number that is written as a string: whoever parses it finds out. */
  spellsNumber = false;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** If they are known, members that are not numbers may be anything, and are skipped. */
  readonly #strings: KnownStrings | undefined;
  /** The next of the known strings. */
  #known = 0;
  /** Of what varies in a row, whether it is a number. */
  readonly #numeric: boolean[] = [];
  /** All bytes decoded, if some number needs it: once costs less than number by number. */
  #text: string | undefined;
  /** For the first row, where the bytes before each value that varies and after the last begin and end, in turn. */
  readonly #around: number[] = [];
  readonly #start: number;
  readonly #first: number;
  /** The position after the first row. */
  #second = -1;

  constructor(bytes: Buffer, start: number, strings: KnownStrings | undefined) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#start = start;
    this.#first = skipSpace(bytes, start + 1);
    this.#strings = strings;
  }

  run(maxRows: number): boolean {
    const bytes = this.#bytes;
    let at = this.#firstRow(this.#first);
    this.#second = at;
    for (let rows = 1; at >= 0 && rows <= maxRows; rows += 1) {
      const next = skipSpace(bytes, at);
      if (bytes[next] === CLOSE_BRACKET) {
        this.end = next + 1;
        this.values = numbers.slice(0, this.#numbers);
        this.#places = places.slice(0, this.#numbers * 2);
        return true;
      }
      if (bytes[next] !== COMMA) return false;
      at = this.#nextRow(skipSpace(bytes, next + 1));
    }
    return false;
  }

  /** What `JSON.parse` makes of all rows. */
  objects(): Readonly<Record<string, unknown>>[] {
    if (this.#strings !== undefined) {
      return JSON.parse(this.#bytes.toString('utf8', this.#start, this.end)) as Record<
        string,
        unknown
      >[];
    }
    const width = this.keys.length;
    return Array.from({ length: this.values.length / width }, (_, row) => this.#object(row));
  }

  /**
   * The scores of all rows as they are written in a column, if they have a fraction or an exponent and no more digits than a
   * double has; otherwise an empty text. `undefined` if so much is between them that it takes longer to cut them out.
   */
  textsOf(column: number, rows: readonly Scored[]): readonly string[] | undefined {
    const start = this.#start;
    if (this.end - start > rows.length * MAX_BETWEEN) return undefined;
    const text = textOf(this.#bytes, start, this.end);
    const texts = new Array<string>(rows.length);
    for (let row = 0, at = column; row < rows.length; row += 1, at += this.keys.length) {
      const from = (this.#places[at * 2] ?? 0) - start;
      const to = (this.#places[at * 2 + 1] ?? 0) - start;
      const value = this.values[at];
      const isUsual =
        value === rows[row]?.score && !Number.isInteger(value) && to - from <= MAX_WRITTEN;
      texts[row] = isUsual ? text.slice(from, to) : '';
    }
    return texts;
  }

  first(): Readonly<Record<string, unknown>> {
    if (this.#strings === undefined) return this.#object(0);
    return JSON.parse(this.#bytes.toString('utf8', this.#first, this.#second)) as Record<
      string,
      unknown
    >;
  }

  #object(row: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const member of this.members) {
      object[member.key] =
        'column' in member ? this.values[row * this.keys.length + member.column] : member.constant;
    }
    return object;
  }

  /** Reads the keys and the first values; returns the position after the row, or -1. */
  #firstRow(start: number): number {
    const bytes = this.#bytes;
    const names = new Set<string>();
    let literal = start;
    if (bytes[literal] !== OPEN_BRACE) return -1;
    let at = skipSpace(bytes, literal + 1);
    for (;;) {
      const keyEnd = endOfKey(bytes, at);
      if (keyEnd < 0) return -1;
      const key = bytes.toString('utf8', at + 1, keyEnd - 1);
      if (key === NO_MEMBER || names.has(key) || this.#numeric.length === MAX_COLUMNS) return -1;
      names.add(key);
      const value = valueBehind(bytes, keyEnd);
      if (value < 0) return -1;
      const constantEnd = this.#strings === undefined ? endOfConstant(bytes, value) : -1;
      if (constantEnd < 0) {
        this.#around.push(literal, value);
        literal = this.#firstValue(key, value);
        if (literal < 0) return -1;
        at = skipSpace(bytes, literal);
      } else {
        // A part that all rows repeat.
        const constant = JSON.parse(textOf(bytes, value, constantEnd)) as string | boolean | null;
        this.members.push({ key, constant });
        at = skipSpace(bytes, constantEnd);
      }
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) return -1;
      at = skipSpace(bytes, at + 1);
    }
    this.#around.push(literal, at + 1);
    return this.keys.length === 0 ? -1 : at + 1;
  }

  /** Reads a value of the first row that varies; returns the position after it, or -1. */
  #firstValue(key: string, start: number): number {
    const byte = this.#bytes[start] ?? 0;
    const isNumber = byte === MINUS || (byte >= ZERO && byte <= NINE);
    this.#numeric.push(isNumber);
    if (isNumber) {
      const column = this.keys.length;
      this.keys.push(key);
      this.members.push({ key, column });
      return this.#number(start);
    }
    this.spellsNumber = byte === QUOTE && spellsNumber(this.#bytes, start + 1);
    if (this.#strings === undefined || this.spellsNumber) return -1;
    return this.#skip(start, this.#strings);
  }

  #nextRow(start: number): number {
    const around = this.#around;
    const numeric = this.#numeric;
    const width = numeric.length;
    const strings = this.#strings;
    let at = start;
    for (let column = 0; column <= width; column += 1) {
      const from = around[column * 2] ?? 0;
      const to = around[column * 2 + 1] ?? 0;
      if (!this.#repeats(at, from, to)) return -1;
      at += to - from;
      if (column === width) break;
      if (strings === undefined || numeric[column] === true) {
        at = this.#number(at);
      } else {
        at = this.#skip(at, strings);
      }
      if (at < 0) return -1;
    }
    return at;
  }

  /** The position after the value at `start`, in text that is known to be JSON; -1 if there is none. */
  #skip(start: number, strings: KnownStrings): number {
    const bytes = this.#bytes;
    let depth = 0;
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        at = this.#skipString(at, strings);
        if (depth === 0) return at;
        at -= 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth += 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (depth === 0) return at === start ? -1 : at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (depth === 0 && (byte === COMMA || byte <= SPACE)) {
        return at === start ? -1 : at;
      }
    }
    return -1;
  }

  /** The position after the closing quote of the string that opens at `start`. */
  #skipString(start: number, { places, stride }: KnownStrings): number {
    const bytes = this.#bytes;
    let known = this.#known;
    while (known < places.length && (places[known] ?? 0) < start) known += stride;
    this.#known = known;
    if (places[known] === start) return places[known + 1] ?? 0;
    for (let at = start + 1; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at += 1;
    }
    return bytes.length;
  }

  /** Whether the bytes at `at` equal those from `from` to `to`: four at a time, since this is most of each row. */
  #repeats(at: number, from: number, to: number): boolean {
    const view = this.#view;
    const shift = at - from;
    const last = to - 4;
    // Asking the view for its length costs more than all comparisons.
    if (to + shift > this.#bytes.length) return false;
    if (last < from) return isEqual(this.#bytes, at, this.#bytes, from, to);
    for (let index = from; index < last; index += 4) {
      if (view.getInt32(index, true) !== view.getInt32(index + shift, true)) return false;
    }
    return view.getInt32(last, true) === view.getInt32(last + shift, true);
  }

  /** Reads a number of JSON's grammar exactly as `JSON.parse` would; returns the position after it, or -1. */
  #number(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    let byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return -1;
    let head = byte - ZERO;
    let tail = 0;
    let tailDigits = 0;
    at += 1;
    let point = -1;
    for (; ; at += 1) {
      byte = bytes[at] ?? 0;
      if (byte === POINT && point < 0) {
        point = at;
        continue;
      }
      // Nothing but a fraction may follow a zero.
      const goesOn = byte >= ZERO && byte <= NINE && (point >= 0 || head !== 0);
      if (!goesOn) break;
      if (head < MAX_HEAD) head = head * 10 + (byte - ZERO);
      else {
        tail = tail * 10 + (byte - ZERO);
        tailDigits += 1;
      }
    }
    let scale = point < 0 ? 0 : at - point - 1;
    if (point >= 0 && scale === 0) return -1;
    if (byte === LOWER_E || byte === UPPER_E) {
      at += 1;
      byte = bytes[at] ?? 0;
      const down = byte === MINUS;
      if (down || byte === PLUS) {
        at += 1;
        byte = bytes[at] ?? 0;
      }
      const first = at;
      let exponent = 0;
      while (byte >= ZERO && byte <= NINE) {
        exponent = exponent * 10 + (byte - ZERO);
        at += 1;
        byte = bytes[at] ?? 0;
      }
      if (at === first) return -1;
      scale += down ? exponent : -exponent;
    }
    let number = tailDigits === 0 ? head : head * (POWERS[tailDigits] ?? Infinity) + tail;
    if (number > MAX_EXACT && tailDigits <= MAX_TAIL_DIGITS && scale >= 0 && scale <= 22) {
      const value = nearest(head, tail, tailDigits, scale);
      if (!Number.isNaN(value)) {
        this.#keep(negative ? -value : value, start, at);
        return at;
      }
    }
    if (number > MAX_EXACT || scale > 22 || scale < -22) {
      this.#text ??= textOf(bytes, 0, bytes.length);
      this.#keep(Number(this.#text.slice(start, at)), start, at);
      return at;
    }
    // Rounds at most once, since both sides of the division are exact.
    if (scale > 0) number /= POWERS[scale] ?? 1;
    else if (scale < 0) number *= POWERS[-scale] ?? 1;
    this.#keep(negative ? -number : number, start, at);
    return at;
  }

  #keep(number: number, start: number, end: number): void {
    const at = this.#numbers;
    this.#numbers = at + 1;
    if (at < numbers.length) {
      numbers[at] = number;
      places[at * 2] = start;
      places[at * 2 + 1] = end;
    } else {
      numbers.push(number);
      places.push(start, end);
    }
  }
}

/** For bytes that are ASCII. */
function textOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end);
}

/** Whether the bytes at `at` equal those of `other` from `start` to `end`. */
function isEqual(bytes: Buffer, at: number, other: Buffer, start: number, end: number): boolean {
  const shift = at - start;
  for (let index = start; index < end; index += 1) {
    if (bytes[index + shift] !== other[index]) return false;
  }
  return true;
}

/**
 * The numbers of the rows that are being read; what follows them is left from earlier ones. An array that grows is copied each
 * time. The engine stores one as doubles that has had one from its beginning.
 */
const numbers = [0.5];
/** Where they start and end. */
const places = [0, 0];
