/**
 * Reads lists of objects of numbers, as rankings are, off their bytes. The host finds the list and copies it into the window piece by
 * piece; the first row sets the form, and all others must have the same bytes around their numbers. The form stays for the next
 * list: an upstream writes all its replies alike. Whatever else there is in a row is the same in all of them.
 */

// Memory: tables, the form, findings, the window, what is written. The host reads these numbers from the exports.
/** Powers of ten. */
const TENS: i32 = 976;
/** What is around the numbers of a row that is written. */
const HEAD: i32 = 1816;
const HEAD_SIZE: i32 = 9;
const MIDDLE: i32 = 1832;
const MIDDLE_SIZE: i32 = 19;
/** Powers of ten that a double holds exactly. */
const EXACT: i32 = 1856;
const MAX_EXACT_SCALE: i32 = 22;
/** For each part of a row around its numbers, where it begins and ends in `TEXT`. */
export const PARTS: i32 = 1024;
const PART_SIZE: i32 = 8;
const MAX_COLUMNS: i32 = 16;
/** For each member of the first row: where its key and its value begin and end; the value of a number begins at 0. */
export const MEMBERS: i32 = 1280;
const MEMBER_SIZE: i32 = 16;
const COLUMN: i32 = 0;
const MAX_MEMBERS: i32 = 32;
/** The first row but for its numbers. */
const TEXT: i32 = 2048;
const TEXT_SIZE: i32 = 2048;
/** For each number in turn, its value; and where it begins and ends in the window. */
export const NUMBERS: i32 = 4096;
export const MAX_NUMBERS: i32 = 16384;
export const PLACES: i32 = NUMBERS + MAX_NUMBERS * 8;
const PLACE_SIZE: i32 = 4;
export const WINDOW: i32 = PLACES + MAX_NUMBERS * PLACE_SIZE;
/** There is room after it, because reads of sixteen bytes may run past its end. */
export const WINDOW_SIZE: i32 = 65535;
const ROOM: i32 = 65;
export const WRITTEN: i32 = WINDOW + WINDOW_SIZE + ROOM;
/** So many rows are written at most: what is around their numbers takes 30 bytes each, and those a window at most. */
const MAX_WRITTEN_ROWS: i32 = 2048;

/** What `read` returns for whatever it leaves to the plain parser. */
const FAILED: i32 = -1;
/** The end of the window cuts a row. */
const CUT: i32 = -2;
/** Likewise, where the first row has no number: another list may be the ranking. */
export const NO_NUMBER: i32 = -3;

// What comes next.
const FIRST_ROW: i32 = 0;
const SEPARATOR: i32 = 1;
const ROW: i32 = 2;
const NOTHING: i32 = 3;

let state: i32 = FIRST_ROW;
/** Rows that may still come. */
let left: i32 = 0;
/** Of the form; 0 if there is none. */
let columns: i32 = 0;
let members: i32 = 0;
/** Of the last `read`. */
let numbers: i32 = 0;
let isNew: bool = false;
let isTight: bool = true;
let isStrange: bool = false;
let firstRow: i32 = 0;
let firstEnd: i32 = 0;
let rowEnd: i32 = 0;
/** A bit for each column: whether it had numbers of digits alone, and numbers with a fraction or an exponent. */
let wholeSeen: i32 = 0;
let fractionSeen: i32 = 0;
/** How many numbers of the last `read` the host has to read itself. */
let unread: i32 = 0;

