/**
 * Writes the rows of a reply with a document each. The host copies a whole body in, says where its documents lie, and copies what
 * was written out: two copies together and many short ones here cost a fraction of as many calls of the host's own copy.
 */

// Memory: where documents lie, the rows, the body, what is written. The host reads these from the exports.
/** For each document, where it starts and ends in memory. */
export const PLACES: i32 = 1024;
export const MAX_PLACES: i32 = 1024;
const PLACE_SIZE: i32 = 8;
export const ROWS: i32 = PLACES + MAX_PLACES * PLACE_SIZE;
export const ROWS_SIZE: i32 = 131072;
/** There is room after each, because sixteen bytes are copied at a time, and the last of them may be too many. */
const ROOM: i32 = 64;
export const BODY: i32 = ROWS + ROWS_SIZE + ROOM;
export const BODY_SIZE: i32 = 262144;
export const WRITTEN: i32 = BODY + BODY_SIZE + ROOM;
export const WRITTEN_SIZE: i32 = 524288;

/** What comes before the document in a row: a comma, a name and a colon. The host writes it. */
export const MEMBER: i32 = 0;
export const MEMBER_SIZE: i32 = 48;
/** Before a document that is a string, as a reply shows it. */
const TEXT: i32 = 64;
const TEXT_SIZE: i32 = 8;

/** Fills the constant; called once. */
export function prepare(): void {
  // {"text":
  store<u64>(TEXT, 0x3a2274786574227b);
}

/** Bytes that `echo` may add to a row and its document, beside the member's. */
export function added(): i32 {
  return TEXT_SIZE + 1;
}

/**
 * Writes the rows that lie at `ROWS`, objects of numbers, and into each the document at its place as the last member, of whose
 * name there are `member` bytes. A string becomes an object with a text unless they are `bare`. Returns the number of bytes
 * written.
 */
export function echo(documents: i32, bytes: i32, member: i32, bare: bool): i32 {
  const end = ROWS + bytes;
  let at = ROWS;
  let out = WRITTEN;
  for (let document: i32 = 0; document < documents; document += 1) {
    // From the brace that closes the row before.
    const brace = findBrace(at + 1, end);
    out = copy(at, brace - at, out);
    at = brace;
    out = copy(MEMBER, member, out);
    const place = PLACES + document * PLACE_SIZE;
    const start: i32 = load<i32>(place);
    const isText = !bare && load<u8>(start) == 0x22;
    if (isText) out = copy(TEXT, TEXT_SIZE, out);
    out = copy(start, load<i32>(place, 4) - start, out);
    if (isText) {
      store<u8>(out, 0x7d);
      out += 1;
    }
  }
  return copy(at, end - at, out) - WRITTEN;
}

/** The position of the next brace that closes a row; `end` if there is none. */
function findBrace(from: i32, end: i32): i32 {
  for (let at = from; at < end; at += 16) {
    const lanes = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(0x7d)));
    if (lanes != 0) return min(at + ctz(lanes), end);
  }
  return end;
}

/** Copies so many bytes, and up to fifteen more, which the next copy overwrites; returns where that begins. */
function copy(from: i32, size: i32, to: i32): i32 {
  let at: i32 = 0;
  for (; at <= size - 64; at += 64) {
    v128.store(to + at, v128.load(from + at));
    v128.store(to + at, v128.load(from + at, 16), 16);
    v128.store(to + at, v128.load(from + at, 32), 32);
    v128.store(to + at, v128.load(from + at, 48), 48);
  }
  for (; at < size; at += 16) v128.store(to + at, v128.load(from + at));
  return to + size;
}
