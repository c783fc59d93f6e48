/** Writes rows as the contract has them. */
import { HEAD, MIDDLE, PLACES, PLACE_SIZE, WINDOW, WRITTEN } from './memory';
import { isDigit } from './numbers';
import { columns, fractionSeen, numbers } from './state';

const HEAD_SIZE: i32 = 9;
const MIDDLE_SIZE: i32 = 19;
/** So many rows are written at most: what is around their numbers takes 30 bytes each, and those a window at most. */
const MAX_WRITTEN_ROWS: i32 = 2048;

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

/** Copies a number's text, and what follows it; returns where it ends. */
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
