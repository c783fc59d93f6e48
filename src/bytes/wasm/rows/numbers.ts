/** Numbers off their bytes, to the bit as the engine reads them, or left to the host. */
import { EXACT, MAX_EXACT_SCALE, NUMBERS, PLACES, PLACE_SIZE, TENS, WINDOW } from './memory';
import { CUT, FAILED, fractionSeen, isStrange, numbers, unread, wholeSeen } from './state';

export function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}
/** More digits may not fit 64 bits. */
const MAX_DIGITS: i32 = 19;
/** No engine writes a longer number than `-1.2345678901234567e-308`. */
const MAX_WRITTEN: i32 = 24;
/** Up to here a double holds every integer. */
const MAX_EXACT: u64 = 9007199254740992;

/**
 * Reads a number of JSON's grammar, to the bit as the engine would; returns the position after it. Nearly all have a few digits,
 * or are below one and have few places: nothing else has to be asked of these.
 */
export function readNumber(start: i32, end: i32, column: i32): i32 {
  const word = load<u64>(start) ^ ZEROS;
  const whole = digitsIn(word);
  if (whole == 1 && load<u16>(start) == 0x2e30) {
    const upper = load<u64>(start, 2) ^ ZEROS;
    const first = digitsIn(upper);
    if (first == 0) return readAnyNumber(start, end, column);
    let places = firstOf(upper, first);
    let scale = first;
    if (first == 8) {
      places = withMore(places, start + 10);
      scale += added;
      if (added == 8) {
        places = withMore(places, start + 18);
        scale += added;
      }
    }
    const behind = start + 2 + scale;
    if (scale < MAX_DIGITS && isBehind(behind, end)) {
      fractionSeen |= 1 << column;
      return keepNumber(quotientOf(places, scale), start, behind);
    }
  } else if (whole > 0 && whole < 8 && (load<u8>(start) != 0x30 || whole == 1)) {
    const behind = start + whole;
    if (isBehind(behind, end)) {
      wholeSeen |= 1 << column;
      return keepNumber(firstOf(word, whole) as f64, start, behind);
    }
  }
  return readAnyNumber(start, end, column);
}

/** A number with so many places after its point; NaN where it has more digits than a double holds, which the host reads. */
function quotientOf(digits: u64, scale: i32): f64 {
  if (digits > MAX_EXACT || scale < 0 || scale > MAX_EXACT_SCALE) return NaN;
  // Rounds once, since both sides are exact.
  return (digits as f64) / load<f64>(EXACT + scale * 8);
}

/** How many digits `withMore` has added. */
let added: i32 = 0;

/** A number with the digits after it, as many as there are among eight bytes. */
function withMore(number: u64, at: i32): u64 {
  const digits = load<u64>(at) ^ ZEROS;
  added = digitsIn(digits);
  if (added == 0) return number;
  return number * (load<u32>(TENS + added * 4) as u64) + firstOf(digits, added);
}

/** Whether a number that has no more digits ends at `at`. */
function isBehind(at: i32, end: i32): bool {
  const byte = load<u8>(at);
  return at < end && byte != 0x2e && (byte | 0x20) != 0x65;
}

/** Keeps a number and where it is; returns the position after it. */
function keepNumber(size: f64, start: i32, behind: i32): i32 {
  if (isNaN(size)) unread += 1;
  store<f64>(NUMBERS + numbers * 8, size);
  const place = PLACES + numbers * PLACE_SIZE;
  store<u16>(place, (start - WINDOW) as u16);
  store<u16>(place, (behind - WINDOW) as u16, 2);
  numbers += 1;
  return behind;
}

function readAnyNumber(start: i32, end: i32, column: i32): i32 {
  const isNegative = load<u8>(start) == 0x2d;
  const first = isNegative ? start + 1 : start;
  if (first >= end) return CUT;
  value = 0;
  let at = first;
  at = readDigits(at);
  // Nothing may follow a leading zero.
  if (at == first || (load<u8>(first) == 0x30 && at > first + 1)) return FAILED;
  let count = at - first;
  let scale: i32 = 0;
  let isWhole = true;
  if (load<u8>(at) == 0x2e) {
    isWhole = false;
    const point = at + 1;
    at = point;
    at = readDigits(at);
    scale = at - point;
    count += scale;
    if (scale == 0) return at >= end ? CUT : FAILED;
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    isWhole = false;
    at += 1;
    const isDown = load<u8>(at) == 0x2d;
    if (isDown || load<u8>(at) == 0x2b) at += 1;
    const digits = at;
    let exponent: i32 = 0;
    while (isDigit(load<u8>(at))) {
      if (exponent < 100000) exponent = exponent * 10 + (load<u8>(at) - 0x30);
      at += 1;
    }
    if (at == digits) return at >= end ? CUT : FAILED;
    scale += isDown ? exponent : -exponent;
  }
  if (at >= end) return CUT;
  if (isWhole) wholeSeen |= 1 << column;
  else fractionSeen |= 1 << column;
  if ((isNegative && value == 0) || at - start > MAX_WRITTEN) isStrange = true;
  const size = count <= MAX_DIGITS ? quotientOf(value, scale) : NaN;
  return keepNumber(isNegative ? -size : size, start, at);
}

/** The digits of the current number so far. */
let value: u64 = 0;

/**
 * Adds the digits at `from` to `value`; returns the position after them. Eight at a time, without a branch for each: how many
 * there are is different each time.
 */
function readDigits(from: i32): i32 {
  let at = from;
  while (true) {
    value = withMore(value, at);
    at += added;
    if (added < 8) return at;
  }
}

/** Eight digits, each a byte from 0 to 9 once these are taken off. */
const ZEROS: u64 = 0x3030303030303030;

/** How many of eight bytes, from the first one on, are digits. */
function digitsIn(digits: u64): i32 {
  const others = (digits | (digits + 0x7676767676767676)) & 0x8080808080808080;
  return (ctz(others) as i32) >> 3;
}

/** The number that the first of eight digits are: at least one. */
function firstOf(digits: u64, count: i32): u64 {
  return numberOf(digits << (64 - 8 * (count as u64)));
}

/** The number that eight digits are. */
function numberOf(digits: u64): u64 {
  const pairs = digits * 10 + (digits >> 8);
  return (
    ((pairs & 0x000000ff000000ff) * 0x000f424000000064 +
      ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
    32
  );
}
