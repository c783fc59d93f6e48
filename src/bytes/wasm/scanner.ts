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

// Memory: tables, names, findings, window. The host reads these numbers from the exports.
const HEX: i32 = 0;
/** For each byte, whether it makes an escape, and whether white space in a text may begin with it. */
const ESCAPES: i32 = 256;
const IS_ESCAPE: u8 = 1;
const MAY_BE_BLANK: u8 = 2;
export const LISTS: i32 = 512;
/** Bytes per name: its length, then the name; none is as long as nothing. */
export const NAME_SIZE: i32 = 64;
/** The members that lead to an element's text, at most. */
export const MAX_STEPS: i32 = 3;
// Of a list: the member that it is in, its name, the steps to an element's text, and a member that is an image if it is a text with anything in it.
const WITHIN: i32 = 0;
const NAME: i32 = 1;
const STEPS: i32 = 2;
const IMAGE: i32 = 5;
/** Bytes per list. */
export const LIST_SIZE: i32 = 384;
export const MAX_LISTS: i32 = 16;
const UNESCAPED: i32 = LISTS + MAX_LISTS * LIST_SIZE;
/** Members of elements that are located, whatever they are. */
export const FIELDS: i32 = UNESCAPED + NAME_SIZE;
export const MAX_FIELDS: i32 = 8;
/** Bytes per field of an element: where its value starts and ends, or nothing if it has none, and how long it is meant, if it is a string. */
const FIELD_SIZE: i32 = 12;
/** Those of the current element. */
const PLACES: i32 = FIELDS + MAX_FIELDS * NAME_SIZE;
/** For every sixty-four levels, one word of what the levels around them are. */
const OUTER: i32 = PLACES + MAX_FIELDS * FIELD_SIZE;
/**
 * For each byte of ASCII, sixteen of it, and behind them other constants. What a loop compares with is loaded from here: a constant is
 * put together anew whenever it is used, in as many steps as it takes to compare.
 */
const LANES: i32 = 8192;
const PAIR_OF_HEADS: i32 = LANES + 128 * 16;
const LETTERS: i32 = PAIR_OF_HEADS + 16;
export const ROWS: i32 = LETTERS + 16;
export const MAX_ROWS: i32 = 4096;
/** Bytes per element: where it starts and ends, where its text starts and ends, and how long that is meant; its fields follow. */
const ROW_SIZE: i32 = 20;
export const BLANKS: i32 = ROWS + MAX_ROWS * ROW_SIZE;
export const WINDOW: i32 = BLANKS + MAX_ROWS * 4;
/** There is room after the window, because reads of sixteen bytes may run past its end. */
export const WINDOW_SIZE: i32 = 65536;
export const HALVES: i32 = WINDOW + WINDOW_SIZE + 64;
const MAX_HALVES: i32 = 8192;
/** How many of 64 bytes there may be. */
const MAX_LONE: i32 = 11;

/** `run` returns it for text that it leaves to the plain parser. */
const FAILED: i32 = -1;

// What may come next.
const VALUE: i32 = 0;
const FIRST_VALUE: i32 = 1;
const KEY: i32 = 2;
const FIRST_KEY: i32 = 3;
const COLON: i32 = 4;
const AFTER_VALUE: i32 = 5;
const IN_STRING: i32 = 6;
const NOTHING: i32 = 7;
/** A value in an array, behind a comma. */
const ELEMENT: i32 = 8;

/** Deeper text is left to the plain parser. */
const MAX_DEPTH: i32 = 256;
/** Each level takes one bit of a word. */
const WORD_LEVELS: i32 = 64;

/** How many strings may end in 64 bytes. */
const MAX_SHORT: i32 = 32;
/**
 * Behind a string of fewer bytes others are taken to be short, too. One of more than `LONG` among these is walked over by itself, and
 * so many behind it: strings of 512 bytes, which are noted for their length, are always.
 */
const SHORT: i32 = 48;
const LONG: i32 = 160;
const WAIT: i32 = 8;

/** Every second lane: adding to a run of backslashes carries through it, and tells by this whether it is odd. */
const ODD_LANES: u64 = 0xaaaaaaaaaaaaaaaa;
/** The `u` of each of ten escapes of six bytes. */
const UNIT_LANES: u64 = 0x0082082082082082;
/** Where the `u` of an escape that reaches beyond 64 bytes is. */
const LAST_LANES: u64 = 0xf000000000000000;
const LAST_LANE: u64 = 0x8000000000000000;

/*
 * `state` says what JSON allows next. Where the walk is with regard to a list is in the globals below, each set by a key or a bracket, and
 * used up by the value that follows:
 *
 *   wanted       the key was the name of a list:    [ begins it (`inList`);  { may have another list in it;  else FAILED
 *   inList       until depth < `listDepth`; whatever begins at depth == `listDepth` is an element:
 *                  a string is noted as a row at its end, an object (or what `mayBeOthers` lets in) when it closes
 *   in an element that is an object, at depth == `listDepth` + 1 + `reach`, the key decides what its value is:
 *     stepIsNext   a step on the way to the text:   { adds one to `reach`, until it closes;  else FAILED
 *     textIsNext   the last step:                   a string is the element's text;  else `lacksTexts`
 *     imageIsNext  an image beside the text:        a string with anything in it, `hasImages`
 *     nextField    a field:                         noted at its end; what has brackets is `openField` until it closes
 *
 * FAILED leaves all of the text to the plain parser.
 */