/** Fills the table that the host does not; called once. */
export function prepare(): void {
  let power: u32 = 1;
  for (let digits: i32 = 0; digits <= 8; digits += 1) {
    store<u32>(TENS + digits * 4, power);
    power *= 10;
  }
  let exact: f64 = 1;
  for (let scale: i32 = 0; scale <= MAX_EXACT_SCALE; scale += 1) {
    store<f64>(EXACT + scale * 8, exact);
    exact *= 10;
  }
  // {"index":
  store<u64>(HEAD, 0x227865646e69227b);
  store<u8>(HEAD, 0x3a, 8);
  // ,"relevance_score":
  store<u64>(MIDDLE, 0x6176656c6572222c);
  store<u64>(MIDDLE, 0x636e6176656c6572, 2);
  store<u64>(MIDDLE, 0x65726f63735f6563, 9);
  store<u16>(MIDDLE, 0x3a22, 17);
}

/** Begins a list of at most `most` rows, in the form of the last one if it is not forgotten. */
export function begin(most: i32): void {
  state = FIRST_ROW;
  left = most;
  isNew = false;
  isTight = true;
  isStrange = false;
  wholeSeen = 0;
  fractionSeen = 0;
}

export function isOver(): bool {
  return state == NOTHING;
}
/** Whether this list has another form than the one before. */
export function isOtherForm(): bool {
  return isNew;
}
export function formColumns(): i32 {
  return columns;
}
export function formMembers(): i32 {
  return members;
}
export function readNumbers(): i32 {
  return numbers;
}
/** Of those, how many are not read: their values are NaN. */
export function unreadNumbers(): i32 {
  return unread;
}
/** Where the first row begins and the last one ends, in the window. */
export function rowsStart(): i32 {
  return firstRow - WINDOW;
}
export function firstRowEnd(): i32 {
  return firstEnd - WINDOW;
}
export function rowsEnd(): i32 {
  return rowEnd - WINDOW;
}
/** Whether rows are separated by a comma and nothing else. */
export function areTight(): bool {
  return isTight;
}
/** Whether there was a number that the gateway would not write: minus zero, or one without an end. */
export function areStrange(): bool {
  return isStrange;
}
export function wholeColumns(): i32 {
  return wholeSeen;
}
export function fractionColumns(): i32 {
  return fractionSeen;
}

/**
 * Continues through the window's bytes `from` to `to`. Returns how far it came: to the end of the list if it is over, else of
 * whole rows.
 */
export function read(from: i32, to: i32): i32 {
  const end = WINDOW + to;
  // No number goes on here.
  store<u8>(end, 0);
  numbers = 0;
  unread = 0;
  let at = WINDOW + from;
  while (true) {
    let next = behindSpace(at, end);
    if (next >= end) return at - WINDOW;
    let byte = load<u8>(next);
    if (state == SEPARATOR) {
      if (byte == 0x5d) {
        state = NOTHING;
        return next + 1 - WINDOW;
      }
      if (byte != 0x2c) return fail(FAILED);
      if (next != at) isTight = false;
      state = ROW;
      at = next + 1;
      next = behindSpace(at, end);
      if (next >= end) return at - WINDOW;
      byte = load<u8>(next);
    }
    if (byte != 0x7b || left == 0) return fail(FAILED);
    if (numbers + MAX_COLUMNS > MAX_NUMBERS) return at - WINDOW;
    const before = numbers;
    const unreadBefore = unread;
    let behind = columns > 0 ? readRow(next, end) : FAILED;
    if (behind < 0 && state == FIRST_ROW) {
      // What it had in common with the form before does not count.
      begin(left);
      numbers = 0;
      unread = 0;
      behind = readFirstRow(next, end);
    }
    if (behind == CUT) {
      numbers = before;
      unread = unreadBefore;
      return at - WINDOW;
    }
    if (behind < 0) return fail(behind);
    if (state == FIRST_ROW) {
      firstRow = next;
      firstEnd = behind;
    } else if (next != at) isTight = false;
    left -= 1;
    rowEnd = behind;
    at = behind;
    state = SEPARATOR;
  }
}

/**
 * Writes the rows of the last `read` as the gateway's own contract does, with the numbers as they came: one column as the
 * index and one as the score. Returns the number of bytes; 0 if an index has a fraction, or there are too many rows.
 */
