import {
  CharacterPages,
  CLASS_BITS,
  CLASS_MASK,
  DENSE,
  fold,
  IGNORED,
  LETTER,
  PAGE_BITS,
  PAGE_MASK,
  PAGE_SIZE,
  SEPARATOR,
} from './characters.js';

/** The rest of a longer query is not read, which bounds the work before the first document. */
const MAX_QUERY_CHARS = 16_384;

const BLOCK_BITS = 12;
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;

/** Matches a UTF-16 unit that normalization may merge with what precedes it. */
const CONTINUES = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\udc00-\udfff\uff9e\uff9f]/u;

/**
 * Texts are read in pieces of this many UTF-16 units, whatever the slice, so that the slice cannot change a score. Sorting
 * the accents of one letter takes time quadratic in their number: short pieces keep that small.
 */
export const PIECE_CHARS = 512;

/** Where the piece of `text` that begins at `start` ends: not between a letter and its marks unless there are hundreds. */
export function pieceEnd(text: string, start: number): number {
  const limit = start + PIECE_CHARS;
  if (limit >= text.length) return text.length;
  for (let end = limit; end > start + PIECE_CHARS / 2; end -= 1) {
    if (!CONTINUES.test(text.charAt(end))) return end;
  }
  return limit;
}

/** The number of the pad in a gram; characters come after it. */
const PAD = 1;

/** Counts the query's grams in one document after another, each given as pieces of text. */
export class GramCounter {
  /** Distinct grams of the query, numbered from 0. */
  readonly gramCount: number;
  /** How often the query has each. */
  readonly queryTimes: Uint32Array;

  readonly #pages: CharacterPages;
  // A hash table with open addressing: a gram's four 16-bit numbers in two words, and its own number plus one (0: free).
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #numbers: Uint16Array;
  readonly #mask: number;
  /** The query's grams are being collected: a missing one is added. */
  #learning = true;
  #learned = 0;

  #times: Uint32Array;
  /** The grams with a count in this document, in the order in which they first appeared. */
  readonly #seen: Uint16Array;
  #seenCount = 0;

  // State of the document between two pieces: the last four characters, how many in a row the query knows, the class and
  // length of the run, and the grams so far.
  #window1 = 0;
  #window2 = 0;
  #known = 0;
  #run = SEPARATOR;
  #runLength = 0;
  #length = 0;

  constructor(query: string) {
    const text = fold(query.slice(0, MAX_QUERY_CHARS)).toLowerCase().slice(0, MAX_QUERY_CHARS);
    this.#pages = new CharacterPages(PAD + 1);
    for (const character of text) {
      this.#pages.add(character.codePointAt(0) ?? 0);
    }
    // No text has more than two grams for each of its characters. Half of the table stays free.
    const mostGrams = 2 * text.length;
    const size = 2 ** Math.ceil(Math.log2(2 * mostGrams + 2));
    this.#mask = size - 1;
    this.#first = new Int32Array(size);
    this.#second = new Int32Array(size);
    this.#numbers = new Uint16Array(size);
    this.#times = new Uint32Array(mostGrams);
    this.#seen = new Uint16Array(mostGrams);

    this.#readFolded(text);
    const queryTimes: number[] = [];
    this.finish((_gram, times) => queryTimes.push(times));
    this.queryTimes = Uint32Array.from(queryTimes);
    this.gramCount = queryTimes.length;
    this.#times = new Uint32Array(this.gramCount);
    this.#learning = false;
  }

  /** Takes the next piece of the document. */
  read(piece: string): void {
    this.#readFolded(fold(piece));
  }

