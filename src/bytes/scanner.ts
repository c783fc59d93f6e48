import { Compiled, type Constant, type Exports } from './instance.js';
import { STEP_BYTES, type Paced } from './pace.js';
import { SCANNER } from './scanner-module.js';

/**
 * Walks over JSON text in WebAssembly (`src/bytes/wasm/scanner`): validates all of it and finds the documents of a request. Text is
 * copied in window by window, so that memory use does not depend on its size and the walk can be interrupted.
 */

/** Where a list of documents may be in a body, and what an element has. */
export interface ListPlace {
  /** A member of the body, or `input.documents`: a member of that member. */
  readonly name: string;
  /** The members that lead to the text of an element that is an object: `text` by default; empty if it is located alone. */
  readonly text?: string;
  /** Members that are located, whatever they are: elements have no text then. Of lists that are looked for, one may have them. */
  readonly fields?: readonly string[];
}

/** The same as the walk has it. */
interface ListName {
  readonly place: ListPlace;
  readonly fields: readonly string[];
  /** The outer member, the list's, those to the text, and that of an image. */
  readonly names: readonly Buffer[];
}

/** Elements that have a text with anything in it there are images, too. */
const IMAGE = 'image';
const TEXT = 'text';
const MAX_STEPS = 3;
const NO_FIELDS: readonly string[] = [];

function nameOf(place: ListPlace): ListName {
  const { fields = NO_FIELDS, text = fields.length > 0 ? '' : TEXT } = place;
  const [member = '', within = ''] = place.name.split('.').reverse();
  const steps = text.split('.');
  if (steps.length > MAX_STEPS) throw new RangeError('too far to the text');
  while (steps.length < MAX_STEPS) steps.push('');
  const names = [within, member, ...steps, text === TEXT ? IMAGE : ''];
  return { place, fields, names: names.map((one) => Buffer.from(one)) };
}

/** Lists as the walk has them: nearly all bodies are searched for the same ones. */
const known = new WeakMap<readonly ListPlace[], readonly ListName[]>();

function namesOf(places: readonly ListPlace[]): readonly ListName[] {
  let names = known.get(places);
  if (names === undefined) {
    names = places.map(nameOf);
    known.set(places, names);
  }
  return names;
}

/** The places of a list and its elements in a text. */
export interface FoundList {
  readonly place: ListPlace;
  /** How many numbers each of the rows has. */
  readonly width: number;
  /** Start of the key, before its quote. */
  readonly keyStart: number;
  readonly start: number;
  /** After the closing bracket. */
  readonly end: number;
  /** Where a list of the same name lies before it, key included, which does not count. */
  readonly before?: { readonly start: number; readonly end: number };
  readonly count: number;
  /**
   * For each element in turn: where it starts and ends, where its text does, quotes included, and how many bytes what the text
   * means has in UTF-8. Where fields were asked for, the same of the value of each (of one that is no string, no bytes), or nothing
   * for what is absent or null. At most as many as were requested.
   */
  readonly rows: Uint32Array;
  /** Whether elements are objects; each has its text where the name says so, unless it is one that lacks it. */
  readonly hasObjects: boolean;
  readonly lacksTexts: boolean;
  /** Whether elements are, or may be, images. */
  readonly hasImages: boolean;
  /** Indexes of those whose text is only white space, in order. */
  readonly blanks: readonly number[];
  /** Where halves of surrogate pairs are escaped without the other half in texts, in order. */
  readonly halves: Uint32Array;
}

/** Numbers per row, and for each field of it. */
export const ROW = 5;
export const FIELD = 3;

