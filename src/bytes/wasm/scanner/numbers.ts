/** Numbers and words. */
import { areDigits, behindEnd, below, bitsOf, isByte, isLower } from './lanes';
import { AFTER_VALUE, ELEMENT, FAILED, state, values } from './state';

/** Returns the position after the digits at `from`. */
function walkDigits(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const others = ~i8x16.bitmask(areDigits(v128.load(at))) & 0xffff;
    if (others != 0) return min(at + ctz(others), end);
    at += 16;
  }
  return end;
}

/** Returns the position after a number, or `start` if the window ends with it, because more of it may follow. */
export function walkNumber(start: i32, end: i32): i32 {
  let at = start;
  if (load<u8>(at) == 0x2d) at += 1;
  if (at < end && load<u8>(at) == 0x30) {
    at += 1;
  } else {
    const digits = at;
    at = walkDigits(at, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  if (at < end && load<u8>(at) == 0x2e) {
    const digits = at + 1;
    at = walkDigits(digits, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    at += 1;
    if (at < end && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at += 1;
    const digits = at;
    at = walkDigits(digits, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  return at < end ? at : start;
}

/**
 * Walks over numbers of an array that follow one another, sixty-four bytes at a time, whose grammar is judged for all of them at once.
 * Returns the position after the last comma between them, or after the last number if that ends the array.
 */
export function walkNumbers(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const digits = bitsOf(areDigits(a), areDigits(b), areDigits(c), areDigits(d));
    const zeros = bitsOf(isByte(a, 0x30), isByte(b, 0x30), isByte(c, 0x30), isByte(d, 0x30));
    const commas = bitsOf(isByte(a, 0x2c), isByte(b, 0x2c), isByte(c, 0x2c), isByte(d, 0x2c));
    const spaces = bitsOf(isByte(a, 0x20), isByte(b, 0x20), isByte(c, 0x20), isByte(d, 0x20));
    const begins = ((commas | spaces) << 1) | 1;
    const others = ~(digits | commas | spaces);
    const dots =
      others & bitsOf(isByte(a, 0x2e), isByte(b, 0x2e), isByte(c, 0x2e), isByte(d, 0x2e));
    const minuses =
      others & bitsOf(isByte(a, 0x2d), isByte(b, 0x2d), isByte(c, 0x2d), isByte(d, 0x2d));
    const es =
      others & bitsOf(isLower(a, 0x65), isLower(b, 0x65), isLower(c, 0x65), isLower(d, 0x65));
    const pluses =
      es == 0 ? 0 : bitsOf(isByte(a, 0x2b), isByte(b, 0x2b), isByte(c, 0x2b), isByte(d, 0x2b));
    const signs = (minuses | pluses) & (es << 1);
    const negative = minuses & begins;
    // A digit is due before a comma, a dot and an e, a comma before white space, and signs have places of their own: so nothing
    // but digits is left to follow a sign or a dot.
    let stops = behindEnd(at, end) | ((commas | dots | es) & ~(digits << 1));
    stops |= (spaces & ~begins) | (others & ~(dots | es | signs | negative));
    // No digit follows a zero at the beginning, no dot or e follows digits that are behind one of them already.
    stops |= ((zeros & (begins | (negative << 1))) << 1) & digits;
    const fractions = (dots << 1) & digits;
    const exponents = ((es | signs) << 1) & digits;
    stops |= (fractions + digits) & ~digits & dots;
    stops |= (exponents + digits) & ~digits & (dots | es);
    const first = ctz(stops);
    const done = commas & below(first);
    values += popcnt(done) as i32;
    const stop = at + (first as i32);
    if (stop < end && load<u8>(stop) == 0x5d && (((digits << 1) >>> first) & 1) == 1) {
      state = AFTER_VALUE;
      return stop;
    }
    if (done == 0) return at;
    state = ELEMENT;
    at += 64 - (clz(done) as i32);
    if (first < 64) return at;
  }
  return at;
}

/** Returns the position after `true`, `false` or `null`, or `at` if the window's end cuts the word. */
export function walkWord(byte: u8, at: i32, end: i32): i32 {
  const length: i32 = byte == 0x66 ? 5 : 4;
  if (at + length > end) return at;
  const word = load<u32>(at);
  if (byte == 0x74 && word == 0x65757274) return at + 4;
  if (byte == 0x6e && word == 0x6c6c756e) return at + 4;
  if (byte == 0x66 && word == 0x736c6166 && load<u8>(at, 4) == 0x65) return at + 5;
  return FAILED;
}
