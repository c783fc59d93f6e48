import { own } from '../core/records.js';
import type { Config } from '../config/values.js';
import { RetryBudget } from '../core/hedge.js';
import type { Secret } from '../core/secret.js';
import type { AccessTokens } from '../gateway/transport/access-tokens.js';
import { passed, steadyClock } from '../core/steady-clock.js';
import { ChannelHealth, type ChannelHealthOptions } from '../gateway/channels/health.js';
import { ChannelLimits } from '../gateway/channels/limits.js';
import { candidatesOf, type CandidatesDeps } from '../gateway/candidates.js';
import { surveyOf } from '../gateway/look/survey.js';
import { ChannelPlaces } from '../gateway/channels/places.js';
import { ChannelTable } from '../gateway/channels/table.js';
import type { Observe } from '../gateway/events.js';
import { failover, single } from '../gateway/failover.js';
import type { Surveyor } from '../gateway/look/explain.js';
import { createPlanner, type ChainParts, type RankParts, type TurnParts } from '../gateway/plan.js';
import { coalesced } from '../gateway/policies/coalesce.js';
import { fallbacks } from '../gateway/policies/fallbacks.js';
import { hedged } from '../gateway/policies/hedge.js';
import { keyed } from '../gateway/policies/keyed.js';
import { leased } from '../gateway/policies/leased.js';
import { limited } from '../gateway/policies/limited.js';
import { longDocuments } from '../gateway/policies/long-documents.js';
import { placed } from '../gateway/policies/placed.js';
import { observed } from '../gateway/policies/observed.js';
import { Probing } from '../gateway/policies/probing.js';
import { Queue } from '../gateway/policies/queue.js';
import { ReplyCache } from '../gateway/policies/reply-cache.js';
import { sliding } from '../gateway/policies/sliding.js';
import { split } from '../gateway/policies/split.js';
import type { Job, Offer, Plan } from '../gateway/rank.js';
import type { Route } from '../gateway/channels/route.js';
import { createPreview } from '../gateway/look/preview.js';
import { createScope, type OwnedScope } from '../gateway/scope.js';
import { sharedReplies } from '../gateway/shared-replies.js';
import { createSend } from '../gateway/send.js';
import type { Upstream } from '../gateway/transport/upstream.js';
import type { RankerTools } from '../providers/provider.js';
import type { NeuralRanker } from '../rankers/ranker.js';
import type { ChannelNews, Store } from '../store/store.js';

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
  /** Milliseconds of a clock that cannot be set. */
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
  /** Loads the channels and keeps them fresh. `onRoutes` gets those in force, now and whenever they change. */
  readonly start: (onRoutes: (routes: Iterable<Route>) => void) => Promise<void>;
  /** Gives back what this node holds of shared limits. */
  readonly close: () => Promise<void>;
}

/** Puts the layers of ranking together: each capability is built once here, and a plan takes those that its model uses. */
export function createDataPlane(config: DataPlaneConfig, parts: DataPlaneParts): DataPlane {
  const { gateway: settings, traffic } = config;
  const { tools, now, random } = parts;
  const knowledge = createKnowledge(config, parts);
  const { steady, limits, places, health, channels } = knowledge;
  const choice: CandidatesDeps = {
    planOf: (model) => channels.current.plans.get(model),
    isLive: (channelId) => channels.live(channelId) !== undefined,
    health,
    now: steady,
    random,
  };
  const queue = new Queue({
    maxWaiting: traffic.queueMax,
    now,
    usualMs: (model) => usualMs(health, choice.planOf(model)),
  });
  const probing = new Probing({
    now,
    get attemptTimeoutMs() {
      return settings.attemptTimeoutMs;
    },
    isProbe: (offer) => health.isProbe(offer),
    createScope: scopeUntil(now),
  });
  const planOf = createPlanner({
    rulesOf: (model) => own(config.models.named, model) ?? config.models.fallback,
    prices: config.prices,
    ...attemptParts(config, parts, knowledge, (offer) => queue.freed(offer)),
    ...turnParts(config, parts, knowledge, probing),
    ...rankParts(config, parts, knowledge, choice, queue),
  });
  return {
    channels,
    health,
    steady,
    queue,
    start: (onRoutes) => {
      channels.use({
        planOf,
        onRoutes: (routes) => {
          const all = [...routes];
          limits.keepOnly(all);
          onRoutes(all);
        },
      });
      return channels.start();
    },
    close: async () => {
      probing.close();
      await Promise.all([limits.close(), places.close()]);
    },
    surveyor: {
      survey: (job) => surveyOf(choice, job),
      whyNone: (job) => candidatesOf(choice, job).whyNone(),
      healthOf: (channelId) => health.report(channelId),
      preview: createPreview({ tools, now, attemptTimeoutMs: () => settings.attemptTimeoutMs }),
    },
  };
}

