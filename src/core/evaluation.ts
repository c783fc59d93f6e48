/**
 * How good an order is, given relevance labels, as trec_eval measures it: 0 for irrelevant, higher for more relevant; a document
 * without a label is not relevant.
 */

export interface Scored {
  readonly index: number;
  readonly score: number;
}

/**
 * The order that trec_eval makes of a ranking: the highest score first, and of equal scores the greatest name, compared as text. What a
 * ranker does with equal scores earns nothing. Names are the indexes, unless the documents have others.
 */
export function trecOrder(
  rows: readonly Scored[],
  nameOf: (index: number) => string = String,
): number[] {
  return rows
    .map(({ index, score }) => ({ index, score, name: nameOf(index) }))
    .sort((one, other) => other.score - one.score || (one.name < other.name ? 1 : -1))
    .map(({ index }) => index);
}

type Gain = (label: number) => number;

const LINEAR: Gain = (label) => Math.max(0, label);
const EXPONENTIAL: Gain = (label) => 2 ** Math.max(0, label) - 1;

/**
 * nDCG of the first `most` places, trec_eval's `ndcg_cut`: 1 for the best possible order, 0 where they contain nothing relevant,
 * and 0 where nothing at all is relevant: `hasRelevant` says which queries these are.
 */
export function ndcg(order: readonly number[], relevance: readonly number[], most: number): number {
  return ndcgBy(LINEAR, order, relevance, most);
}

/** The same with gains of 2^label - 1, which other programs call nDCG too: higher where labels above 1 come first. */
export function exponentialNdcg(
  order: readonly number[],
  relevance: readonly number[],
  most: number,
): number {
  return ndcgBy(EXPONENTIAL, order, relevance, most);
}

/** The nDCG that a random order has on average: what a ranker has to beat. */
export function randomNdcg(relevance: readonly number[], most: number): number {
  const gains = relevance.map(LINEAR);
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, gains.length);
  const best = discounted(falling(gains), most);
  const everywhere = gains.map(() => mean);
  return best === 0 ? 0 : discounted(everywhere, most) / best;
}

/** Whether a query has a relevant document. Without one, all orders are equally good. */
export function hasRelevant(relevance: readonly number[]): boolean {
  return relevance.some((label) => label > 0);
}

function ndcgBy(
  gainOf: Gain,
  order: readonly number[],
  relevance: readonly number[],
  most: number,
): number {
  const best = discounted(falling(relevance.map(gainOf)), most);
  if (best === 0) return 0;
  const gains = order.map((index) => gainOf(relevance[index] ?? 0));
  return discounted(gains, most) / best;
}

function falling(gains: readonly number[]): number[] {
  return [...gains].sort((one, other) => other - one);
}

function discounted(gains: readonly number[], most: number): number {
  return gains.slice(0, most).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
}

/** One divided by the rank of the first relevant document; 0 if the order contains none. */
export function reciprocalRank(order: readonly number[], relevance: readonly number[]): number {
  const at = order.findIndex((index) => (relevance[index] ?? 0) > 0);
  return at < 0 ? 0 : 1 / (at + 1);
}
