import {
  begun,
  ended,
  NEW_BREAKER,
  permits,
  tripped,
  type Breaker,
  type BreakerRule,
  type Verdict,
} from '../core/breaker.js';
import { AdaptiveLimit } from '../core/adaptive-limit.js';
import { Latencies } from '../core/hedge.js';
import {
  certaintyOf,
  isEnough,
  tallied,
  type Outage,
  type OutageRule,
  type Tally,
} from '../core/outage.js';
import { KeyRing, type KeyVerdict } from '../core/key-ring.js';
import { FAULTS, type FaultKind, type UpstreamFailure } from '../core/retry.js';
import type { Observe } from './events.js';
import { loggable } from './loggable.js';
import type { AttemptOutcome, Job, Offer } from './rank.js';
import type { Route, RouteKey } from './route.js';

export type Availability =
  | { readonly kind: 'ready' }
  /** The channel has as many attempts in flight as it may have, or its one probe. */
  | { readonly kind: 'full' }
  /** It is left alone until then, by this node's clock. */
  | { readonly kind: 'until'; readonly atMs: number };

/** The parts of a request that an upstream may have quoted. */
type Asked = Pick<Job, 'query' | 'documents'>;

/** Ends what `begin` has begun; called exactly once. `abandoned`: the request ended before its answer. */
export type EndAttempt = (
  outcome: AttemptOutcome | 'abandoned',
  nowMs: number,
  asked?: Asked,
) => void;

export interface ChannelHealthOptions {
  /** The longest that an upstream's `Retry-After` keeps a channel out. */
  readonly maxCooldownMs: number;
  readonly breaker: BreakerRule;
  /** When a certain fault of a channel is believed. */
  readonly outage: OutageRule;
  readonly observe: Observe;
  /** Called when enough attempts have shown the same certain fault; again after as many more. */
  readonly onOutage: (route: Route, outage: Outage) => void;
  /** Called when an attempt has ended: there may be room for another one. */
  readonly onFree: (offer: Offer) => void;
}

/** What a node knows about a channel, for people and metrics. */
export interface HealthReport {
  readonly inFlight: number;
  readonly breaker: Breaker['state'];
  /** Until when nothing is sent, by this node's clock; 0 if it may be used. */
  readonly outUntilMs: number;
  /** Why the circuit last opened; empty while it is closed. */
  readonly reason: string;
}

/** A channel that a node leaves alone. */
export interface ChannelPause {
  readonly channelId: number;
  /** How people recognise the key, if one of several keys is paused and not the channel. */
  readonly key?: string;
  /** `cooling`: it asked for a pause after an overload. */
  readonly state: 'open' | 'half_open' | 'cooling';
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface State {
  inFlight: number;
  /** Until when it is left alone after an overload, by this node's clock. */
  coolUntilMs: number;
  coolSinceMs: number;
  /** Since when its circuit has not been closed. */
  sinceMs: number;
  breaker: Breaker;
  reason: string;
  /** The certain fault that consecutive attempts have shown. */
  tally: Tally | undefined;
  readonly latencies: Latencies;
  /** Present if the channel asks for it. */
  adaptive: AdaptiveLimit | undefined;
}

/** The keys of one channel. */
interface Ring {
  readonly ring: KeyRing;
  readonly most: number;
  keys: readonly RouteKey[];
}

/** How long to leave an overloaded channel alone if it does not say so itself. */
export const DEFAULT_COOLDOWN_MS = 1_000;

/** Failures that show that there was too much at once. */
const OVERLOADS: ReadonlySet<FaultKind> = new Set<FaultKind>(['busy', 'timeout']);

const READY: Availability = { kind: 'ready' };
const FULL: Availability = { kind: 'full' };
const UNKNOWN: HealthReport = {
  ...{ inFlight: 0, breaker: 'closed', outUntilMs: 0, reason: '' },
};

/** What a node knows about its channels between requests, whatever version of a channel is in force. */
export class ChannelHealth {
  readonly #options: ChannelHealthOptions;
  readonly #states = new Map<number, State>();
  /** Ids of channels that may be left alone now. */
  readonly #paused = new Set<number>();
  readonly #rings = new Map<number, Ring>();

  constructor(options: ChannelHealthOptions) {
    this.#options = options;
  }

