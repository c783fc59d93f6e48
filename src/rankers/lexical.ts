import { GramCounter, HitList, PIECE_CHARS, pieceEnd } from './gram-counter.js';
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

  const { totalLength, filled } = sumsOf(lengths);
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

/** How long all documents are together, and how many are not blank. */
function sumsOf(lengths: Uint32Array): { readonly totalLength: number; readonly filled: number } {
  let totalLength = 0;
  let filled = 0;
  for (const length of lengths) {
    totalLength += length;
    if (length > 0) filled += 1;
  }
  return { totalLength, filled };
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