let state: i32 = VALUE;
let depth: i32 = 0;
let deepest: i32 = 0;
/** Whether each of the innermost levels is an object; the last one is the lowest bit. */
let objects: u64 = 0;
/** Added to an offset in memory, gives the offset in the text. */
let shift: i32 = 0;
let lists: i32 = 0;
/** Which of the lists is in the text; -1 until one is found. */
let found: i32 = -1;
/** Whose name the last key is; -1 if no list's. */
let wanted: i32 = -1;
/** One bit for each list: whether it is in the member of the root that the walk is in. */
let within: u32 = 0;
/** The same for all members so far. */
let met: u32 = 0;
let inList: bool = false;
/** Of the elements. */
let listDepth: i32 = 0;
let keyStart: i32 = 0;
let listStart: i32 = 0;
let listEnd: i32 = 0;
let count: i32 = 0;
let rows: i32 = 0;
let blanks: i32 = 0;
let halves: i32 = 0;
let hasObjects: bool = false;
/** Whether an element is an object without a text. */
let lacksTexts: bool = false;
let hasImages: bool = false;
/** The first of two lists of the same name: the last one counts. */
let beforeStart: i32 = 0;
let beforeEnd: i32 = 0;
/** Commas, arrays and objects: about as many as there are values. */
let values: i32 = 0;
/** Those of the list; while the walk is in it, those before it. */
let listValues: i32 = 0;
// The current element.
let sourceStart: i32 = 0;
let textStart: i32 = 0;
let textEnd: i32 = 0;
let textMeant: i32 = 0;
/** How many of the steps to the text lead to where the walk is. */
let reach: i32 = 0;
/** One bit for each step that the element has, and for each field. */
let taken: u32 = 0;
let stepIsNext: bool = false;
let textIsNext: bool = false;
let imageIsNext: bool = false;
let textIsBlank: bool = false;
/** Of which list the fields are, and how many are asked for there. */
let fieldedList: i32 = 0;
let wantedFields: i32 = 0;
/** How many the list has that is found, whether the name of one has other characters than ASCII, and how many rows there is room for. */
let fields: i32 = 0;
let hasWideNames: bool = false;
let maxRows: i32 = MAX_ROWS;
/** The field whose value is next; -1 for none. */
let nextField: i32 = -1;
/** The field that is an object or a list which has not ended; -1 for none. */
let openField: i32 = -1;
let fieldStart: i32 = 0;
// The current string.
let isText: bool = false;
/** Whether it is a text, and only white space so far. */
let isBlank: bool = false;
/** How many bytes its escapes take beyond those of what they mean, in UTF-8. */
let spared: i32 = 0;
/** From how many bytes on strings in arrays are noted; 0 for none. */
let longFrom: i32 = 0;
/** How many strings are walked over one by one before short ones are looked at many at a time. */
let waiting: i32 = 1;

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

/**
 * Begins a text. There are `howMany` lists at `LISTS`. Without one, strings of at least `leastLong` bytes that are in an
 * array are noted as rows; with 0, none. The names of `howManyFields` are at `FIELDS`: those are fields of the elements of
 * `list`, which have no texts.
 */
export function begin(howMany: i32, leastLong: i32, howManyFields: i32, list: i32): void {
  longFrom = leastLong;
  waiting = 1;
  fieldedList = list;
  wantedFields = howManyFields;
  fields = 0;
  maxRows = MAX_ROWS;
  hasWideNames = false;
  for (let field: i32 = 0; field < wantedFields; field += 1) {
    const name = FIELDS + field * NAME_SIZE;
    for (let at: i32 = load<u8>(name); at > 0; at -= 1) {
      if (load<u8>(name + at) >= 0x80) hasWideNames = true;
    }
  }
  nextField = -1;
  openField = -1;
  lacksTexts = false;
  state = VALUE;
  depth = 0;
  deepest = 0;
  objects = 0;
  lists = howMany;
  found = -1;
  wanted = -1;
  within = 0;
  met = 0;
  inList = false;
  hasObjects = false;
  reach = 0;
  stepIsNext = false;
  textIsNext = false;
  imageIsNext = false;
  count = 0;
  values = 0;
  listValues = 0;
  hasImages = false;
  beforeStart = 0;
  beforeEnd = 0;
}

