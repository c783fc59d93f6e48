import { isUtf8 } from 'node:buffer';
import type { Documents } from './documents.js';
import { areFields, fieldDocuments, NO_PLACE } from './fields.js';
import { Listed } from './listed.js';
import { STEP_BYTES, worked, type Paced } from './pace.js';
import { excessOf, type ParseLimits } from './scan.js';
import { FIELD, ROW, Walk, type FoundList, type ListPlace } from './scanner.js';
import { imageDocuments, withoutHalves } from './image-documents.js';
import { joinedAtCut, parsed, type Parsed } from './parsed.js';

const QUOTE = 0x22;
/** Larger bodies are not parsed in one piece, nor are the parts around their list: other requests would wait. */
const MOST_PARSED_BYTES = 4_194_304;
/** What a walk locates in the elements of a list with images. */
const TEXT_AND_IMAGE = ['text', 'image'];
/** Longer elements are not examined one by one. */
const MOST_ELEMENT_BYTES = 65_536;

/** Which documents are wanted of a list. */
export interface Wanted {
  /** What its elements may be: texts, objects with one, or either. */
  readonly elements: 'strings' | 'objects' | 'any';
  /** Whether they may have images beside their texts, or be images alone, too. */
  readonly images?: 'none' | 'beside' | 'alone';
  /** The members that objects are ranked by. */
  readonly fields?: readonly string[] | undefined;
  /** Whether each of several has its name in front. */
  readonly areNamed?: boolean;
  /** Whether all must have all of them. */
  readonly areAllNeeded?: boolean;
  /** Whether the text stands for the document where its caller sees it. */
  readonly areTextsAlone?: boolean;
}

/**
 * Opens the body of a request, of which all is judged, and none parsed: finds the one of these lists that it has, and the places of at
 * most so many documents.
 */
export function openBody(
  bytes: Buffer,
  lists: readonly ListPlace[],
  mostDocuments: number,
): OpenBody | Promise<OpenBody> {
  return worked(opening(bytes, lists, mostDocuments), bytes.length);
}

function* opening(bytes: Buffer, lists: readonly ListPlace[], most: number): Paced<OpenBody> {
  const isText = bytes.length <= STEP_BYTES ? isUtf8(bytes) : yield* judging(bytes);
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = hasMark ? bytes.subarray(3) : bytes;
  const walk = new Walk(body, lists, most);
  if (!isText) return new OpenBody(body, isText, walk, most);
  while (!walk.go(STEP_BYTES)) yield;
  // It stops at invalid JSON and at rare elements of a list: a large one is not parsed to find out which.
  const isOdd = !walk.isValid && body.length > MOST_PARSED_BYTES;
  return new OpenBody(body, isText, isOdd ? yield* new Walk(body).walking() : walk, most);
}

/** Whether all of it is valid UTF-8. */
function* judging(bytes: Buffer): Paced<boolean> {
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(bytes.length, at + STEP_BYTES);
    // Not inside of a character, which has at most three bytes more.
    for (let more = 0; more < 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80; more += 1) end += 1;
    if (!isUtf8(bytes.subarray(at, end))) return false;
    at = end;
    if (at < bytes.length) yield;
  }
  return true;
}

/** A body that has been walked over. */
export class OpenBody {
  /** Without a byte-order mark. */
  readonly bytes: Buffer;
  /** Whether it is valid UTF-8; if not, nothing else is known of it. */
  readonly isUtf8: boolean;
  readonly #walk: Walk;
  readonly #mostDocuments: number;
  #members: Parsed | undefined;

  constructor(bytes: Buffer, isText: boolean, walk: Walk, mostDocuments: number) {
    this.bytes = bytes;
    this.isUtf8 = isText;
    this.#walk = walk;
    this.#mostDocuments = mostDocuments;
  }

  /** The list that was found, unless the whole body has to be parsed. */
  get list(): Pick<FoundList, 'place' | 'count' | 'hasObjects'> | undefined {
    return this.#walk.list;
  }

  /** All members but the list, or if none was found, all of them. */
  members(limits: ParseLimits): Parsed {
    this.#members ??= this.#parseMembers(limits);
    return this.#members;
  }

