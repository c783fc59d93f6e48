import { own } from './core/records.js';
import type { Config } from './config-values.js';
import { RetryBudget } from './core/hedge.js';
import type { Secret } from './core/secret.js';
import type { AccessTokens } from './gateway/access-tokens.js';
import { steadyClock } from './core/steady-clock.js';
import { ChannelHealth, type ChannelHealthOptions } from './gateway/channel-health.js';
import { ChannelLimits } from './gateway/channel-limits.js';
import { candidatesOf } from './gateway/candidates.js';
import { surveyOf } from './gateway/survey.js';
import { ChannelPlaces } from './gateway/channel-places.js';
import { ChannelTable } from './gateway/channel-table.js';
import type { Observe } from './gateway/events.js';
import { failover, single } from './gateway/failover.js';
import type { Surveyor } from './gateway/explain.js';
import { createPlanner } from './gateway/plan.js';
import { coalesced } from './gateway/policies/coalesce.js';
import { fallbacks } from './gateway/policies/fallbacks.js';
import { hedged } from './gateway/policies/hedge.js';
import { keyed } from './gateway/policies/keyed.js';
import { leased } from './gateway/policies/leased.js';
import { counted } from './gateway/policies/counted.js';
import { limited } from './gateway/policies/limited.js';
import { longDocuments } from './gateway/policies/long-documents.js';
import { placed } from './gateway/policies/placed.js';
import { observed } from './gateway/policies/observed.js';
import { Probing } from './gateway/policies/probing.js';
import { Queue } from './gateway/policies/queue.js';
import { ReplyCache } from './gateway/policies/reply-cache.js';
import { sliding } from './gateway/policies/sliding.js';
import { split } from './gateway/policies/split.js';
import type { Route } from './gateway/route.js';
import { createPreview } from './gateway/preview.js';
import { createScope, type OwnedScope } from './gateway/scope.js';
import { sharedReplies } from './gateway/shared-replies.js';
import { createSend } from './gateway/send.js';
import type { Upstream } from './gateway/upstream.js';
import type { RankerTools } from './providers/provider.js';
import type { NeuralRanker } from './rankers/ranker.js';
import type { ChannelNews, Store } from './store/store.js';

export type DataPlaneConfig = Pick<Config, 'gateway' | 'traffic' | 'models' | 'prices'>;

export interface DataPlaneParts {
  readonly store: Store;
  /** The id of this process, from its start to its end. */
  readonly nodeId: string;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: ReadonlyMap<string, Readonly<Record<string, Secret>>>;
  readonly upstream: Upstream;
  readonly tokens: AccessTokens;
  readonly neural: NeuralRanker;
  readonly tools: RankerTools;
  readonly observe: Observe;
  readonly now: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsed: () => number;
  readonly random: () => number;
  /** The store's answer to each look at the channels, with the times of the question and the answer. */
  readonly onNews: (news: ChannelNews, askedAtMs: number, answeredAtMs: number) => void;
  /** The store answers again after it did not. */
  readonly onStoreBack: () => void;
  /** The store has forgotten writes. */
  readonly onStoreLost: () => void;
  /** A channel is certain to be of no use. */
  readonly onOutage: ChannelHealthOptions['onOutage'];
  /** The channels in force have changed. */
  readonly onRoutes: (routes: Iterable<Route>) => void;
}

/** The channels of this node with their plans, and what it knows of them. Nothing is loaded yet. */
export interface DataPlane {
  readonly channels: ChannelTable;
  readonly health: ChannelHealth;
  /** The clock of `health`: pauses end when they should, whatever happens to the time of day. */
  readonly steady: () => number;
  /** Shows what would be done, and does nothing. */
  readonly surveyor: Surveyor;
  readonly queue: Pick<Queue, 'waiting'>;
  /** Gives back what this node holds of shared limits. */
  readonly close: () => Promise<void>;
}

