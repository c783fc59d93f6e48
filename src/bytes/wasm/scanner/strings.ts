/** Strings that are values: one by one, or sixty-four bytes of short ones at once; and whether a text is blank. */
import {
  ODD_LANES,
  behindEnd,
  below,
  bitsOf,
  isBreak,
  isByte,
  isLetter,
  parityOf,
  upTo,
} from './lanes';
import { BLANKS, ESCAPES, MAY_BE_BLANK, ROWS, ROW_SIZE } from './memory';
import { meantUpTo, note, noteField, noteLong } from './notes';
import {
  AFTER_VALUE,
  ELEMENT,
  FAILED,
  NOTHING,
  blanks,
  count,
  depth,
  fields,
  isBlank,
  isText,
  listDepth,
  longFrom,
  maxRows,
  nextField,
  rows,
  shift,
  spared,
  state,
  textEnd,
  textIsBlank,
  textIsNext,
  textMeant,
  textStart,
  values,
  waiting,
  walkComma,
} from './state';
import { hexAt, sparedBy, specialsAt, walkText } from './text';

/** How many strings may end in 64 bytes. */
const MAX_SHORT: i32 = 32;
/**
 * Behind a string of fewer bytes others are taken to be short, too. One of more than `LONG` among these is walked over by itself, and
 * so many behind it: strings of 512 bytes, which are noted for their length, are always.
 */
const SHORT: i32 = 48;
const LONG: i32 = 160;
const WAIT: i32 = 8;

/** Continues in a string that is a value, until after its end or as far as the window goes. */
export function walkString(from: i32, end: i32): i32 {
  let at = from;
  if (isBlank) {
    if (mayBeBlank(at)) at = walkBlanks(at, end);
    else isBlank = false;
    if (isBlank && (at >= end || load<u8>(at) != 0x22)) return at;
  }
  // Many strings are short.
  const lanes = specialsAt(at);
  const special = at + ctz(lanes);
  if (lanes != 0 && special < end && load<u8>(special) == 0x22) at = special;
  else at = walkText(lanes == 0 ? at + 16 : at, end);
  waiting = at - from < SHORT ? max(waiting - 1, 0) : max(waiting, 1);
  // At the end of the window, or before an escape that it cuts.
  if (at == FAILED || at >= end || load<u8>(at) != 0x22) return at;
  if (nextField >= 0) {
    noteField(nextField, textStart, at + 1 + shift, meantUpTo(at));
    textIsBlank = isBlank && fields == 1;
    nextField = -1;
  } else if (isText) {
    textIsNext = false;
    textIsBlank = isBlank;
    textEnd = at + 1 + shift;
    textMeant = meantUpTo(at);
    if (depth == listDepth) note(textEnd);
  } else if (depth == 0) {
    state = NOTHING;
    return at + 1;
  } else if (longFrom > 0) {
    noteLong(at + 1 + shift);
  }
  return walkComma(at + 1, end);
}

/**
 * Walks over strings of an array that follow one another, from the quote of the first one on, sixty-four bytes at a time: which
 * bytes are in strings follows from the quotes, and outside there may only be a comma behind each, and white space behind that.
 * Returns where something else comes, or the beginning of a string that is not for here: it is long, is cut, or has escapes of
 * six bytes.
 */
