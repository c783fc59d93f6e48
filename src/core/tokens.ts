/**
 * Only a model's tokenizer knows how many tokens a text has. These are bounds by script, taken from the vocabularies of
 * rerankers, embedding and chat models: a lower bound finds texts that cannot fit, an upper bound those that surely do.
 */

interface Bounds {
  /** Tokens per UTF-16 unit. */
  readonly least: number;
  readonly most: number;
}

const ASCII_LETTER: Bounds = { least: 0.12, most: 0.35 };
/** What the first letter of a word adds: to a model with a small vocabulary, a word is at least one token. */
const FIRST_LETTER_MOST = 0.65;
const ASCII_DIGIT: Bounds = { least: 0.33, most: 1 };
const ASCII_OTHER: Bounds = { least: 0.1, most: 1 };
const SPACE: Bounds = { least: 0, most: 0.25 };
/** Latin with marks, Greek, Cyrillic, Armenian, Hebrew, Arabic. */
const ALPHABETS: Bounds = { least: 0.15, most: 1 };
/** Scripts of South and South-East Asia, Georgian, Ethiopic and the like. */
const SYLLABLES: Bounds = { least: 0.15, most: 3 };
const IDEOGRAPHS: Bounds = { least: 0.3, most: 2 };
const SYMBOLS: Bounds = { least: 0.2, most: 3 };

/** Ranges up to and including a unit, in order. */
const RANGES: readonly (readonly [last: number, bounds: Bounds])[] = [
  [0x06ff, ALPHABETS],
  [0x1dff, SYLLABLES],
  [0x1fff, ALPHABETS],
  [0x2dff, SYMBOLS],
  [0x9fff, IDEOGRAPHS],
  [0xabff, SYLLABLES],
  [0xd7ff, IDEOGRAPHS],
  // Surrogates, private-use characters and presentation forms.
  [0xffff, SYMBOLS],
];

/** For ASCII. */
function isLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function boundsOf(unit: number): Bounds {
  if (unit < 0x80) {
    if (isLetter(unit)) return ASCII_LETTER;
    if (unit >= 0x30 && unit <= 0x39) return ASCII_DIGIT;
    return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) ? SPACE : ASCII_OTHER;
  }
  return RANGES.find(([last]) => unit <= last)?.[1] ?? SYMBOLS;
}

/** By UTF-16 unit: looked up for each unit of a text. The least are in hundredths, which add up exactly. */
const LEAST = new Uint8Array(0x10000);
const MOST = new Float32Array(0x10000);
for (let unit = 0; unit < 0x10000; unit += 1) {
  const { least, most } = boundsOf(unit);
  LEAST[unit] = Math.round(100 * least);
  MOST[unit] = most;
}

/** The most tokens per byte of UTF-8: half of a character of four bytes, or of one of two. */
const MOST_PER_BYTE = 1.5;
/** Digits have the highest lower bound. */
const LEAST_PER_BYTE = 0.34;

/** Whether a text of that many bytes may have more tokens than this; if not, nothing needs counting. */
export function mayExceed(bytes: number, tokens: number): boolean {
  return bytes * MOST_PER_BYTE > tokens;
}

/** Whether a text of that many bytes may surely have more tokens than this; if not, nothing needs counting. */
export function maySurelyExceed(bytes: number, tokens: number): boolean {
  return bytes * LEAST_PER_BYTE > tokens;
}

/** A lower bound of a text's tokens. Counting stops beyond `upTo`: a text may be megabytes long. */
export function leastTokens(text: string, upTo = Infinity): number {
  const { length } = text;
  const enough = 100 * (upTo + 1);
  let total = 0;
  for (let at = 0; at < length && total < enough; at += 1) {
    total += LEAST[text.charCodeAt(at)] ?? 0;
  }
  return Math.floor(total / 100);
}

/** Units of a text that surely have more tokens than this: the rest need not be read. */
export function unitsBeyond(tokens: number): number {
  return Math.ceil(tokens / SPACE.most) + 1;
}

/** An upper bound of a text's tokens, or a number above `upTo`, where counting stops. */
export function mostTokens(text: string, upTo = Infinity): number {
  const { length } = text;
  let total = 0;
  for (let at = 0; at < length && total <= upTo; at += 1) total += mostAt(text, at);
  return Math.ceil(total);
}

/** The most tokens that the unit at a position adds to those before it. */
function mostAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const begins = isLetter(unit) && !isLetter(text.charCodeAt(at - 1));
  return (MOST[unit] ?? 0) + (begins ? FIRST_LETTER_MOST : 0);
}

/** As much of a text as surely has no more than `most` tokens; never ends inside a character. */
export function cutToTokens(text: string, most: number): string {
  const { length } = text;
  let total = 0;
  for (let at = 0; at < length; at += 1) {
    total += mostAt(text, at);
    if (total > most) {
      const isLowHalf = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
      return text.slice(0, isLowHalf ? Math.max(0, at - 1) : at);
    }
  }
  return text;
}

/** What a caller reads when not all of the text was ranked. */
export const CUT_DOCUMENTS =
  'Documents longer than the model can read were cut; the rest of their text was not ranked.';
