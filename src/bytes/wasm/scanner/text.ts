/** What is inside a long string, sixty-four bytes at a time, and escapes, two by two or one after the other. */
import {
  ODD_LANES,
  bitsOf,
  isByte,
  isHex,
  isLetter,
  isLow,
  isOctal,
  isRare,
  isUpTo,
  lanes,
  upTo,
} from './lanes';
import { ESCAPES, HALVES, HEX, IS_ESCAPE, MAX_HALVES, MAX_LONE, PAIR_OF_HEADS } from './memory';
import { noteHalves } from './notes';
import { FAILED, halves, isText, shift, spared } from './state';

/** The `u` of each of ten escapes of six bytes. */
const UNIT_LANES: u64 = 0x0082082082082082;
/** Where the `u` of an escape that reaches beyond 64 bytes is. */
const LAST_LANES: u64 = 0xf000000000000000;
const LAST_LANE: u64 = 0x8000000000000000;

/**
 * Returns the position of the string's closing quote, of the escape that the end cuts, or the end. Sixty-four bytes are one
 * word of bits of each kind, so that text full of escapes takes hardly longer than other text.
 */
export function walkText(from: i32, end: i32): i32 {
  const slash = lanes(0x5c);
  const quote = lanes(0x22);
  const lastControl = lanes(0x1f);
  let at = from;
  while (at + 64 <= end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const slashes = bitsOf(
      i8x16.eq(a, slash),
      i8x16.eq(b, slash),
      i8x16.eq(c, slash),
      i8x16.eq(d, slash),
    );
    const quotes = bitsOf(
      i8x16.eq(a, quote),
      i8x16.eq(b, quote),
      i8x16.eq(c, quote),
      i8x16.eq(d, quote),
    );
    const controls = bitsOf(
      isUpTo(a, lastControl),
      isUpTo(b, lastControl),
      isUpTo(c, lastControl),
      isUpTo(d, lastControl),
    );
    if (slashes == 0) {
      const stops = quotes | controls;
      if (stops != 0) return stopAt(at + (ctz(stops) as i32));
      at += 64;
      continue;
    }
    // Where each escape begins, and the character after each: in a run of backslashes, every second one is escaped.
    const codes = (((slashes << 1) | ODD_LANES) - slashes) ^ ODD_LANES;
    const escapes = codes & slashes;
    const escaped = codes ^ slashes;
    const stops = (quotes & ~escaped) | controls;
    const others = escaped & ~(quotes | bitsOf(isLetter(a), isLetter(b), isLetter(c), isLetter(d)));
    if (others == 0) {
      if (stops != 0) {
        spared += popcnt(escapes & (stops - 1) & ~stops) as i32;
        return stopAt(at + (ctz(stops) as i32));
      }
      spared += popcnt(escapes << 1) as i32;
      // What the last backslash escapes is in the next bytes, which begin with it.
      at += 64 - ((escapes >>> 63) as i32);
      continue;
    }
    if ((others & UNIT_LANES) == UNIT_LANES) {
      const next = walkUnits(at, end);
      if (next > at) {
        at = next;
        continue;
      }
    }
    const units =
      others & bitsOf(isByte(a, 0x75), isByte(b, 0x75), isByte(c, 0x75), isByte(d, 0x75));
    // The first escape that reaches beyond these bytes begins the next.
    const cut = ((units & LAST_LANES) >>> 1) | (escapes & LAST_LANE);
    let size: u64 = cut == 0 ? 64 : ctz(cut);
    let within: u64 = cut == 0 ? ~(0 as u64) : ((1 as u64) << size) - 1;
    let lone: u64 = 0;
    // First digits of halves of pairs, and of characters of at most two bytes, and of one.
    let paired: u64 = 0;
    let two: u64 = 0;
    let one: u64 = 0;
    let heads = units & within;
    const rares = bitsOf(isRare(a), isRare(b), isRare(c), isRare(d));
    const rare = (heads << 1) & rares;
    if (rare != 0) {
      const octals = bitsOf(isOctal(a), isOctal(b), isOctal(c), isOctal(d));
      // The digits of a half begin with a d.
      const ds = rare & ~octals;
      two = rare & octals & (octals >>> 1);
      one = two & (rares >>> 1) & (octals >>> 2);
      if (ds != 0) {
        const surrogates = ds & ~(octals >>> 1);
        const lows = surrogates & (bitsOf(isLow(a), isLow(b), isLow(c), isLow(d)) >>> 1);
        const highs = surrogates & ~lows;
        const late = highs & ~(within >>> 6);
        if (late != 0) {
          size = ctz(late) - 2;
          within = ((1 as u64) << size) - 1;
          heads &= within;
        }
        lone = ((highs & ~(lows >>> 6)) | (lows & ~(highs << 6))) & within;
        paired = surrogates & ~lone;
      }
    }
    const digits = (heads << 1) | (heads << 2) | (heads << 3) | (heads << 4);
    const wrong = digits & ~bitsOf(isHex(a), isHex(b), isHex(c), isHex(d));
    // Not for here: what is no escape, and halves of pairs that there is no more room for.
    let odd = (others & ~units & within) | wrong;
    if (lone != 0 && isText && halves + MAX_LONE > MAX_HALVES) odd |= lone;
    const first = ctz(odd | (stops & within));
    const isOdd = first < 64 && ((odd >>> first) & 1) == 1;
    if (first < 64) {
      within = ((1 as u64) << first) - 1;
      size = first;
    }
    if (isOdd) {
      size = 63 - clz(escapes & within);
      within = ((1 as u64) << size) - 1;
    }
    if (lone != 0) noteHalves(lone & within, at);
    heads &= within;
    // Three bytes instead of six; less where the first digit is a zero, and a half of four for each of a pair.
    spared += (popcnt(escapes & within) + 2 * popcnt(heads)) as i32;
    if (rare != 0) spared += (popcnt((two | paired) & within) + popcnt(one & within)) as i32;
    at += size as i32;
    if (isOdd) {
      const next = walkEscapes(at, end);
      if (next == FAILED || (next < end && load<u8>(next) == 0x5c)) return next;
      at = next;
    } else if (first < 64) {
      return stopAt(at);
    }
  }
  return walkLast(at, end);
}

