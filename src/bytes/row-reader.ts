import { RowsInstance } from './rows-instance.js';

/** A member of each row: the column with its number, or the value that it has in all rows. */
type Member =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly constant: string | boolean | null };

/** A row with a score that has been read. */
export interface Scored {
  readonly score: number | undefined;
}

/** What the rows of a list have in common. */
interface Form {
  /** Of columns. */
  readonly keys: readonly string[];
  readonly members: readonly Member[];
  /** Whether each row is `{"index":…,"relevance_score":…}`, as the contract has it. */
  readonly isContract: boolean;
}

/** Where a list lies, and how it is written. */
interface Extent {
  readonly bytes: Buffer;
  /** Where its bracket is, the first row begins and ends and the last one ends, and the position after the closing bracket. */
  readonly start: number;
  readonly first: number;
  readonly second: number;
  readonly last: number;
  readonly end: number;
  /** Whether it is written just as the contract does. */
  readonly isContract: boolean;
  /** Whether all numbers are such as the gateway writes. */
  readonly isPlain: boolean;
}

/** A list as it was read: objects of numbers, and of values that are the same in all. */
export class FlatRows {
  readonly values: readonly number[];
  readonly extent: Extent;
  readonly #form: Form;

  constructor(form: Form, values: readonly number[], extent: Extent) {
    this.#form = form;
    this.values = values;
    this.extent = extent;
  }

  get keys(): readonly string[] {
    return this.#form.keys;
  }

  /** The position after the closing bracket. */
  get end(): number {
    return this.extent.end;
  }

  objects(): Readonly<Record<string, unknown>>[] {
    const count = this.values.length / this.keys.length;
    return Array.from({ length: count }, (_, row) => this.#object(row, this.#form.members));
  }

  first(): Readonly<Record<string, unknown>> {
    return this.#object(0, this.#form.members);
  }

  #object(row: number, members: readonly Member[]): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const member of members) {
      object[member.key] =
        'column' in member ? this.values[row * this.keys.length + member.column] : member.constant;
    }
    return object;
  }

  textsOf(column: number, rows: readonly Scored[]): readonly string[] | undefined {
    return rowReader().textsOf(this, column, rows);
  }

  /**
   * The rows as the contract writes them, with two of the columns: the bytes that were read if they are just that, else their
   * numbers with our words around them. `undefined` where that cannot be.
   */
  written(index: number, score: number): Buffer | undefined {
    const { bytes, first, last, isContract, isPlain } = this.extent;
    if (!isPlain) return undefined;
    if (isContract && index === 0 && score === 1) return bytes.subarray(first, last);
    return rowReader().write(this, index, score);
  }
}

/** Reads lists in WebAssembly (`src/bytes/wasm/rows`), one at a time. */
class RowReader {
  readonly #instance = new RowsInstance();
  readonly #code = this.#instance.code;
  readonly #memory = Buffer.from(this.#code.memory.buffer);
  readonly #window = this.#instance.window;
  readonly #parts = new Uint32Array(this.#code.memory.buffer, this.#code.PARTS.value);
  readonly #members = new Uint32Array(this.#code.memory.buffer, this.#code.MEMBERS.value);
  readonly #numbers = this.#instance.numbers;
  readonly #places = this.#instance.places;
  /** Whether the list that was read last has no number in its first row. */
  lacksNumbers = false;
  /** Of the list that was read last: nearly always that of the next one, too. */
  #form: Form | undefined;
  /** The last row that was read, if all of it is still there. */
  #inWindow: FlatRows | undefined;
  /** Whether the list that is read has numbers too small for a double: they are written as what is left of them. */
  #hasVanished = false;

