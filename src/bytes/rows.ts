import { rowReader, type FlatRows, type Scored } from './row-reader.js';
import { skipSpace, skipValue } from './scan.js';

/**
 * Reads JSON that consists mostly of one list of objects of the same form with numbers in them, as rankings do:
 * `[{"index":3,"score":0.9},…]`, on its own or as a member of an object or two. Numbers are read directly from the bytes, at a
 * fraction of the cost of building objects; the rest is parsed as usual. For anything unusual (rows of several forms, members that
 * differ and are no numbers, escaped keys) the answer is `undefined` and `JSON.parse` decides, so that both ways accept and mean the same.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A list of objects with numbers. */
export class NumberRows {
  /** Number of columns. */
  readonly keys: readonly string[];
  readonly count: number;
  /** Row by row, in the order of the keys. */
  readonly values: readonly number[];
  readonly #scan: FlatRows;
  #ranked: Ranked | undefined;
  #objects: readonly Readonly<Record<string, unknown>>[] | undefined;

  constructor(scan: FlatRows) {
    this.keys = scan.keys;
    this.values = scan.values;
    this.count = scan.values.length / scan.keys.length;
    this.#scan = scan;
  }

  /** What `JSON.parse` would have made of them; built once. */
  objects(): readonly Readonly<Record<string, unknown>>[] {
    this.#objects ??= this.#scan.objects();
    return this.#objects;
  }

  /** The first of them. */
  first(): Readonly<Record<string, unknown>> {
    return this.#objects?.[0] ?? this.#scan.first();
  }

  /**
   * The scores of all rows as they are written, from the column that has them; an empty text for one that is not written as we
   * would. `undefined` if no column is known to have them.
   */
  textsOf(rows: readonly Scored[]): readonly string[] | undefined {
    if (rows.length !== this.count) return undefined;
    const width = this.keys.length;
    const sample = rows.findIndex(({ score = 0 }) => !Number.isInteger(score));
    if (sample < 0) return undefined;
    const column = this.keys.findIndex(
      (_key, at) => this.values[sample * width + at] === rows[sample]?.score,
    );
    return column < 0 ? undefined : this.#scan.textsOf(column, rows);
  }

  /** Rows with the numbers of two columns, if there are such. */
  ranked(indexKey: string, scoreKey: string): RankedNumbers[] | undefined {
    const { keys, count, values } = this;
    const indexAt = keys.indexOf(indexKey);
    const scoreAt = keys.indexOf(scoreKey);
    if (indexAt < 0 || scoreAt < 0) return undefined;
    const rows = new Array<RankedNumbers>(count);
    for (let row = 0, start = 0; row < count; row += 1, start += keys.length) {
      rows[row] = { index: values[start + indexAt] ?? 0, score: values[start + scoreAt] ?? 0 };
    }
    this.#ranked = { rows, indexAt, scoreAt };
    return rows;
  }

  /**
   * The bytes of a ranking as the contract writes it, without brackets, if it is what `ranked` made last and its numbers are
   * written as we would.
   */
  written(ranking: readonly unknown[]): Buffer | undefined {
    const ranked = this.#ranked;
    if (ranked?.rows !== ranking) return undefined;
    return this.#scan.written(ranked.indexAt, ranked.scoreAt);
  }
}

interface RankedNumbers {
  readonly index: number;
  readonly score: number;
}

/** Rows, and the columns of their numbers. */
interface Ranked {
  readonly rows: readonly RankedNumbers[];
  readonly indexAt: number;
  readonly scoreAt: number;
}

/** A parsed JSON text and the list in it (or a note that the text itself is the list). */
export interface ParsedRows {
  readonly value: unknown;
  readonly rows: NumberRows;
}

/**
 * Parses a JSON text whose list of at most `maxRows` rows becomes `NumberRows`; `undefined` if it has no such list, is not
 * JSON, or has too much around the rows.
 */
export function parseAroundRows(bytes: Buffer, maxRows: number): ParsedRows | undefined {
  return new Search(bytes, maxRows).run();
}

/** The text around the rows is parsed here if it is not larger than this. */
const MAX_AROUND_BYTES = 65_536;
/** In how many objects the list may be. */
const MAX_OUTER = 3;
/** Takes the place of the rows while the rest is parsed, to notice a second member of that name; it cannot be guessed. */
const PLACEHOLDER = `(${crypto.randomUUID()})`;
const PLACEHOLDER_JSON = JSON.stringify(PLACEHOLDER);
/** Assigning to `__proto__` would not create a member. */
const NO_MEMBER = '__proto__';

