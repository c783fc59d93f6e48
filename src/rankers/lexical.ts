/**
 * Ranks documents by the words they share with the query, with no model and no network: BM25 over character 4-grams, which
 * needs neither a dictionary nor a stemmer for any language. It does not know that "car" and "automobile" mean the same.
 *
 * Text is NFKC and lower case. A word is letters, marks and digits, padded with one `_` on both sides and cut into grams of
 * four characters; a single letter is the one gram `_a_`. Scripts without spaces between words, Hangul (a syllable carries
 * as much as three letters), and symbols such as `+`, `€` or emoji are cut into grams of one and two characters.
 * Punctuation and white space only separate.
 */

export interface LexicalConstants {
  /** How slowly a repeated gram stops adding to the score. */
  readonly k1: number;
  /** How much the length of a document counts: 0 not at all, 1 in full. */
  readonly b: number;
  /**
   * A document's share of the full score, 0 to 1, is stretched to `share / (share + lift * (1 - share))`. A document equal
   * to the query has a share of only .2 among documents of the same length, since BM25 saturates slowly; a lift of .12
   * makes it .68.
   */
  readonly lift: number;
}

/**
 * A gram is repeated more often than a word is, in long passages above all, so it saturates more slowly than BM25 usually does.
 * `npm run bench:lexical` compares these with others.
 */
export const LEXICAL_CONSTANTS: LexicalConstants = { k1: 4, b: 0.9, lift: 0.12 };
/** The rest of a longer query is not read, which bounds the work before the first document. */
const MAX_QUERY_CHARS = 16_384;
/**
 * Texts are read in pieces of this many UTF-16 units, whatever the slice, so that the slice cannot change a score. Sorting
 * the accents of one letter takes time quadratic in their number: short pieces keep that small.
 */
const PIECE_CHARS = 512;
/** Cost of a document in characters besides its text, so that many tiny ones fill a slice too. */
const DOCUMENT_CHARS = 32;

/** The texts to rank, each read once and in order, in pieces of any size; `Documents` is one. */
export interface LexicalDocuments {
  readonly count: number;
  text(index: number): string;
}

/**
 * Scores of `documents` in their order: 0 for one that shares no gram with the query, otherwise above 0 and up to 1;
 * monotone in BM25 within one call, and not comparable between calls or with a model's scores. Blank documents score 0 and
 * do not affect other scores.
 */
export function scoreLexically(
  query: string,
  documents: readonly string[],
  constants = LEXICAL_CONSTANTS,
): number[] {
  const texts = {
    count: documents.length,
    text: (index: number) => documents[index] ?? '',
  };
  const slices = lexicalSlices(query, texts, Infinity, constants);
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}

/**
 * `scoreLexically` in slices: yields after about `sliceChars` UTF-16 units of work, even in the middle of a long document,
 * and returns the scores, which do not depend on `sliceChars`. A million characters take about 40 ms, and ten times that
 * if they are nothing but accents, which Unicode wants sorted. A generator dropped half-way leaves nothing behind.
 */
export function* lexicalSlices(
  query: string,
  documents: LexicalDocuments,
  sliceChars: number,
  { k1, b, lift }: LexicalConstants = LEXICAL_CONSTANTS,
): Generator<undefined, number[], undefined> {
  const { count } = documents;
  const counter = new GramCounter(query);
  const hits = new HitList();
  const hitEnds = new Uint32Array(count);
  const lengths = new Uint32Array(count);
  const documentsWith = new Uint32Array(counter.gramCount);
  let budget = sliceChars;

  for (let index = 0; index < count; index += 1) {
    const text = documents.text(index);
    let start = 0;
    while (text.length - start > PIECE_CHARS) {
      const end = pieceEnd(text, start);
      counter.read(text.slice(start, end));
      budget -= end - start;
      start = end;
      if (budget > 0) continue;
      yield;
      budget = sliceChars;
    }
    const rest = text.slice(start);
    counter.read(rest);
    budget -= rest.length;
    lengths[index] = counter.finish((gram, times) => {
      hits.push(gram, times);
      documentsWith[gram] = (documentsWith[gram] ?? 0) + 1;
    });
    hitEnds[index] = hits.length;
    budget -= DOCUMENT_CHARS;
    if (budget <= 0) {
      yield;
      budget = sliceChars;
    }
  }

  let totalLength = 0;
  let filled = 0;
  for (const length of lengths) {
    totalLength += length;
    if (length > 0) filled += 1;
  }
  const weights = gramWeights(counter.queryTimes, documentsWith, filled);
  let fullScore = 0;
  for (const weight of weights) fullScore += weight;

  const scores: number[] = [];
  let hit = 0;
  for (let index = 0; index < count; index += 1) {
    const hitEnd = hitEnds[index] ?? 0;
    budget -= hitEnd - hit + 1;
    // A document with a hit has a length, so nothing here divides by zero.
    const saturation = k1 * (1 - b + (b * (lengths[index] ?? 0) * filled) / totalLength);
    let score = 0;
    for (; hit < hitEnd; hit += 1) {
      const times = hits.timesAt(hit);
      score += ((weights[hits.gramAt(hit)] ?? 0) * times) / (times + saturation);
    }
    scores.push(score === 0 ? 0 : squash(score / fullScore, lift));
    if (budget <= 0) {
      yield;
      budget = sliceChars;
    }
  }
  return scores;
}

