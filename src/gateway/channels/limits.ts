import type { Channel } from '../../core/channel.js';
import type { KeyLimitName, LimitName } from '../../core/channel-members.js';
import { Lease } from '../../core/lease.js';
import { actualCost, estimateCost, priceOf, type PriceList } from '../../core/quota.js';
import { completeUsage, estimateTokens } from '../../core/rerank.js';
import type { ShareStore } from '../../store/store.js';
import type { Observe } from '../events.js';
import type { Limit } from './declared-limits.js';
import { WITHDRAWN, type AttemptOutcome, type Job } from '../rank.js';
import type { Route, RouteKey } from './route.js';
import { rankerTokens } from '../offer.js';
import { beforeEnd } from '../scope.js';

export interface ChannelLimitsDeps {
  readonly store: ShareStore;
  readonly prices: PriceList;
  readonly observe: Observe;
  /** The time of day, by which budgets renew. */
  readonly now: () => number;
  /** A clock that nobody sets, by which shares lapse. */
  readonly steady: () => number;
}

/** A limit that is used up. */
export interface UsedUp<Name extends LimitName = LimitName> {
  readonly limit: Name;
  readonly untilMs: number;
}
export type KeyUsedUp = UsedUp<KeyLimitName>;

/** What a call takes of its limits: told how the call ended, it gives back what was not needed. */
type EndTaking = (outcome: AttemptOutcome | 'abandoned') => void;

/** What a call may take of the limits of one key. */
export type TakenWithKey =
  { readonly kind: 'taken'; readonly end: EndTaking } | ({ readonly kind: 'used_up' } & KeyUsedUp);

type Limited = Pick<Route, 'channel' | 'limits'>;
type Called = Pick<Route, 'channel' | 'provider' | 'endpoint'>;
type Asked = Pick<Job, 'model' | 'query' | 'documents' | 'options'>;

/** How long a key without room is paused, although its limit is not used up. */
const CONTENDED_MS = 50;
/** How often one call asks for a share before its channel is passed over. */
const MOST_ASKS = 3;

/** A lease, and what this node is asking the store for. */
interface Held {
  readonly limit: Limit;
  readonly channel: Pick<Channel, 'id' | 'name'>;
  readonly lease: Lease;
  asking: Promise<void> | undefined;
  /** What the calls that wait for the answer need together, and the least that one of them needs. */
  awaited: number;
  least: number;
}

/**
 * Limits of channels that all nodes keep together: requests and tokens a minute of an upstream account, and budgets. Each
 * node takes shares in advance, so that few calls wait for the store, and together the nodes never take more than the
 * limit.
 */
export class ChannelLimits {
  readonly #deps: ChannelLimitsDeps;
  readonly #held = new Map<string, Held>();
  readonly #returning = new Set<Promise<void>>();
  /** The channels in force that have limits. */
  #limited: readonly Limited[] = [];

  constructor(deps: ChannelLimitsDeps) {
    this.#deps = deps;
  }

  /** The limit of a channel that is used up, if one is. */
  outOf({ limits }: Pick<Route, 'limits'>, nowMs: number): UsedUp | undefined {
    for (const { key, name } of limits) {
      const untilMs = this.#held.get(key)?.lease.outUntilMs(nowMs) ?? 0;
      if (untilMs > 0) return { limit: name, untilMs };
    }
    return undefined;
  }

