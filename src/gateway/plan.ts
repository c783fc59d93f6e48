import type { ModelRules } from '../core/model-rules.js';
import type { PriceList } from '../core/quota.js';
import { isLastResort, offerOf, tiersOf, upstreamCost } from './offer.js';
import { lastResort } from './policies/last-resort.js';
import {
  stack,
  type Attempt,
  type Layer,
  type NoRanking,
  type Offer,
  type Plan,
  type Rank,
  type Turn,
} from './rank.js';
import type { Route } from './channels/route.js';

/** What lies between the choice of a channel and the wire. */
export interface ChainParts {
  readonly send: Attempt;
  readonly leased: Layer<Attempt>;
  readonly observed: Layer<Attempt>;
  readonly placed: Layer<Attempt>;
  readonly limited: Layer<Attempt>;
  readonly keyed: Layer<Attempt>;
  readonly split: Layer<Attempt>;
  readonly sliding: Layer<Attempt>;
  readonly longDocuments: Layer<Attempt>;
}

/** How many channels are asked at a time. */
export interface TurnParts {
  readonly single: (attempt: Attempt) => Turn;
  readonly hedged: (attempt: Attempt) => Turn;
  readonly probing: (attempt: Attempt) => Layer<Turn>;
}

/** The layers about a model, whichever channel ranks. */
export interface RankParts {
  readonly failover: (turn: Turn) => Rank;
  readonly replyCached: (ttlMs: number, isShared: boolean) => Layer<Rank>;
  readonly coalesced: Layer<Rank>;
  readonly queued: (mostMs: number) => Layer<Rank>;
  readonly refusal: (
    model: string,
    keyId: number,
    deadlineMs: number,
    mostMs: number,
  ) => NoRanking | undefined;
  readonly fallbacks: (models: readonly string[]) => Layer<Rank>;
}

/** The parts that plans are made of: built once, along with any state that outlives a plan. */
export interface PlanParts extends ChainParts, TurnParts, RankParts {
  readonly rulesOf: (model: string) => ModelRules;
  /** What models cost, for those whose cheapest channel is asked first. */
  readonly prices: PriceList;
}

/** How channels are asked for a ranking: with the layers that at least one of them uses. */
export function chainOf(
  parts: ChainParts,
  offers: readonly Offer[],
): { readonly shaped: Layer<Attempt>; readonly ask: Attempt } {
  const shaped: Layer<Attempt> = (send) =>
    stack(
      send,
      offers.some(({ reads }) => reads !== undefined) && parts.longDocuments,
      offers.some(({ slides }) => slides !== undefined) && parts.sliding,
      offers.some(({ window }) => window !== undefined) && parts.split,
    );
  const hasKeys = offers.some(({ route }) => route.keys !== undefined);
  const isBounded = offers.some(({ route }) => route.channel.maxConcurrency > 0);
  const hasLimits = offers.some(({ route }) => route.limits.length > 0);
  const sent = stack(
    parts.send,
    hasKeys && parts.keyed,
    hasLimits && parts.limited,
    isBounded && parts.placed,
    parts.observed,
    parts.leased,
  );
  return { shaped, ask: shaped(sent) };
}

/** Makes the plan of a model from its usable channels. Whatever a model does not use is not in its chain. */
export function createPlanner(parts: PlanParts): (model: string, routes: readonly Route[]) => Plan {
  return (model, routes) => {
    const rules = parts.rulesOf(model);
    const offers = routes.map((route) => offerOf(route, model, rules));
    const { shaped, ask } = chainOf(parts, offers);
    const usual = rules.hedge ? parts.hedged(ask) : parts.single(ask);
    const turn = stack(usual, offers.length > 1 && parts.probing(ask));
    const { fallbacks, coalesce, cacheTtlMs, cacheShared, queueMs } = rules;
    const rankAlone = stack(
      parts.failover(turn),
      cacheTtlMs > 0 && parts.replyCached(cacheTtlMs, cacheShared),
      coalesce && parts.coalesced,
      queueMs > 0 && parts.queued(queueMs),
      lastResort(offers),
    );
    const mayAnswerOtherwise = cacheTtlMs > 0 || coalesce || fallbacks.length > 0;
    return {
      refusal:
        queueMs > 0 && !mayAnswerOtherwise
          ? (keyId, deadlineMs) => parts.refusal(model, keyId, deadlineMs, queueMs)
          : undefined,
      rank: stack(rankAlone, fallbacks.length > 0 && parts.fallbacks(fallbacks)),
      rankAlone,
      rankWith: (models) => parts.fallbacks(models)(rankAlone),
      ask,
      shaped,
      offers,
      tiers: tiersOf(
        offers,
        rules.select === 'cheapest'
          ? (offer) => upstreamCost(offer, model, parts.prices)
          : undefined,
      ),
      select: rules.select,
      answers: [model, ...fallbacks],
      isLastResort: offers.every(isLastResort),
    };
  };
}
