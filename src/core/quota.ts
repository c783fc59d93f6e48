import { UNITS_PER_DOLLAR } from './figures.js';
import { own } from './records.js';
import { estimateTokens, searchUnits, type Usage } from './rerank.js';
import type { Documents } from '../bytes/index.js';

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

/** Two dollars per thousand search units, a common price of hosted rerankers. Applies to a model without a price. */
export const DEFAULT_PRICE: Price = { per: 'search_unit', units: 1_000 };

/** An amount in dollars, as `$1.50`; whole cents are shown as money is. */
export function dollars(units: number): string {
  // One unit is 0.000002 dollars.
  const digits = units % (UNITS_PER_DOLLAR / 100) === 0 ? 2 : 6;
  return `${units < 0 ? '-' : ''}$${(Math.abs(units) / UNITS_PER_DOLLAR).toFixed(digits)}`;
}

export function priceOf(prices: PriceList, model: string): Price {
  return own(prices.models, model) ?? prices.fallback;
}

/**
 * The most that a request will cost, as far as is known before the call; this amount is reserved. `rankerTokens` is how many
 * tokens a ranker that reads more than the query and the documents may take.
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

/** What a successful request costs. Search units are counted as the price defines them, not as the upstream bills. */
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

/** The same with fractions of a unit, for what is added up: many small calls, each rounded up, would come out dearer. */
export function exactCost(price: Price, documentCount: number, usage: Usage): number {
  return price.per === 'million_tokens'
    ? (price.units * usage.inputTokens) / 1_000_000
    : actualCost(price, documentCount, usage);
}

/** Of a typical request: 25 documents of 200 tokens. */
const TYPICAL_TOKENS = 5_000;

/** The cost of a typical request by a price: enough to compare prices. */
export function typicalCost(price: Price): number {
  return price.per === 'million_tokens' ? tokensCost(price.units, TYPICAL_TOKENS) : price.units;
}

function tokensCost(unitsPerMillion: number, tokens: number): number {
  return unitsPerMillion === 0 ? 0 : Math.max(1, Math.ceil((unitsPerMillion * tokens) / 1_000_000));
}
