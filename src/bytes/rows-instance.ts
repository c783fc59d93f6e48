import { Compiled, type Constant, type Exports } from './instance.js';
import { ROWS } from './rows-module.js';

interface RowsExports extends Exports {
  readonly NO_NUMBER: Constant;
  readonly PARTS: Constant;
  readonly MEMBERS: Constant;
  readonly NUMBERS: Constant;
  readonly MAX_NUMBERS: Constant;
  readonly PLACES: Constant;
  readonly WINDOW: Constant;
  readonly WINDOW_SIZE: Constant;
  readonly WRITTEN: Constant;
  prepare(): void;
  begin(most: number): void;
  write(index: number, score: number): number;
  read(from: number, to: number): number;
  isOver(): number;
  isOtherForm(): number;
  formColumns(): number;
  formMembers(): number;
  readNumbers(): number;
  unreadNumbers(): number;
  rowsStart(): number;
  firstRowEnd(): number;
  rowsEnd(): number;
  areTight(): number;
  areStrange(): number;
  wholeColumns(): number;
  fractionColumns(): number;
}

const MODULE = new Compiled<RowsExports>(ROWS);

/** `src/bytes/wasm/rows` with its own memory. */
export class RowsInstance {
  readonly code = MODULE.instance();
  /** The text that is read. */
  readonly window: Buffer;
  /** The numbers read from it, and where each of them begins and ends there. */
  readonly numbers: Float64Array;
  readonly places: Uint16Array;

  constructor() {
    const { memory, WINDOW, WINDOW_SIZE, NUMBERS, MAX_NUMBERS, PLACES } = this.code;
    const { buffer } = memory;
    this.window = Buffer.from(buffer, WINDOW.value, WINDOW_SIZE.value);
    this.numbers = new Float64Array(buffer, NUMBERS.value, MAX_NUMBERS.value);
    this.places = new Uint16Array(buffer, PLACES.value, 2 * MAX_NUMBERS.value);
    this.code.prepare();
  }

  /**
   * Reads what is left of the numbers that were read last: those of many digits, and very large or very small ones. Whether one of
   * them was too small for a double.
   */
  readRest(): boolean {
    if (this.code.unreadNumbers() === 0) return false;
    const read = this.code.readNumbers();
    // Decoded at once: asking for each takes longer than reading it.
    const text = this.window.toString('latin1', 0, this.places[2 * read - 1]);
    let hasVanished = false;
    for (let at = 0; at < read; at += 1) {
      if (!Number.isNaN(this.numbers[at])) continue;
      const number = Number(text.slice(this.places[2 * at], this.places[2 * at + 1]));
      if (number === 0) hasVanished = true;
      this.numbers[at] = number;
    }
    return hasVanished;
  }
}