  /** Channels with a limit that is used up. */
  pauses(nowMs: number): (UsedUp & { readonly channelId: number; readonly sinceMs: number })[] {
    return this.#limited.flatMap(({ channel, limits }) =>
      limits.flatMap(({ key, name: limit }) => {
        const lease = this.#held.get(key)?.lease;
        const untilMs = lease?.outUntilMs(nowMs) ?? 0;
        if (lease === undefined || untilMs === 0) return [];
        return [{ channelId: channel.id, limit, sinceMs: lease.outSinceMs, untilMs }];
      }),
    );
  }

  /**
   * Takes what a call may need of each limit of its channel; `undefined` if one is used up. The function returned takes how
   * the call ended, and gives back what it did not need.
   */
  async take(route: Limited & Called, job: Job): Promise<EndTaking | undefined> {
    const taken = await this.#takeAll(route.limits, route, job);
    return typeof taken === 'function' ? taken : undefined;
  }

  /** The same for the limits that one of its keys has for itself. */
  async takeWithKey(
    route: Called,
    { limits }: Pick<RouteKey, 'limits'>,
    job: Job,
  ): Promise<TakenWithKey> {
    const taken = await this.#takeAll(limits, route, job);
    if (typeof taken === 'function') return { kind: 'taken', end: taken };
    const { lease } = this.#heldOf(taken, route.channel);
    const nowMs = this.#deps.steady();
    // Where others were quicker each time, there may be room again at once.
    const untilMs = Math.max(lease.outUntilMs(nowMs), nowMs + CONTENDED_MS);
    return { kind: 'used_up', limit: taken.name, untilMs };
  }

  /** Takes what a call may need of each limit, or of none: then the one that is used up comes back. */
  async #takeAll<L extends Limit>(
    limits: readonly L[],
    route: Called,
    job: Job,
  ): Promise<EndTaking | L> {
    const ends: EndTaking[] = [];
    const end: EndTaking = (outcome) => {
      for (const each of ends) each(outcome);
    };
    for (const limit of limits) {
      const { lease } = this.#heldOf(limit, route.channel);
      // An amount above the whole limit waits until all of it is free.
      const need = Math.min(this.#needOf(limit, route, job), limit.most);
      if (!(await this.#took(limit, route.channel, need, job))) {
        end(WITHDRAWN);
        return limit;
      }
      const { window } = lease;
      ends.push((outcome) =>
        lease.giveBack(need - this.#usedBy(limit, job, need, outcome), window),
      );
    }
    return end;
  }

  /** The channels in force have changed: forgets the limits that none of them has any more. */
  keepOnly(routes: Iterable<Limited & Pick<Route, 'keys'>>): void {
    const all = [...routes];
    this.#limited = all.filter(({ limits }) => limits.length > 0);
    const keys = new Set([
      ...this.#limited.flatMap(({ limits }) => limits.map(({ key }) => key)),
      ...all.flatMap(({ keys: own = [] }) =>
        own.flatMap(({ limits }) => limits.map(({ key }) => key)),
      ),
    ]);
    for (const [key, held] of this.#held) {
      if (keys.has(key)) continue;
      this.#held.delete(key);
      this.#giveBack(held);
    }
  }

  /** Gives back what this node has at hand. */
  async close(): Promise<void> {
    for (const held of this.#held.values()) this.#giveBack(held);
    await Promise.all(this.#returning);
  }

  /** Otherwise what is left of a budget would be lost until it renews. */
  #giveBack({ limit, lease }: Held): void {
    const { store, now, steady, observe } = this.#deps;
    const left = lease.left(steady());
    if (limit.counts !== 'cost' || left <= 0) return;
    const returning = store
      .returnShare(limit.counter, left, now())
      .catch((error: unknown) => {
        observe({ kind: 'fault', what: 'the rest of a budget could not be given back', error });
      })
      .finally(() => this.#returning.delete(returning));
    this.#returning.add(returning);
  }

  async #took(limit: Limit, channel: Channel, need: number, job: Job): Promise<boolean> {
    if (need === 0) return true;
    const { steady } = this.#deps;
    const held = this.#heldOf(limit, channel);
    for (let asks = 0; ; asks += 1) {
      if (held.lease.take(need, steady())) {
        if (laysIn(held.lease, need) && held.lease.isLow(steady())) void this.#ask(held, 0);
        return true;
      }
      if (asks === MOST_ASKS || held.lease.outUntilMs(steady()) > 0) return false;
      await beforeEnd(job.scope, this.#ask(held, need));
    }
  }

  /** Asks the store for the next share; calls that come meanwhile wait for the same answer. */
  #ask(held: Held, need: number): Promise<void> {
    held.awaited += need;
    if (need > 0) held.least = Math.min(held.least, need);
    held.asking ??= this.#answered(held).finally(() => {
      held.asking = undefined;
    });
    return held.asking;
  }

  async #answered(held: Held): Promise<void> {
    const { store, now, steady, observe } = this.#deps;
    const { limit, lease, channel } = held;
    // Calls of the same moment are asked for together.
    await Promise.resolve();
    const { awaited: need, least } = held;
    held.awaited = 0;
    held.least = limit.most;
    // Calls that used more than they took.
    const debt = Math.max(0, -lease.left(steady()));
    const ask = {
      most: limit.most,
      want: need === 0 || laysIn(lease, least) ? Math.max(lease.size, need + debt) : need + debt,
      least: need === 0 ? 1 : Math.min(limit.most, least + debt),
      span: limit.spanAt(now()),
    };
    try {
      const answer = await store.takeShare(limit.counter, ask, now());
      lease.heard(answer, steady(), need > 0);
      if (answer.kind === 'refused' && need > 0) {
        const { id: channelId, name } = channel;
        observe({
          kind: 'limited',
          ...{ channelId, channel: name, limit: limit.name, forMs: answer.retryAfterMs },
        });
      }
    } catch (error) {
      observe({
        kind: 'fault',
        what: `the ${limit.name} of a channel could not be enforced`,
        error,
      });
      // Admitted callers are served; no others are admitted while the store is away.
      lease.heard({ kind: 'refused', retryAfterMs: BLIND_MS }, steady(), false);
      lease.heard({ kind: 'granted', units: need, forMs: BLIND_MS }, steady(), true);
    }
  }

  #heldOf(limit: Limit, { id, name }: Channel): Held {
    const known = this.#held.get(limit.key);
    if (known !== undefined) return known;
    const held: Held = {
      limit,
      channel: { id, name },
      lease: new Lease(limit.most, limit.parts),
      asking: undefined,
      awaited: 0,
      least: limit.most,
    };
    this.#held.set(limit.key, held);
    return held;
  }

  #needOf({ counts }: Limit, route: Called, job: Asked): number {
    if (counts === 'calls') return 1;
    const { model, query, documents } = job;
    const price = priceOf(this.#deps.prices, model);
    const isByTokens = counts === 'tokens' || price.per === 'million_tokens';
    const tokens = isByTokens ? rankerTokens(route, job) : 0;
    if (counts === 'tokens') return Math.max(tokens, estimateTokens(query, documents));
    return estimateCost(price, query, documents, tokens);
  }

  #usedBy(
    { counts }: Limit,
    { model, query, documents }: Asked,
    need: number,
    outcome: AttemptOutcome | 'abandoned',
  ): number {
    if (outcome !== 'abandoned' && outcome.kind === 'ranked') {
      const usage = completeUsage(outcome.ranking.usage, query, documents);
      if (counts === 'tokens') return usage.inputTokens;
      if (counts === 'cost') {
        return actualCost(priceOf(this.#deps.prices, model), documents.count, usage);
      }
      return need;
    }
    // A failed call is not charged; the upstream may have counted it.
    const isUnsent =
      outcome !== 'abandoned' && (outcome.kind === 'withdrawn' || outcome.failure.unsent === true);
    return counts === 'cost' || isUnsent ? 0 : need;
  }
}

/** Whether a share is worth several calls: what lies here unused must not be what another node's call lacks. */
function laysIn({ size }: Lease, need: number): boolean {
  return size >= 2 * need;
}

/** How long a node goes without the store's word. */
const BLIND_MS = 1_000;
