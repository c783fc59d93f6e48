/** How good an order is, by labels of what is relevant: 0 for nothing, and more for more. */

/**
 * Normalized discounted cumulative gain of the first `most` places: 1 for the best order that there is, 0 where nothing
 * relevant is among them. `undefined` where nothing is relevant at all.
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

/** One over the place of the first relevant document; 0 where none is in the order. */
export function reciprocalRank(order: readonly number[], relevance: readonly number[]): number {
  const at = order.findIndex((index) => (relevance[index] ?? 0) > 0);
  return at < 0 ? 0 : 1 / (at + 1);
}
