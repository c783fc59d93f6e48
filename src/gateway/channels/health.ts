import { AdaptiveLimit } from '../../core/adaptive-limit.js';
import {
  begun,
  ended,
  NEW_BREAKER,
  permits,
  tripped,
  type Breaker,
  type BreakerRule,
} from '../../core/breaker.js';
import type { KeyRing, RestReason } from '../../core/key-ring.js';
import { certaintyOf, isEnough, tallied, type Outage, type OutageRule } from '../../core/outage.js';
import { FAULTS, type FaultKind, type UpstreamFailure } from '../../core/retry.js';
import type { ChannelLimits } from './limits.js';
import type { ChannelPlaces } from './places.js';
import {
  circuitEvent,
  isFull,
  newChannelState,
  outUntilMs,
  pauseOf,
  reportOn,
  type Availability,
  type ChannelPause,
  type ChannelState,
  type HealthReport,
} from './state.js';
import type { Observe } from '../events.js';
import { KeyRings } from './key-rings.js';
import { loggable } from '../loggable.js';
import type { Offer } from '../rank.js';
import { placesOf } from './concurrency.js';
import type { Route } from './route.js';
import {
  adapt,
  DEFAULT_COOLDOWN_MS,
  isFaultOfKey,
  keyVerdictOn,
  timed,
  verdictOn,
  type Asked,
  type AttemptEnd,
  type EndAttempt,
} from './verdicts.js';

export interface ChannelHealthOptions {
  /** The longest that an upstream's `Retry-After` keeps a channel out. */
  readonly maxCooldownMs: number;
  readonly breaker: BreakerRule;
  /** When a certain fault of a channel is believed. */
  readonly outage: OutageRule;
  readonly observe: Observe;
  /** Called when enough attempts have shown the same certain fault; again after as many more. */
  readonly onOutage: (route: Route, outage: Outage) => void;
  /** The state of the limits that all nodes share. */
  readonly limits: Pick<ChannelLimits, 'outOf' | 'pauses'>;
  readonly places: Pick<ChannelPlaces, 'isFull'>;
}

const READY: Availability = { kind: 'ready' };
const FULL: Availability = { kind: 'full' };

/** What a node knows about its channels between requests, whatever version of a channel is in force. */
export class ChannelHealth {
  readonly #options: ChannelHealthOptions;
  readonly #states = new Map<number, ChannelState>();
  /** Ids of channels that may be paused now. */
  readonly #paused = new Set<number>();
  readonly #rings: KeyRings;

  constructor(options: ChannelHealthOptions) {
    this.#options = options;
    this.#rings = new KeyRings(options.breaker);
  }

  /** Whether an attempt with this offer may begin now. */
  availability({ id, route }: Offer, nowMs: number): Availability {
    if (route.limits.length > 0) {
      const out = this.#options.limits.outOf(route, nowMs);
      if (out !== undefined) return { kind: 'until', atMs: out.untilMs, limit: out.limit };
    }
    if (route.keys !== undefined) {
      const readiness = this.#rings.readiness(route, nowMs);
      if (readiness === 'full') return FULL;
      if (readiness !== 'ready') return { kind: 'until', ...readiness };
    }
    const state = this.#states.get(id);
    if (state === undefined) return READY;
    const atMs = outUntilMs(state);
    if (atMs > nowMs) return { kind: 'until', atMs };
    if (permits(state.breaker, nowMs) === 'no' || isFull(state, route.channel)) return FULL;
    return this.#options.places.isFull(placesOf(route.channel), nowMs) ? FULL : READY;
  }

  /** Whether the next attempt decides on the circuit of its channel. */
  isProbe({ id }: Offer): boolean {
    return this.#states.get(id)?.breaker.state === 'open';
  }

