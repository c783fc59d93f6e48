import { actualCost, estimateCost, priceOf, type PriceList } from '../core/quota.js';
import type { RerankRequest, Usage } from '../core/rerank.js';
import type { TokenPolicy } from '../core/token.js';
import { rankerTokens } from './offer.js';
import type { Ranking } from './rank.js';
import { answersOf, type Routing, type Target } from './target.js';

export interface CostDeps {
  readonly prices: PriceList;
  /** The share of a fresh ranking's price that a cached one costs. */
  readonly cacheHitPercent: number;
}

/** The most that a request may cost, over all models that may answer it. */
export function mostOf(
  deps: Pick<CostDeps, 'prices'> & Routing,
  request: Pick<RerankRequest, 'query' | 'documents' | 'options'>,
  target: Target,
  policy: Pick<TokenPolicy, 'fallbacks'>,
): number {
  const { plans } = deps.channels.current;
  const { query, documents } = request;
  const answers = answersOf(deps, target, policy);
  const estimates = (answers.length === 0 ? [target.model] : answers).map((model) => {
    const price = priceOf(deps.prices, model);
    const offers = plans.get(model)?.offers ?? [];
    const tokens = price.per === 'million_tokens' ? rankerTokens(offers, request) : 0;
    return estimateCost(price, query, documents, tokens);
  });
  return Math.max(...estimates);
}

/** What a ranking costs, by the price of the model that answered. */
export function costOf(
  deps: CostDeps,
  target: Target,
  { model, from }: Ranking,
  documents: number,
  usage: Usage,
): number {
  const cost = actualCost(priceOf(deps.prices, model ?? target.model), documents, usage);
  return from === 'cache' ? Math.ceil((cost * deps.cacheHitPercent) / 100) : cost;
}