export function write(index: i32, score: i32): i32 {
  const isWhole = ((fractionSeen >> index) & 1) == 0;
  const rows = numbers / columns;
  if (!isWhole || rows > MAX_WRITTEN_ROWS) return 0;
  let out = WRITTEN;
  for (let row: i32 = 0; row < rows; row += 1) {
    if (row > 0) {
      store<u8>(out, 0x2c);
      out += 1;
    }
    v128.store(out, v128.load(HEAD));
    out = copyNumber(row * columns + index, out + HEAD_SIZE);
    v128.store(out, v128.load(MIDDLE));
    v128.store(out, v128.load(MIDDLE, 3), 3);
    const start = out + MIDDLE_SIZE;
    out = copyNumber(row * columns + score, start);
    // Typed clients refuse a score that is written as an integer.
    if (isInteger(start, out)) {
      store<u16>(out, 0x302e);
      out += 2;
    }
    store<u8>(out, 0x7d);
    out += 1;
  }
  return out - WRITTEN;
}

/** Copies a number's text, and what is behind it; returns where it ends. */
function copyNumber(number: i32, to: i32): i32 {
  const place = PLACES + number * PLACE_SIZE;
  const start: i32 = load<u16>(place);
  const size = (load<u16>(place, 2) as i32) - start;
  for (let at: i32 = 0; at < size; at += 16) {
    v128.store(to + at, v128.load(WINDOW + start + at));
  }
  return to + size;
}

function isInteger(start: i32, end: i32): bool {
  let at = start + 1;
  while (at < end && isDigit(load<u8>(at))) at += 1;
  return at == end;
}

/** The form is forgotten, since the host has not heard of it. */
function fail(reason: i32): i32 {
  columns = 0;
  return reason;
}

/** The position after white space, where there is hardly ever one. */
function behindSpace(at: i32, end: i32): i32 {
  return load<u8>(at) > 0x20 ? at : skipSpace(at, end);
}

function skipSpace(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) break;
    at += 1;
  }
  return at;
}

/** Reads a row of the known form. */
function readRow(start: i32, end: i32): i32 {
  let at = start;
  let column: i32 = 0;
  while (true) {
    const text: i32 = load<i32>(PARTS + column * PART_SIZE);
    const length = load<i32>(PARTS + column * PART_SIZE, 4) - text;
    if (at + length > end) return CUT;
    // A branch, so that nothing waits for it: what follows is nearly always there.
    if (!isSame(text, at, length)) return FAILED;
    at += length;
    if (column == columns) return at;
    at = readNumber(at, end, column);
    if (at < 0) return at;
    column += 1;
  }
}

/** Whether the bytes of two places are the same. */
function isSame(text: i32, other: i32, length: i32): bool {
  if (length < 16) return (~samesAt(text, other) & ((1 << length) - 1)) == 0;
  const last = length - 16;
  for (let at: i32 = 0; at < last; at += 16) {
    if (samesAt(text + at, other + at) != 0xffff) return false;
  }
  return samesAt(text + last, other + last) == 0xffff;
}

/** A bit for each of sixteen bytes that is the same in two places. */
function samesAt(text: i32, other: i32): i32 {
  return i8x16.bitmask(i8x16.eq(v128.load(text), v128.load(other)));
}

