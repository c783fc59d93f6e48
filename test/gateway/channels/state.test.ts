import { describe, expect, it } from '@jest/globals';
import { AdaptiveLimit } from '../../../src/core/adaptive-limit.js';
import {
  isFull,
  newChannelState,
  outUntilMs,
  pauseOf,
  reportOn,
  type ChannelState,
} from '../../../src/gateway/channels/state.js';
import { offer } from '../../support/offers.js';

const T0 = 1_000_000;
const state = (given: Partial<ChannelState>): ChannelState => ({ ...newChannelState(), ...given });
const OPEN = { state: 'open', untilMs: T0 + 500, openings: 1 } as const;

describe('the state of a channel', () => {
  it('is healthy where it was never asked', () => {
    const healthy = { inFlight: 0, breaker: 'closed', outUntilMs: 0, reason: '' };

    expect(reportOn(undefined)).toEqual(healthy);
    expect(reportOn(newChannelState())).toEqual(healthy);
    expect(pauseOf(1, newChannelState(), T0)).toBeUndefined();
  });

  it('is out by a pause or an open circuit, whichever is longer', () => {
    expect(outUntilMs(state({ coolUntilMs: T0 + 100 }))).toBe(T0 + 100);
    expect(outUntilMs(state({ coolUntilMs: T0 + 100, breaker: OPEN }))).toBe(T0 + 500);
    expect(outUntilMs(state({ coolUntilMs: T0 + 900, breaker: OPEN }))).toBe(T0 + 900);
  });

  it('tells people of its circuit before its pause, and of a pause as long as it lasts', () => {
    const cooling = state({ coolSinceMs: T0 - 50, coolUntilMs: T0 + 100 });
    const broken = state({ ...cooling, breaker: OPEN, reason: 'timeout', sinceMs: T0 - 10 });

    expect(pauseOf(1, cooling, T0)).toEqual({
      ...{ channelId: 1, state: 'cooling', reason: 'busy' },
      ...{ sinceMs: T0 - 50, untilMs: T0 + 100 },
    });
    expect(pauseOf(1, cooling, T0 + 100)).toBeUndefined();
    expect(pauseOf(1, broken, T0)).toEqual({
      ...{ channelId: 1, state: 'open', reason: 'timeout' },
      ...{ sinceMs: T0 - 10, untilMs: T0 + 500 },
    });
    // Its probe decides, and may at once.
    const probed = {
      ...broken,
      breaker: { state: 'half_open', openings: 1, sinceMs: T0 } as const,
    };
    expect(pauseOf(1, { ...probed, coolUntilMs: 0 }, T0)).toMatchObject({ untilMs: T0 });
    expect(pauseOf(1, probed, T0)).toMatchObject({ untilMs: T0 + 100 });
  });

  it('is full by its own limit, and by what it was found to take', () => {
    const adaptive = new AdaptiveLimit();
    const full = (inFlight: number, given: Parameters<typeof offer>[1]) =>
      isFull({ inFlight, adaptive }, offer(1, given).route.channel);

    expect([full(99, {}), full(2, { maxConcurrency: 3 }), full(3, { maxConcurrency: 3 })]).toEqual([
      false,
      false,
      true,
    ]);
    expect(full(adaptive.limit, { adaptiveConcurrency: true })).toBe(true);
    expect(full(adaptive.limit - 1, { adaptiveConcurrency: true })).toBe(false);
    expect(full(adaptive.limit, { adaptiveConcurrency: false })).toBe(false);
  });
});