interface ScannerExports extends Exports {
  readonly LISTS: Constant;
  readonly LIST_SIZE: Constant;
  readonly MAX_LISTS: Constant;
  readonly NAME_SIZE: Constant;
  readonly FIELDS: Constant;
  readonly MAX_FIELDS: Constant;
  readonly ROWS: Constant;
  readonly BLANKS: Constant;
  readonly HALVES: Constant;
  readonly WINDOW: Constant;
  readonly WINDOW_SIZE: Constant;
  prepare(): void;
  begin(lists: number, leastLong: number, fields: number, list: number): void;
  run(length: number, position: number): number;
  isComplete(): number;
  foundList(): number;
  foundKeyStart(): number;
  foundStart(): number;
  foundEnd(): number;
  foundFields(): number;
  foundObjects(): number;
  foundTextless(): number;
  foundImages(): number;
  foundBefore(): number;
  foundBeforeEnd(): number;
  elements(): number;
  notedRows(): number;
  notedBlanks(): number;
  notedHalves(): number;
  otherValues(): number;
  allValues(): number;
  levelsOfAll(): number;
}

/** Bytes of a name's entry before the name itself. */
const NAME_HEAD = 1;

const compiled = new Compiled<ScannerExports>(SCANNER);

/** One walker and its memory, for one text at a time. */
class Scanner {
  readonly #code: ScannerExports;
  readonly #window: Buffer;
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;
  #names: readonly ListName[] | undefined;
  /** The one of these with fields, if there is one, and what these are. */
  #fielded = -1;
  #fields = NO_FIELDS;

  constructor() {
    this.#code = compiled.instance();
    const { memory, WINDOW, WINDOW_SIZE } = this.#code;
    this.#window = Buffer.from(memory.buffer, WINDOW.value, WINDOW_SIZE.value);
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Uint32Array(memory.buffer);
    this.#code.prepare();
  }