/** Reads a row and keeps its form. */
function readFirstRow(start: i32, end: i32): i32 {
  isNew = true;
  columns = 0;
  members = 0;
  // Where the current part begins in the window, and in the kept text.
  let part = start;
  let text = TEXT;
  let width: i32 = 0;
  let at = skipSpace(start + 1, end);
  while (true) {
    if (members == MAX_MEMBERS) return FAILED;
    const member = MEMBERS + members * MEMBER_SIZE;
    members += 1;
    const keyEnd = endOfKey(at, end);
    if (keyEnd < 0) return keyEnd;
    store<i32>(member, at + 1 - WINDOW);
    store<i32>(member, keyEnd - 1 - WINDOW, 4);
    at = skipSpace(keyEnd, end);
    if (at >= end) return CUT;
    if (load<u8>(at) != 0x3a) return FAILED;
    at = skipSpace(at + 1, end);
    if (at >= end) return CUT;
    const byte = load<u8>(at);
    if (byte == 0x2d || isDigit(byte)) {
      if (width == MAX_COLUMNS) return FAILED;
      store<i32>(member, COLUMN, 8);
      text = keep(width, part, at, text);
      if (text == FAILED) return FAILED;
      part = readNumber(at, end, width);
      if (part < 0) return part;
      width += 1;
      at = part;
    } else {
      store<i32>(member, at - WINDOW, 8);
      at = endOfConstant(byte, at, end);
      if (at < 0) return at;
      store<i32>(member, at - WINDOW, 12);
    }
    at = skipSpace(at, end);
    if (at >= end) return CUT;
    const behind = load<u8>(at);
    at += 1;
    if (behind == 0x7d) break;
    if (behind != 0x2c) return FAILED;
    at = skipSpace(at, end);
  }
  if (width == 0) return NO_NUMBER;
  if (keep(width, part, at, text) == FAILED) return FAILED;
  columns = width;
  return at;
}

/** Keeps a part of the form; returns where the next one is kept. */
function keep(part: i32, start: i32, end: i32, text: i32): i32 {
  const length = end - start;
  if (text + length > TEXT + TEXT_SIZE) return FAILED;
  memory.copy(text, start, length);
  store<i32>(PARTS + part * PART_SIZE, text);
  store<i32>(PARTS + part * PART_SIZE, text + length, 4);
  return text + length;
}

/** The position after a key without escapes. */
function endOfKey(start: i32, end: i32): i32 {
  if (start >= end) return CUT;
  if (load<u8>(start) != 0x22) return FAILED;
  for (let at = start + 1; at < end; at += 1) {
    const byte = load<u8>(at);
    if (byte == 0x22) return at + 1;
    if (byte == 0x5c || byte < 0x20) return FAILED;
  }
  return CUT;
}

const MAX_CONSTANT: i32 = 65;

/**
 * The position after a value that may be equal in all rows: a word, or a short string that begins with a letter and so cannot
 * spell a number.
 */
function endOfConstant(first: u8, start: i32, end: i32): i32 {
  if (first != 0x22) {
    // Something follows every word.
    if (start + 5 > end) return CUT;
    const word = load<u32>(start);
    if (word == 0x65757274 || word == 0x6c6c756e) return start + 4;
    return word == 0x736c6166 && load<u8>(start, 4) == 0x65 ? start + 5 : FAILED;
  }
  if (start + 1 >= end) return CUT;
  const letter = load<u8>(start, 1) | 0x20;
  if (letter < 0x61 || letter > 0x7a) return FAILED;
  for (let at = start + 2; at < end; at += 1) {
    const byte = load<u8>(at);
    if (byte == 0x22) return at + 1;
    if (byte == 0x5c || byte < 0x20 || byte > 0x7e || at - start == MAX_CONSTANT) return FAILED;
  }
  return CUT;
}

function isDigit(byte: u8): bool {
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
function readNumber(start: i32, end: i32, column: i32): i32 {
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

/** A number with so many places behind its point; NaN where it has more digits than a double holds, which the host reads. */
function quotientOf(digits: u64, scale: i32): f64 {
  if (digits > MAX_EXACT || scale < 0 || scale > MAX_EXACT_SCALE) return NaN;
  // Rounds once, since both sides are exact.
  return (digits as f64) / load<f64>(EXACT + scale * 8);
}

/** How many digits `withMore` has added. */
let added: i32 = 0;

/** A number with the digits behind it, as many as there are among eight bytes. */
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

/** The number that the first of eight digits are, of which there is one at least. */
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