  /** Counts an attempt in; the function returned counts it out. */
  begin(offer: Offer, startedMs: number): EndAttempt {
    const state = this.#stateOf(offer.id);
    state.inFlight += 1;
    const underWay = state.inFlight;
    const { adaptiveConcurrency } = offer.route.channel;
    if (adaptiveConcurrency) state.adaptive ??= new AdaptiveLimit();
    const isProbe = state.breaker.state === 'open';
    if (isProbe) state.breaker = begun(state.breaker, startedMs);
    return (ownOutcome, nowMs, asked) => {
      state.inFlight -= 1;
      const outcome =
        offer.route.isOfKey === true && isFaultOfKey(ownOutcome) ? 'abandoned' : ownOutcome;
      if (adaptiveConcurrency) adapt(state.adaptive, outcome, underWay, startedMs, nowMs);
      timed(state, outcome, nowMs - startedMs, asked?.documents.sizeBytes ?? 0);
      const failure =
        outcome !== 'abandoned' && outcome.kind === 'failed' ? outcome.failure : undefined;
      if (failure !== undefined) this.#failed(offer, state, failure, nowMs, asked);
      else if (outcome !== 'abandoned' && outcome.kind === 'ranked') state.tally = undefined;
      // Only the probe decides on a half-open circuit: attempts from before it opened are old news.
      if (state.breaker.state !== 'half_open' || isProbe) {
        const { breaker: rule } = this.#options;
        const breaker = ended(state.breaker, verdictOn(outcome), nowMs, rule, startedMs);
        this.#become(offer.route, state, breaker, failure?.kind, nowMs);
      }
    };
  }

  /** The keys of a channel that has several. */
  ringOf(route: Route): KeyRing {
    return this.#rings.of(route);
  }

  /**
   * Takes back a key that the ring of a channel gave out. Says whether the outcome is that key's fault alone, so that
   * another one may work.
   */
  keyEnded(route: Route, key: number, outcome: AttemptEnd, nowMs: number, asked: Asked): boolean {
    const ring = this.#rings.of(route);
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

  /** Takes back a key that the ring of a channel gave out, with which nothing was sent: it rests until a time. */
  keyRests(route: Route, key: number, reason: RestReason, untilMs: number, nowMs: number): void {
    this.#rings.of(route).done(key, { kind: 'rests', untilMs, reason }, nowMs);
  }

  /** A health check on whatever node: a channel that answers is back at once; one that keeps failing is paused. */
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

  /** Another channel, asked after this one, answered the same request before it did. */
  overtaken({ id, route }: Offer, verdict: 'late' | 'outrun', fromMs: number, nowMs: number): void {
    const state = this.#stateOf(id);
    if (state.breaker.state !== 'closed') return;
    const breaker = ended(state.breaker, verdict, nowMs, this.#options.breaker, fromMs);
    this.#become(route, state, breaker, 'timeout', nowMs);
  }

  #failed(
    { route }: Offer,
    state: ChannelState,
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
    state: ChannelState,
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
    this.#options.observe(circuitEvent(id, channel.name, state, nowMs));
  }

  /** The time within which 95 of 100 recent answers came; `undefined` if too few are known. */
  slowAfterMs({ id }: Offer): number | undefined {
    return this.#states.get(id)?.latencies.p95Ms;
  }

  /** How long its answer to so much text should take at the most; `undefined` before its first answer. */
  patienceMs({ id }: Offer, bytes: number): number | undefined {
    return this.#states.get(id)?.patience.mostMs(bytes);
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

  /** How many attempts on a channel should end in a millisecond: those in flight by the recent average; 0 if unknown. */
  endsPerMs({ id }: Offer): number {
    const { inFlight = 0, latencies } = this.#states.get(id) ?? {};
    return inFlight / (latencies?.averageMs ?? Infinity);
  }

  /** What is known about a channel; one that was never asked is healthy. */
  report(channelId: number): HealthReport {
    return reportOn(this.#states.get(channelId));
  }

  /** Channels that are paused now, by id. Costs nothing for healthy ones. */
  pauses(nowMs: number): ChannelPause[] {
    const pauses: ChannelPause[] = [];
    for (const channelId of this.#paused) {
      const pause = pauseOf(channelId, this.#stateOf(channelId), nowMs);
      if (pause === undefined) this.#paused.delete(channelId);
      else pauses.push(pause);
    }
    pauses.push(...this.#rings.pauses(nowMs));
    for (const { channelId, limit, sinceMs, untilMs } of this.#options.limits.pauses(nowMs)) {
      pauses.push({ channelId, state: 'cooling', reason: limit, sinceMs, untilMs });
    }
    return pauses.sort((one, other) => one.channelId - other.channelId);
  }

  /** Forgets a channel that is gone or starts afresh. */
  forget(channelId: number): void {
    this.#states.delete(channelId);
    this.#paused.delete(channelId);
    this.#rings.forget(channelId);
  }

  #stateOf(id: number): ChannelState {
    let state = this.#states.get(id);
    if (state === undefined) {
      state = newChannelState();
      this.#states.set(id, state);
    }
    return state;
  }
}
