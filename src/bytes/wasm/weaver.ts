/**
 * Writes lists of a request's documents: their texts with something between them, rows of a reply with a document each, and
 * what is put together from several parts of each.
 * The host copies a whole body in, says where its documents lie, and copies what was written out: two copies in one go and
 * many short ones here cost a fraction of as many calls of the host's own copy.
 */

// Memory: where documents lie, what stands between them, the body, what is written. The host reads these from the exports.
/** For each document, where it starts and ends in memory; or numbers of which two are that in the body. */
export const PLACES: i32 = 1024;
export const MAX_PLACES: i32 = 10240;
const PLACE_SIZE: i32 = 8;
/** Bytes per document where there are other numbers, too, and per part of what is gathered. */
const ROW_SIZE: i32 = 20;
const PART_SIZE: i32 = 16;
/** What stands around the documents: rows, or what is before, between and after them. */
export const AROUND: i32 = PLACES + MAX_PLACES * ROW_SIZE;
/** Rows begin here, so that what is short stays for the next list. */
export const ROWS: i32 = AROUND + 1024;
export const AROUND_SIZE: i32 = 786432;
/** There is room after each, because sixteen bytes are copied at a time, and the last of them may be too many. */
const ROOM: i32 = 64;
export const BODY: i32 = AROUND + AROUND_SIZE + ROOM;
export const BODY_SIZE: i32 = 1310720;
export const WRITTEN: i32 = BODY + BODY_SIZE + ROOM;
export const WRITTEN_SIZE: i32 = 1835008;

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
 * Writes so many documents, whose places are numbers `place` and the next of each row at `PLACES`; what is before, between and
 * after them follows one another at `AROUND`. Returns the number of bytes written; 0 if there is no room for so many.
 */
export function join(documents: i32, place: i32, before: i32, between: i32, after: i32): i32 {
  const first = PLACES + place * 4;
  const last = first + documents * ROW_SIZE;
  let bytes: i64 = (before + after) as i64;
  for (let at = first; at < last; at += ROW_SIZE) {
    bytes += (load<i32>(at, 4) - load<i32>(at) + between) as i64;
  }
  if (bytes > WRITTEN_SIZE) return 0;
  let out = copy(AROUND, before, WRITTEN);
  for (let at = first; at < last; at += ROW_SIZE) {
    if (at > first) out = copy(AROUND + before, between, out);
    const start: i32 = load<i32>(at);
    out = copy(BODY + start, load<i32>(at, 4) - start, out);
  }
  return copy(AROUND + before + between, after, out) - WRITTEN;
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

/**
 * Writes so many parts of the body, each behind a part of what lies at `ROWS`: for each, there are four numbers at `PLACES`, where
 * the one starts and ends there, and the other in the body. Returns the number of bytes written.
 */
export function gather(parts: i32): i32 {
  const last = PLACES + parts * PART_SIZE;
  let out = WRITTEN;
  for (let at = PLACES; at < last; at += PART_SIZE) {
    const before: i32 = load<i32>(at);
    out = copy(ROWS + before, load<i32>(at, 4) - before, out);
    const start: i32 = load<i32>(at, 8);
    out = copy(BODY + start, load<i32>(at, 12) - start, out);
  }
  return out - WRITTEN;
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
