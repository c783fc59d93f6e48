/**
 * Reads lists of objects of numbers, as rankings are, off their bytes, and lists of bare numbers, as vectors are. The host finds the list and copies it into the window
 * piece by piece; the first row sets the form, and all others must have the same bytes around their numbers. The form
 * stays for the next list: an upstream writes all its replies alike. Other values are the same in all rows; or, in a form of
 * the second kind, they are free: JSON of whatever kind, which is judged and passed over.
 */

// Memory: tables, the form, findings, the window, what is written. The host reads these numbers from the exports.
/** For each number of places behind the point, the upper and the lower half of the inverse power of five. */
export const POWERS: i32 = 0;
export const MAX_SCALE: i32 = 60;
const POWER_SIZE: i32 = 16;
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
/** Of numbers, and of all that is not the same in all rows. */
const MAX_COLUMNS: i32 = 16;
/**
 * For each member of the first row: where its key and its value begin and end; instead of where the value begins, one of the
 * kinds below, unless it is the same in all rows. The members of an object follow it, and one whose key begins at 0 ends it.
 */
export const MEMBERS: i32 = 1280;
const MEMBER_SIZE: i32 = 16;
// Kinds of values: a number, anything, a number written as a string, an object.
const COLUMN: i32 = 0;
const FREE: i32 = 1;
const SPELLED: i32 = 2;
const OPEN: i32 = 3;
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
/** What varies: columns, and free values, each of which has a bit. */
let slots: i32 = 0;
let freeSlots: i32 = 0;
/** Whether what is no number is free, whether objects are then looked into, and how many values may be free. */
let takesFree: bool = false;
let looksInto: bool = false;
let freeLeft: i32 = 0;
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

/**
 * Begins a list of at most `most` rows, in the form of the last one if it is not forgotten. A new form has free values if
 * `isFree`, and what objects in it have must be the same and of the same kinds in all rows if it `looks` into them; lists may have
 * `mostFree` free values, and more fail.
 */
export function begin(most: i32, isFree: bool, looks: bool, mostFree: i32): void {
  takesFree = isFree;
  looksInto = looks;
  freeLeft = mostFree;
  restart(most);
}

