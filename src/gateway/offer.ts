import { own } from '../core/records.js';
import type { Candidate, Channel } from '../core/channel.js';
import { priceOf, typicalCost, type Price, type PriceList } from '../core/quota.js';
import type { Slides } from '../core/slides.js';
import { documentLimit, forModel, type ByModel } from '../providers/provider.js';
import type { Job, Offer, Reads, Tier } from './rank.js';
import type { Route } from './channels/route.js';

/** The share of a body's bytes that may be text; the rest is names, options and punctuation. */
const TEXT_SHARE = 0.9;

/** What a channel offers for one model. */
export function offerOf(route: Route, model: string, { split } = { split: false }): Offer {
  const { id, priority, weight, channel, provider, endpoint } = route;
  const { limits, documents, ranking, scoreScale } = provider.profile;
  const upstreamModel = own(channel.models, model) ?? model;
  const mostDocuments = documentLimit(provider.profile, upstreamModel, endpoint.settings);
  const isPointwise = forModel(ranking, upstreamModel) === 'pointwise';
  const splits = split && isPointwise;
  const slides = isPointwise ? undefined : slidesFor(channel, mostDocuments);
  const isDivided = splits || slides !== undefined;
  const { requestCharacters, bodyBytes } = limits;
  const requestTokens = modelLimit(limits.requestTokens, upstreamModel);
  const reads = readsOf(route, upstreamModel, isPointwise);
  // Documents that are ranked by their passages are never cut.
  const cutBy = reads?.chunks === true ? undefined : reads;
  return {
    id,
    priority,
    weight,
    route,
    upstreamModel,
    room: {
      documents: isDivided ? undefined : mostDocuments,
      documentsWithImages: isDivided
        ? undefined
        : documentLimit(provider.profile, upstreamModel, endpoint.settings, true),
      queryCharacters: limits.queryCharacters,
      documentCharacters: isDivided
        ? least(limits.documentCharacters, requestCharacters)
        : limits.documentCharacters,
      requestCharacters: isDivided ? undefined : requestCharacters,
      requestBytes: isDivided ? undefined : bodyBytes,
      requestTokens: isDivided ? undefined : requestTokens,
      wholeTokens: cutBy?.pairTokens,
      documentTokens: cutBy?.documentTokens,
      images: forModel(documents.images, upstreamModel),
    },
    reads,
    slides,
    // There may be more passages than documents.
    window:
      splits || reads?.chunks === true
        ? {
            documents: mostDocuments,
            characters: requestCharacters,
            bytes: bodyBytes === undefined ? undefined : Math.floor(bodyBytes * TEXT_SHARE),
            tokens: requestTokens,
          }
        : undefined,
    scale: forModel(scoreScale, upstreamModel),
    servedBy: [{ channelId: id, provider: provider.id, tag: channel.tag }],
  };
}

/** The tokens that ranking a list with a channel may take, if it reads more than the query and the documents; otherwise 0. */
export function rankerTokens(
  { provider, endpoint: { settings } }: Pick<Route, 'provider' | 'endpoint'>,
  { query, documents, options }: Pick<Job, 'query' | 'documents' | 'options'>,
): number {
  if (provider.transport === 'process' || provider.rounds === undefined) return 0;
  return provider.estimate({ query, documents, options, settings });
}

/** How much the model reads, as far as known, and what happens to longer documents. */
function readsOf(
  { channel, provider, endpoint }: Route,
  model: string,
  isPointwise: boolean,
): Reads | undefined {
  const { limits, truncates } = provider.profile;
  const pairTokens = channel.pairTokens ?? modelLimit(limits.pairTokens, model);
  if (pairTokens === undefined) return undefined;
  const own = endpoint.settings.maxTokensPerDoc;
  return {
    pairTokens,
    documentTokens: typeof own === 'number' ? own : modelLimit(limits.documentTokens, model),
    chunks: channel.longDocuments === 'chunk' && isPointwise,
    cuts: !truncates,
  };
}

function slidesFor(
  { windowSize, windowStride }: Channel,
  mostDocuments = Infinity,
): Slides | undefined {
  if (windowSize === undefined) return undefined;
  const size = Math.min(windowSize, Math.max(2, mostDocuments));
  return { size, stride: Math.min(windowStride ?? Math.ceil(size / 2), size - 1) };
}

function modelLimit(limit: ByModel<number> | undefined, model: string): number | undefined {
  return limit === undefined ? undefined : forModel(limit, model);
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  const value = Math.min(one ?? Infinity, other ?? Infinity);
  return Number.isFinite(value) ? value : undefined;
}

/** What the operator pays for a channel, if it says so. */
export function declaredCost({
  cost,
  costPer,
}: Pick<Channel, 'cost' | 'costPer'>): Price | undefined {
  return cost === undefined ? undefined : { per: costPer, units: cost };
}

/** What a typical request costs the operator with an offer of a model. */
export function upstreamCost(
  { route: { channel, provider }, upstreamModel }: Offer,
  model: string,
  prices: PriceList,
): number {
  const declared = declaredCost(channel);
  if (declared !== undefined) return typicalCost(declared);
  if (provider.profile.billing === 'none') return 0;
  const priced = Object.hasOwn(prices.models, upstreamModel) ? upstreamModel : model;
  return typicalCost(priceOf(prices, priced));
}

/**
 * Live offers by priority, the highest first, with running sums of their weights. With `costOf`, the cheaper ones of a
 * priority form a separate tier ahead of the dearer ones.
 */
export function tiersOf(
  offers: readonly Offer[],
  costOf: (offer: Offer) => number = noCost,
): Tier[] {
  const tiers = new Map<
    string,
    { readonly priority: number; readonly cost: number; offers: Offer[] }
  >();
  for (const offer of offers) {
    if (!offer.route.live) continue;
    const { priority } = offer;
    const cost = costOf(offer);
    const name = `${priority} ${cost}`;
    const tier = tiers.get(name);
    if (tier === undefined) tiers.set(name, { priority, cost, offers: [offer] });
    else tier.offers.push(offer);
  }
  return [...tiers.values()]
    .sort((one, other) => other.priority - one.priority || one.cost - other.cost)
    .map((tier) => ({ offers: tier.offers, cumulative: sumsOf(tier.offers) }));
}

function noCost(): number {
  return 0;
}

function sumsOf(candidates: readonly Candidate[]): Float64Array {
  const sums = new Float64Array(candidates.length);
  let total = 0;
  candidates.forEach(({ weight }, at) => {
    total += weight;
    sums[at] = total;
  });
  return sums;
}

/** Whether it ranks without a model: its answer comes at once, and is worth less than one that takes time. */
export function isLastResort({ route }: Pick<Offer, 'route'>): boolean {
  return route.provider.id === 'local';
}
