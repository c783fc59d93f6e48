/**
 * Reads lists of objects of numbers, as rankings are, off their bytes. The host finds the list and copies it into the window piece by
 * piece; the first row sets the form, and all others must have the same bytes around their numbers. The form stays for the next
 * list: an upstream writes all its replies alike. Whatever else there is in a row is the same in all of them.
 */
import { readFirstRow, readRow, skipSpace } from './form';
import { MAX_COLUMNS, MAX_NUMBERS, WINDOW } from './memory';
import {
  CUT,
  FAILED,
  columns,
  fractionSeen,
  isNew,
  isStrange,
  members,
  numbers,
  unread,
  wholeSeen,
} from './state';

export {
  PARTS,
  MEMBERS,
  NUMBERS,
  MAX_NUMBERS,
  PLACES,
  WINDOW,
  WINDOW_SIZE,
  WRITTEN,
  prepare,
} from './memory';
export { NO_NUMBER } from './state';
export { write } from './write';

// What comes next.
const FIRST_ROW: i32 = 0;
const SEPARATOR: i32 = 1;
const ROW: i32 = 2;
const NOTHING: i32 = 3;
let state: i32 = FIRST_ROW;
/** Rows that may still come. */
let left: i32 = 0;
let isTight: bool = true;
let firstRow: i32 = 0;
let firstEnd: i32 = 0;
let rowEnd: i32 = 0;

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

/** The form is forgotten, since the host has not heard of it. */
function fail(reason: i32): i32 {
  columns = 0;
  return reason;
}

/** The position after white space, where there is hardly ever one. */
function behindSpace(at: i32, end: i32): i32 {
  return load<u8>(at) > 0x20 ? at : skipSpace(at, end);
}
