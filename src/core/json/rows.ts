import { skipSpace, skipValue } from './scan.js';

/**
 * Reads JSON that consists mostly of one list of number objects of the same form, as rankings do:
 * `[{"index":3,"score":0.9},…]`, on its own or as a member of an object. Members with other values are allowed if they are
 * equal in all rows: `"object":"rank_result"`, `"document":null`. The rows are read directly from the bytes, at a fraction
 * of the cost of building objects; the rest is parsed as usual. For anything unusual (differing strings, rows of several
 * forms, escaped keys) the answer is `undefined` and `JSON.parse` decides, so that both ways accept and mean the same.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
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

/**
 * How rows may be written: the bytes around the numbers of each row, and which numbers are integers. Rows are separated by a
 * comma.
 */
export interface RowForm {
  /** Before the first number, between two, after the last. */
  readonly around: readonly Buffer[];
  /** For each number, whether it must or must not be written as digits alone: typed clients tell the two apart. */
  readonly whole: readonly boolean[];
}

/** A member of each row: the column with its number, or the value that it has in all rows. */
type Member =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly constant: string | boolean | null };

/** A list of objects of numbers. */
export class NumberRows {
  /** Number of columns. */
  readonly keys: readonly string[];
  readonly count: number;
  /** Row by row, in the order of the keys. */
  readonly values: readonly number[];
  readonly #scan: RowScan;
  #objects: readonly Readonly<Record<string, unknown>>[] | undefined;

  constructor(scan: RowScan) {
    this.keys = scan.keys;
    this.values = scan.values;
    this.count = scan.values.length / scan.keys.length;
    this.#scan = scan;
  }

  /** What `JSON.parse` would have made of them; built once. */
  objects(): readonly Readonly<Record<string, unknown>>[] {
    this.#objects ??= Array.from({ length: this.count }, (_, row) => this.#object(row));
    return this.#objects;
  }

  #object(row: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const member of this.#scan.members) {
      object[member.key] =
        'column' in member ? this.values[row * this.keys.length + member.column] : member.constant;
    }
    return object;
  }

  /** The bytes of the rows, without brackets, if they are written in this form. */
  writtenAs(form: RowForm): Buffer | undefined {
    return this.#scan.writtenAs(form);
  }
}

/** A parsed JSON text and the list in it (or a note that the text itself is the list). */
export interface ParsedRows {
  readonly value: unknown;
  readonly rows: NumberRows;
}

/**
 * Parses an ASCII JSON text whose list of at most `maxRows` rows becomes `NumberRows`; `undefined` if it has no such list,
 * is not JSON, or has too much around the rows.
 */
export function parseAroundRows(bytes: Buffer, maxRows: number): ParsedRows | undefined {
  const start = skipSpace(bytes, 0);
  if (bytes[start] === OPEN_BRACKET) {
    const scan = scanRows(bytes, start, maxRows);
    if (scan === undefined || skipSpace(bytes, scan.end) !== bytes.length) return undefined;
    const rows = new NumberRows(scan);
    return { value: rows, rows };
  }
  if (bytes[start] !== OPEN_BRACE) return undefined;
  let at = skipSpace(bytes, start + 1);
  for (;;) {
    const keyEnd = endOfKey(bytes, at);
    if (keyEnd < 0) return undefined;
    const value = valueBehind(bytes, keyEnd);
    if (value < 0) return undefined;
    if (bytes[value] === OPEN_BRACKET) {
      const scan = scanRows(bytes, value, maxRows);
      return scan && withMember(bytes, textOf(bytes, at + 1, keyEnd - 1), value, scan);
    }
    at = skipValue(bytes, value);
    if (at < 0) return undefined;
    at = skipSpace(bytes, at);
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
}

/** What surrounds the rows is parsed here if it is no larger than this. */
const MAX_AROUND_BYTES = 65_536;
/** Stands for the rows while the rest is parsed, so that a second member of that name is noticed; nobody can guess it. */
const PLACEHOLDER = `(${crypto.randomUUID()})`;
const PLACEHOLDER_JSON = JSON.stringify(PLACEHOLDER);
/** Assigning to `__proto__` would not create a member. */
const NO_MEMBER = '__proto__';

function withMember(
  bytes: Buffer,
  name: string,
  start: number,
  scan: RowScan,
): ParsedRows | undefined {
  if (bytes.length - (scan.end - start) > MAX_AROUND_BYTES) return undefined;
  const others = textOf(bytes, 0, start) + PLACEHOLDER_JSON + textOf(bytes, scan.end, bytes.length);
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(others) as Record<string, unknown>;
  } catch {
    // Not an error yet: `JSON.parse` reads the same bytes next.
    return undefined;
  }
  if (name === NO_MEMBER || value[name] !== PLACEHOLDER) return undefined;
  const rows = new NumberRows(scan);
  value[name] = rows;
  return { value, rows };
}

