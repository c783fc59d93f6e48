import type { Documents } from '../bytes/index.js';
import type { RankedRow } from './rerank.js';
import { cutToTokens, unitsBeyond } from './tokens.js';

/** Passages per document; anything after them is not read. */
export const MOST_PASSAGES = 100;
/** How much two passages overlap, so that a sentence on the border is whole in one of them. */
const OVERLAP_SHARE = 1 / 8;
/** The last part of a passage, in which it may end early, between two words. */
const LOOSE_SHARE = 1 / 4;

/** A list in which long documents are replaced by their passages. */
export interface PassageList {
  readonly documents: Documents;
  /** The document that each passage comes from. */
  readonly of: readonly number[];
  /** Whether a document had more passages than are read. */
  readonly isCut: boolean;
}

/** Cuts the documents at the indexes in `long` into passages of at most this many tokens; the others stay whole. */
export function passageList(
  documents: Documents,
  long: readonly number[],
  mostTokens: number,
): PassageList {
  const isLong = new Set(long);
  const of: number[] = [];
  const texts = new Map<number, string>();
  const mostUnits = (MOST_PASSAGES + 1) * unitsBeyond(mostTokens);
  let isCut = false;
  for (let index = 0; index < documents.count; index += 1) {
    if (!isLong.has(index)) {
      of.push(index);
      continue;
    }
    const passages = passagesOf(documents.text(index, mostUnits), mostTokens);
    if (passages.length > MOST_PASSAGES) isCut = true;
    for (const passage of passages.slice(0, MOST_PASSAGES)) {
      texts.set(of.length, passage);
      of.push(index);
    }
  }
  return { documents: documents.pick(of, { texts }), of, isCut };
}

/**
 * A text as overlapping passages, none of which can have more than this many tokens: at least one passage, and at most one more
 * than are used. They end between words where possible.
 */
export function passagesOf(text: string, mostTokens: number): string[] {
  const passages: string[] = [];
  // From where the next passage begins.
  let rest = text;
  let first: string | undefined;
  while (passages.length <= MOST_PASSAGES) {
    const whole = cutToTokens(rest, mostTokens);
    first ??= whole;
    const most = whole || firstCharacter(rest);
    const isLast = most.length === rest.length;
    const passage = isLast ? most : upToWord(most);
    // A passage of white space says nothing, and some providers refuse it.
    if (passage.trim() !== '') passages.push(passage);
    if (isLast) break;
    rest = rest.slice(stepOver(passage));
  }
  return passages.length === 0 ? [first ?? ''] : passages;
}

function firstCharacter(text: string): string {
  return text.slice(0, String.fromCodePoint(text.codePointAt(0) ?? 0).length);
}

/** As much as ends between words, unless that leaves out too much. */
function upToWord(text: string): string {
  const least = Math.ceil(text.length * (1 - LOOSE_SHARE));
  for (let end = text.length; end > least; end -= 1) {
    if (isSpace(text.charCodeAt(end - 1))) return text.slice(0, end);
  }
  return text;
}

/** Where the next passage begins, relative to this one: at a word if there is one, never inside a character. */
function stepOver(passage: string): number {
  const { length } = passage;
  const step = Math.max(1, length - Math.floor(length * OVERLAP_SHARE));
  const least = Math.ceil(length * (1 - OVERLAP_SHARE - LOOSE_SHARE));
  for (let at = step; at > least; at -= 1) {
    if (isSpace(passage.charCodeAt(at - 1))) return at;
  }
  const isLowHalf = (passage.charCodeAt(step) & 0xfc00) === 0xdc00;
  return isLowHalf ? step + 1 : step;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d || unit === 0x3000;
}

/**
 * A ranking of documents made from their passages: each document has the score of its best passage; ties keep the order of
 * the list.
 */
export function bestPassages(
  rows: readonly RankedRow[],
  of: readonly number[],
  topN: number,
): RankedRow[] {
  const best = new Map<number, number>();
  for (const { index, score } of rows) {
    const document = of[index];
    if (document === undefined) continue;
    const known = best.get(document);
    if (known === undefined || score > known) best.set(document, score);
  }
  return [...best]
    .map(([index, score]) => ({ index, score }))
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, topN);
}
