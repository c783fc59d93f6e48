/**
 * Walks over JSON text in windows, validates all of it, and notes where the documents of a request lie: sixty-four bytes at a
 * time inside strings and in lists of short strings or numbers, one step for each other token. AssemblyScript: TypeScript's
 * syntax, WebAssembly's types.
 *
 * The host copies the text into the window piece by piece and calls `run`; the globals below keep whatever spans two
 * windows. Only strings that are values may be cut anywhere. If the window's end cuts any other token, `run` stops in front
 * of it, and the host begins the next window there.
 *
 * The walk leaves to the plain parser whatever is not JSON, and whatever is rare (see `FAILED`).
 */
import { isByte } from './lanes';
import { WINDOW } from './memory';
import { FAILED, IN_STRING, blanks, halves, maxRows, rows, shift, state } from './state';
import { walkString } from './strings';
import { walkToken } from './tokens';

export {
  LISTS,
  NAME_SIZE,
  MAX_STEPS,
  LIST_SIZE,
  MAX_LISTS,
  FIELDS,
  MAX_FIELDS,
  ROWS,
  MAX_ROWS,
  BLANKS,
  WINDOW,
  WINDOW_SIZE,
  HALVES,
  prepare,
} from './memory';
export {
  begin,
  isComplete,
  foundList,
  foundKeyStart,
  foundStart,
  foundEnd,
  foundFields,
  foundObjects,
  foundTextless,
  elements,
  notedRows,
  notedBlanks,
  notedHalves,
  otherValues,
  allValues,
  levelsOfAll,
  foundImages,
  foundBefore,
  foundBeforeEnd,
} from './state';

/**
 * Continues through the first `length` bytes of the window, which are at `position` in the text. Returns how many of them
 * are done with: fewer than `length` if a token is cut or no more rows or halves can be noted.
 */
export function run(length: i32, position: i32): i32 {
  const end = WINDOW + length;
  let at = WINDOW;
  shift = position - WINDOW;
  rows = 0;
  blanks = 0;
  halves = 0;
  while (at < end) {
    if (state == IN_STRING) {
      const next = walkString(at, end);
      if (next == FAILED) return FAILED;
      at = next;
      if (state == IN_STRING || rows == maxRows) break;
      continue;
    }
    const byte = load<u8>(at);
    if (byte <= 0x20) {
      if (!isSpace(byte)) return FAILED;
      at = walkSpace(at + 1, end);
      continue;
    }
    const next = walkToken(byte, at, end);
    if (next == FAILED) return FAILED;
    if (next == at) break;
    at = next;
    if (rows == maxRows) break;
  }
  return at - WINDOW;
}

function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

/** Returns the position after the white space at `from`, if there is any: mostly there is none, or an indented line. */
function walkSpace(from: i32, end: i32): i32 {
  let at = from;
  if (at >= end || load<u8>(at) > 0x20) return at;
  while (at < end) {
    const bytes = v128.load(at);
    const lines = v128.or(isByte(bytes, 0x0a), isByte(bytes, 0x0d));
    const spaces = v128.or(v128.or(isByte(bytes, 0x20), isByte(bytes, 0x09)), lines);
    const others = ~i8x16.bitmask(spaces) & 0xffff;
    if (others != 0) return min(at + ctz(others), end);
    at += 16;
  }
  return end;
}