  #readFolded(text: string): void {
    const pages = this.#pages;
    const latin = pages.page(0);
    let window1 = this.#window1;
    let window2 = this.#window2;
    let known = this.#known;
    let run = this.#run;
    let runLength = this.#runLength;
    for (let at = 0; at < text.length; at += 1) {
      let codePoint = text.charCodeAt(at);
      let entry: number;
      if (codePoint < PAGE_SIZE) {
        entry = latin[codePoint] ?? 0;
      } else {
        if ((codePoint & 0xfc00) === 0xd800) {
          codePoint = text.codePointAt(at) ?? 0;
          if (codePoint > 0xffff) at += 1;
        }
        entry = pages.page(codePoint >> PAGE_BITS)[codePoint & PAGE_MASK] ?? 0;
      }
      if (entry === 0) entry = pages.learn(codePoint);
      let kind = entry & CLASS_MASK;
      if (kind >= IGNORED) {
        if (kind === IGNORED) continue;
        kind = run === DENSE ? DENSE : LETTER;
      }
      if (kind !== run) {
        if (run !== SEPARATOR) this.#endRun(run, runLength, window1, window2, known);
        run = kind;
        runLength = 0;
        window1 = 0;
        window2 = kind === LETTER ? PAD : 0;
        known = kind === LETTER ? 1 : 0;
      }
      if (kind === SEPARATOR) continue;
      const id = entry >>> CLASS_BITS;
      runLength += 1;
      known = id === 0 ? 0 : known + 1;
      if (kind === LETTER) {
        window1 = (window1 << 16) | (window2 >>> 16);
        window2 = (window2 << 16) | id;
        if (known >= 4) this.#count(window1, window2);
      } else if (known > 0) {
        window2 = (window2 << 16) | id;
        this.#count(0, id);
        if (known > 1) this.#count(0, window2);
      }
    }
    this.#window1 = window1;
    this.#window2 = window2;
    this.#known = known;
    this.#run = run;
    this.#runLength = runLength;
  }

  /** Ends the document: reports each query gram in it, and how often it occurs; returns the number of all its grams. */
  finish(tell: (gram: number, times: number) => void): number {
    if (this.#run !== SEPARATOR) {
      this.#endRun(this.#run, this.#runLength, this.#window1, this.#window2, this.#known);
      this.#run = SEPARATOR;
    }
    for (let at = 0; at < this.#seenCount; at += 1) {
      const gram = this.#seen[at] ?? 0;
      tell(gram, this.#times[gram] ?? 0);
      this.#times[gram] = 0;
    }
    const length = this.#length;
    this.#seenCount = 0;
    this.#length = 0;
    return length;
  }

  #endRun(run: number, runLength: number, window1: number, window2: number, known: number): void {
    if (run === DENSE) {
      this.#length += 2 * runLength - 1;
      return;
    }
    this.#length += Math.max(1, runLength - 1);
    if (known >= Math.min(3, runLength + 1)) {
      this.#count((window1 << 16) | (window2 >>> 16), (window2 << 16) | PAD);
    }
  }

  #count(first: number, second: number): void {
    let hash = Math.imul(first, 0x9e37_79b1) ^ Math.imul(second, 0x85eb_ca6b);
    hash ^= hash >>> 15;
    const mask = this.#mask;
    let slot = hash & mask;
    let number = this.#numbers[slot] ?? 0;
    while (number !== 0 && (this.#first[slot] !== first || this.#second[slot] !== second)) {
      slot = (slot + 1) & mask;
      number = this.#numbers[slot] ?? 0;
    }
    if (number === 0) {
      if (!this.#learning) return;
      this.#learned += 1;
      number = this.#learned;
      this.#first[slot] = first;
      this.#second[slot] = second;
      this.#numbers[slot] = number;
    }
    const gram = number - 1;
    const times = this.#times[gram] ?? 0;
    if (times === 0) {
      this.#seen[this.#seenCount] = gram;
      this.#seenCount += 1;
    }
    this.#times[gram] = times + 1;
  }
}

/** Which gram was seen how often, for all documents in turn; in blocks, so that growing never copies existing entries. */
export class HitList {
  length = 0;
  readonly #blocks: { readonly grams: Uint16Array; readonly times: Uint32Array }[] = [];

  push(gram: number, times: number): void {
    let block = this.#blocks[this.length >> BLOCK_BITS];
    if (block === undefined) {
      block = {
        grams: new Uint16Array(1 << BLOCK_BITS),
        times: new Uint32Array(1 << BLOCK_BITS),
      };
      this.#blocks.push(block);
    }
    block.grams[this.length & BLOCK_MASK] = gram;
    block.times[this.length & BLOCK_MASK] = times;
    this.length += 1;
  }

  gramAt(index: number): number {
    return this.#blocks[index >> BLOCK_BITS]?.grams[index & BLOCK_MASK] ?? 0;
  }

  timesAt(index: number): number {
    return this.#blocks[index >> BLOCK_BITS]?.times[index & BLOCK_MASK] ?? 0;
  }
}
