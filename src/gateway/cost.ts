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

type EstimateDeps = Pick<CostDeps, 'prices'> & Routing;
type Estimated = Pick<RerankRequest, 'query' | 'documents' | 'options'>;

/** The most that a request may cost, over all models that may answer it. */
export function mostOf(
  deps: EstimateDeps,
  request: Estimated,
  target: Target,
  policy: Pick<TokenPolicy, 'fallbacks'>,
): number {
  const answers = answersOf(deps, target, policy);
  const models = answers.length === 0 ? [target.model] : answers;
  return Math.max(...models.map((model) => estimateOf(deps, request, model)));
}

/** What a request costs, as far as is known before the call, if one model answers it. */
export function estimateOf(
  { prices, channels }: EstimateDeps,
  request: Estimated,
  model: string,
): number {
  const price = priceOf(prices, model);
  const offers = channels.current.plans.get(model)?.offers ?? [];
  const reading = price.per === 'million_tokens' ? offers : [];
  const tokens = Math.max(0, ...reading.map(({ route }) => rankerTokens(route, request)));
  return estimateCost(price, request.query, request.documents, tokens);
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
