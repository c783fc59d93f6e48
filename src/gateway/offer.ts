import type { Candidate, Channel } from '../core/channel.js';
import type { Slides } from '../core/slides.js';
import { documentLimit, forModel, type ByModel } from '../providers/provider.js';
import type { Job, Offer, Reads, Tier } from './rank.js';
import type { Route } from './route.js';

/** The share of a body's bytes that may be text; the rest is names, options and punctuation. */
const TEXT_SHARE = 0.9;

/** What a channel offers for one model. */
export function offerOf(route: Route, model: string, { split } = { split: false }): Offer {
  const { id, priority, weight, channel, provider, endpoint } = route;
  const { limits, documents, ranking, scoreScale } = provider.profile;
  const upstreamModel = channel.models[model] ?? model;
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

/** The most tokens that ranking a list may take, if any of the channels reads more than the query and the documents. */
export function rankerTokens(
  offers: readonly Offer[],
  { query, documents }: Pick<Job, 'query' | 'documents'>,
): number {
  let most = 0;
  for (const { route } of offers) {
    const { provider, endpoint } = route;
    if (provider.transport === 'process' || provider.rounds === undefined) continue;
    most = Math.max(most, provider.estimate({ query, documents, settings: endpoint.settings }));
  }
  return most;
}

/** What is known about how much the model reads, and what happens to longer documents. */
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

/** Live offers by priority, the highest first, with running sums of their weights. */
export function tiersOf(offers: readonly Offer[]): Tier[] {
  const byPriority = new Map<number, Offer[]>();
  for (const offer of offers) {
    if (!offer.route.live) continue;
    const tier = byPriority.get(offer.priority);
    if (tier === undefined) byPriority.set(offer.priority, [offer]);
    else tier.push(offer);
  }
  return [...byPriority]
    .sort(([one], [other]) => other - one)
    .map(([, tier]) => ({ offers: tier, cumulative: sumsOf(tier) }));
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