  /** The list that begins at `start`; `undefined` if it is unusual. */
  read(bytes: Buffer, start: number, maxRows: number): FlatRows | undefined {
    this.#code.begin(maxRows);
    const code = this.#code;
    this.#inWindow = undefined;
    this.#hasVanished = false;
    this.lacksNumbers = false;
    let count = 0;
    let first = 0;
    let second = 0;
    let base = 0;
    let at = start + 1;
    let end: number;
    for (;;) {
      const isWhole = base === 0 && bytes.length <= this.#window.length;
      if (isWhole) {
        this.#window.set(bytes);
      } else {
        base = at;
        bytes.copy(this.#window, 0, at, Math.min(bytes.length, at + this.#window.length));
      }
      const reached = code.read(at - base, Math.min(bytes.length - base, this.#window.length));
      if (reached < 0 || code.formColumns() === 0) {
        this.lacksNumbers = reached === code.NO_NUMBER.value;
        return undefined;
      }
      end = base + reached;
      if (count === 0) {
        if (code.isOtherForm() !== 0) this.#form = this.#readForm(bytes, base);
        first = base + code.rowsStart();
        second = base + code.firstRowEnd();
      }
      count = this.#keep(count);
      if (code.isOver() !== 0) break;
      // No progress: a row is longer than the window, or cut by the end of the text.
      if (isWhole || end === at) return undefined;
      at = end;
    }
    const form = this.#form;
    if (form === undefined) return undefined;
    const isTight = code.areTight() !== 0 && code.wholeColumns() === 1;
    const rows = new FlatRows(form, kept.slice(0, count), {
      bytes,
      start,
      first,
      second,
      last: base + code.rowsEnd(),
      end,
      isContract: form.isContract && isTight && code.fractionColumns() === 2,
      isPlain: code.areStrange() === 0 && !this.#hasVanished,
    });
    this.#inWindow = base === 0 ? rows : undefined;
    return rows;
  }

  /** The rows as the contract has them; `undefined` if they are not in the window any more. */
  write(rows: FlatRows, index: number, score: number): Buffer | undefined {
    if (this.#inWindow !== rows) return undefined;
    const bytes = this.#code.write(index, score);
    const start = this.#code.WRITTEN.value;
    return bytes === 0 ? undefined : Buffer.from(this.#memory.subarray(start, start + bytes));
  }

  /**
   * The scores of all rows as they are written in a column, if they have a fraction or an exponent and no more digits than a
   * double has; otherwise an empty text. `undefined` if so much is between them that it takes longer to cut them out, or if they
   * are not in the window any more.
   */
  textsOf(list: FlatRows, column: number, rows: readonly Scored[]): readonly string[] | undefined {
    const { bytes, first, end } = list.extent;
    if (this.#inWindow !== list || end - first > rows.length * MAX_BETWEEN) return undefined;
    const text = bytes.toString('latin1', first, end);
    const texts = new Array<string>(rows.length);
    for (let row = 0, at = column; row < rows.length; row += 1, at += list.keys.length) {
      const from = this.#places[at * 2] ?? 0;
      const to = this.#places[at * 2 + 1] ?? 0;
      const value = list.values[at];
      const isUsual =
        value === rows[row]?.score && !Number.isInteger(value) && to - from <= MAX_WRITTEN;
      texts[row] = isUsual ? text.slice(from - first, to - first) : '';
    }
    return texts;
  }

  /** What the first row has besides its numbers; `undefined` if that means something else to the plain parser. */
  #readForm(bytes: Buffer, base: number): Form | undefined {
    const code = this.#code;
    const around = Array.from({ length: code.formColumns() + 1 }, (_, part) =>
      this.#memory.toString('latin1', this.#parts[2 * part], this.#parts[2 * part + 1]),
    );
    const keys: string[] = [];
    const names = new Set<string>();
    const members: Member[] = [];
    for (let at = 0; at < code.formMembers() * MEMBER; at += MEMBER) {
      const [keyStart = 0, keyEnd = 0, start = 0, end = 0] = this.#members.subarray(at);
      const key = bytes.toString('utf8', base + keyStart, base + keyEnd);
      if (key === NO_MEMBER || names.has(key)) return undefined;
      names.add(key);
      if (start === COLUMN) {
        members.push({ key, column: keys.length });
        keys.push(key);
      } else {
        const constant = JSON.parse(bytes.toString('latin1', base + start, base + end)) as
          string | boolean | null;
        members.push({ key, constant });
      }
    }
    return { keys, members, isContract: around.join('0') === CONTRACT };
  }

  /** Keeps the numbers that have been read after the first `count`; returns how many that makes. */
  #keep(count: number): number {
    const code = this.#code;
    const read = code.readNumbers();
    const numbers = this.#numbers;
    if (this.#instance.readRest()) this.#hasVanished = true;
    let at = 0;
    for (; at < read && count + at < kept.length; at += 1) kept[count + at] = numbers[at] ?? 0;
    for (; at < read; at += 1) kept.push(numbers[at] ?? 0);
    return count + read;
  }
}

/** No engine writes a longer number than `-1.2345678901234567e-308`. */
const MAX_WRITTEN = 24;
/** How long rows may be whose numbers are cut out: as long as their ranking is kept, all of them are. */
const MAX_BETWEEN = 96;

/** A row as the contract has it, each of its numbers a zero. */
const CONTRACT = '{"index":0,"relevance_score":0}';

/** Numbers of a member in memory. */
const MEMBER = 4;
/** Instead of where its value is: it is a number in each row. */
const COLUMN = 0;

/** Assigning to `__proto__` would not create a member. */
const NO_MEMBER = '__proto__';

/** Numbers of the list that is read, used again by the next: not integers, so that the engine keeps them as they are. */
const kept: number[] = [0.5];

let only: RowReader | undefined;

/** The one there is. */
export function rowReader(): RowReader {
  only ??= new RowReader();
  return only;
}
