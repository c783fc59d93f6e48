import { copyBytes, Owned, UNCOUNTED_BYTES } from './memory.js';
import { RowsInstance } from './rows-instance.js';

const SPACE = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

const BYTES_PER_NUMBER = 8;
/** Shorter lists and texts are sooner read by the plain parser, together with what is around them. */
const LEAST_NUMBERS = 16;
const LEAST_TEXT_BYTES = 1_024;
/** What is written with more white space is left to the plain parser. */
const MOST_SPACES = 64;

/** A list that has been read; without a value if it is so short that the plain parser may have it. */
interface FoundList {
  readonly value: Float64Array | undefined;
  readonly count: number;
  /** The position behind its bracket. */
  readonly end: number;
}

/** A string of ASCII without escapes, which is left where it lies in a reply: it is made when it is asked for. */
export class LyingText {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  toString(): string {
    return this.#bytes.toString('latin1', this.#start, this.#end);
  }
}

/**
 * Reads the vectors of a JSON text: lists of bare numbers, and long strings that may hold them. On the heap, megabytes of them would be
 * moved in young collections and freed in the pauses of full ones, so numbers go into memory that the engine does not count, and
 * strings stay where they lie.
 */
export class VectorReader {
  readonly #text: Buffer;
  /** Where in the text the window begins and ends, as long as it is still there. */
  #window: object | undefined;
  #windowStart = 0;
  #windowEnd = 0;
  readonly #blocks: Owned[] = [];
  /** The last of them. */
  #room: Float64Array = new Float64Array(0);
  /** Where in it the list that is being read begins, and how far that has come. */
  #start = 0;
  #filled = 0;
  /** The next number, or the position behind the list once it is over. */
  #at = 0;
  #isOver = false;

  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Whether the list that begins at `start` begins with a number. It is read by `readOn`, if anybody asks for it. */
  begins(start: number): boolean {
    let at = start + 1;
    while ((this.#text[at] ?? 0) <= SPACE && at < start + MOST_SPACES) at += 1;
    const first = this.#text[at] ?? 0;
    if (first !== MINUS && (first < ZERO || first > NINE)) return false;
    this.#at = start + 1;
    this.#isOver = false;
    this.#filled = this.#start;
    return true;
  }

  /** Reads some of the list that was begun; false if there is anything in it but numbers. */
  readOn(): boolean {
    const { code } = shared();
    let from = this.#at;
    for (let tries = 0; tries < 2; tries += 1) {
      // The second time, with as much in the window as fits.
      const base = this.#see(from, tries > 0);
      const reached = code.readList(from - base, this.#windowEnd - base);
      if (reached < 0) return false;
      this.#keep(base);
      from = base + reached;
      this.#isOver = code.isOver() !== 0;
      if (from > this.#at) {
        this.#at = from;
        return true;
      }
    }
    return false;
  }

  /** The list that has been read, if it is over. */
  list(): FoundList | undefined {
    if (!this.#isOver) return undefined;
    const [count, end] = [this.length, this.#at];
    if (count < LEAST_NUMBERS) return { value: undefined, count, end };
    const value = this.#room.subarray(this.#start, this.#filled);
    this.#start = this.#filled;
    return { value, count, end };
  }

  /** How many numbers the list has so far. */
  get length(): number {
    return this.#filled - this.#start;
  }

  /** The string that begins and ends with the quotes at `start` and `end`, if it is plain. */
  text(start: number, end: number): LyingText | undefined {
    if (end - start < LEAST_TEXT_BYTES) return undefined;
    const base = this.#see(start, end >= this.#windowEnd);
    const found = shared().code.plainTextEnd(start - base, this.#windowEnd - base);
    return found === end + 1 - base ? new LyingText(this.#text, start + 1, end) : undefined;
  }

  /** Leaves the memory of the numbers to others, where nobody reads them any more. */
  giveBack(): void {
    for (const block of this.#blocks.splice(0)) block.giveBack();
    this.#room = new Float64Array(0);
    this.#start = 0;
    this.#filled = 0;
  }

  /** Has the text at `at` in the window; returns where the window begins. */
  #see(at: number, isNew: boolean): number {
    const { window } = shared();
    const isThere =
      seen === this.#window &&
      this.#window !== undefined &&
      at >= this.#windowStart &&
      at < this.#windowEnd;
    if (isThere && !isNew) return this.#windowStart;
    this.#windowStart = at;
    this.#windowEnd = Math.min(this.#text.length, at + window.length);
    copyBytes(this.#text, window, 0, at, this.#windowEnd);
    // An object of its own, which keeps nothing.
    this.#window = {};
    seen = this.#window;
    return at;
  }

  /** Adds what has been read to the list, which lies in one piece. */
  #keep(base: number): void {
    const instance = shared();
    const count = instance.code.readNumbers();
    instance.readRest(this.#text, base);
    const length = this.#filled - this.#start;
    if (this.#filled + count > this.#room.length) this.#extend(length, count);
    const room = this.#room;
    const { numbers } = instance;
    const to = this.#filled;
    for (let at = 0; at < count; at += 1) room[to + at] = numbers[at] ?? 0;
    this.#filled = to + count;
  }

  /** Takes a new block. Numbers as they are usually written take fewer bytes than their text. */
  #extend(length: number, more: number): void {
    const needed = Math.max(this.#text.length, 2 * BYTES_PER_NUMBER * (length + more));
    const bytes =
      Math.ceil(Math.max(needed, UNCOUNTED_BYTES) / BYTES_PER_NUMBER) * BYTES_PER_NUMBER;
    const block = Owned.uncleared(bytes);
    this.#blocks.push(block);
    const { buffer, byteOffset } = block.bytes;
    const room = new Float64Array(buffer, byteOffset, bytes / BYTES_PER_NUMBER);
    for (let at = 0; at < length; at += 1) room[at] = this.#room[this.#start + at] ?? 0;
    this.#room = room;
    this.#start = 0;
    this.#filled = length;
  }
}

let instance: RowsInstance | undefined;
/** Whose text is in the window. */
let seen: object | undefined;

function shared(): RowsInstance {
  instance ??= new RowsInstance();
  return instance;
}