/** The weight of each gram of the query: its idf over the documents that are not blank, times its count in the query. */
function gramWeights(
  queryTimes: Uint32Array,
  documentsWith: Uint32Array,
  documentCount: number,
): Float64Array {
  return Float64Array.from(queryTimes, (times, gram) => {
    // A gram that no document has earns nothing; in the score of a full match it weighs as much as the rarest gram.
    const having = Math.max(1, documentsWith[gram] ?? 0);
    return times * Math.log(1 + (Math.max(1, documentCount) - having + 0.5) / (having + 0.5));
  });
}

function squash(share: number, lift: number): number {
  return Math.min(1, share / (share + lift * (1 - share)));
}

const SEPARATOR = 1;
const LETTER = 2;
/** A character that is a gram on its own and with its neighbour. */
const DENSE = 3;
/** Invisible: soft hyphens, joiners, direction marks, variation selectors. */
const IGNORED = 4;
/** An accent that fits any script: part of whatever it follows. */
const ACCENT = 5;

const IGNORED_CHARACTER = /\p{Default_Ignorable_Code_Point}/u;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u;
/** ASCII's `#%&@` are punctuation to Unicode; C# and R&D say otherwise. */
const SYMBOL = /[\p{S}#%&@]/u;
const DENSE_SCRIPT =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Hang}\p{scx=Yiii}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Tale}\p{scx=Talu}\p{scx=Lana}\p{scx=Java}\p{scx=Bali}]/u;
const SHARED_MARK = /\p{sc=Inherited}/u;

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  if (IGNORED_CHARACTER.test(character)) return IGNORED;
  if (SYMBOL.test(character)) return DENSE;
  if (!WORD_CHARACTER.test(character)) return SEPARATOR;
  if (SHARED_MARK.test(character)) return ACCENT;
  return DENSE_SCRIPT.test(character) ? DENSE : LETTER;
}

const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_SIZE - 1;
const PAGE_COUNT = 0x11_0000 / PAGE_SIZE;
/** A page has an entry for each of 256 code points: its class in the low bits, and the character's number above them. */
const CLASS_BITS = 3;
const CLASS_MASK = (1 << CLASS_BITS) - 1;

/** The classes known so far; 0 for one not yet asked for. Asking the regular expressions each time is 50 times slower. */
const classPages: (Uint32Array | undefined)[] = new Array<undefined>(PAGE_COUNT).fill(undefined);

function classPage(at: number): Uint32Array {
  let page = classPages[at];
  if (page === undefined) {
    page = new Uint32Array(PAGE_SIZE);
    classPages[at] = page;
  }
  return page;
}

const NON_ASCII = /[^\0-\x7f]/;

/** NFKC and lower case, with no trace of case. ASCII is returned unchanged: `CharacterPages` knows its capitals. */
function fold(text: string): string {
  if (!NON_ASCII.test(text)) return text;
  const folded = text.normalize('NFKC').toLowerCase();
  // Lower-casing leaves these of a final sigma and of the Turkish capital İ.
  return folded.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');
}

/** Matches a UTF-16 unit that normalization may merge with what precedes it. */
const CONTINUES = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\udc00-\udfff\uff9e\uff9f]/u;

/** Where the piece of `text` that begins at `start` ends: not between a letter and its marks unless there are hundreds. */
function pieceEnd(text: string, start: number): number {
  const limit = start + PIECE_CHARS;
  if (limit >= text.length) return text.length;
  for (let end = limit; end > start + PIECE_CHARS / 2; end -= 1) {
    if (!CONTINUES.test(text.charAt(end))) return end;
  }
  return limit;
}

/** Classes of all characters, and small numbers for those of the query, so that four form an exact key; 0 for others. */
class CharacterPages {
  /** The pages of classes, copied where a page has characters of the query. */
  readonly #pages: (Uint32Array | undefined)[] = classPages.slice();
  readonly #own = new Set<number>();
  #next: number;

  constructor(first: number) {
    this.#next = first;
  }

  page(at: number): Uint32Array {
    let page = this.#pages[at];
    if (page === undefined) {
      page = classPage(at);
      this.#pages[at] = page;
    }
    return page;
  }

  /** The entry of a character whose class was not known. */
  learn(codePoint: number): number {
    const at = codePoint >> PAGE_BITS;
    const low = codePoint & PAGE_MASK;
    const entry = classify(codePoint);
    classPage(at)[low] = entry;
    this.page(at)[low] = entry;
    return entry;
  }

  /** Numbers a character of the query. */
  add(codePoint: number): void {
    const at = codePoint >> PAGE_BITS;
    const low = codePoint & PAGE_MASK;
    const known = this.page(at)[low] ?? 0;
    const entry = known === 0 ? this.learn(codePoint) : known;
    if (entry > CLASS_MASK || entry === SEPARATOR || entry === IGNORED) return;
    if (!this.#own.has(at)) {
      this.#own.add(at);
      this.#pages[at] = classPage(at).slice();
    }
    const page = this.page(at);
    const numbered = entry | (this.#next << CLASS_BITS);
    page[low] = numbered;
    // ASCII text is not folded, so its capitals are the same characters here.
    if (codePoint >= 0x61 && codePoint <= 0x7a) page[low - 0x20] = numbered;
    this.#next += 1;
  }
}

/** The number of the pad in a gram; characters come after it. */
const PAD = 1;

/** Counts the query's grams in one document after another, each given as pieces of text. */
class GramCounter {
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

const BLOCK_BITS = 12;
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;

/** Which gram was seen how often, for all documents in turn; in blocks, so that growing never copies existing entries. */
class HitList {
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