function restart(most: i32): void {
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
export function formSlots(): i32 {
  return slots;
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
    const freeBefore = freeLeft;
    let behind = columns > 0 ? readRow(next, end) : FAILED;
    if (behind < 0 && state == FIRST_ROW) {
      // What it had in common with the form before does not count.
      restart(left);
      numbers = 0;
      unread = 0;
      behind = readFirstRow(next, end);
    }
    if (behind == CUT) {
      numbers = before;
      unread = unreadBefore;
      freeLeft = freeBefore;
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
 * The same for a list of bare numbers, from behind its bracket or a comma on. Returns how far it came: to the end of the list if it
 * is over, else to where a number is due. One that is cut by the end of the window is left for the next window.
 */
export function readList(from: i32, to: i32): i32 {
  const end = WINDOW + to;
  store<u8>(end, 0);
  numbers = 0;
  unread = 0;
  state = ROW;
  let at = WINDOW + from;
  while (numbers < MAX_NUMBERS) {
    const unreadBefore = unread;
    const start = skipSpace(at, end);
    if (start >= end) break;
    const behind = readNumber(start, end, 0);
    if (behind == FAILED) return FAILED;
    if (behind == CUT) break;
    const next = skipSpace(behind, end);
    if (next >= end) {
      numbers -= 1;
      unread = unreadBefore;
      break;
    }
    at = next + 1;
    const byte = load<u8>(next);
    if (byte == 0x2c) continue;
    if (byte != 0x5d) return FAILED;
    state = NOTHING;
    break;
  }
  return at - WINDOW;
}

/** The position after a string of ASCII without escapes, which begins at `from`. */
export function plainTextEnd(from: i32, to: i32): i32 {
  const end = WINDOW + to;
  for (let at = WINDOW + from + 1; at < end; at += 16) {
    const bytes = v128.load(at);
    // As signed numbers, what is not ASCII is below zero.
    const odd = v128.or(i8x16.lt_s(bytes, i8x16.splat(0x20)), isByte(bytes, 0x5c));
    const stops = i8x16.bitmask(v128.or(odd, isByte(bytes, 0x22)));
    if (stops == 0) continue;
    const stop = at + ctz(stops);
    if (stop >= end) return CUT;
    return load<u8>(stop) == 0x22 ? stop + 1 - WINDOW : FAILED;
  }
  return CUT;
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
  for (let slot: i32 = 0; slot <= slots; slot += 1) {
    const text: i32 = load<i32>(PARTS + slot * PART_SIZE);
    const length = load<i32>(PARTS + slot * PART_SIZE, 4) - text;
    if (at + length > end) return CUT;
    // A branch, so that nothing waits for it: what follows is nearly always there.
    if (!isSame(text, at, length)) return FAILED;
    at += length;
    if (slot == slots) break;
    if (((freeSlots >> slot) & 1) == 0) {
      at = readNumber(at, end, column);
      column += 1;
    } else {
      if (state == FIRST_ROW && spellsNumber(at, end)) return FAILED;
      at = skipValue(at, end);
    }
    if (at < 0) return at;
  }
  return at;
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
  slots = 0;
  freeSlots = 0;
  // Where the current part begins in the window, and in the kept text.
  let part = start;
  let text = TEXT;
  let width: i32 = 0;
  /** Of the row's own members, not of objects in it. */
  let hasNumber = false;
  let depth: i32 = 0;
  let at = skipSpace(start + 1, end);
  while (true) {
    const member = nextMember();
    if (member < 0) return FAILED;
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
    if (looksInto && byte == 0x7b && depth < MAX_INNER) {
      const inner = skipSpace(at + 1, end);
      if (inner >= end) return CUT;
      if (load<u8>(inner) != 0x7d) {
        store<i32>(member, OPEN, 8);
        depth += 1;
        at = inner;
        continue;
      }
    }
    const spelled = byte == 0x22 ? endOfSpelled(at + 1, end) : FAILED;
    if (spelled == CUT) return CUT;
    const isNumber = spelled > 0 || byte == 0x2d || isDigit(byte);
    if (isNumber || takesFree) {
      if (slots == MAX_COLUMNS) return FAILED;
      store<i32>(member, spelled > 0 ? SPELLED : isNumber ? COLUMN : FREE, 8);
      // The quotes around a number are parts of what is around it.
      if (spelled > 0) at += 1;
      text = keep(slots, part, at, text);
      if (text == FAILED) return FAILED;
      if (isNumber) {
        part = readNumber(at, end, width);
        width += 1;
        if (depth == 0) hasNumber = true;
      } else {
        // Whoever reads the row has to look at it.
        if (spellsNumber(at, end)) return FAILED;
        part = skipValue(at, end);
        freeSlots |= 1 << slots;
      }
      if (part < 0) return part;
      slots += 1;
      at = spelled > 0 ? part + 1 : part;
    } else {
      store<i32>(member, at - WINDOW, 8);
      at = endOfConstant(byte, at, end);
      if (at < 0) return at;
      store<i32>(member, at - WINDOW, 12);
    }
    let behind: u8;
    while (true) {
      at = skipSpace(at, end);
      if (at >= end) return CUT;
      behind = load<u8>(at);
      at += 1;
      if (behind != 0x7d || depth == 0) break;
      depth -= 1;
      const last = nextMember();
      if (last < 0) return FAILED;
      store<i32>(last, 0);
    }
    if (behind == 0x7d) break;
    if (behind != 0x2c) return FAILED;
    at = skipSpace(at, end);
  }
  if (!hasNumber) return NO_NUMBER;
  if (keep(slots, part, at, text) == FAILED) return FAILED;
  columns = width;
  return at;
}

/** How deeply objects in a row are looked into. */
const MAX_INNER: i32 = 2;

/** Where the next member of the form is kept. */
function nextMember(): i32 {
  if (members == MAX_MEMBERS) return FAILED;
  members += 1;
  return MEMBERS + (members - 1) * MEMBER_SIZE;
}

/** The position of the quote behind a number that a string consists of. */
function endOfSpelled(start: i32, end: i32): i32 {
  if (start >= end) return CUT;
  const first = load<u8>(start);
  if (first != 0x2d && !isDigit(first)) return FAILED;
  const at = skipBare(first, start, end);
  return at < 0 || load<u8>(at) == 0x22 ? at : FAILED;
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

/** Whether a value is a string that begins with nothing but what numbers are written with, to its end or for long. */
function spellsNumber(start: i32, end: i32): bool {
  if (load<u8>(start) != 0x22) return false;
  let at = start + 1;
  while (at < end && at - start <= MAX_CONSTANT && isOfNumber(load<u8>(at))) at += 1;
  return at >= end || at - start > MAX_CONSTANT || (load<u8>(at) == 0x22 && at > start + 1);
}

function isOfNumber(byte: u8): bool {
  return (
    isDigit(byte) ||
    byte == 0x20 ||
    byte == 0x2b ||
    byte == 0x2d ||
    byte == 0x2e ||
    (byte | 0x20) == 0x65
  );
}

/** Deeper values are left to the plain parser: each level takes one bit. */
const MAX_DEPTH: i32 = 60;

/** The position after any value. */
function skipValue(start: i32, end: i32): i32 {
  let at = start;
  let depth: i32 = 0;
  /** Whether each level is an object; the innermost is the lowest bit. */
  let objects: u64 = 0;
  while (true) {
    freeLeft -= 1;
    if (freeLeft < 0) return FAILED;
    if (at >= end) return CUT;
    const byte = load<u8>(at);
    if (byte == 0x7b || byte == 0x5b) {
      if (depth == MAX_DEPTH) return FAILED;
      const isObject = byte == 0x7b;
      at = skipSpace(at + 1, end);
      if (at >= end) return CUT;
      if (load<u8>(at) != (isObject ? 0x7d : 0x5d)) {
        depth += 1;
        objects = (objects << 1) | (isObject ? 1 : 0);
        if (isObject) {
          at = skipKey(at, end);
          if (at < 0) return at;
        }
        continue;
      }
      at += 1;
    } else {
      at = byte == 0x22 ? skipString(at, end) : skipBare(byte, at, end);
      if (at < 0) return at;
    }
    // What closes behind it, and the comma before the next.
    while (true) {
      if (depth == 0) return at;
      at = skipSpace(at, end);
      if (at >= end) return CUT;
      const behind = load<u8>(at);
      const isObject = (objects & 1) == 1;
      at += 1;
      if (behind == 0x2c) {
        at = skipSpace(at, end);
        if (isObject) {
          at = skipKey(at, end);
          if (at < 0) return at;
        }
        break;
      }
      if (behind != (isObject ? 0x7d : 0x5d)) return FAILED;
      depth -= 1;
      objects >>= 1;
    }
  }
}

/** The position of the value behind a key. */
function skipKey(start: i32, end: i32): i32 {
  if (start >= end) return CUT;
  if (load<u8>(start) != 0x22) return FAILED;
  const keyEnd = skipString(start, end);
  if (keyEnd < 0) return keyEnd;
  const colon = skipSpace(keyEnd, end);
  if (colon >= end) return CUT;
  return load<u8>(colon) == 0x3a ? skipSpace(colon + 1, end) : FAILED;
}

/** The position after a word or a number. */
function skipBare(first: u8, start: i32, end: i32): i32 {
  if (first != 0x2d && !isDigit(first)) return endOfConstant(first, start, end);
  let at = first == 0x2d ? start + 1 : start;
  const whole = at;
  at = skipDigits(at);
  if (at > whole + 1 && load<u8>(whole) == 0x30) return FAILED;
  if (at == whole) return at >= end ? CUT : FAILED;
  if (load<u8>(at) == 0x2e) {
    const digits = at + 1;
    at = skipDigits(digits);
    if (at == digits) return at >= end ? CUT : FAILED;
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    at += 1;
    if (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d) at += 1;
    const digits = at;
    at = skipDigits(digits);
    if (at == digits) return at >= end ? CUT : FAILED;
  }
  return at >= end ? CUT : at;
}

function skipDigits(from: i32): i32 {
  let at = from;
  while (isDigit(load<u8>(at))) at += 1;
  return at;
}

/** Every second lane: adding to a run of backslashes carries through it, and tells by this whether it is odd. */
const ODD_LANES: u64 = 0xaaaaaaaaaaaaaaaa;
/** By their lower halves, what makes an escape with a backslash, but for quotes and `b`. */
const LETTERS = i8x16(-1, -1, 0x72, -1, 0x74, -1, 0x66, -1, -1, -1, -1, -1, 0x5c, -1, 0x6e, 0x2f);

/**
 * The position after the string that begins at `start`. Sixty-four bytes are one word of bits of each kind, as in the scanner, so
 * that text full of escapes takes hardly longer than other text.
 */
function skipString(start: i32, end: i32): i32 {
  let at = start + 1;
  while (at < end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const slashes = bitsOf(isByte(a, 0x5c), isByte(b, 0x5c), isByte(c, 0x5c), isByte(d, 0x5c));
    const quotes = bitsOf(isByte(a, 0x22), isByte(b, 0x22), isByte(c, 0x22), isByte(d, 0x22));
    const controls = bitsOf(isControl(a), isControl(b), isControl(c), isControl(d));
    let stops = quotes | controls;
    let others: u64 = 0;
    let size: i32 = 64;
    if (slashes != 0) {
      // Where each escape begins, and the character behind each: in a run of backslashes, every second one is escaped.
      const codes = (((slashes << 1) | ODD_LANES) - slashes) ^ ODD_LANES;
      const escapes = codes & slashes;
      const escaped = codes ^ slashes;
      stops = (quotes & ~escaped) | controls;
      others = escaped & ~(quotes | bitsOf(isLetter(a), isLetter(b), isLetter(c), isLetter(d)));
      // What the last backslash escapes is in the next bytes, which begin with it.
      size -= (escapes >>> 63) as i32;
    }
    const first = ctz(stops | others) as i32;
    if (first == 64) {
      at += size;
    } else if (((others >>> first) & 1) == 1) {
      // Not one of two bytes; or what seems to be escaped is behind the end.
      if (at + first > end) return CUT;
      at = skipEscapes(at + first - 1, end);
      if (at < 0) return at;
    } else {
      at += first;
      if (at >= end) return CUT;
      return load<u8>(at) == 0x22 ? at + 1 : FAILED;
    }
  }
  return CUT;
}

/** A bit for each byte of the four that is all ones. */
function bitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = (i8x16.bitmask(a) | (i8x16.bitmask(b) << 16)) as u32 as u64;
  const high = (i8x16.bitmask(c) | (i8x16.bitmask(d) << 16)) as u32 as u64;
  return low | (high << 32);
}

function isByte(bytes: v128, byte: u8): v128 {
  return i8x16.eq(bytes, i8x16.splat(byte));
}

function isControl(bytes: v128): v128 {
  return i8x16.lt_u(bytes, i8x16.splat(0x20));
}

/** Whether each makes an escape with a backslash alone: no two of them end in the same four bits. */
function isLetter(bytes: v128): v128 {
  return v128.or(
    i8x16.eq(i8x16.swizzle(LETTERS, v128.and(bytes, i8x16.splat(0x0f))), bytes),
    isByte(bytes, 0x62),
  );
}

/** The bytes that every two escapes of six bytes have in common. */
const PAIR_OF_HEADS = i8x16(0x5c, 0x75, 0, 0, 0, 0, 0x5c, 0x75, 0, 0, 0, 0, 0, 0, 0, 0);

/** The position after the escapes at `start`, of which there is one at least. */
function skipEscapes(start: i32, end: i32): i32 {
  let at = start;
  do {
    if (at + 1 >= end) return CUT;
    switch (load<u8>(at, 1)) {
      case 0x22: // "
      case 0x5c: // \
      case 0x2f: // /
      case 0x62: // b
      case 0x66: // f
      case 0x6e: // n
      case 0x72: // r
      case 0x74: // t
        at += 2;
        break;
      case 0x75: {
        // The first escape and, if it is of the same kind, the next.
        const bytes = v128.load(at);
        const heads = i8x16.bitmask(i8x16.eq(bytes, PAIR_OF_HEADS)) & 0b000011000011;
        const found = heads | (i8x16.bitmask(areHex(bytes)) & 0b111100111100);
        if ((found & 0b111111) != 0b111111) return at + 6 > end ? CUT : FAILED;
        if (at + 6 > end) return CUT;
        at += found == 0b111111111111 && at + 12 <= end ? 12 : 6;
        break;
      }
      default:
        return FAILED;
    }
  } while (at < end && load<u8>(at) == 0x5c);
  return at;
}

function areHex(bytes: v128): v128 {
  const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
  const lower = v128.or(bytes, i8x16.splat(0x20));
  return v128.or(digits, i8x16.lt_u(i8x16.sub(lower, i8x16.splat(0x61)), i8x16.splat(6)));
}

function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}

/** More digits may not fit 64 bits. */
const MAX_DIGITS: i32 = 19;
/** Numbers of fewer digits are exact as doubles. */
const MAX_EXACT_DIGITS: i32 = 16;
/** No engine writes a longer number than `-1.2345678901234567e-308`. */
const MAX_WRITTEN: i32 = 24;
/** Up to here a double holds every integer. */
const MAX_EXACT: u64 = 9007199254740992;

/**
 * Reads a number of JSON's grammar, to the bit as the engine would; returns the position after it. Nearly all have a few digits,
 * or are below one and have no more places than 64 bits hold: nothing else has to be asked of these.
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
      // Rounds once where both sides are exact, and so few places never leave it open which double is nearest.
      const size =
        scale < MAX_EXACT_DIGITS
          ? (places as f64) / load<f64>(EXACT + scale * 8)
          : nearestDouble(places, scale);
      return keepNumber(size, start, behind);
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
  // Zeros in front are no digits: nineteen of `0.0012…` are as many as a double has.
  if (count > MAX_DIGITS) count -= zerosFrom(first);
  const size = count <= MAX_DIGITS ? nearestDouble(value, scale) : NaN;
  if (isNaN(size)) unread += 1;
  return keepNumber(isNegative ? -size : size, start, at);
}

/** How many zeros a number begins with, on both sides of its point. */
function zerosFrom(first: i32): i32 {
  if (load<u8>(first) != 0x30) return 0;
  let at = first + 2;
  while (load<u8>(at) == 0x30) at += 1;
  return at - first - 1;
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

/**
 * The double that is nearest to `value` with the point moved `scale` places, by Eisel and Lemire's way; NaN where that does not
 * tell.
 */
function nearestDouble(value: u64, scale: i32): f64 {
  if (value == 0) return 0;
  if (scale == 0 && value <= MAX_EXACT) return value as f64;
  if (scale <= 0 || scale > MAX_SCALE) return NaN;
  // Rounds once, since both sides are exact.
  if (value <= MAX_EXACT && scale <= MAX_EXACT_SCALE) {
    return (value as f64) / load<f64>(EXACT + scale * 8);
  }
  const power = POWERS + scale * POWER_SIZE;
  const zeros = clz(value);
  const shifted = value << zeros;
  const upperPower = load<u64>(power);
  let high = upperProduct(shifted, upperPower);
  let low = shifted * upperPower;
  if ((high & 0x1ff) == 0x1ff) {
    const more = upperProduct(shifted, load<u64>(power, 8));
    low += more;
    if (more > low) high += 1;
    // Only beyond this many places may the next bits change what is known.
    if (low == 0xffffffffffffffff && scale > 27) return NaN;
  }
  const upper = high >> 63;
  const shift = upper + 9;
  let mantissa = high >> shift;
  let exponent: i64 = (((217706 * -scale) >> 16) + 63) as i64;
  exponent += (upper as i64) - (zeros as i64) + 1023;
  // Halfway between two doubles: the even one.
  if (low <= 1 && scale <= 4 && (mantissa & 3) == 1 && mantissa << shift == high) mantissa &= ~1;
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >= 0x20000000000000) {
    mantissa = 0x10000000000000;
    exponent += 1;
  }
  return reinterpret<f64>((mantissa & 0xfffffffffffff) | ((exponent as u64) << 52));
}

/** The upper half of the product of two numbers of 64 bits. */
function upperProduct(one: u64, other: u64): u64 {
  const oneLow = one & 0xffffffff;
  const oneHigh = one >> 32;
  const otherLow = other & 0xffffffff;
  const otherHigh = other >> 32;
  const middle = oneHigh * otherLow + ((oneLow * otherLow) >> 32);
  const cross = oneLow * otherHigh + (middle & 0xffffffff);
  return oneHigh * otherHigh + (middle >> 32) + (cross >> 32);
}
