/** What the walk knows between two tokens, and between two windows. */
import { FIELDS, MAX_ROWS, NAME_SIZE } from './memory';

/** `run` returns it for text that it leaves to the plain parser. */
export const FAILED: i32 = -1;

// What may come next.
export const VALUE: i32 = 0;
export const FIRST_VALUE: i32 = 1;
export const KEY: i32 = 2;
export const FIRST_KEY: i32 = 3;
export const COLON: i32 = 4;
export const AFTER_VALUE: i32 = 5;
export const IN_STRING: i32 = 6;
export const NOTHING: i32 = 7;
/** A value in an array, behind a comma. */
export const ELEMENT: i32 = 8;
/** Each level takes one bit of a word. */
export const WORD_LEVELS: i32 = 64;
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
export let state: i32 = VALUE;
export let depth: i32 = 0;
export let deepest: i32 = 0;
/** Whether each of the innermost levels is an object; the last one is the lowest bit. */
export let objects: u64 = 0;
/** Added to an offset in memory, gives the offset in the text. */
export let shift: i32 = 0;
export let lists: i32 = 0;
/** Which of the lists is in the text; -1 until one is found. */
export let found: i32 = -1;
/** Whose name the last key is; -1 if no list's. */
export let wanted: i32 = -1;
/** One bit for each list: whether it is in the member of the root that the walk is in. */
export let within: u32 = 0;
/** The same for all members so far. */
export let met: u32 = 0;
export let inList: bool = false;
/** Of the elements. */
export let listDepth: i32 = 0;
export let keyStart: i32 = 0;
export let listStart: i32 = 0;
export let listEnd: i32 = 0;
export let count: i32 = 0;
export let rows: i32 = 0;
export let blanks: i32 = 0;
export let halves: i32 = 0;
export let hasObjects: bool = false;
/** Whether an element is an object without a text. */
export let lacksTexts: bool = false;
export let hasImages: bool = false;
/** The first of two lists of the same name: the last one counts. */
export let beforeStart: i32 = 0;
export let beforeEnd: i32 = 0;
/** Commas, arrays and objects: about as many as there are values. */
export let values: i32 = 0;
/** Those of the list; while the walk is in it, those before it. */
export let listValues: i32 = 0;

// The current element.
export let sourceStart: i32 = 0;
export let textStart: i32 = 0;
export let textEnd: i32 = 0;
export let textMeant: i32 = 0;
/** How many of the steps to the text lead to where the walk is. */
export let reach: i32 = 0;
/** One bit for each step that the element has, and for each field. */
export let taken: u32 = 0;
export let stepIsNext: bool = false;
export let textIsNext: bool = false;
export let imageIsNext: bool = false;
export let textIsBlank: bool = false;
/** Of which list the fields are, and how many are asked for there. */
export let fieldedList: i32 = 0;
export let wantedFields: i32 = 0;
/** How many the list has that is found, whether the name of one has other characters than ASCII, and how many rows there is room for. */
export let fields: i32 = 0;
export let hasWideNames: bool = false;
export let maxRows: i32 = MAX_ROWS;
/** The field whose value is next; -1 for none. */
export let nextField: i32 = -1;
/** The field that is an object or a list which has not ended; -1 for none. */
export let openField: i32 = -1;
export let fieldStart: i32 = 0;

// The current string.
export let isText: bool = false;
/** Whether it is a text, and only white space so far. */
export let isBlank: bool = false;
/** How many bytes its escapes take beyond those of what they mean, in UTF-8. */
export let spared: i32 = 0;
/** From how many bytes on strings in arrays are noted; 0 for none. */
export let longFrom: i32 = 0;
/** How many strings are walked over one by one before short ones are looked at many at a time. */
export let waiting: i32 = 1;

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

/** Behind a value a comma follows nearly always, and at once, and behind that a space if Python wrote it. */
export function walkComma(at: i32, end: i32): i32 {
  if (at == end || load<u8>(at) != 0x2c) {
    state = AFTER_VALUE;
    return at;
  }
  values += 1;
  state = (objects & 1) == 1 ? KEY : ELEMENT;
  return behindSpace(at + 1, end);
}

export function behindSpace(at: i32, end: i32): i32 {
  return at < end && load<u8>(at) == 0x20 ? at + 1 : at;
}