  #parseMembers(limits: ParseLimits): Parsed {
    const { list } = this.#walk;
    if (list === undefined) return this.value(limits);
    const found = { start: list.keyStart, end: list.end };
    const cuts = list.before === undefined ? [found] : [list.before, found];
    let text = '';
    let from = 0;
    for (const { start, end } of cuts) {
      if (start - from > MOST_PARSED_BYTES) return this.#unusual();
      text = joinedAtCut(text, this.bytes.toString('utf8', from, start));
      from = end;
    }
    if (text.length + this.bytes.length - from > MOST_PARSED_BYTES) return this.#unusual();
    text = joinedAtCut(text, this.bytes.toString('utf8', from));
    if (this.#walk.otherValues >= (limits.members ?? Infinity)) {
      const excess = excessOf(Buffer.from(text), limits);
      if (excess !== undefined) return { kind: 'excess', excess };
    }
    return parsed(text);
  }

  /** The whole body as a value. */
  value(limits: ParseLimits): Parsed {
    const { bytes } = this;
    if (bytes.length > MOST_PARSED_BYTES) {
      if (this.#walk.isValid) return this.#unusual();
      const place = `near byte ${this.#walk.reached}, or nested more than ${limits.depth} deep`;
      return { kind: 'invalid', cause: undefined, place };
    }
    const excess = excessOf(bytes, limits);
    return excess === undefined ? parsed(bytes.toString('utf8')) : { kind: 'excess', excess };
  }

  #unusual(): Parsed {
    return { kind: 'unusual', part: this.#oddPart(), mostBytes: MOST_PARSED_BYTES };
  }

  #oddPart(): string {
    const { list } = this.#walk;
    if (list === undefined) {
      return 'it has no list of documents where one is expected, or several, or other values in it';
    }
    const around = this.bytes.length - (list.end - list.start);
    const { name } = list.place;
    if (around > MOST_PARSED_BYTES) return `it has ${around} bytes beside ${name}`;
    const odd = this.#oddRows(list).next();
    const place = odd.done === true ? 0 : odd.value / list.width;
    return `${name}[${place}] is neither a string nor an object with a text`;
  }

  /**
   * The documents of the list that was found; `undefined` if it has others than are wanted, so that the body has to be parsed. What
   * is large is looked at a step in each turn.
   */
  documents(wanted: Wanted): Documents | undefined | Promise<Documents | undefined> {
    const { list } = this.#walk;
    if (list === undefined) return undefined;
    const { elements } = wanted;
    if (elements === 'strings' && list.hasObjects) return undefined;
    if (elements === 'objects' && hasStrings(this.bytes, list)) return undefined;
    const fields = list.hasObjects ? wanted.fields : undefined;
    const isPlain = !list.lacksTexts && !list.hasImages && list.place.fields === undefined;
    const isText = fields?.length === 1 && fields[0] === (list.place.text ?? 'text');
    if (isPlain && (fields === undefined || isText)) return this.#sent(list, wanted);
    return worked(this.#finding(list, fields, wanted), this.bytes.length);
  }

  *#finding(
    list: FoundList,
    fields: readonly string[] | undefined,
    wanted: Wanted,
  ): Paced<Documents | undefined> {
    const { images = 'none' } = wanted;
    if (fields !== undefined) return yield* this.#byFields(list, fields, wanted);
    if (images === 'none' || !list.hasImages) return undefined;
    if (images === 'beside' && list.lacksTexts) return undefined;
    const located = yield* this.#located(list.place, TEXT_AND_IMAGE);
    return located && imageDocuments(this.bytes, located, list.blanks);
  }

  #sent(list: FoundList, { areTextsAlone = false }: Wanted): Documents {
    const { rows, blanks, start, end, hasObjects } = list;
    const ranked = withoutHalves(this.bytes, list.halves);
    if (areTextsAlone) {
      return new Listed({ bytes: ranked, rows: textsAlone(rows), blanks });
    }
    const sourcesAt = [start, end] as const;
    const textsAt = hasObjects ? undefined : sourcesAt;
    return new Listed({ bytes: this.bytes, ranked, rows, blanks, sourcesAt, textsAt });
  }

  *#byFields(
    list: FoundList,
    fields: readonly string[],
    { areNamed = false, areAllNeeded = false, areTextsAlone = false }: Wanted,
  ): Paced<Documents | undefined> {
    if (!areFields(fields)) return undefined;
    const known = list.place.fields;
    const located = known === undefined ? yield* this.#located(list.place, fields) : list;
    if (located === undefined) return undefined;
    const columns = fields.map((name, at) => (known === undefined ? at : known.indexOf(name)));
    const body = withoutHalves(this.bytes, located.halves);
    const heads = fields.map((name) => (areNamed && fields.length > 1 ? `${name}: ` : ''));
    const texts = yield* fieldDocuments(body, located, { columns, heads, areAllNeeded });
    if (texts === undefined) return undefined;
    return new Listed(
      areTextsAlone
        ? { ...texts, bytes: texts.ranked, rows: textsAlone(texts.rows), sourcesAt: texts.textsAt }
        : { ...texts, bytes: this.bytes, sourcesAt: [list.start, list.end] },
    );
  }

  /** The same list with the places of members of its elements, whatever else these are. */
  *#located(place: ListPlace, fields: readonly string[]): Paced<FoundList | undefined> {
    const lists = [{ name: place.name, text: '' }];
    const walk = new Walk(this.bytes, lists, this.#mostDocuments, 0, fields);
    return (yield* walk.walking()).list;
  }

  /** A member of an element as it came, if the list was found by its fields. */
  field(index: number, name: string): Buffer | undefined {
    const { list } = this.#walk;
    const column = list?.place.fields?.indexOf(name) ?? -1;
    if (list === undefined || column < 0) return undefined;
    const at = index * list.width + ROW + column * FIELD;
    const start = list.rows[at] ?? NO_PLACE;
    return start === NO_PLACE ? undefined : this.bytes.subarray(start, list.rows[at + 1]);
  }

  /** The places of the elements of a parsed list; `undefined` if they are unknown. */
  ranges(name: string, count: number): Uint32Array | undefined {
    const walk = new Walk(this.bytes, [{ name, text: '' }]);
    walk.go();
    const { list } = walk;
    if (list?.count !== count) return undefined;
    const ranges = new Uint32Array(count * 2);
    for (let index = 0; index < count; index += 1) {
      ranges.set(list.rows.subarray(index * ROW, index * ROW + 2), index * 2);
    }
    return ranges;
  }

  /** Elements that are not wanted, as values, one after the other: what is wrong with the first is known without parsing all. */
  *odd(wanted: Wanted): Generator<{ readonly item: unknown; readonly index: number }, undefined> {
    const { list } = this.#walk;
    // Where fields count, others before it may be wrong, too.
    if (list === undefined || wanted.fields !== undefined) return;
    let left = MOST_ELEMENT_BYTES;
    for (const row of this.#oddRows(list, wanted.elements)) {
      const [start = 0, end = 0] = list.rows.subarray(row, row + 2);
      left -= end - start;
      if (left < 0) return;
      const item: unknown = JSON.parse(this.bytes.toString('utf8', start, end));
      yield { item, index: row / list.width };
    }
  }

  *#oddRows(
    { rows, width, lacksTexts, place }: FoundList,
    elements: Wanted['elements'] = 'any',
  ): Generator<number, undefined> {
    const mayLackTexts = lacksTexts && place.fields === undefined;
    if (!mayLackTexts && elements === 'any') return;
    for (let row = 0; row < rows.length; row += width) {
      const kind = this.bytes[rows[row] ?? 0] === QUOTE ? 'strings' : 'objects';
      const isWanted = elements === 'any' || elements === kind;
      if (!isWanted || (mayLackTexts && rows[row + 3] === 0)) yield row;
    }
  }
}

/** Whether elements are strings: one is its own text, and that of an object begins after its brace. */
function hasStrings(body: Buffer, { rows, width }: FoundList): boolean {
  for (let at = 0; at < rows.length; at += width) if (body[rows[at] ?? 0] === QUOTE) return true;
  return false;
}

/** Rows of documents that are only their texts. */
function textsAlone(rows: Uint32Array): Uint32Array {
  const texts = rows.slice();
  for (let row = 0; row < texts.length; row += ROW) texts.copyWithin(row, row + 2, row + 4);
  return texts;
}
