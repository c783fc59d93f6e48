import type { AdaptiveLimit } from '../../core/adaptive-limit.js';
import type { Channel } from '../../core/channel.js';
import { NEW_BREAKER, type Breaker } from '../../core/breaker.js';
import type { LimitName } from '../../core/channel-members.js';
import { Latencies } from '../../core/hedge.js';
import type { Tally } from '../../core/outage.js';
import { Patience } from '../../core/patience.js';
import type { BreakerEvent } from '../events.js';

/** Whether an attempt on a channel may begin. */
export type Availability =
  | { readonly kind: 'ready' }
  /** The channel has as many attempts in flight as it may have, or its one probe. */
  | { readonly kind: 'full' }
  /** It is paused until then, by this node's clock; `limit`: which of its limits is used up; `isRefused`: its keys are. */
  | {
      readonly kind: 'until';
      readonly atMs: number;
      readonly limit?: LimitName;
      readonly isRefused?: true;
    };

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
  /** `cooling`: it asked for a pause after an overload, or a limit of it is used up, which then is the reason. */
  readonly state: 'open' | 'half_open' | 'cooling';
  readonly reason: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What a node knows about one channel between requests. */
export interface ChannelState {
  inFlight: number;
  /** The end of its pause after an overload, by this node's clock. */
  coolUntilMs: number;
  coolSinceMs: number;
  /** Since when its circuit has not been closed. */
  sinceMs: number;
  breaker: Breaker;
  reason: string;
  /** The certain fault that consecutive attempts have shown. */
  tally: Tally | undefined;
  readonly latencies: Latencies;
  readonly patience: Patience;
  /** Present if the channel asks for it. */
  adaptive: AdaptiveLimit | undefined;
}

/** The state of a channel that was never asked. */
export function newChannelState(): ChannelState {
  return {
    inFlight: 0,
    coolUntilMs: 0,
    coolSinceMs: 0,
    sinceMs: 0,
    breaker: NEW_BREAKER,
    reason: '',
    tally: undefined,
    latencies: new Latencies(),
    patience: new Patience(),
    adaptive: undefined,
  };
}

const UNKNOWN: HealthReport = {
  ...{ inFlight: 0, breaker: 'closed', outUntilMs: 0, reason: '' },
};

/** Whether this node has as many attempts in flight as the channel may have. */
export function isFull(
  { inFlight, adaptive }: Pick<ChannelState, 'inFlight' | 'adaptive'>,
  { maxConcurrency, adaptiveConcurrency }: Channel,
): boolean {
  if (maxConcurrency !== 0 && inFlight >= maxConcurrency) return true;
  return adaptiveConcurrency && adaptive !== undefined && inFlight >= adaptive.limit;
}

/** Until when nothing is sent, by a pause or an open circuit; 0 or past if it may be used. */
export function outUntilMs({ breaker, coolUntilMs }: ChannelState): number {
  return Math.max(coolUntilMs, breaker.state === 'open' ? breaker.untilMs : 0);
}

/** What is known about a channel; one that was never asked is healthy. */
export function reportOn(state: ChannelState | undefined): HealthReport {
  if (state === undefined) return UNKNOWN;
  const { inFlight, breaker, reason } = state;
  return { inFlight, breaker: breaker.state, outUntilMs: outUntilMs(state), reason };
}

/** The news of a circuit that has changed. */
export function circuitEvent(
  channelId: number,
  channel: string,
  { breaker, reason, sinceMs }: ChannelState,
  nowMs: number,
): BreakerEvent {
  return {
    kind: 'breaker',
    channelId,
    channel,
    state: breaker.state,
    reason,
    sinceMs: breaker.state === 'closed' ? 0 : sinceMs,
    forMs: breaker.state === 'open' ? Math.max(0, breaker.untilMs - nowMs) : 0,
  };
}

/** Why a channel is paused now; `undefined` if it is not. */
export function pauseOf(
  channelId: number,
  state: ChannelState,
  nowMs: number,
): ChannelPause | undefined {
  const { breaker, coolUntilMs, coolSinceMs, reason, sinceMs } = state;
  if (breaker.state !== 'closed') {
    const untilMs = Math.max(outUntilMs(state), breaker.state === 'open' ? 0 : nowMs);
    return { channelId, state: breaker.state, reason, sinceMs, untilMs };
  }
  if (coolUntilMs <= nowMs) return undefined;
  const cooling = { state: 'cooling', reason: 'busy' } as const;
  return { channelId, ...cooling, sinceMs: coolSinceMs, untilMs: coolUntilMs };
}
