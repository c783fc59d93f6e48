/** One token after the other: what JSON allows next, and what that is to a list. */
import { isTextless, mayBeOthers, walkKey } from './keys';
import { isDigit } from './lanes';
import { FIELD_SIZE, MAX_ROWS, OUTER, ROW_SIZE } from './memory';
import { clearFields, clearText, note, noteField, openFieldAt } from './notes';
import { walkNumber, walkNumbers, walkWord } from './numbers';
import {
  AFTER_VALUE,
  COLON,
  ELEMENT,
  FAILED,
  FIRST_KEY,
  FIRST_VALUE,
  IN_STRING,
  KEY,
  NOTHING,
  VALUE,
  WORD_LEVELS,
  deepest,
  depth,
  fieldStart,
  fieldedList,
  fields,
  found,
  hasImages,
  hasObjects,
  imageIsNext,
  inList,
  isBlank,
  isText,
  lacksTexts,
  listDepth,
  listEnd,
  listStart,
  listValues,
  longFrom,
  maxRows,
  nextField,
  objects,
  openField,
  reach,
  shift,
  sourceStart,
  spared,
  state,
  stepIsNext,
  taken,
  textEnd,
  textIsBlank,
  textIsNext,
  textStart,
  values,
  waiting,
  walkComma,
  wanted,
  wantedFields,
  within,
} from './state';
import { walkStrings } from './strings';

/** Deeper text is left to the plain parser. */
const MAX_DEPTH: i32 = 256;

/** Returns the position after the token at `at`, or `at` if the end cuts the token. */
export function walkToken(byte: u8, at: i32, end: i32): i32 {
  switch (state) {
    case FIRST_VALUE:
      if (byte == 0x5d) return close(at, end);
    // Falls through, as what is nothing for there is a value by itself.
    case ELEMENT:
      if (byte == 0x22 ? waiting == 0 : byte <= 0x39) {
        const next = walkElements(byte, at, end);
        if (next != at) return next;
      }
    case VALUE:
      return walkValue(byte, at, end);
    case FIRST_KEY:
      if (byte == 0x7d) return close(at, end);
      return walkKey(byte, at, end);
    case KEY:
      return walkKey(byte, at, end);
    case COLON:
      if (byte != 0x3a) return FAILED;
      state = VALUE;
      return at + 1;
    case AFTER_VALUE: {
      const inObject = (objects & 1) == 1;
      if (byte == 0x2c) {
        values += 1;
        state = inObject ? KEY : ELEMENT;
        return at + 1;
      }
      if (byte != (inObject ? 0x7d : 0x5d)) return FAILED;
      return close(at, end);
    }
    default:
      return FAILED;
  }
}

/** In an array, many of the same kind may follow a short string or a number. Returns `at` if this is nothing for here. */
function walkElements(byte: u8, at: i32, end: i32): i32 {
  const isElement = inList && depth == listDepth;
  if (byte == 0x22) return isElement && fields > 0 ? at : walkStrings(at, end, isElement);
  if (isElement) return mayBeOthers() ? at : FAILED;
  return walkNumbers(at, end);
}

function walkValue(byte: u8, at: i32, end: i32): i32 {
  const isElement = inList && depth == listDepth;
  const isWanted = wanted >= 0;
  if (byte == 0x22) {
    if (isWanted || stepIsNext) return FAILED;
    if (imageIsNext) {
      if (at + 1 == end) return at;
      if (load<u8>(at, 1) != 0x22) hasImages = true;
    }
    if (isElement) {
      sourceStart = at + shift;
      clearFields();
    }
    isText = isElement || textIsNext || nextField >= 0;
    isBlank = isText;
    if (isText || longFrom > 0) textStart = at + shift;
    spared = 0;
    state = IN_STRING;
    imageIsNext = false;
    return at + 1;
  }
  // It is no image; or the end cuts it, and it is no text when it is looked at again.
  imageIsNext = false;
  // What is no string is no text.
  if (textIsNext) {
    textIsNext = false;
    lacksTexts = true;
  }
  // The list, its elements and what is around their texts may only be values of certain kinds.
  if (byte == 0x7b) {
    if (isWanted) {
      // The name of a list may be that of the member that another one is in, too.
      if (within == 0) return FAILED;
      wanted = -1;
    }
    if (isElement) {
      hasObjects = true;
      sourceStart = at + shift;
      clearText();
      textIsBlank = fields > 0;
      taken = 0;
      clearFields();
    }
    if (nextField >= 0) openFieldAt(at);
    if (stepIsNext) {
      stepIsNext = false;
      reach += 1;
    }
    return open(at, true);
  }
  if (stepIsNext || (isElement && !mayBeOthers())) return FAILED;
  if (isElement) {
    sourceStart = at + shift;
    clearText();
    textIsBlank = false;
  }
  if (byte == 0x5b) {
    if (isWanted) {
      found = wanted;
      wanted = -1;
      fields = found == fieldedList ? wantedFields : 0;
      maxRows = (MAX_ROWS * ROW_SIZE) / (ROW_SIZE + fields * FIELD_SIZE);
      inList = true;
      listStart = at + shift;
      listDepth = depth + 1;
      listValues = values + 1;
    }
    if (nextField >= 0) openFieldAt(at);
    return open(at, false);
  }
  if (isWanted) return FAILED;
  // A bare number or word is left to the plain parser.
  if (depth == 0) return FAILED;
  const next = byte == 0x2d || isDigit(byte) ? walkNumber(at, end) : walkWord(byte, at, end);
  if (next > at) {
    if (nextField >= 0) {
      // The value null is none.
      if (byte != 0x6e) noteField(nextField, at + shift, next + shift, 0);
      nextField = -1;
    }
    if (isElement) note(next + shift);
    return walkComma(next, end);
  }
  return next;
}

function open(at: i32, isObject: bool): i32 {
  if (depth == MAX_DEPTH) return FAILED;
  if ((depth & (WORD_LEVELS - 1)) == 0) store<u64>(wordAt(depth), objects);
  depth += 1;
  if (depth > deepest) deepest = depth;
  values += 1;
  objects = (objects << 1) | (isObject ? 1 : 0);
  state = isObject ? FIRST_KEY : FIRST_VALUE;
  return at + 1;
}

function wordAt(level: i32): i32 {
  return OUTER + level / 8;
}

function close(at: i32, end: i32): i32 {
  depth -= 1;
  objects = (depth & (WORD_LEVELS - 1)) == 0 ? load<u64>(wordAt(depth)) : objects >> 1;
  if (inList) {
    if (depth == listDepth) {
      if (textEnd == 0 && fields == 0 && !isTextless()) lacksTexts = true;
      note(at + 1 + shift);
    } else if (depth < listDepth) {
      inList = false;
      listEnd = at + 1 + shift;
      listValues = values - listValues;
    } else if (depth == listDepth + reach) {
      reach -= 1;
    } else if (openField >= 0 && depth == listDepth + 1 + reach) {
      noteField(openField, fieldStart, at + 1 + shift, 0);
      openField = -1;
    }
  }
  if (depth > 0) return walkComma(at + 1, end);
  state = NOTHING;
  return at + 1;
}
