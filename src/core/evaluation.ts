/** How good an order is, given relevance labels: 0 for irrelevant, higher for more relevant. */

/**
 * Normalized discounted cumulative gain of the first `most` places: 1 for the best possible order, 0 if they contain nothing
 * relevant. `undefined` if nothing at all is relevant.
 */
export function ndcg(
  order: readonly number[],
  relevance: readonly number[],
  most: number,
): number | undefined {
  const best = gainOf([...relevance].sort((one, other) => other - one).slice(0, most));
  if (best === 0) return undefined;
  return gainOf(order.slice(0, most).map((index) => relevance[index] ?? 0)) / best;
}

function gainOf(labels: readonly number[]): number {
  return labels.reduce((sum, label, at) => sum + (2 ** label - 1) / Math.log2(at + 2), 0);
}

/** One divided by the rank of the first relevant document; 0 if the order contains none. */
export function reciprocalRank(order: readonly number[], relevance: readonly number[]): number {
  const at = order.findIndex((index) => (relevance[index] ?? 0) > 0);
  return at < 0 ? 0 : 1 / (at + 1);
}