/** The position behind the escapes `\uXXXX` that come two by two from `from` on, no half of a pair among them. */
function walkUnits(from: i32, end: i32): i32 {
  const pair = v128.load(PAIR_OF_HEADS);
  const toLower = lanes(0x20);
  const zero = lanes(0x30);
  const letterA = lanes(0x61);
  const letterD = lanes(0x64);
  const lastDigit = lanes(9);
  const lastLetter = lanes(5);
  let at = from;
  while (at + 12 <= end) {
    const bytes = v128.load(at);
    const heads = i8x16.bitmask(i8x16.eq(bytes, pair)) & 0b000011000011;
    const lower = v128.or(bytes, toLower);
    const digit = i8x16.sub(bytes, zero);
    const letter = i8x16.sub(lower, letterA);
    const hex = v128.or(isUpTo(digit, lastDigit), isUpTo(letter, lastLetter));
    const digits = i8x16.bitmask(hex) & 0b111100111100;
    if ((heads | digits) != 0b111111111111) break;
    const rares = i8x16.bitmask(v128.or(i8x16.eq(bytes, zero), i8x16.eq(lower, letterD)));
    const rare = rares & 0b000100000100;
    if (rare != 0) {
      const octals = i8x16.bitmask(isOctal(bytes));
      // The digits of a half begin with a d.
      if ((rare & ~octals) != 0) break;
      const two = rare & (octals >>> 1);
      spared += popcnt(two) + popcnt(two & (rares >>> 1) & (octals >>> 2));
    }
    at += 12;
  }
  // Six bytes instead of twelve, where no digit is rare.
  spared += (at - from) / 2;
  return at;
}

