export const SEPARATOR = 1;

export const LETTER = 2;

/** A character that is a gram on its own and with its neighbour. */
export const DENSE = 3;

/** Invisible: soft hyphens, joiners, direction marks, variation selectors. */
export const IGNORED = 4;

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

export const PAGE_BITS = 8;

export const PAGE_SIZE = 1 << PAGE_BITS;

export const PAGE_MASK = PAGE_SIZE - 1;

const PAGE_COUNT = 0x11_0000 / PAGE_SIZE;

/** A page has an entry for each of 256 code points: its class in the low bits, and the character's number above them. */
export const CLASS_BITS = 3;

export const CLASS_MASK = (1 << CLASS_BITS) - 1;

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
export function fold(text: string): string {
  if (!NON_ASCII.test(text)) return text;
  const folded = text.normalize('NFKC').toLowerCase();
  // Lower-casing leaves these of a final sigma and of the Turkish capital İ.
  return folded.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');
}

/** Classes of all characters, and small numbers for those of the query, so that four form an exact key; 0 for others. */
export class CharacterPages {
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