/** Looks for the rows in a text: the first list of objects that has a number in the first of them. */
class Search {
  readonly #bytes: Buffer;
  /** If the rows begin after it, there is too much around them. */
  readonly #head: Buffer;
  readonly #maxRows: number;
  #found: FlatRows | undefined;
  #foundAt = 0;
  /** The members that lead to the list, the innermost first. */
  readonly #path: string[] = [];

  constructor(bytes: Buffer, maxRows: number) {
    this.#bytes = bytes;
    this.#head = bytes.length > MAX_AROUND_BYTES ? bytes.subarray(0, MAX_AROUND_BYTES) : bytes;
    this.#maxRows = maxRows;
  }

  run(): ParsedRows | undefined {
    const bytes = this.#bytes;
    const start = skipSpace(bytes, 0);
    if (bytes[start] === OPEN_BRACKET) {
      this.#list(start);
      const scan = this.#found;
      if (scan === undefined || skipSpace(bytes, scan.end) !== bytes.length) return undefined;
      const rows = new NumberRows(scan);
      return { value: rows, rows };
    }
    if (bytes[start] !== OPEN_BRACE) return undefined;
    this.#object(start, 1);
    return this.#found && this.#withMember(this.#found);
  }

  /** Searches the object at `start`; returns the position after it, or -1 if the search is over. */
  #object(start: number, depth: number): number {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, start + 1);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      const keyEnd = endOfKey(bytes, at);
      if (keyEnd < 0) return -1;
      const value = valueBehind(bytes, keyEnd);
      if (value < 0) return -1;
      const first = bytes[value];
      const end =
        first === OPEN_BRACKET
          ? this.#list(value)
          : first === OPEN_BRACE && depth < MAX_OUTER
            ? this.#object(value, depth + 1)
            : skipValue(this.#head, value);
      if (this.#found !== undefined) this.#path.push(bytes.toString('utf8', at + 1, keyEnd - 1));
      if (end < 0) return -1;
      at = skipSpace(bytes, end);
      if (bytes[at] === CLOSE_BRACE) return at + 1;
      if (bytes[at] !== COMMA) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  /** Reads the list at `start` if it is one of rows. Returns the position after it if the search goes on, else -1. */
  #list(start: number): number {
    const bytes = this.#bytes;
    const first = bytes[skipSpace(bytes, start + 1)] ?? 0;
    if (first === OPEN_BRACE) {
      const reader = rowReader();
      this.#found = reader.read(bytes, start, this.#maxRows);
      this.#foundAt = start;
      // Rows of another kind: whoever parses them has no use for a search behind them.
      if (!reader.lacksNumbers) return -1;
    }
    const hasNumbers = first === MINUS || (first >= ZERO && first <= NINE);
    return hasNumbers ? -1 : skipValue(this.#head, start);
  }

  #withMember(scan: FlatRows): ParsedRows | undefined {
    const bytes = this.#bytes;
    if (bytes.length - (scan.end - this.#foundAt) > MAX_AROUND_BYTES) return undefined;
    const before = bytes.toString('utf8', 0, this.#foundAt);
    const others = before + PLACEHOLDER_JSON + bytes.toString('utf8', scan.end);
    let value: unknown;
    try {
      value = JSON.parse(others);
    } catch {
      // Not an error yet: `JSON.parse` reads the same bytes next.
      return undefined;
    }
    const [name = NO_MEMBER, ...outer] = this.#path;
    if (name === NO_MEMBER) return undefined;
    const holder = outer.reduceRight(memberOf, value) as Record<string, unknown> | undefined;
    if (holder?.[name] !== PLACEHOLDER) return undefined;
    const rows = new NumberRows(scan);
    holder[name] = rows;
    return { value, rows };
  }
}

/** If a member came twice, what is there now may be another value than the one that was searched. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** The position after the closing quote of a key without escapes; -1 if there is no such key. */
function endOfKey(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
  return -1;
}

function valueBehind(bytes: Buffer, keyEnd: number): number {
  const colon = skipSpace(bytes, keyEnd);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}