/** The position after the closing quote of a key without escapes; -1 if there is no such key. */
function endOfKey(bytes: Buffer, start: number): number {
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

function valueBehind(bytes: Buffer, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

function scanRows(bytes: Buffer, start: number, maxRows: number): RowScan | undefined {
  const scan = new RowScan(bytes, start);
  return scan.run(maxRows) ? scan : undefined;
}

/** Powers of ten that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Up to here a double holds every integer, and so any sequence of digits. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** No engine writes a longer number than `-1.2345678901234567e-308`. */
const MAX_WRITTEN = 24;
/** A row with more members is not a ranking; each member has a bit. */
const MAX_COLUMNS = 16;

/** Reads rows from their bytes. The first row sets the form; the others must have the same bytes around their numbers. */
class RowScan {
  readonly keys: string[] = [];
  readonly members: Member[] = [];
  /** Once all have been read. */
  values: readonly number[] = [];
  #numbers = 0;
  /** The position after the closing bracket. */
  end = -1;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** All bytes decoded, if some number needs it: once costs less than number by number. */
  #text: string | undefined;
  /** For the first row, where the bytes before each number and after the last begin and end, in turn. */
  readonly #around: number[] = [];
  readonly #first: number;
  #last = -1;
  /** A bit for each column: whether it had numbers of digits alone, and numbers with a fraction or an exponent. */
  #wholeSeen = 0;
  #fractionSeen = 0;
  /** Whether a number occurred that this code would not write: minus zero, or one without an end. */
  #strange = false;
  /** Whether rows are separated by a comma and nothing else. */
  #tight = true;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#first = skipSpace(bytes, start + 1);
  }

  run(maxRows: number): boolean {
    const bytes = this.#bytes;
    let at = this.#firstRow(this.#first);
    for (let rows = 1; at >= 0 && rows <= maxRows; rows += 1) {
      const next = skipSpace(bytes, at);
      if (bytes[next] === CLOSE_BRACKET) {
        this.#last = at;
        this.end = next + 1;
        this.values = numbers.slice(0, this.#numbers);
        return true;
      }
      if (bytes[next] !== COMMA) return false;
      const row = bytes[next + 1] === OPEN_BRACE ? next + 1 : skipSpace(bytes, next + 1);
      if (row !== at + 1) this.#tight = false;
      at = this.#nextRow(row);
    }
    return false;
  }

  writtenAs({ around, whole }: RowForm): Buffer | undefined {
    if (!this.#tight || this.#strange) return undefined;
    if (around.length * 2 !== this.#around.length) return undefined;
    for (const [index, literal] of around.entries()) {
      const start = this.#around[index * 2] ?? 0;
      const end = this.#around[index * 2 + 1] ?? 0;
      if (end - start !== literal.length || !isEqual(this.#bytes, start, literal, 0, end - start)) {
        return undefined;
      }
    }
    for (const [column, isWhole] of whole.entries()) {
      const unwanted = isWhole ? this.#fractionSeen : this.#wholeSeen;
      if ((unwanted & (1 << column)) !== 0) return undefined;
    }
    return this.#bytes.subarray(this.#first, this.#last);
  }

  /** Reads the keys and the first numbers; returns the position after the row, or -1. */
  #firstRow(start: number): number {
    const bytes = this.#bytes;
    let literal = start;
    if (bytes[literal] !== OPEN_BRACE) return -1;
    let at = skipSpace(bytes, literal + 1);
    for (;;) {
      const keyEnd = endOfKey(bytes, at);
      if (keyEnd < 0) return -1;
      const key = textOf(bytes, at + 1, keyEnd - 1);
      const column = this.keys.length;
      if (key === NO_MEMBER || column === MAX_COLUMNS) return -1;
      if (this.members.some((member) => member.key === key)) return -1;
      const value = valueBehind(bytes, keyEnd);
      if (value < 0) return -1;
      const constantEnd = endOfConstant(bytes, value);
      if (constantEnd < 0) {
        this.keys.push(key);
        this.members.push({ key, column });
        this.#around.push(literal, value);
        literal = this.#number(value, column);
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

  #nextRow(start: number): number {
    const around = this.#around;
    const width = this.keys.length;
    let at = start;
    for (let column = 0; column <= width; column += 1) {
      const from = around[column * 2] ?? 0;
      const to = around[column * 2 + 1] ?? 0;
      if (!this.#repeats(at, from, to)) return -1;
      at += to - from;
      if (column === width) break;
      at = this.#number(at, column);
      if (at < 0) return -1;
    }
    return at;
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
  #number(start: number, column: number): number {
    const bytes = this.#bytes;
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    let byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return -1;
    let number = byte - ZERO;
    at += 1;
    byte = bytes[at] ?? 0;
    if (number !== 0) {
      while (byte >= ZERO && byte <= NINE) {
        number = number * 10 + (byte - ZERO);
        at += 1;
        byte = bytes[at] ?? 0;
      }
    }
    let scale = 0;
    let whole = true;
    if (byte === POINT) {
      whole = false;
      const point = at;
      at += 1;
      byte = bytes[at] ?? 0;
      while (byte >= ZERO && byte <= NINE) {
        number = number * 10 + (byte - ZERO);
        at += 1;
        byte = bytes[at] ?? 0;
      }
      scale = at - point - 1;
      if (scale === 0) return -1;
    }
    if (byte === LOWER_E || byte === UPPER_E) {
      whole = false;
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
    if (whole) this.#wholeSeen |= 1 << column;
    else this.#fractionSeen |= 1 << column;
    if ((negative && number === 0) || at - start > MAX_WRITTEN) this.#strange = true;
    if (number > MAX_EXACT || scale > 22 || scale < -22) {
      this.#text ??= textOf(bytes, 0, bytes.length);
      this.#keep(Number(this.#text.slice(start, at)));
      return at;
    }
    // Rounds at most once, since both sides of the division are exact.
    if (scale > 0) number /= POWERS[scale] ?? 1;
    else if (scale < 0) number *= POWERS[-scale] ?? 1;
    this.#keep(negative ? -number : number);
    return at;
  }

  #keep(number: number): void {
    const at = this.#numbers;
    this.#numbers = at + 1;
    if (at < numbers.length) numbers[at] = number;
    else numbers.push(number);
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
