import { Compiled, type Constant, type Exports } from './instance.js';
import { ROWS } from './rows-module.js';

interface RowsExports extends Exports {
  readonly NO_NUMBER: Constant;
  readonly POWERS: Constant;
  readonly MAX_SCALE: Constant;
  readonly PARTS: Constant;
  readonly MEMBERS: Constant;
  readonly NUMBERS: Constant;
  readonly MAX_NUMBERS: Constant;
  readonly PLACES: Constant;
  readonly WINDOW: Constant;
  readonly WINDOW_SIZE: Constant;
  readonly WRITTEN: Constant;
  prepare(): void;
  begin(most: number, isFree: number, looks: number, mostFree: number): void;
  write(index: number, score: number): number;
  read(from: number, to: number): number;
  readList(from: number, to: number): number;
  plainTextEnd(from: number, to: number): number;
  isOver(): number;
  isOtherForm(): number;
  formColumns(): number;
  formSlots(): number;
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

/** `src/bytes/wasm/rows.ts` with a memory of its own. */
export class RowsInstance {
  readonly code = MODULE.instance();
  /** The text that is read. */
  readonly window: Buffer;
  /** What has been read of it, and where each of them begins and ends there. */
  readonly numbers: Float64Array;
  readonly places: Uint16Array;

  constructor() {
    const { memory, WINDOW, WINDOW_SIZE, NUMBERS, MAX_NUMBERS, PLACES, POWERS, MAX_SCALE } =
      this.code;
    const { buffer } = memory;
    this.window = Buffer.from(buffer, WINDOW.value, WINDOW_SIZE.value);
    this.numbers = new Float64Array(buffer, NUMBERS.value, MAX_NUMBERS.value);
    this.places = new Uint16Array(buffer, PLACES.value, 2 * MAX_NUMBERS.value);
    this.code.prepare();
    const powers = new BigUint64Array(buffer, POWERS.value, 2 * (MAX_SCALE.value + 1));
    for (let scale = 1; scale <= MAX_SCALE.value; scale += 1) {
      const power = inversePower(scale);
      powers[2 * scale] = power >> 64n;
      powers[2 * scale + 1] = BigInt.asUintN(64, power);
    }
  }

  /**
   * Reads what is left of the numbers that were read last, from the text whose window begins at `base`: those of many digits, and
   * very large or very small ones. Whether one of them was too small for a double.
   */
  readRest(bytes: Buffer, base: number): boolean {
    if (this.code.unreadNumbers() === 0) return false;
    const read = this.code.readNumbers();
    let hasVanished = false;
    for (let at = 0; at < read; at += 1) {
      if (!Number.isNaN(this.numbers[at])) continue;
      const [start = 0, end = 0] = [this.places[2 * at], this.places[2 * at + 1]];
      const number = Number(bytes.toString('latin1', base + start, base + end));
      if (number === 0) hasVanished = true;
      this.numbers[at] = number;
    }
    return hasVanished;
  }
}

/** Up to here, an inverse power that is rounded up leaves no doubt about the product's upper half. */
const MAX_ROUNDED = 27;

/** The upper 128 bits of the inverse of five to the power of `scale`. */
function inversePower(scale: number): bigint {
  const power = 5n ** BigInt(scale);
  const inverse = (1n << BigInt(power.toString(2).length + 127)) / power;
  return scale <= MAX_ROUNDED ? inverse + 1n : inverse;
}
