/** Notes the elements of the list, their texts and fields, where the host reads them. */
import { BLANKS, FIELD_SIZE, HALVES, PLACES, ROWS, ROW_SIZE } from './memory';
import {
  WORD_LEVELS,
  blanks,
  count,
  depth,
  fieldStart,
  fields,
  halves,
  isText,
  longFrom,
  nextField,
  objects,
  openField,
  rows,
  shift,
  sourceStart,
  spared,
  textEnd,
  textIsBlank,
  textMeant,
  textStart,
} from './state';

export function clearText(): void {
  textStart = 0;
  textEnd = 0;
  textMeant = 0;
}

export function clearFields(): void {
  for (let place: i32 = 0; place < fields * FIELD_SIZE; place += 4) store<i32>(PLACES + place, 0);
}

export function openFieldAt(at: i32): void {
  openField = nextField;
  fieldStart = at + shift;
  nextField = -1;
}

/** Notes where the value of a field is. Where there are several, each has its name before it, and none is blank. */
export function noteField(field: i32, start: i32, end: i32, meant: i32): void {
  const place = PLACES + field * FIELD_SIZE;
  store<i32>(place, start);
  store<i32>(place, end, 4);
  store<i32>(place, meant, 8);
  textIsBlank = false;
}

/** Notes the element that ends at `sourceEnd`. */
export function note(sourceEnd: i32): void {
  const row = ROWS + rows * (ROW_SIZE + fields * FIELD_SIZE);
  store<i32>(row, sourceStart);
  store<i32>(row, sourceEnd, 4);
  store<i32>(row, textStart, 8);
  store<i32>(row, textEnd, 12);
  store<i32>(row, textMeant, 16);
  for (let place: i32 = 0; place < fields * FIELD_SIZE; place += 4) {
    store<i32>(row + place, load<i32>(PLACES + place), ROW_SIZE);
  }
  rows += 1;
  if (textIsBlank) {
    store<i32>(BLANKS + blanks * 4, count);
    blanks += 1;
  }
  count += 1;
}

/** How many bytes what the string means has in UTF-8, of which the closing quote is at `at`. */
export function meantUpTo(at: i32): i32 {
  return at + shift - textStart - 1 - spared;
}

/** Notes the string that ends at `stringEnd`, if it is long and in an array. */
export function noteLong(stringEnd: i32): void {
  if (stringEnd - textStart < longFrom || (~objects & levels()) == 0) return;
  sourceStart = textStart;
  textEnd = stringEnd;
  textIsBlank = false;
  note(stringEnd);
}

/** A bit for each of the innermost levels that are open. */
function levels(): u64 {
  return depth >= WORD_LEVELS ? ~(0 as u64) : ((1 as u64) << depth) - 1;
}

/** Notes the halves of pairs whose first digits are at these of the 64 bytes at `at`, if they are in a text. */
export function noteHalves(digits: u64, at: i32): void {
  if (!isText) return;
  for (let left = digits; left != 0; left &= left - 1) {
    store<i32>(HALVES + halves * 4, at + (ctz(left) as i32) - 2 + shift);
    halves += 1;
  }
}
