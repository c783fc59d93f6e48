/** Memory: tables, the form, findings, the window, what is written. The host reads these numbers from the exports. */

/** Powers of ten. */
export const TENS: i32 = 976;
/** What is around the numbers of a row that is written. */
export const HEAD: i32 = 1816;
export const MIDDLE: i32 = 1832;
/** Powers of ten that a double holds exactly. */
export const EXACT: i32 = 1856;
export const MAX_EXACT_SCALE: i32 = 22;
/** For each part of a row around its numbers, where it begins and ends in `TEXT`. */
export const PARTS: i32 = 1024;
export const MAX_COLUMNS: i32 = 16;
/** For each member of the first row: where its key and its value begin and end; the value of a number begins at 0. */
export const MEMBERS: i32 = 1280;
/** The first row but for its numbers. */
export const TEXT: i32 = 2048;
/** For each number in turn, its value; and where it begins and ends in the window. */
export const NUMBERS: i32 = 4096;
export const MAX_NUMBERS: i32 = 16384;
export const PLACES: i32 = NUMBERS + MAX_NUMBERS * 8;
export const PLACE_SIZE: i32 = 4;
export const WINDOW: i32 = PLACES + MAX_NUMBERS * PLACE_SIZE;
/** There is room after it, because reads of sixteen bytes may run past its end. */
export const WINDOW_SIZE: i32 = 65535;
const ROOM: i32 = 65;
export const WRITTEN: i32 = WINDOW + WINDOW_SIZE + ROOM;

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
