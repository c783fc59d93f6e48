import { wordOverlap } from '../support/upstream.js';

export type Scale = 'probability' | 'logit';

/** Written into a reply as the bare word NaN, which is no JSON. */
export const NOT_A_NUMBER = '\u0000NaN\u0000';

export interface ScoredRow {
  readonly index: number;
  readonly score: number | string | null;
}

/**
 * The score that every stub gives: the share of the query's words that the document has, and a trace for the earlier
 * document. The same everywhere, so that all agree on the order and differ in scale alone.
 */
function relevance(query: string, text: string, index: number, count: number): number {
  const trace = Math.min(1e-4, 0.005 / count) * (count - index);
  return 0.98 * wordOverlap(query, text) + trace;
}

function scaled(relevance: number, scale: Scale): number {
  return scale === 'probability' ? relevance : Math.log((relevance + 0.01) / (1.01 - relevance));
}

/** A row for each document, in their order. */
export function scoreAll(query: string, texts: readonly string[], scale: Scale): ScoredRow[] {
  return texts.map((text, index) => ({
    index,
    score: scaled(relevance(query, text, index, texts.length), scale),
  }));
}

export function bestFirst(rows: readonly ScoredRow[]): ScoredRow[] {
  return [...rows].sort((a, b) => Number(b.score) - Number(a.score));
}

/** Rough and the same everywhere: a token for each word of every pair. */
export function countTokens(query: string, texts: readonly string[]): number {
  const words = (text: string): number => text.match(/\S+/g)?.length ?? 0;
  return texts.reduce((sum, text) => sum + words(text) + words(query), 0);
}