  begin(names: readonly ListName[], leastLong: number, fields: readonly string[]): void {
    if (names !== this.#names) this.#write(names);
    const isAsked = fields.length > 0;
    const located = isAsked ? fields : this.#fields;
    if (located.length > 0) this.#writeFields(located);
    this.#code.begin(names.length, leastLong, located.length, isAsked ? 0 : this.#fielded);
  }

  /** Continues from `position`; returns how far it came, or -1 if the text is unsuitable. */
  run(text: Buffer, position: number): number {
    const size = Math.min(this.#window.length, text.length - position);
    if (size === text.length) this.#window.set(text);
    else text.copy(this.#window, 0, position, position + size);
    const walked = this.#code.run(size, position);
    return walked < 0 ? -1 : position + walked;
  }

  /** What the last `run` noted: a view, valid until the next run. */
  rows(): Uint32Array {
    const start = this.#code.ROWS.value >> 2;
    return this.#words.subarray(start, start + this.#code.notedRows() * this.width);
  }

  /** Numbers in each row. */
  get width(): number {
    return ROW + FIELD * this.#code.foundFields();
  }

  blanks(): readonly number[] {
    const noted = this.#code.notedBlanks();
    if (noted === 0) return [];
    const start = this.#code.BLANKS.value >> 2;
    return Array.from(this.#words.subarray(start, start + noted));
  }

  /** A view, too. */
  halves(): Uint32Array {
    const noted = this.#code.notedHalves();
    if (noted === 0) return NOTHING;
    const start = this.#code.HALVES.value >> 2;
    return this.#words.subarray(start, start + noted);
  }

  get isComplete(): boolean {
    return this.#code.isComplete() !== 0;
  }

  get counts(): Counts {
    const code = this.#code;
    return {
      otherValues: code.otherValues(),
      values: code.allValues(),
      levels: code.levelsOfAll(),
    };
  }

  /** Where a list that does not count ends; 0 if there is none. */
  get beforeEnd(): number {
    return this.#code.foundBeforeEnd();
  }

  found(rows: Uint32Array, blanks: readonly number[], halves: Uint32Array): FoundList | undefined {
    const code = this.#code;
    const place = this.#names?.[code.foundList()]?.place;
    if (place === undefined) return undefined;
    const { beforeEnd } = this;
    return {
      place,
      width: this.width,
      keyStart: code.foundKeyStart(),
      start: code.foundStart(),
      end: code.foundEnd(),
      count: code.elements(),
      rows,
      hasObjects: code.foundObjects() !== 0,
      lacksTexts: code.foundTextless() !== 0,
      hasImages: code.foundImages() !== 0,
      ...(beforeEnd > 0 && { before: { start: code.foundBefore(), end: beforeEnd } }),
      blanks,
      halves,
    };
  }

  #write(lists: readonly ListName[]): void {
    const { LISTS, LIST_SIZE, MAX_LISTS, NAME_SIZE } = this.#code;
    if (lists.length > MAX_LISTS.value) throw new RangeError('too many lists');
    for (const [index, { names }] of lists.entries()) {
      for (const [place, name] of names.entries()) {
        this.#writeName(LISTS.value + index * LIST_SIZE.value + place * NAME_SIZE.value, name);
      }
    }
    this.#names = lists;
    this.#fielded = lists.findIndex(({ fields }) => fields.length > 0);
    this.#fields = lists[this.#fielded]?.fields ?? NO_FIELDS;
  }

  #writeFields(fields: readonly string[]): void {
    const { FIELDS, MAX_FIELDS, NAME_SIZE } = this.#code;
    if (fields.length > MAX_FIELDS.value) throw new RangeError('too many fields');
    for (const [index, name] of fields.entries()) {
      this.#writeName(FIELDS.value + index * NAME_SIZE.value, Buffer.from(name));
    }
  }

  #writeName(at: number, name: Buffer): void {
    if (name.length > this.#code.NAME_SIZE.value - NAME_HEAD)
      throw new RangeError('too long a name');
    this.#bytes[at] = name.length;
    this.#bytes.set(name, at + NAME_HEAD);
  }
}

/** Idle walkers. Several are in use while texts are walked over in steps. */
const idle: Scanner[] = [];
const MAX_IDLE = 4;

/** What a text is made of, approximately: commas, arrays and objects are counted. */
interface Counts {
  /** Without those of the list. */
  readonly otherValues: number;
  readonly values: number;
  readonly levels: number;
}

const NO_COUNTS: Counts = { otherValues: 0, values: 0, levels: 0 };
const NO_LISTS: readonly ListPlace[] = [];
const NOTHING = new Uint32Array(0);

/** A walk over one text. Once begun, it must be finished. */
export class Walk {
  readonly #text: Buffer;
  readonly #maxRows: number;
  #scanner: Scanner | undefined;
  #position = 0;
  #isValid = false;
  #counts = NO_COUNTS;
  #list: FoundList | undefined;
  #rows = new Numbers();
  #halves = new Numbers();
  #beforeEnd = 0;
  #blanks: readonly number[] = [];

  /**
   * @param maxRows how many elements are located; any beyond that are only counted.
   * @param leastLong from how many bytes on strings in arrays are located, if no list is; 0 for none. At least 512: shorter ones are
   * walked over many at a time, and not all of them are located.
   * @param fields members of the elements that are located, too, in the one list there may be then, whose elements are not
   * looked at for a text.
   */
  constructor(
    text: Buffer,
    lists: readonly ListPlace[] = NO_LISTS,
    maxRows = Infinity,
    leastLong = 0,
    fields = NO_FIELDS,
  ) {
    this.#text = text;
    this.#maxRows = maxRows;
    this.#scanner = idle.pop() ?? new Scanner();
    this.#scanner.begin(namesOf(lists), leastLong, fields);
  }

  /** A walk that finds nothing but long strings. */
  static forLongStrings(text: Buffer, leastLong: number): Walk {
    return new Walk(text, NO_LISTS, Infinity, leastLong);
  }

  /** Continues for at least `bytes`, or to the end; true when the walk is over. */
  go(bytes = Infinity): boolean {
    const scanner = this.#scanner;
    if (scanner === undefined) return true;
    const until = Math.min(this.#text.length, this.#position + bytes);
    while (this.#position < until) {
      const reached = scanner.run(this.#text, this.#position);
      // No progress: a token is longer than the window or cut by the end of the text.
      if (reached <= this.#position) return this.#end();
      this.#position = reached;
      this.#take(scanner);
    }
    if (this.#position < this.#text.length) return false;
    this.#isValid = scanner.isComplete;
    this.#counts = scanner.counts;
    if (this.#isValid) {
      this.#list = scanner.found(this.#rows.all(), this.#blanks, this.#halves.all());
    }
    return this.#end();
  }

  /** The whole walk, a step at a time. */
  *walking(): Paced<this> {
    while (!this.go(STEP_BYTES)) yield;
    return this;
  }

  #end(): true {
    if (this.#scanner !== undefined && idle.length < MAX_IDLE) idle.push(this.#scanner);
    this.#scanner = undefined;
    return true;
  }

  /** How far it came, about. */
  get reached(): number {
    return this.#position;
  }

  /** Whether the text is a JSON object, array or string, at most 256 levels deep. */
  get isValid(): boolean {
    return this.#isValid;
  }

  /** Its list under one of the names; absent if there is none, or something unusual. */
  get list(): FoundList | undefined {
    return this.#list;
  }

  /** Rows of the long strings in it, if those are wanted. */
  get longStrings(): Uint32Array {
    return this.#isValid ? this.#rows.all() : NOTHING;
  }

  /** Values outside of the list, about, not counting keys. */
  get otherValues(): number {
    return this.#counts.otherValues;
  }

  /** The same of the whole text. */
  get values(): number {
    return this.#counts.values;
  }

  /** How many levels of arrays and objects the text has. */
  get levels(): number {
    return this.#counts.levels;
  }

  #take(scanner: Scanner): void {
    const { beforeEnd } = scanner;
    if (beforeEnd !== this.#beforeEnd) {
      this.#beforeEnd = beforeEnd;
      this.#rows = new Numbers();
      this.#halves = new Numbers();
      this.#blanks = [];
    }
    // Most texts take one window: what it found is all there is.
    const isAll = this.#position === this.#text.length;
    const halves = scanner.halves();
    if (halves.length > 0) this.#halves.add(halves, isAll);
    const rows = scanner.rows();
    if (rows.length === 0) return;
    const room = this.#maxRows * scanner.width - this.#rows.count;
    if (room <= 0) return;
    const blanks = scanner.blanks();
    if (blanks.length > 0) this.#blanks = this.#blanks.concat(blanks);
    this.#rows.add(rows.length <= room ? rows : rows.subarray(0, room), isAll);
  }
}

/** Short arrays lie side by side in one that is let go when it is full: memory of its own for each costs more than a walk. */
const SLAB_NUMBERS = 8_192;
const MOST_OF_SLAB = 1_024;
let slab = new Uint32Array(SLAB_NUMBERS);
let used = 0;

/** Room for so many numbers, which are 0. */
function numbersFor(count: number): Uint32Array {
  if (count > MOST_OF_SLAB) return new Uint32Array(count);
  if (used + count > SLAB_NUMBERS) {
    slab = new Uint32Array(SLAB_NUMBERS);
    used = 0;
  }
  used += count;
  return slab.subarray(used - count, used);
}

/** Numbers that come a few thousand at a time. */
class Numbers {
  #all: Uint32Array = NOTHING;
  count = 0;

  add(more: Uint32Array, isAll: boolean): void {
    const count = this.count + more.length;
    if (count > this.#all.length) {
      const grown = numbersFor(isAll ? count : Math.max(count, 2 * this.count));
      grown.set(this.all());
      this.#all = grown;
    }
    this.#all.set(more, this.count);
    this.count = count;
  }

  all(): Uint32Array {
    return this.count === this.#all.length ? this.#all : this.#all.subarray(0, this.count);
  }
}