/** Whether the text may end here. */
export function isComplete(): bool {
  return state == NOTHING;
}
export function foundList(): i32 {
  return found;
}
export function foundKeyStart(): i32 {
  return keyStart;
}
export function foundStart(): i32 {
  return listStart;
}
export function foundEnd(): i32 {
  return listEnd;
}
/** How many fields each of its rows has. */
export function foundFields(): i32 {
  return fields;
}
export function foundObjects(): bool {
  return hasObjects;
}
/** Whether the list has objects without a text. */
export function foundTextless(): bool {
  return lacksTexts;
}
/** Elements of the list so far. */
export function elements(): i32 {
  return count;
}
/** Rows that the last `run` has noted. */
export function notedRows(): i32 {
  return rows;
}
/** Indexes of blank elements that the last `run` has noted. */
export function notedBlanks(): i32 {
  return blanks;
}
/** Places of lone halves of surrogate pairs in texts that the last `run` has noted. */
export function notedHalves(): i32 {
  return halves;
}
/** Values outside the list, once the walk is over. */
export function otherValues(): i32 {
  return values - listValues;
}
/** All values so far. */
export function allValues(): i32 {
  return values;
}
/** How many levels the text has so far. */
export function levelsOfAll(): i32 {
  return deepest;
}
/** Whether elements of the list are images, too. */
export function foundImages(): bool {
  return hasImages;
}
/** Where a list of the same name before it is, key included; what was noted of that counts no more. Both are 0 if there is none. */
export function foundBefore(): i32 {
  return beforeStart;
}
export function foundBeforeEnd(): i32 {
  return beforeEnd;
}

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