/** What a node knows of its channels: which there are, how they are, and what is left of the limits that nodes share. */
interface Knowledge {
  readonly steady: () => number;
  readonly limits: ChannelLimits;
  readonly places: ChannelPlaces;
  readonly health: ChannelHealth;
  readonly channels: ChannelTable;
}

function createKnowledge(config: DataPlaneConfig, parts: DataPlaneParts): Knowledge {
  const { gateway: settings, traffic, prices } = config;
  const { store, nodeId, declared, upstream, tokens, observe, now, elapsed } = parts;
  const steady = steadyClock(now, elapsed);
  const limits = new ChannelLimits({ store, prices, observe, now, steady });
  const places = new ChannelPlaces({
    ...{ store, nodeId, observe, now, steady },
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
  });
  const channels = new ChannelTable({
    ...{ store, nodeId, declared, observe, now, elapsed },
    stalenessMs: settings.stalenessMs,
    onGone: (channelId) => {
      tokens.forget(channelId);
      health.forget(channelId);
    },
    onNews: parts.onNews,
    onStoreBack: parts.onStoreBack,
    onStoreLost: parts.onStoreLost,
    onOrigins: (origins) => upstream.keepOnly(origins),
  });
  return { steady, limits, places, health, channels };
}

function attemptParts(
  config: DataPlaneConfig,
  parts: DataPlaneParts,
  { steady, limits, places, health, channels }: Knowledge,
  onFree: (offer: Offer) => void,
): ChainParts {
  const { upstream, tokens, neural, tools, observe, now } = parts;
  return {
    send: createSend({
      ...{ upstream, tokens, neural, tools, now },
      get attemptTimeoutMs() {
        return config.gateway.attemptTimeoutMs;
      },
      mayBegin: ({ id }) => channels.isFresh() && channels.live(id) !== undefined,
    }),
    leased: leased(health, steady, onFree),
    observed: observed(observe, now),
    placed: placed(places),
    limited: limited(limits),
    keyed: keyed({ health, limits, places, now: steady }),
    split: split({ parallel: config.traffic.splitParallel }),
    sliding: sliding(now),
    longDocuments,
  };
}

function turnParts(
  { gateway, traffic }: DataPlaneConfig,
  { now }: DataPlaneParts,
  { health, steady }: Knowledge,
  probing: Probing,
): TurnParts {
  const budget = new RetryBudget(traffic.hedgePercent / 100);
  const asking = {
    now,
    get attemptTimeoutMs() {
      return gateway.attemptTimeoutMs;
    },
    slowAfterMs: (offer: Offer) => health.slowAfterMs(offer),
    onOvertaken: (offer: Offer) => {
      health.overtaken(offer, 'late', steady(), steady());
    },
    budget,
  };
  return {
    single: (attempt) => single(asking, attempt),
    hedged: (attempt) => hedged(asking, attempt),
    probing: (attempt) => probing.layer(attempt),
  };
}

function rankParts(
  { gateway, traffic }: DataPlaneConfig,
  { store, observe, now, elapsed, random }: DataPlaneParts,
  { channels, steady }: Knowledge,
  choice: CandidatesDeps,
  queue: Queue,
): RankParts {
  const retries = new RetryBudget(traffic.retryPercent / 100);
  const cache = new ReplyCache({ maxRows: traffic.cacheMaxRows, now: steady });
  const replies = sharedReplies({ store, most: traffic.cacheSharedMax, observe, now, elapsed });
  const trying = {
    freshness: channels,
    get maxAttempts() {
      return gateway.maxAttempts;
    },
    candidatesOf: (job: Job) => candidatesOf(choice, job),
    ...{ retries, now, random },
    wait: passed,
  };
  return {
    failover: (turn) => failover(trying, turn),
    replyCached: (ttlMs, isShared) => cache.layer(ttlMs, isShared ? replies : undefined),
    coalesced: coalesced(scopeUntil(now)),
    queued: (mostMs) => queue.layer(mostMs),
    refusal: (...ask) => queue.refusal(...ask),
    fallbacks: (models) => fallbacks(models, choice.planOf),
  };
}

function scopeUntil(now: () => number): (deadlineMs: number) => OwnedScope {
  return (deadlineMs) => createScope(now(), deadlineMs - now());
}

/** What one turn at a model should take, by the answers that its channels are working on; 0 if that is unknown. */
function usualMs(health: ChannelHealth, plan: Plan | undefined): number {
  let perMs = 0;
  for (const offer of plan?.offers ?? []) perMs += health.endsPerMs(offer);
  return perMs === 0 ? 0 : 1 / perMs;
}