export function walkStrings(from: i32, end: i32, areElements: bool): i32 {
  let at = from;
  let start = from;
  // What is known of the first of the bytes: whether it is in a string (all bits or none), is escaped, is behind a string, and
  // whether a string may begin there (the lowest bit).
  let inside: u64 = 0;
  let escapedFirst: u64 = 0;
  let behindString: u64 = 0;
  let due: u64 = 1;
  // Escapes of the string that is not noted yet, in the bytes before these.
  let escapesBefore: i32 = 0;
  while (at < end && !(areElements && rows + MAX_SHORT > maxRows)) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let quotes = bitsOf(isByte(a, 0x22), isByte(b, 0x22), isByte(c, 0x22), isByte(d, 0x22));
    const slashes = bitsOf(isByte(a, 0x5c), isByte(b, 0x5c), isByte(c, 0x5c), isByte(d, 0x5c));
    const controls = bitsOf(upTo(a, 0x1f), upTo(b, 0x1f), upTo(c, 0x1f), upTo(d, 0x1f));
    const commas = bitsOf(isByte(a, 0x2c), isByte(b, 0x2c), isByte(c, 0x2c), isByte(d, 0x2c));
    let spaces = bitsOf(isByte(a, 0x20), isByte(b, 0x20), isByte(c, 0x20), isByte(d, 0x20));
    if (controls != 0) spaces |= bitsOf(isBreak(a), isBreak(b), isBreak(c), isBreak(d));
    let stops = behindEnd(at, end);
    let escapes: u64 = 0;
    if ((slashes | escapedFirst) != 0) {
      const heads = slashes & ~escapedFirst;
      const codes = (((heads << 1) | ODD_LANES) - heads) ^ ODD_LANES;
      const escaped = (codes ^ heads) | escapedFirst;
      stops |= escaped & ~(quotes | bitsOf(isLetter(a), isLetter(b), isLetter(c), isLetter(d)));
      quotes &= ~escaped;
      escapes = codes & heads;
      escapedFirst = escapes >>> 63;
    }
    const within = parityOf(quotes) ^ inside;
    const opening = quotes & within;
    const closing = quotes & ~within;
    const outside = ~(within | closing);
    const behind = (closing << 1) | behindString;
    const separators = commas & behind & outside;
    const blank = spaces & outside;
    const dues = ((separators | blank) << 1) | due;
    stops |= ((opening | blank) & ~dues) | (outside & ~(separators | blank)) | (controls & within);
    const first = ctz(stops);
    const done = below(first);
    values += popcnt(separators & done) as i32;
    let starts = opening & done;
    let ends = closing & done;
    if (areElements) {
      if (inside == 0) {
        start = at + (ctz(starts) as i32);
        starts &= starts - 1;
      }
      while (ends != 0) {
        const escapesUpTo = popcnt(escapes & (ends - 1) & ~ends) as i32;
        noteShort(start, at + (ctz(ends) as i32), escapesBefore + escapesUpTo);
        escapesBefore = -escapesUpTo;
        ends &= ends - 1;
        start = at + (ctz(starts) as i32);
        starts &= starts - 1;
      }
      escapesBefore += popcnt(escapes) as i32;
    } else if (starts != 0) {
      start = at + 63 - (clz(starts) as i32);
    }
    if (first < 64) {
      inside = (((within << 1) | (inside & 1)) >>> first) & 1;
      behindString = (behind >>> first) & 1;
      at += first as i32;
      break;
    }
    at += 64;
    inside = 0 - (within >>> 63);
    behindString = closing >>> 63;
    due = (separators | blank) >>> 63;
    if (inside != 0 && at - start > LONG) break;
  }
  if (inside == 0) {
    state = behindString == 0 ? ELEMENT : AFTER_VALUE;
    return at;
  }
  waiting = WAIT;
  state = ELEMENT;
  return start;
}

/** Notes an element that is a string, by the places of its quotes, with so many escapes of two bytes. */
function noteShort(start: i32, last: i32, escapes: i32): void {
  const place = ((start + shift) as u32 as u64) | (((last + 1 + shift) as u32 as u64) << 32);
  const row = ROWS + rows * ROW_SIZE;
  store<u64>(row, place);
  store<u64>(row, place, 8);
  store<i32>(row, last - start - 1 - escapes, 16);
  rows += 1;
  if (mayBeBlank(start + 1)) {
    isBlank = true;
    walkBlanks(start + 1, last + 1);
    if (isBlank) {
      store<i32>(BLANKS + blanks * 4, count);
      blanks += 1;
    }
  }
  count += 1;
}

/** Whether the byte at `at` ends a string, or white space may begin with it. */
function mayBeBlank(at: i32): bool {
  return (load<u8>(ESCAPES + load<u8>(at)) & MAY_BE_BLANK) != 0;
}

/** Returns the position after leading white space, however it is written. `isBlank` stays unless something else follows. */
function walkBlanks(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const byte: i32 = load<u8>(at);
    if (byte == 0x22) return at;
    let unit = byte;
    let length: i32 = 1;
    if (byte == 0x5c) {
      if (at + 2 > end) return at;
      const letter = load<u8>(at, 1);
      length = letter == 0x75 ? 6 : 2;
      if (at + length > end) return at;
      if (letter == 0x75) unit = hexAt(at + 2);
      else unit = letter == 0x6e || letter == 0x72 || letter == 0x74 || letter == 0x66 ? 0x20 : 0;
    } else if (byte >= 0xe0) {
      length = 3;
      if (at + length > end) return at;
      unit = byte >= 0xf0 ? 0 : ((byte & 0x0f) << 12) | (tail(at, 1) << 6) | tail(at, 2);
    } else if (byte >= 0x80) {
      length = 2;
      if (at + length > end) return at;
      unit = ((byte & 0x1f) << 6) | tail(at, 1);
    } else if (byte != 0x20) {
      unit = 0;
    }
    if (!isWhite(unit)) {
      isBlank = false;
      return at;
    }
    if (byte == 0x5c) spared += length == 6 ? sparedBy(unit) : 1;
    at += length;
  }
  return at;
}

function tail(at: i32, index: i32): i32 {
  return load<u8>(at + index) & 0x3f;
}

/** Whether `String.prototype.trim` removes it. */
function isWhite(unit: i32): bool {
  if (unit < 0x80) return unit == 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  switch (unit) {
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff:
      return true;
    default:
      return false;
  }
}
