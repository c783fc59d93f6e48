/** Memory: tables, names, findings, window. The host reads these numbers from the exports. */

export const HEX: i32 = 0;
/** For each byte, whether it makes an escape, and whether white space in a text may begin with it. */
export const ESCAPES: i32 = 256;
export const IS_ESCAPE: u8 = 1;
export const MAY_BE_BLANK: u8 = 2;
export const LISTS: i32 = 512;
/** Bytes per name: its length, then the name; none is as long as nothing. */
export const NAME_SIZE: i32 = 64;
/** The members that lead to an element's text, at most. */
export const MAX_STEPS: i32 = 3;

// Of a list: the member that it is in, its name, the steps to an element's text, and a member that is an image if it is a text with anything in it.
export const WITHIN: i32 = 0;
export const NAME: i32 = 1;
export const STEPS: i32 = 2;
export const IMAGE: i32 = 5;
/** Bytes per list. */
export const LIST_SIZE: i32 = 384;
export const MAX_LISTS: i32 = 16;
export const UNESCAPED: i32 = LISTS + MAX_LISTS * LIST_SIZE;
/** Members of elements that are located, whatever they are. */
export const FIELDS: i32 = UNESCAPED + NAME_SIZE;
export const MAX_FIELDS: i32 = 8;
/** Bytes per field of an element: where its value starts and ends, or nothing if it has none, and how long it is meant, if it is a string. */
export const FIELD_SIZE: i32 = 12;
/** Those of the current element. */
export const PLACES: i32 = FIELDS + MAX_FIELDS * NAME_SIZE;
/** For every sixty-four levels, one word of what the levels around them are. */
export const OUTER: i32 = PLACES + MAX_FIELDS * FIELD_SIZE;
/**
 * For each byte of ASCII, sixteen of it, and behind them other constants. What a loop compares with is loaded from here: a constant is
 * put together anew whenever it is used, in as many steps as it takes to compare.
 */
export const LANES: i32 = 8192;
export const PAIR_OF_HEADS: i32 = LANES + 128 * 16;
export const LETTERS: i32 = PAIR_OF_HEADS + 16;
export const ROWS: i32 = LETTERS + 16;
export const MAX_ROWS: i32 = 4096;
/** Bytes per element: where it starts and ends, where its text starts and ends, and how long that is meant; its fields follow. */
export const ROW_SIZE: i32 = 20;
export const BLANKS: i32 = ROWS + MAX_ROWS * ROW_SIZE;
export const WINDOW: i32 = BLANKS + MAX_ROWS * 4;
/** There is room after the window, because reads of sixteen bytes may run past its end. */
export const WINDOW_SIZE: i32 = 65536;
export const HALVES: i32 = WINDOW + WINDOW_SIZE + 64;
export const MAX_HALVES: i32 = 8192;
/** How many of 64 bytes there may be. */
export const MAX_LONE: i32 = 11;

/** Fills the tables; called once. */
export function prepare(): void {
  for (let byte: i32 = 0; byte < 256; byte += 1) store<u8>(HEX + byte, 0xff);
  for (let digit: i32 = 0; digit < 10; digit += 1) store<u8>(HEX + 0x30 + digit, digit as u8);
  for (let digit: i32 = 10; digit < 16; digit += 1) {
    store<u8>(HEX + 0x41 + digit - 10, digit as u8);
    store<u8>(HEX + 0x61 + digit - 10, digit as u8);
  }
  for (let byte: i32 = 0; byte < 128; byte += 1) {
    v128.store(LANES + 16 * byte, i8x16.splat(byte as u8));
  }
  // The bytes that every two escapes of six bytes have in common.
  v128.store(PAIR_OF_HEADS, i8x16(0x5c, 0x75, 0, 0, 0, 0, 0x5c, 0x75, 0, 0, 0, 0, 0, 0, 0, 0));
  // By their lower halves, what makes an escape with a backslash.
  v128.store(
    LETTERS,
    i8x16(-1, -1, 0x72, -1, 0x74, -1, 0x66, -1, -1, -1, -1, -1, 0x5c, -1, 0x6e, 0x2f),
  );
  store<u8>(ESCAPES + 0x22, 1); // "
  store<u8>(ESCAPES + 0x5c, 1); // \
  store<u8>(ESCAPES + 0x2f, 1); // /
  store<u8>(ESCAPES + 0x62, 1); // b
  store<u8>(ESCAPES + 0x66, 1); // f
  store<u8>(ESCAPES + 0x6e, 1); // n
  store<u8>(ESCAPES + 0x72, 1); // r
  store<u8>(ESCAPES + 0x74, 1); // t
  for (let byte: i32 = 0; byte <= 0x22; byte += 1) markBlank(byte);
  markBlank(0x5c);
  for (let byte: i32 = 0x80; byte < 0x100; byte += 1) {
    // What is beyond ASCII begins with one of these, if it is white space.
    if (byte == 0xc2 || (byte >= 0xe1 && byte <= 0xe3) || byte == 0xef) markBlank(byte);
  }
}

function markBlank(byte: i32): void {
  store<u8>(ESCAPES + byte, load<u8>(ESCAPES + byte) | MAY_BE_BLANK);
}
