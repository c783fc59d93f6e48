/** Keys: which of them are names of lists, and which lead to the text or the fields of an element. */
import {
  FIELDS,
  IMAGE,
  LISTS,
  LIST_SIZE,
  MAX_STEPS,
  NAME,
  NAME_SIZE,
  STEPS,
  UNESCAPED,
  WITHIN,
} from './memory';
import {
  COLON,
  FAILED,
  VALUE,
  beforeEnd,
  beforeStart,
  behindSpace,
  blanks,
  count,
  depth,
  fields,
  found,
  halves,
  hasImages,
  hasObjects,
  hasWideNames,
  imageIsNext,
  inList,
  isText,
  keyStart,
  lacksTexts,
  listDepth,
  listEnd,
  lists,
  met,
  nextField,
  reach,
  rows,
  shift,
  state,
  stepIsNext,
  taken,
  textIsNext,
  wanted,
  within,
} from './state';
import { findSpecial, hexAt, walkEscapes } from './text';

export function walkKey(byte: u8, at: i32, end: i32): i32 {
  if (byte != 0x22) return FAILED;
  isText = false;
  const start = at + 1;
  let next = start;
  let isEscaped = false;
  for (;;) {
    next = findSpecial(next, end);
    if (next >= end) return at;
    const special = load<u8>(next);
    if (special == 0x22) break;
    if (special != 0x5c) return FAILED;
    isEscaped = true;
    const behind = walkEscapes(next, end);
    if (behind == FAILED) return FAILED;
    if (behind < end && load<u8>(behind) == 0x5c) return at;
    next = behind;
  }
  // Only names of lists, and of what leads to texts, are asked for.
  const isRead = isEscaped && lists > 0;
  const length = isRead ? unescape(start, next) : next - start;
  const from = isRead ? UNESCAPED : start;
  if (depth == 1) {
    within = listsIn(from, length);
    // A second member of that name: this is not the place to decide which one counts.
    if ((within & met) != 0) return FAILED;
    met |= within;
    if (!noteList(from, length, 0, at)) return FAILED;
  } else if (depth == 2 && within != 0 && !inList) {
    if (!noteList(from, length, within, at)) return FAILED;
  } else if (inList && depth == listDepth + 1 + reach) {
    if (!(areFieldsHere() ? isOfFields(from, length) : isOfElement(from, length))) return FAILED;
  }
  // The same as with commas.
  const isColon = next + 1 < end && load<u8>(next, 1) == 0x3a;
  state = isColon ? VALUE : COLON;
  return isColon ? behindSpace(next + 2, end) : next + 1;
}

/**
 * Writes what a key with escapes means to `UNESCAPED`, as far as a name could be as long; returns how many bytes that are. No
 * name has characters beyond ASCII: in escapes, all of these read as one that is no character.
 */
function unescape(start: i32, end: i32): i32 {
  let at = start;
  let length: i32 = 0;
  while (at < end && length < NAME_SIZE) {
    let byte: i32 = load<u8>(at);
    if (byte != 0x5c) {
      at += 1;
    } else if (load<u8>(at, 1) == 0x75) {
      const unit = hexAt(at + 2);
      byte = unit < 0x80 ? unit : 0xff;
      at += 6;
    } else {
      byte = meaningOf(load<u8>(at, 1));
      at += 2;
    }
    store<u8>(UNESCAPED + length, byte as u8);
    length += 1;
  }
  return length;
}

/** The character that a letter behind a backslash stands for. */
function meaningOf(letter: u8): i32 {
  switch (letter) {
    case 0x62: // b
      return 0x08;
    case 0x66: // f
      return 0x0c;
    case 0x6e: // n
      return 0x0a;
    case 0x72: // r
      return 0x0d;
    case 0x74: // t
      return 0x09;
    default:
      return letter;
  }
}

/** The lists in the member of the root with this name, one bit for each. */
function listsIn(start: i32, length: i32): u32 {
  let bits: u32 = 0;
  for (let list: i32 = 0; list < lists; list += 1) {
    if (length > 0 && isName(nameOf(list, WITHIN), start, length)) bits |= 1 << list;
  }
  return bits;
}

/**
 * Notes whether a key is the name of a list: one of those `among`, or of those in the root if that is none. False if it is
 * a second one of another name: whether that counts, or is an error, is not decided here.
 */
function noteList(start: i32, length: i32, among: u32, at: i32): bool {
  wanted = -1;
  for (let list: i32 = 0; list < lists; list += 1) {
    const isHere = among == 0 ? load<u8>(nameOf(list, WITHIN)) == 0 : ((among >> list) & 1) == 1;
    if (!isHere || !isName(nameOf(list, NAME), start, length)) continue;
    if (found >= 0 && !forget(list)) return false;
    wanted = list;
    keyStart = at + shift;
    return true;
  }
  return true;
}

/** Forgets the list that was found where one of that name follows; false if that is another one, or it is the third. */
function forget(list: i32): bool {
  if (list != found || beforeEnd > 0) return false;
  beforeStart = keyStart;
  beforeEnd = listEnd;
  found = -1;
  count = 0;
  rows = 0;
  blanks = 0;
  halves = 0;
  hasObjects = false;
  lacksTexts = false;
  hasImages = false;
  return true;
}

/** Whether the elements of the list are only located, whatever is in them. */
export function isTextless(): bool {
  return load<u8>(nameOf(found, STEPS)) == 0;
}

/** Whether elements may be other than strings and objects: nobody looks for anything in them. */
export function mayBeOthers(): bool {
  return fields == 0 && isTextless();
}

/** Whether the walk is where the fields of an element are: in it, or in the object to which the steps lead. */
function areFieldsHere(): bool {
  return fields > 0 && (reach == MAX_STEPS || load<u8>(nameOf(found, STEPS + reach)) == 0);
}

/** Notes whether a key leads to an element's text, or to its fields. False if it is not the first of its name, or may not be there. */
function isOfElement(start: i32, length: i32): bool {
  if (isTextless()) return true;
  if (isName(nameOf(found, STEPS + reach), start, length)) {
    const bit: u32 = 1 << reach;
    if ((taken & bit) != 0) return false;
    taken |= bit;
    const isLast = reach + 1 == MAX_STEPS || load<u8>(nameOf(found, STEPS + reach + 1)) == 0;
    if (isLast && fields == 0) textIsNext = true;
    else stepIsNext = true;
    return true;
  }
  const image = nameOf(found, IMAGE);
  imageIsNext = reach == 0 && load<u8>(image) != 0 && isName(image, start, length);
  return true;
}

/** Notes whether a key is that of a field. False if it is not the first of its name, or may be one for all that is known of it. */
function isOfFields(start: i32, length: i32): bool {
  for (let field: i32 = 0; field < fields; field += 1) {
    if (!isName(FIELDS + field * NAME_SIZE, start, length)) continue;
    const bit: u32 = 1 << (MAX_STEPS + field);
    if ((taken & bit) != 0) return false;
    taken |= bit;
    nextField = field;
    return true;
  }
  if (!hasWideNames || start != UNESCAPED) return true;
  for (let at = start; at < start + length; at += 1) if (load<u8>(at) == 0xff) return false;
  return true;
}

/** Where a name of a list begins. */
function nameOf(list: i32, name: i32): i32 {
  return LISTS + list * LIST_SIZE + name * NAME_SIZE;
}

function isName(name: i32, start: i32, length: i32): bool {
  if (load<u8>(name) != length) return false;
  let at: i32 = 0;
  while (at < length && load<u8>(name + at, 1) == load<u8>(start + at)) at += 1;
  return at == length;
}