/** Returns the position after the token at `at`, or `at` if the end cuts the token. */
function walkToken(byte: u8, at: i32, end: i32): i32 {
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

function clearText(): void {
  textStart = 0;
  textEnd = 0;
  textMeant = 0;
}

function clearFields(): void {
  for (let place: i32 = 0; place < fields * FIELD_SIZE; place += 4) store<i32>(PLACES + place, 0);
}

function openFieldAt(at: i32): void {
  openField = nextField;
  fieldStart = at + shift;
  nextField = -1;
}

/** Notes where the value of a field is. Where there are several, each has its name before it, and none is blank. */
function noteField(field: i32, start: i32, end: i32, meant: i32): void {
  const place = PLACES + field * FIELD_SIZE;
  store<i32>(place, start);
  store<i32>(place, end, 4);
  store<i32>(place, meant, 8);
  textIsBlank = false;
}

/** Behind a value a comma follows nearly always, and at once, and behind that a space if Python wrote it. */
function walkComma(at: i32, end: i32): i32 {
  if (at == end || load<u8>(at) != 0x2c) {
    state = AFTER_VALUE;
    return at;
  }
  values += 1;
  state = (objects & 1) == 1 ? KEY : ELEMENT;
  return behindSpace(at + 1, end);
}

function behindSpace(at: i32, end: i32): i32 {
  return at < end && load<u8>(at) == 0x20 ? at + 1 : at;
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

/** Notes the element that ends at `sourceEnd`. */
function note(sourceEnd: i32): void {
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

function walkKey(byte: u8, at: i32, end: i32): i32 {
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
function isTextless(): bool {
  return load<u8>(nameOf(found, STEPS)) == 0;
}

/** Whether elements may be other than strings and objects: nobody looks for anything in them. */
function mayBeOthers(): bool {
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

/** Continues in a string that is a value, until after its end or as far as the window goes. */
function walkString(from: i32, end: i32): i32 {
  let at = from;
  if (isBlank) {
    if (mayBeBlank(at)) at = walkBlanks(at, end);
    else isBlank = false;
    if (isBlank && (at >= end || load<u8>(at) != 0x22)) return at;
  }
  // Many strings are short.
  const lanes = specialsAt(at);
  const special = at + ctz(lanes);
  if (lanes != 0 && special < end && load<u8>(special) == 0x22) at = special;
  else at = walkText(lanes == 0 ? at + 16 : at, end);
  waiting = at - from < SHORT ? max(waiting - 1, 0) : max(waiting, 1);
  // At the end of the window, or before an escape that it cuts.
  if (at == FAILED || at >= end || load<u8>(at) != 0x22) return at;
  if (nextField >= 0) {
    noteField(nextField, textStart, at + 1 + shift, meantUpTo(at));
    textIsBlank = isBlank && fields == 1;
    nextField = -1;
  } else if (isText) {
    textIsNext = false;
    textIsBlank = isBlank;
    textEnd = at + 1 + shift;
    textMeant = meantUpTo(at);
    if (depth == listDepth) note(textEnd);
  } else if (depth == 0) {
    state = NOTHING;
    return at + 1;
  } else if (longFrom > 0) {
    noteLong(at + 1 + shift);
  }
  return walkComma(at + 1, end);
}

/**
 * Walks over strings of an array that follow one another, from the quote of the first one on, sixty-four bytes at a time: which
 * bytes are in strings follows from the quotes, and outside there may only be a comma behind each, and white space behind that.
 * Returns where something else comes, or the beginning of a string that is not for here: it is long, is cut, or has escapes of
 * six bytes.
 */
export function walkStrings(from: i32, end: i32, areElements: bool): i32 {
  let at = from;
  let start = from;
  // What is known of the first of the bytes: whether it is in a string (all bits or none), is escaped, is behind a string, and
  // whether a string may begin there (the lowest bit).
  let inside: u64 = 0;
  let escapedFirst: u64 = 0;
  let behindString: u64 = 0;
  let due: u64 = 1;
  // Escapes of the string that is not noted yet, in the bytes before these.
  let escapesBefore: i32 = 0;
  while (at < end && !(areElements && rows + MAX_SHORT > maxRows)) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let quotes = bitsOf(isByte(a, 0x22), isByte(b, 0x22), isByte(c, 0x22), isByte(d, 0x22));
    const slashes = bitsOf(isByte(a, 0x5c), isByte(b, 0x5c), isByte(c, 0x5c), isByte(d, 0x5c));
    const controls = bitsOf(upTo(a, 0x1f), upTo(b, 0x1f), upTo(c, 0x1f), upTo(d, 0x1f));
    const commas = bitsOf(isByte(a, 0x2c), isByte(b, 0x2c), isByte(c, 0x2c), isByte(d, 0x2c));
    let spaces = bitsOf(isByte(a, 0x20), isByte(b, 0x20), isByte(c, 0x20), isByte(d, 0x20));
    if (controls != 0) spaces |= bitsOf(isBreak(a), isBreak(b), isBreak(c), isBreak(d));
    let stops = behindEnd(at, end);
    let escapes: u64 = 0;
    if ((slashes | escapedFirst) != 0) {
      const heads = slashes & ~escapedFirst;
      const codes = (((heads << 1) | ODD_LANES) - heads) ^ ODD_LANES;
      const escaped = (codes ^ heads) | escapedFirst;
      stops |= escaped & ~(quotes | bitsOf(isLetter(a), isLetter(b), isLetter(c), isLetter(d)));
      quotes &= ~escaped;
      escapes = codes & heads;
      escapedFirst = escapes >>> 63;
    }
    const within = parityOf(quotes) ^ inside;
    const opening = quotes & within;
    const closing = quotes & ~within;
    const outside = ~(within | closing);
    const behind = (closing << 1) | behindString;
    const separators = commas & behind & outside;
    const blank = spaces & outside;
    const dues = ((separators | blank) << 1) | due;
    stops |= ((opening | blank) & ~dues) | (outside & ~(separators | blank)) | (controls & within);
    const first = ctz(stops);
    const done = below(first);
    values += popcnt(separators & done) as i32;
    let starts = opening & done;
    let ends = closing & done;
    if (areElements) {
      if (inside == 0) {
        start = at + (ctz(starts) as i32);
        starts &= starts - 1;
      }
      while (ends != 0) {
        const escapesUpTo = popcnt(escapes & (ends - 1) & ~ends) as i32;
        noteShort(start, at + (ctz(ends) as i32), escapesBefore + escapesUpTo);
        escapesBefore = -escapesUpTo;
        ends &= ends - 1;
        start = at + (ctz(starts) as i32);
        starts &= starts - 1;
      }
      escapesBefore += popcnt(escapes) as i32;
    } else if (starts != 0) {
      start = at + 63 - (clz(starts) as i32);
    }
    if (first < 64) {
      inside = (((within << 1) | (inside & 1)) >>> first) & 1;
      behindString = (behind >>> first) & 1;
      at += first as i32;
      break;
    }
    at += 64;
    inside = 0 - (within >>> 63);
    behindString = closing >>> 63;
    due = (separators | blank) >>> 63;
    if (inside != 0 && at - start > LONG) break;
  }
  if (inside == 0) {
    state = behindString == 0 ? ELEMENT : AFTER_VALUE;
    return at;
  }
  waiting = WAIT;
  state = ELEMENT;
  return start;
}

/** The bits below the `first` one that is set; all of them if none is. */
function below(first: u64): u64 {
  return first == 64 ? ~(0 as u64) : ((1 as u64) << first) - 1;
}

/** A bit for each of sixty-four bytes that is behind the end. */
function behindEnd(at: i32, end: i32): u64 {
  return end - at < 64 ? ~(0 as u64) << ((end - at) as u64) : 0;
}

/** For each bit, whether the number of bits that are set up to it is odd. */
function parityOf(bits: u64): u64 {
  let parity = bits ^ (bits << 1);
  parity ^= parity << 2;
  parity ^= parity << 4;
  parity ^= parity << 8;
  parity ^= parity << 16;
  return parity ^ (parity << 32);
}

/** White space that is a control character. */
function isBreak(bytes: v128): v128 {
  return v128.or(v128.or(isByte(bytes, 0x0a), isByte(bytes, 0x0d)), isByte(bytes, 0x09));
}

/** Notes an element that is a string, by the places of its quotes, with so many escapes of two bytes. */
function noteShort(start: i32, last: i32, escapes: i32): void {
  const place = ((start + shift) as u32 as u64) | (((last + 1 + shift) as u32 as u64) << 32);
  const row = ROWS + rows * ROW_SIZE;
  store<u64>(row, place);
  store<u64>(row, place, 8);
  store<i32>(row, last - start - 1 - escapes, 16);
  rows += 1;
  if (mayBeBlank(start + 1)) {
    isBlank = true;
    walkBlanks(start + 1, last + 1);
    if (isBlank) {
      store<i32>(BLANKS + blanks * 4, count);
      blanks += 1;
    }
  }
  count += 1;
}

/** How many bytes what the string means has in UTF-8, of which the closing quote is at `at`. */
function meantUpTo(at: i32): i32 {
  return at + shift - textStart - 1 - spared;
}

/** Notes the string that ends at `stringEnd`, if it is long and in an array. */
function noteLong(stringEnd: i32): void {
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

/**
 * Returns the position of the string's closing quote, of the escape that the end cuts, or the end. Sixty-four bytes are one
 * word of bits of each kind, so that text full of escapes takes hardly longer than other text.
 */
function walkText(from: i32, end: i32): i32 {
  const slash = lanes(0x5c);
  const quote = lanes(0x22);
  const lastControl = lanes(0x1f);
  let at = from;
  while (at + 64 <= end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const slashes = bitsOf(
      i8x16.eq(a, slash),
      i8x16.eq(b, slash),
      i8x16.eq(c, slash),
      i8x16.eq(d, slash),
    );
    const quotes = bitsOf(
      i8x16.eq(a, quote),
      i8x16.eq(b, quote),
      i8x16.eq(c, quote),
      i8x16.eq(d, quote),
    );
    const controls = bitsOf(
      isUpTo(a, lastControl),
      isUpTo(b, lastControl),
      isUpTo(c, lastControl),
      isUpTo(d, lastControl),
    );
    if (slashes == 0) {
      const stops = quotes | controls;
      if (stops != 0) return stopAt(at + (ctz(stops) as i32));
      at += 64;
      continue;
    }
    // Where each escape begins, and the character behind each: in a run of backslashes, every second one is escaped.
    const codes = (((slashes << 1) | ODD_LANES) - slashes) ^ ODD_LANES;
    const escapes = codes & slashes;
    const escaped = codes ^ slashes;
    const stops = (quotes & ~escaped) | controls;
    const others = escaped & ~(quotes | bitsOf(isLetter(a), isLetter(b), isLetter(c), isLetter(d)));
    if (others == 0) {
      if (stops != 0) {
        spared += popcnt(escapes & (stops - 1) & ~stops) as i32;
        return stopAt(at + (ctz(stops) as i32));
      }
      spared += popcnt(escapes << 1) as i32;
      // What the last backslash escapes is in the next bytes, which begin with it.
      at += 64 - ((escapes >>> 63) as i32);
      continue;
    }
    if ((others & UNIT_LANES) == UNIT_LANES) {
      const next = walkUnits(at, end);
      if (next > at) {
        at = next;
        continue;
      }
    }
    const units =
      others & bitsOf(isByte(a, 0x75), isByte(b, 0x75), isByte(c, 0x75), isByte(d, 0x75));
    // The first escape that reaches beyond these bytes begins the next.
    const cut = ((units & LAST_LANES) >>> 1) | (escapes & LAST_LANE);
    let size: u64 = cut == 0 ? 64 : ctz(cut);
    let within: u64 = cut == 0 ? ~(0 as u64) : ((1 as u64) << size) - 1;
    let lone: u64 = 0;
    // First digits of halves of pairs, and of characters of at most two bytes, and of one.
    let paired: u64 = 0;
    let two: u64 = 0;
    let one: u64 = 0;
    let heads = units & within;
    const rares = bitsOf(isRare(a), isRare(b), isRare(c), isRare(d));
    const rare = (heads << 1) & rares;
    if (rare != 0) {
      const octals = bitsOf(isOctal(a), isOctal(b), isOctal(c), isOctal(d));
      // The digits of a half begin with a d.
      const ds = rare & ~octals;
      two = rare & octals & (octals >>> 1);
      one = two & (rares >>> 1) & (octals >>> 2);
      if (ds != 0) {
        const surrogates = ds & ~(octals >>> 1);
        const lows = surrogates & (bitsOf(isLow(a), isLow(b), isLow(c), isLow(d)) >>> 1);
        const highs = surrogates & ~lows;
        const late = highs & ~(within >>> 6);
        if (late != 0) {
          size = ctz(late) - 2;
          within = ((1 as u64) << size) - 1;
          heads &= within;
        }
        lone = ((highs & ~(lows >>> 6)) | (lows & ~(highs << 6))) & within;
        paired = surrogates & ~lone;
      }
    }
    const digits = (heads << 1) | (heads << 2) | (heads << 3) | (heads << 4);
    const wrong = digits & ~bitsOf(isHex(a), isHex(b), isHex(c), isHex(d));
    // Not for here: what is no escape, and halves of pairs that there is no more room for.
    let odd = (others & ~units & within) | wrong;
    if (lone != 0 && isText && halves + MAX_LONE > MAX_HALVES) odd |= lone;
    const first = ctz(odd | (stops & within));
    const isOdd = first < 64 && ((odd >>> first) & 1) == 1;
    if (first < 64) {
      within = ((1 as u64) << first) - 1;
      size = first;
    }
    if (isOdd) {
      size = 63 - clz(escapes & within);
      within = ((1 as u64) << size) - 1;
    }
    if (lone != 0) noteHalves(lone & within, at);
    heads &= within;
    // Three bytes instead of six; less where the first digit is a zero, and a half of four for each of a pair.
    spared += (popcnt(escapes & within) + 2 * popcnt(heads)) as i32;
    if (rare != 0) spared += (popcnt((two | paired) & within) + popcnt(one & within)) as i32;
    at += size as i32;
    if (isOdd) {
      const next = walkEscapes(at, end);
      if (next == FAILED || (next < end && load<u8>(next) == 0x5c)) return next;
      at = next;
    } else if (first < 64) {
      return stopAt(at);
    }
  }
  return walkLast(at, end);
}

/** Notes the halves of pairs whose first digits are at these of the 64 bytes at `at`, if they are in a text. */
function noteHalves(digits: u64, at: i32): void {
  if (!isText) return;
  for (let left = digits; left != 0; left &= left - 1) {
    store<i32>(HALVES + halves * 4, at + (ctz(left) as i32) - 2 + shift);
    halves += 1;
  }
}

/** The position behind the escapes `\uXXXX` that come two by two from `from` on, no half of a pair among them. */
function walkUnits(from: i32, end: i32): i32 {
  const pair = v128.load(PAIR_OF_HEADS);
  const toLower = lanes(0x20);
  const zero = lanes(0x30);
  const letterA = lanes(0x61);
  const letterD = lanes(0x64);
  const lastDigit = lanes(9);
  const lastLetter = lanes(5);
  let at = from;
  while (at + 12 <= end) {
    const bytes = v128.load(at);
    const heads = i8x16.bitmask(i8x16.eq(bytes, pair)) & 0b000011000011;
    const lower = v128.or(bytes, toLower);
    const digit = i8x16.sub(bytes, zero);
    const letter = i8x16.sub(lower, letterA);
    const hex = v128.or(isUpTo(digit, lastDigit), isUpTo(letter, lastLetter));
    const digits = i8x16.bitmask(hex) & 0b111100111100;
    if ((heads | digits) != 0b111111111111) break;
    const rares = i8x16.bitmask(v128.or(i8x16.eq(bytes, zero), i8x16.eq(lower, letterD)));
    const rare = rares & 0b000100000100;
    if (rare != 0) {
      const octals = i8x16.bitmask(isOctal(bytes));
      // The digits of a half begin with a d.
      if ((rare & ~octals) != 0) break;
      const two = rare & (octals >>> 1);
      spared += popcnt(two) + popcnt(two & (rares >>> 1) & (octals >>> 2));
    }
    at += 12;
  }
  // Six bytes instead of twelve, where no digit is rare.
  spared += (at - from) / 2;
  return at;
}

/** What the escape of six bytes takes beyond the character that it stands for. */
function sparedBy(unit: i32): i32 {
  return unit < 0x80 ? 5 : unit < 0x800 ? 4 : 3;
}

/** A bit for each byte of the four that is all ones. */
function bitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = (i8x16.bitmask(a) | (i8x16.bitmask(b) << 16)) as u32 as u64;
  const high = (i8x16.bitmask(c) | (i8x16.bitmask(d) << 16)) as u32 as u64;
  return low | (high << 32);
}

function lanes(byte: u8): v128 {
  return v128.load(LANES + 16 * (byte as i32));
}

function isByte(bytes: v128, byte: u8): v128 {
  return i8x16.eq(bytes, lanes(byte));
}

function isLower(bytes: v128, letter: u8): v128 {
  return i8x16.eq(v128.or(bytes, lanes(0x20)), lanes(letter));
}

function upTo(bytes: v128, most: u8): v128 {
  return isUpTo(bytes, lanes(most));
}

function isUpTo(bytes: v128, most: v128): v128 {
  return i8x16.eq(i8x16.min_u(bytes, most), bytes);
}

/** For digits, hexadecimal ones. */
function isOctal(bytes: v128): v128 {
  return i8x16.eq(v128.and(bytes, lanes(0x48)), i8x16.splat(0));
}

/** Whether each may be the first digit of a character that does not take three bytes in UTF-8: a zero or a d. */
function isRare(bytes: v128): v128 {
  return v128.or(isByte(bytes, 0x30), isLower(bytes, 0x64));
}

/** Whether each is the second digit of the second half of a pair, c to f. */
function isLow(bytes: v128): v128 {
  return upTo(i8x16.sub(v128.or(bytes, lanes(0x20)), lanes(0x63)), 3);
}

function isHex(bytes: v128): v128 {
  const letter = i8x16.sub(v128.or(bytes, lanes(0x20)), lanes(0x61));
  return v128.or(upTo(i8x16.sub(bytes, lanes(0x30)), 9), upTo(letter, 5));
}

/** Whether each makes an escape with a backslash alone, as all do but quotes and `b`: no two of them end in the same four bits. */
function isLetter(bytes: v128): v128 {
  return i8x16.eq(i8x16.swizzle(v128.load(LETTERS), v128.and(bytes, lanes(0x0f))), bytes);
}

/** The same for the last few bytes of a window. */
function walkLast(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    at = findSpecial(at, end);
    if (at >= end) return end;
    if (load<u8>(at) != 0x5c) return stopAt(at);
    at = walkEscapes(at, end);
    if (at == FAILED || (at < end && load<u8>(at) == 0x5c)) return at;
  }
  return end;
}

/** The position of a quote; `FAILED` for what may not be in a string. */
function stopAt(at: i32): i32 {
  return load<u8>(at) == 0x22 ? at : FAILED;
}

/** Finds the next quote, backslash or control character; returns `end` or more if there is none. */
function findSpecial(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const lanes = specialsAt(at);
    if (lanes != 0) return at + ctz(lanes);
    at += 16;
  }
  return at;
}

/** A bit for each of the sixteen bytes that is a quote, a backslash or a control character. */
function specialsAt(at: i32): i32 {
  const bytes = v128.load(at);
  return i8x16.bitmask(
    v128.or(v128.or(isByte(bytes, 0x22), isByte(bytes, 0x5c)), upTo(bytes, 0x1f)),
  );
}

/** Returns the position after the consecutive escapes at `from`, or that of the escape that the end cuts. */
function walkEscapes(from: i32, end: i32): i32 {
  let at = from;
  while (at < end && load<u8>(at) == 0x5c) {
    if (at + 2 > end) return at;
    const letter = load<u8>(at, 1);
    if (letter != 0x75) {
      if ((load<u8>(ESCAPES + letter) & IS_ESCAPE) == 0) return FAILED;
      spared += 1;
      at += 2;
      continue;
    }
    const behindUnits = walkUnits(at, end);
    if (behindUnits > at) {
      at = behindUnits;
      continue;
    }
    if (at + 6 > end) return at;
    const unit = hexAt(at + 2);
    if (unit < 0) return FAILED;
    if ((unit & 0xf800) != 0xd800) {
      spared += sparedBy(unit);
      at += 6;
      continue;
    }
    const behind = unit < 0xdc00 ? behindPair(at, end) : 0;
    if (behind > 0) {
      // Four bytes instead of twelve.
      spared += 8;
      at = behind;
      continue;
    }
    if (behind == CUT || (isText && halves == MAX_HALVES)) return at;
    if (isText) {
      store<i32>(HALVES + halves * 4, at + shift);
      halves += 1;
    }
    spared += sparedBy(unit);
    at += 6;
  }
  return at;
}

/** The end may cut what is asked for. */
const CUT: i32 = -1;

/** The position after the pair whose first half is at `at`; 0 if the half is alone. */
function behindPair(at: i32, end: i32): i32 {
  if (at + 6 == end) return CUT;
  if (load<u8>(at, 6) != 0x5c) return 0;
  if (at + 7 == end) return CUT;
  if (load<u8>(at, 7) != 0x75) return 0;
  if (at + 12 > end) return CUT;
  return (hexAt(at + 8) & ~0x3ff) == 0xdc00 ? at + 12 : 0;
}

/** Four hexadecimal digits as a number; negative if they are not all digits. */
function hexAt(at: i32): i32 {
  const first = load<u8>(HEX + load<u8>(at)) as i32;
  const second = load<u8>(HEX + load<u8>(at, 1)) as i32;
  const third = load<u8>(HEX + load<u8>(at, 2)) as i32;
  const fourth = load<u8>(HEX + load<u8>(at, 3)) as i32;
  if ((first | second | third | fourth) > 15) return -1;
  return (first << 12) | (second << 8) | (third << 4) | fourth;
}

/** Whether the byte at `at` ends a string, or white space may begin with it. */
function mayBeBlank(at: i32): bool {
  return (load<u8>(ESCAPES + load<u8>(at)) & MAY_BE_BLANK) != 0;
}

/** Returns the position after leading white space, however it is written. `isBlank` stays unless something else follows. */
function walkBlanks(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const byte: i32 = load<u8>(at);
    if (byte == 0x22) return at;
    let unit = byte;
    let length: i32 = 1;
    if (byte == 0x5c) {
      if (at + 2 > end) return at;
      const letter = load<u8>(at, 1);
      length = letter == 0x75 ? 6 : 2;
      if (at + length > end) return at;
      if (letter == 0x75) unit = hexAt(at + 2);
      else unit = letter == 0x6e || letter == 0x72 || letter == 0x74 || letter == 0x66 ? 0x20 : 0;
    } else if (byte >= 0xe0) {
      length = 3;
      if (at + length > end) return at;
      unit = byte >= 0xf0 ? 0 : ((byte & 0x0f) << 12) | (tail(at, 1) << 6) | tail(at, 2);
    } else if (byte >= 0x80) {
      length = 2;
      if (at + length > end) return at;
      unit = ((byte & 0x1f) << 6) | tail(at, 1);
    } else if (byte != 0x20) {
      unit = 0;
    }
    if (!isWhite(unit)) {
      isBlank = false;
      return at;
    }
    if (byte == 0x5c) spared += length == 6 ? sparedBy(unit) : 1;
    at += length;
  }
  return at;
}

function tail(at: i32, index: i32): i32 {
  return load<u8>(at + index) & 0x3f;
}

/** Whether `String.prototype.trim` removes it. */
function isWhite(unit: i32): bool {
  if (unit < 0x80) return unit == 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  switch (unit) {
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff:
      return true;
    default:
      return false;
  }
}

function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns the position after the digits at `from`. */
function walkDigits(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const others = ~i8x16.bitmask(areDigits(v128.load(at))) & 0xffff;
    if (others != 0) return min(at + ctz(others), end);
    at += 16;
  }
  return end;
}

