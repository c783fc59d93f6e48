/** Questions to sixteen and sixty-four bytes at once; most answers are a bit for each. */
import { LANES, LETTERS } from './memory';

/** Every second lane: adding to a run of backslashes carries through it, and tells by this whether it is odd. */
export const ODD_LANES: u64 = 0xaaaaaaaaaaaaaaaa;

/** The bits below the `first` one that is set; all of them if none is. */
export function below(first: u64): u64 {
  return first == 64 ? ~(0 as u64) : ((1 as u64) << first) - 1;
}

/** A bit for each of sixty-four bytes that is after the end. */
export function behindEnd(at: i32, end: i32): u64 {
  return end - at < 64 ? ~(0 as u64) << ((end - at) as u64) : 0;
}

/** For each bit, whether the number of bits that are set up to it is odd. */
export function parityOf(bits: u64): u64 {
  let parity = bits ^ (bits << 1);
  parity ^= parity << 2;
  parity ^= parity << 4;
  parity ^= parity << 8;
  parity ^= parity << 16;
  return parity ^ (parity << 32);
}

/** White space that is a control character. */
export function isBreak(bytes: v128): v128 {
  return v128.or(v128.or(isByte(bytes, 0x0a), isByte(bytes, 0x0d)), isByte(bytes, 0x09));
}

/** A bit for each byte of the four that is all ones. */
export function bitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = (i8x16.bitmask(a) | (i8x16.bitmask(b) << 16)) as u32 as u64;
  const high = (i8x16.bitmask(c) | (i8x16.bitmask(d) << 16)) as u32 as u64;
  return low | (high << 32);
}

export function lanes(byte: u8): v128 {
  return v128.load(LANES + 16 * (byte as i32));
}

export function isByte(bytes: v128, byte: u8): v128 {
  return i8x16.eq(bytes, lanes(byte));
}

export function isLower(bytes: v128, letter: u8): v128 {
  return i8x16.eq(v128.or(bytes, lanes(0x20)), lanes(letter));
}

export function upTo(bytes: v128, most: u8): v128 {
  return isUpTo(bytes, lanes(most));
}

export function isUpTo(bytes: v128, most: v128): v128 {
  return i8x16.eq(i8x16.min_u(bytes, most), bytes);
}

/** For digits, hexadecimal ones. */
export function isOctal(bytes: v128): v128 {
  return i8x16.eq(v128.and(bytes, lanes(0x48)), i8x16.splat(0));
}

/** Whether each may be the first digit of a character that does not take three bytes in UTF-8: a zero or a d. */
export function isRare(bytes: v128): v128 {
  return v128.or(isByte(bytes, 0x30), isLower(bytes, 0x64));
}

/** Whether each is the second digit of the second half of a pair, c to f. */
export function isLow(bytes: v128): v128 {
  return upTo(i8x16.sub(v128.or(bytes, lanes(0x20)), lanes(0x63)), 3);
}

export function isHex(bytes: v128): v128 {
  const letter = i8x16.sub(v128.or(bytes, lanes(0x20)), lanes(0x61));
  return v128.or(upTo(i8x16.sub(bytes, lanes(0x30)), 9), upTo(letter, 5));
}

/** Whether each makes an escape with a backslash alone, as all do but quotes and `b`: no two of them end in the same four bits. */
export function isLetter(bytes: v128): v128 {
  return i8x16.eq(i8x16.swizzle(v128.load(LETTERS), v128.and(bytes, lanes(0x0f))), bytes);
}

export function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}

export function areDigits(bytes: v128): v128 {
  return upTo(i8x16.sub(bytes, lanes(0x30)), 9);
}