  /** Whether an attempt with this offer may begin now. */
  availability({ id, route }: Offer, nowMs: number): Availability {
    if (route.keys !== undefined) {
      const readiness = this.ringOf(route).readiness(nowMs);
      if (readiness === 'full') return FULL;
      if (readiness !== 'ready') return { kind: 'until', atMs: readiness };
    }
    const state = this.#states.get(id);
    if (state === undefined) return READY;
    const { breaker } = state;
    const openUntilMs = breaker.state === 'open' ? breaker.untilMs : 0;
    const outUntilMs = Math.max(state.coolUntilMs, openUntilMs);
    if (outUntilMs > nowMs) return { kind: 'until', atMs: outUntilMs };
    if (permits(breaker, nowMs) === 'no') return FULL;
    const { maxConcurrency, adaptiveConcurrency } = route.channel;
    if (maxConcurrency !== 0 && state.inFlight >= maxConcurrency) return FULL;
    if (!adaptiveConcurrency || state.adaptive === undefined) return READY;
    return state.inFlight >= state.adaptive.limit ? FULL : READY;
  }

  /** Counts an attempt in; the function returned counts it out. */
  begin(offer: Offer, startedMs: number): EndAttempt {
    const state = this.#stateOf(offer.id);
    state.inFlight += 1;
    const underWay = state.inFlight;
    const { adaptiveConcurrency } = offer.route.channel;
    if (adaptiveConcurrency) state.adaptive ??= new AdaptiveLimit();
    const isProbe = state.breaker.state === 'open';
    if (isProbe) state.breaker = begun(state.breaker);
    return (ownOutcome, nowMs, asked) => {
      state.inFlight -= 1;
      const outcome =
        offer.route.isOfKey === true && isFaultOfKey(ownOutcome) ? 'abandoned' : ownOutcome;
      if (adaptiveConcurrency && state.adaptive !== undefined) {
        adapt(state.adaptive, outcome, underWay, startedMs, nowMs);
      }
      if (tellsLatency(outcome)) state.latencies.add(nowMs - startedMs);
      const failure =
        outcome !== 'abandoned' && outcome.kind === 'failed' ? outcome.failure : undefined;
      if (failure !== undefined) this.#failed(offer, state, failure, nowMs, asked);
      else if (outcome !== 'abandoned' && outcome.kind === 'ranked') state.tally = undefined;
      // Only the probe decides on a half-open circuit: attempts from before it opened are old news.
      if (state.breaker.state !== 'half_open' || isProbe) {
        const { breaker: rule } = this.#options;
        const breaker = ended(state.breaker, verdictOn(outcome), nowMs, rule);
        this.#become(offer.route, state, breaker, failure?.kind, nowMs);
      }
      this.#options.onFree(offer);
    };
  }

  /** The keys of a channel that has several. What is known about them ends when the keys change. */
  ringOf({ id, channel, keys = [] }: Route): KeyRing {
    const known = this.#rings.get(id);
    const most = channel.keyMaxConcurrency;
    if (known?.most === most && isSameKeys(known.keys, keys)) {
      known.keys = keys;
      return known.ring;
    }
    const { breaker } = this.#options;
    const rule = { most, refusedMs: breaker.openMs, longestMs: breaker.longestMs };
    const ring = new KeyRing(keys.length, rule);
    this.#rings.set(id, { ring, most, keys });
    return ring;
  }

