import { estimateTokens, searchUnits, type Usage } from './rerank.js';
import type { Documents } from './documents.js';

/** Quota units per US dollar. */
export const UNITS_PER_DOLLAR = 500_000;

/** The largest balance or amount; sums of two stay exact in a double, which Redis scripts and JavaScript share. */
export const MAX_QUOTA = 4_000_000_000_000_000;

/** What a model costs, in quota units. */
export type Price =
  | { readonly per: 'request'; readonly units: number }
  /** A search unit is one query with up to 100 documents. */
  | { readonly per: 'search_unit'; readonly units: number }
  | { readonly per: 'million_tokens'; readonly units: number };

export interface PriceList {
  readonly models: Readonly<Record<string, Price>>;
  readonly fallback: Price;
}

/** Two dollars for a thousand search units: what a hosted reranker commonly costs. Applies to a model without a price. */
export const DEFAULT_PRICE: Price = { per: 'search_unit', units: 1_000 };

export function priceOf(prices: PriceList, model: string): Price {
  return Object.hasOwn(prices.models, model)
    ? (prices.models[model] ?? prices.fallback)
    : prices.fallback;
}

/**
 * What a request will cost at most by what is known before the call; the amount that is reserved. `rankerTokens` is what a
 * ranker that reads more than query and documents may take.
 */
export function estimateCost(
  price: Price,
  query: string,
  documents: Documents,
  rankerTokens = 0,
): number {
  switch (price.per) {
    case 'request':
      return price.units;
    case 'search_unit':
      return price.units * searchUnits(documents.count);
    case 'million_tokens':
      return tokensCost(price.units, Math.max(rankerTokens, estimateTokens(query, documents)));
  }
}

/** What a request that succeeded costs. Search units are counted as the price defines them, not as the upstream bills. */
export function actualCost(price: Price, documentCount: number, usage: Usage): number {
  switch (price.per) {
    case 'request':
      return price.units;
    case 'search_unit':
      return price.units * searchUnits(documentCount);
    case 'million_tokens':
      return tokensCost(price.units, usage.inputTokens);
  }
}

function tokensCost(unitsPerMillion: number, tokens: number): number {
  return unitsPerMillion === 0 ? 0 : Math.max(1, Math.ceil((unitsPerMillion * tokens) / 1_000_000));
}