/** Returns the position after a number, or `start` if the window ends with it, because more of it may follow. */
function walkNumber(start: i32, end: i32): i32 {
  let at = start;
  if (load<u8>(at) == 0x2d) at += 1;
  if (at < end && load<u8>(at) == 0x30) {
    at += 1;
  } else {
    const digits = at;
    at = walkDigits(at, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  if (at < end && load<u8>(at) == 0x2e) {
    const digits = at + 1;
    at = walkDigits(digits, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    at += 1;
    if (at < end && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at += 1;
    const digits = at;
    at = walkDigits(digits, end);
    if (at == digits) return at < end ? FAILED : start;
  }
  return at < end ? at : start;
}

/**
 * Walks over numbers of an array that follow one another, sixty-four bytes at a time, whose grammar is judged for all of them at once.
 * Returns the position behind the last comma between them, or behind the last number if that ends the array.
 */
export function walkNumbers(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const digits = bitsOf(areDigits(a), areDigits(b), areDigits(c), areDigits(d));
    const zeros = bitsOf(isByte(a, 0x30), isByte(b, 0x30), isByte(c, 0x30), isByte(d, 0x30));
    const commas = bitsOf(isByte(a, 0x2c), isByte(b, 0x2c), isByte(c, 0x2c), isByte(d, 0x2c));
    const spaces = bitsOf(isByte(a, 0x20), isByte(b, 0x20), isByte(c, 0x20), isByte(d, 0x20));
    const begins = ((commas | spaces) << 1) | 1;
    const others = ~(digits | commas | spaces);
    const dots =
      others & bitsOf(isByte(a, 0x2e), isByte(b, 0x2e), isByte(c, 0x2e), isByte(d, 0x2e));
    const minuses =
      others & bitsOf(isByte(a, 0x2d), isByte(b, 0x2d), isByte(c, 0x2d), isByte(d, 0x2d));
    const es =
      others & bitsOf(isLower(a, 0x65), isLower(b, 0x65), isLower(c, 0x65), isLower(d, 0x65));
    const pluses =
      es == 0 ? 0 : bitsOf(isByte(a, 0x2b), isByte(b, 0x2b), isByte(c, 0x2b), isByte(d, 0x2b));
    const signs = (minuses | pluses) & (es << 1);
    const negative = minuses & begins;
    // A digit is due before a comma, a dot and an e, a comma before white space, and signs have places of their own: so nothing
    // but digits is left to follow a sign or a dot.
    let stops = behindEnd(at, end) | ((commas | dots | es) & ~(digits << 1));
    stops |= (spaces & ~begins) | (others & ~(dots | es | signs | negative));
    // No digit follows a zero at the beginning, no dot or e follows digits that are behind one of them already.
    stops |= ((zeros & (begins | (negative << 1))) << 1) & digits;
    const fractions = (dots << 1) & digits;
    const exponents = ((es | signs) << 1) & digits;
    stops |= (fractions + digits) & ~digits & dots;
    stops |= (exponents + digits) & ~digits & (dots | es);
    const first = ctz(stops);
    const done = commas & below(first);
    values += popcnt(done) as i32;
    const stop = at + (first as i32);
    if (stop < end && load<u8>(stop) == 0x5d && (((digits << 1) >>> first) & 1) == 1) {
      state = AFTER_VALUE;
      return stop;
    }
    if (done == 0) return at;
    state = ELEMENT;
    at += 64 - (clz(done) as i32);
    if (first < 64) return at;
  }
  return at;
}

function areDigits(bytes: v128): v128 {
  return upTo(i8x16.sub(bytes, lanes(0x30)), 9);
}

/** Returns the position after `true`, `false` or `null`, or `at` if the window's end cuts the word. */
function walkWord(byte: u8, at: i32, end: i32): i32 {
  const length: i32 = byte == 0x66 ? 5 : 4;
  if (at + length > end) return at;
  const word = load<u32>(at);
  if (byte == 0x74 && word == 0x65757274) return at + 4;
  if (byte == 0x6e && word == 0x6c6c756e) return at + 4;
  if (byte == 0x66 && word == 0x736c6166 && load<u8>(at, 4) == 0x65) return at + 5;
  return FAILED;
}