  /** Ends what the ring of a channel gave out. Tells whether the outcome is that key's fault alone, so that another may do. */
  keyEnded(
    route: Route,
    key: number,
    outcome: AttemptOutcome | 'abandoned',
    nowMs: number,
    asked: Asked,
  ): boolean {
    const ring = this.ringOf(route);
    const verdict = keyVerdictOn(outcome, nowMs, this.#options.maxCooldownMs);
    ring.done(key, verdict, nowMs);
    if (verdict.kind === 'refused' && outcome !== 'abandoned' && outcome.kind === 'failed') {
      const hint = route.keys?.[key]?.hint ?? '';
      const { id: channelId, channel } = route;
      this.#options.observe({ kind: 'key_refused', channelId, channel: channel.name, key: hint });
      // With its last key, the channel itself is of no use.
      const count = ring.refusalsOfAll(nowMs);
      if (isEnough({ count }, this.#options.outage))
        this.#tellOutage(route, outcome.failure, nowMs, asked);
    }
    return verdict.kind === 'refused' || verdict.kind === 'rests';
  }

  /**
   * The result of a health check on whatever node: a channel that answers is back at once; one that failed check after check
   * is left alone.
   */
  checked(route: Route, kind: FaultKind | 'ok', nowMs: number): void {
    const { breaker: rule } = this.#options;
    const state = this.#stateOf(route.id);
    // The probe in flight decides.
    if (state.breaker.state === 'half_open' || rule.failures === 0) return;
    if (kind !== 'ok') {
      if (FAULTS[kind].health !== 'fails' || state.breaker.state === 'open') return;
      this.#become(route, state, tripped(nowMs, rule), kind, nowMs);
    } else if (state.breaker.state === 'open') {
      this.#become(route, state, NEW_BREAKER, undefined, nowMs);
    }
  }

  #failed(
    { route }: Offer,
    state: State,
    failure: UpstreamFailure,
    nowMs: number,
    asked: Asked | undefined,
  ): void {
    const { maxCooldownMs, outage: rule } = this.#options;
    if (FAULTS[failure.kind].health === 'cools') {
      const waitMs = Math.min(failure.retryAfterMs ?? DEFAULT_COOLDOWN_MS, maxCooldownMs);
      if (state.coolUntilMs <= nowMs) state.coolSinceMs = nowMs;
      state.coolUntilMs = Math.max(state.coolUntilMs, nowMs + waitMs);
      this.#paused.add(route.id);
    }
    if (rule.failures === 0) return;
    const reason = certaintyOf(failure);
    if (reason === undefined) return;
    state.tally = tallied(state.tally, reason, nowMs, rule);
    if (!isEnough(state.tally, rule)) return;
    state.tally = undefined;
    this.#tellOutage(route, failure, nowMs, asked);
  }

  #tellOutage(
    route: Route,
    failure: UpstreamFailure,
    nowMs: number,
    asked: Asked | undefined,
  ): void {
    const reason = certaintyOf(failure);
    if (reason === undefined) return;
    const message = asked === undefined ? '' : loggable(failure, asked);
    this.#options.onOutage(route, { reason, message, sinceMs: nowMs });
  }

  #become(
    { id, channel }: Route,
    state: State,
    breaker: Breaker,
    kind: FaultKind | undefined,
    nowMs: number,
  ): void {
    const before = state.breaker.state;
    state.breaker = breaker;
    const after = breaker.state;
    if (kind !== undefined && after === 'open') state.reason = kind;
    if (after === before) return;
    if (after === 'closed') state.reason = '';
    else {
      if (before === 'closed') state.sinceMs = nowMs;
      this.#paused.add(id);
    }
    this.#options.observe({
      kind: 'breaker',
      channelId: id,
      channel: channel.name,
      state: after,
      reason: state.reason,
      sinceMs: after === 'closed' ? 0 : state.sinceMs,
      forMs: breaker.state === 'open' ? breaker.untilMs - nowMs : 0,
    });
  }

  /** The time within which 95 of 100 recent answers came; `undefined` if too few are known. */
  slowAfterMs({ id }: Offer): number | undefined {
    return this.#states.get(id)?.latencies.p95Ms;
  }

  /** How busy a channel is relative to its share of the traffic; smaller is better. */
  load({ id, weight }: Offer): number {
    return ((this.#states.get(id)?.inFlight ?? 0) + 1) / Math.max(weight, Number.MIN_VALUE);
  }

  /**
   * How long an answer is likely to take now: the recent average times the attempts in flight, this one included. A channel
   * that was never asked comes first.
   */
  expectedMs({ id }: Offer): number {
    const state = this.#states.get(id);
    return (state?.latencies.averageMs ?? 0) * ((state?.inFlight ?? 0) + 1);
  }

  /** What is known about a channel; one that was never asked is healthy. */
  report(channelId: number): HealthReport {
    const state = this.#states.get(channelId);
    if (state === undefined) return UNKNOWN;
    const { inFlight, breaker, coolUntilMs, reason } = state;
    const openUntilMs = breaker.state === 'open' ? breaker.untilMs : 0;
    return {
      inFlight,
      breaker: breaker.state,
      outUntilMs: Math.max(coolUntilMs, openUntilMs),
      reason,
    };
  }

  /** Channels that are left alone now, by id. Costs nothing for healthy ones. */
  pauses(nowMs: number): ChannelPause[] {
    const pauses: ChannelPause[] = [];
    for (const channelId of this.#paused) {
      const pause = this.#pauseOf(channelId, nowMs);
      if (pause === undefined) this.#paused.delete(channelId);
      else pauses.push(pause);
    }
    for (const [channelId, { ring, keys }] of this.#rings) {
      for (const { key, state, sinceMs, untilMs } of ring.pauses(nowMs)) {
        const reason = state === 'open' ? 'misconfigured' : 'busy';
        const hint = keys[key]?.hint ?? '';
        pauses.push({ channelId, key: hint, state, reason, sinceMs, untilMs });
      }
    }
    return pauses.sort((one, other) => one.channelId - other.channelId);
  }

  #pauseOf(channelId: number, nowMs: number): ChannelPause | undefined {
    const state = this.#states.get(channelId);
    if (state === undefined) return undefined;
    const { breaker, coolUntilMs, coolSinceMs, reason, sinceMs } = state;
    if (breaker.state !== 'closed') {
      const openUntilMs = breaker.state === 'open' ? breaker.untilMs : nowMs;
      const untilMs = Math.max(openUntilMs, coolUntilMs);
      return { channelId, state: breaker.state, reason, sinceMs, untilMs };
    }
    if (coolUntilMs <= nowMs) return undefined;
    const cooling = { state: 'cooling', reason: 'busy' } as const;
    return { channelId, ...cooling, sinceMs: coolSinceMs, untilMs: coolUntilMs };
  }

  /** Forgets a channel that is gone or starts afresh. */
  forget(channelId: number): void {
    this.#states.delete(channelId);
    this.#paused.delete(channelId);
    this.#rings.delete(channelId);
  }

  #stateOf(id: number): State {
    let state = this.#states.get(id);
    if (state === undefined) {
      state = {
        inFlight: 0,
        coolUntilMs: 0,
        coolSinceMs: 0,
        sinceMs: 0,
        breaker: NEW_BREAKER,
        reason: '',
        tally: undefined,
        latencies: new Latencies(),
        adaptive: undefined,
      };
      this.#states.set(id, state);
    }
    return state;
  }
}