/** Puts the layers of ranking together: each capability is built once here, and a plan takes those that its model uses. */
export function createDataPlane(config: DataPlaneConfig, parts: DataPlaneParts): DataPlane {
  const { gateway: settings, traffic } = config;
  const { store, declared, upstream, tokens, neural, tools, observe, now, elapsed, random } = parts;
  const { onNews, onStoreBack, onStoreLost } = parts;
  const steady = steadyClock(now, elapsed);
  const usualMs = (model: string): number => {
    let perMs = 0;
    for (const offer of choice.planOf(model)?.offers ?? []) perMs += health.endsPerMs(offer);
    return perMs === 0 ? 0 : 1 / perMs;
  };
  const queue = new Queue({ maxWaiting: traffic.queueMax, now, usualMs });
  const limits = new ChannelLimits({ store, prices: config.prices, observe, now, steady });
  const places = new ChannelPlaces({
    ...{ store, nodeId: parts.nodeId, observe, now, steady },
    every: (ms, run) => {
      const timer = setInterval(run, ms).unref();
      return () => clearInterval(timer);
    },
  });
  const health = new ChannelHealth({
    limits,
    places,
    maxCooldownMs: settings.maxCooldownMs,
    breaker: {
      failures: traffic.breakerFailures,
      windowMs: traffic.breakerWindowMs,
      openMs: traffic.breakerOpenMs,
      longestMs: settings.maxCooldownMs,
    },
    outage: { failures: traffic.disableFailures, windowMs: traffic.disableWindowMs },
    observe,
    // Other nodes read it as a time of day.
    onOutage: (route, outage) => parts.onOutage(route, { ...outage, sinceMs: now() }),
    onFree: (offer) => queue.freed(offer),
  });
  const channels = new ChannelTable({
    store,
    declared,
    observe,
    now,
    elapsed,
    stalenessMs: settings.stalenessMs,
    nodeId: parts.nodeId,
    planOf: (model, routes) => plan(model, routes),
    onGone: (channelId) => {
      tokens.forget(channelId);
      health.forget(channelId);
    },
    onNews,
    onStoreBack,
    onStoreLost,
    onOrigins: (origins) => upstream.keepOnly(origins),
    onRoutes: (routes) => {
      const all = [...routes];
      limits.keepOnly(all);
      parts.onRoutes(all);
    },
  });
  const isLive = (channelId: number): boolean => channels.live(channelId) !== undefined;
  const choice = {
    planOf: (model: string) => channels.current.plans.get(model),
    isLive,
    health,
    now: steady,
    random,
  };
  const retries = new RetryBudget(traffic.retryPercent / 100);
  const hedges = new RetryBudget(traffic.hedgePercent / 100);
  const cache = new ReplyCache({ maxRows: traffic.cacheMaxRows, now });
  const replies = sharedReplies({ store, most: traffic.cacheSharedMax, observe, now, elapsed });
  const until = (deadlineMs: number): OwnedScope => createScope(now(), deadlineMs - now());
  const asking = { now, attemptTimeoutMs: settings.attemptTimeoutMs };
  const probing = new Probing({
    ...asking,
    isProbe: (offer) => health.isProbe(offer),
    createScope: until,
  });
  const plan = createPlanner({
    rulesOf: (model) => own(config.models.named, model) ?? config.models.fallback,
    prices: config.prices,
    send: createSend({
      upstream,
      tokens,
      neural,
      tools,
      now,
      attemptTimeoutMs: settings.attemptTimeoutMs,
      mayBegin: ({ id }) => channels.isFresh() && isLive(id),
    }),
    leased: leased(health, steady),
    keyed: keyed({ health, limits, places, now: steady }),
    limited: limited(limits),
    placed: placed(places),
    observed: observed(observe, now),
    counted,
    longDocuments,
    sliding: sliding(now),
    split: split({ parallel: traffic.splitParallel }),
    single: (attempt) => single(asking, attempt),
    hedged: (attempt) =>
      hedged(
        { ...asking, slowAfterMs: (offer) => health.slowAfterMs(offer), budget: hedges },
        attempt,
      ),
    fallbacks: (models) => fallbacks(models, choice.planOf),
    probing: (attempt) => probing.layer(attempt),
    coalesced: coalesced(until),
    replyCached: (ttlMs, isShared) => cache.layer(ttlMs, isShared ? replies : undefined),
    queued: (mostMs) => queue.layer(mostMs),
    refusal: (...ask) => queue.refusal(...ask),
    failover: (turn) =>
      failover(
        {
          freshness: channels,
          maxAttempts: settings.maxAttempts,
          candidatesOf: (job) => candidatesOf(choice, job),
          retries,
          now,
          random,
          wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        },
        turn,
      ),
  });
  return {
    channels,
    health,
    steady,
    queue,
    close: async () => {
      probing.close();
      await Promise.all([limits.close(), places.close()]);
    },
    surveyor: {
      survey: (job) => surveyOf(choice, job),
      whyNone: (job) => candidatesOf(choice, job).whyNone(),
      healthOf: (channelId) => health.report(channelId),
      preview: createPreview({ tools, ...asking }),
    },
  };
}
