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

/** By byte of JSON, the least of a character that is this byte alone. */
const LEAST_OF_BYTE = LEAST.slice(0, 0x100);
/** Any other is a part of one. */
const PART = 0xff;
const BACKSLASH = 0x5c;
LEAST_OF_BYTE.fill(PART, 0x80);
LEAST_OF_BYTE[BACKSLASH] = PART;

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
  return Math.floor(hundredthsOf(text, text.length, beyond(upTo)) / 100);
}

/** Hundredths that are more than so many tokens. */
function beyond(tokens: number): number {
  return 100 * (tokens + 1);
}

/** The least of a text, in hundredths. Its end is given: asked of strings of many kinds, it is looked up for each unit. */
function hundredthsOf(text: string, end: number, enough: number): number {
  let total = 0;
  for (let at = 0; at < end && total < enough; at += 1) {
    total += LEAST[text.charCodeAt(at)] ?? 0;
  }
  return total;
}

/** The same for a text that came as a JSON string, without decoding it. */
export function leastTokensOfJson(json: Buffer, upTo = Infinity): number {
  return Math.floor(hundredthsIn(json, beyond(upTo)) / 100);
}

function hundredthsIn(json: Buffer, enough: number): number {
  const end = json.length - 1;
  let total = 0;
  for (let at = 1; at < end && total < enough;) {
    const byte = json[at] ?? 0;
    const alone = LEAST_OF_BYTE[byte] ?? PART;
    if (alone !== PART) {
      total += alone;
      at += 1;
    } else if (byte >= 0xf0) {
      // A pair of surrogates, which are all alike.
      total += 2 * (LEAST[0xd800] ?? 0);
      at += 4;
    } else {
      const unit = unitAt(json, at, byte);
      total += LEAST[unit] ?? 0;
      at += byte >= 0xe0 ? 3 : byte === BACKSLASH && json[at + 1] === LETTER_U ? 6 : 2;
    }
  }
  return total;
}

const LETTER_U = 0x75;
/** What other escapes than those of six bytes mean; those that are not here mean the same without the backslash. */
const ESCAPED = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, meant]) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);

/** The unit whose escape, or two or three bytes of UTF-8, begin at `at` with `byte`. */
function unitAt(json: Buffer, at: number, byte: number): number {
  const next = json[at + 1] ?? 0;
  if (byte !== BACKSLASH) {
    if (byte < 0xe0) return ((byte & 0x1f) << 6) | (next & 0x3f);
    return ((byte & 0x0f) << 12) | ((next & 0x3f) << 6) | ((json[at + 2] ?? 0) & 0x3f);
  }
  if (next !== LETTER_U) return ESCAPED.get(next) ?? next;
  let unit = 0;
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    const code = json[digit] ?? 0;
    // Letters have bit 6, and count from 1.
    unit = (unit << 4) | ((code & 0x0f) + 9 * (code >> 6));
  }
  return unit;
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