/** What the escape of six bytes takes beyond the character that it stands for. */
export function sparedBy(unit: i32): i32 {
  return unit < 0x80 ? 5 : unit < 0x800 ? 4 : 3;
}

/** The same for the last few bytes of a window. */
function walkLast(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    at = findSpecial(at, end);
    if (at >= end) return end;
    if (load<u8>(at) != 0x5c) return stopAt(at);
    at = walkEscapes(at, end);
    if (at == FAILED || (at < end && load<u8>(at) == 0x5c)) return at;
  }
  return end;
}

/** The position of a quote; `FAILED` for what may not be in a string. */
function stopAt(at: i32): i32 {
  return load<u8>(at) == 0x22 ? at : FAILED;
}

/** Finds the next quote, backslash or control character; returns `end` or more if there is none. */
export function findSpecial(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const lanes = specialsAt(at);
    if (lanes != 0) return at + ctz(lanes);
    at += 16;
  }
  return at;
}

/** A bit for each of the sixteen bytes that is a quote, a backslash or a control character. */
export function specialsAt(at: i32): i32 {
  const bytes = v128.load(at);
  return i8x16.bitmask(
    v128.or(v128.or(isByte(bytes, 0x22), isByte(bytes, 0x5c)), upTo(bytes, 0x1f)),
  );
}

/** Returns the position after the consecutive escapes at `from`, or that of the escape that the end cuts. */
export function walkEscapes(from: i32, end: i32): i32 {
  let at = from;
  while (at < end && load<u8>(at) == 0x5c) {
    if (at + 2 > end) return at;
    const letter = load<u8>(at, 1);
    if (letter != 0x75) {
      if ((load<u8>(ESCAPES + letter) & IS_ESCAPE) == 0) return FAILED;
      spared += 1;
      at += 2;
      continue;
    }
    const behindUnits = walkUnits(at, end);
    if (behindUnits > at) {
      at = behindUnits;
      continue;
    }
    if (at + 6 > end) return at;
    const unit = hexAt(at + 2);
    if (unit < 0) return FAILED;
    if ((unit & 0xf800) != 0xd800) {
      spared += sparedBy(unit);
      at += 6;
      continue;
    }
    const behind = unit < 0xdc00 ? behindPair(at, end) : 0;
    if (behind > 0) {
      // Four bytes instead of twelve.
      spared += 8;
      at = behind;
      continue;
    }
    if (behind == CUT || (isText && halves == MAX_HALVES)) return at;
    if (isText) {
      store<i32>(HALVES + halves * 4, at + shift);
      halves += 1;
    }
    spared += sparedBy(unit);
    at += 6;
  }
  return at;
}

/** The end may cut what is asked for. */
const CUT: i32 = -1;

/** The position after the pair whose first half is at `at`; 0 if the half is alone. */
function behindPair(at: i32, end: i32): i32 {
  if (at + 6 == end) return CUT;
  if (load<u8>(at, 6) != 0x5c) return 0;
  if (at + 7 == end) return CUT;
  if (load<u8>(at, 7) != 0x75) return 0;
  if (at + 12 > end) return CUT;
  return (hexAt(at + 8) & ~0x3ff) == 0xdc00 ? at + 12 : 0;
}

/** Four hexadecimal digits as a number; negative if they are not all digits. */
export function hexAt(at: i32): i32 {
  const first = load<u8>(HEX + load<u8>(at)) as i32;
  const second = load<u8>(HEX + load<u8>(at, 1)) as i32;
  const third = load<u8>(HEX + load<u8>(at, 2)) as i32;
  const fourth = load<u8>(HEX + load<u8>(at, 3)) as i32;
  if ((first | second | third | fourth) > 15) return -1;
  return (first << 12) | (second << 8) | (third << 4) | fourth;
}