function adapt(
  limit: AdaptiveLimit,
  outcome: AttemptOutcome | 'abandoned',
  underWay: number,
  startedMs: number,
  nowMs: number,
): void {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return;
  if (outcome.kind === 'ranked') limit.answered(nowMs - startedMs, underWay, nowMs);
  else if (OVERLOADS.has(outcome.failure.kind)) limit.overloaded(nowMs);
}

/** Answers show how fast a channel is, and so does a timeout. */
function tellsLatency(outcome: AttemptOutcome | 'abandoned'): boolean {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return false;
  return outcome.kind === 'ranked' || outcome.failure.kind === 'timeout';
}

/** What an attempt says about its channel. An overloaded one works but asks for a pause; a refusal shows that it is up. */
function verdictOn(outcome: AttemptOutcome | 'abandoned'): Verdict {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return 'none';
  if (outcome.kind === 'ranked') return 'praise';
  const { health } = FAULTS[outcome.failure.kind];
  if (health === 'fails') return 'blame';
  return health === 'cools' ? 'none' : 'praise';
}

/** What an attempt says about the key it used: refused credentials and a rate limit concern only that key. */
function keyVerdictOn(
  outcome: AttemptOutcome | 'abandoned',
  nowMs: number,
  maxCooldownMs: number,
): KeyVerdict {
  if (outcome === 'abandoned' || outcome.kind === 'withdrawn') return { kind: 'none' };
  if (outcome.kind === 'ranked') return { kind: 'works' };
  const { failure } = outcome;
  if (certaintyOf(failure) !== undefined) return { kind: 'refused' };
  if (failure.kind !== 'busy' || failure.status !== TOO_MANY_REQUESTS) return { kind: 'none' };
  const waitMs = Math.min(failure.retryAfterMs ?? DEFAULT_COOLDOWN_MS, maxCooldownMs);
  return { kind: 'rests', untilMs: nowMs + waitMs };
}

const TOO_MANY_REQUESTS = 429;

function isFaultOfKey(outcome: AttemptOutcome | 'abandoned'): boolean {
  const { kind } = keyVerdictOn(outcome, 0, 0);
  return kind === 'refused' || kind === 'rests';
}

function isSameKeys(one: readonly RouteKey[], other: readonly RouteKey[]): boolean {
  if (one === other) return true;
  return (
    one.length === other.length &&
    one.every(({ secret }, at) => secret.reveal() === other[at]?.secret.reveal())
  );
}
