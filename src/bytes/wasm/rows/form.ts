/** The form of a row: the bytes around its numbers, which the first row sets and all others must have. */
import { MAX_COLUMNS, MEMBERS, PARTS, TEXT, WINDOW } from './memory';
import { isDigit, readNumber } from './numbers';
import { CUT, FAILED, NO_NUMBER, columns, isNew, members } from './state';

const PART_SIZE: i32 = 8;
const MEMBER_SIZE: i32 = 16;
const COLUMN: i32 = 0;
const MAX_MEMBERS: i32 = 32;
const TEXT_SIZE: i32 = 2048;

export function skipSpace(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) break;
    at += 1;
  }
  return at;
}

/** Reads a row of the known form. */
export function readRow(start: i32, end: i32): i32 {
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
export function readFirstRow(start: i32, end: i32): i32 {
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
