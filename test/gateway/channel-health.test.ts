import { describe, expect, it } from '@jest/globals';
import { ChannelHealth } from '../../src/gateway/channel-health.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import type { Outage } from '../../src/core/outage.js';
import { failed, offer, ranked } from '../support/offers.js';

const T0 = 1_700_000_000_000;

function healthOf(maxCooldownMs = 60_000) {
  const events: GatewayEvent[] = [];
  const outages: Outage[] = [];
  const health = new ChannelHealth({
    onFree: () => undefined,
    limits: { outOf: () => undefined, pauses: () => [] },
    maxCooldownMs,
    breaker: { failures: 2, windowMs: 10_000, openMs: 1_000, longestMs: 60_000 },
    outage: { failures: 3, windowMs: 60_000 },
    observe: (event) => events.push(event),
    onOutage: (_route, outage) => outages.push(outage),
  });
  return { health, events, outages };
}

describe('what a node knows of a channel', () => {
  it('is that it is full while it has as many attempts as it may, however they end', () => {
    const { health } = healthOf();
    const only = offer(1, { maxConcurrency: 1 });

    for (const outcome of [ranked(only), failed('transient'), 'abandoned'] as const) {
      expect(health.availability(only, T0)).toEqual({ kind: 'ready' });
      const end = health.begin(only, T0);
      expect(health.availability(only, T0)).toEqual({ kind: 'full' });
      end(outcome, T0);
    }

    expect(health.availability(only, T0)).toEqual({ kind: 'ready' });
  });

  it('is how many attempts at once it takes, where the channel asks for that', () => {
    const { health } = healthOf();
    const adaptive = offer(1, { adaptiveConcurrency: true });
    const bounded = offer(2, { adaptiveConcurrency: true, maxConcurrency: 3 });
    const plain = offer(3);
    const most = (one: typeof plain): number => {
      let count = 0;
      for (; count < 50 && health.availability(one, T0).kind === 'ready'; count += 1) {
        health.begin(one, T0);
      }
      return count;
    };

    expect(most(adaptive)).toBe(20);
    expect(most(bounded)).toBe(3);
    expect(most(plain)).toBe(50);
  });

  it('is that one that is overloaded takes fewer at once from then on', () => {
    const { health } = healthOf(1);
    const adaptive = offer(1, { adaptiveConcurrency: true });
    const ends = Array.from({ length: 15 }, () => health.begin(adaptive, T0));

    ends[0]?.(failed('timeout'), T0);

    expect(health.availability(adaptive, T0)).toEqual({ kind: 'full' });
    ends[1]?.(ranked(adaptive), T0);
    expect(health.availability(adaptive, T0)).toEqual({ kind: 'ready' });
  });

  it.each([
    ['as long as it asks for', 7_000, 7_000],
    ['for a second where it does not say', undefined, 1_000],
    ['never longer than the bound', 3_600_000, 60_000],
  ])('is that an overloaded one is left alone %s', (_what, retryAfterMs, waitMs) => {
    const { health } = healthOf();
    const busy = offer(1);

    health.begin(busy, T0)(failed('busy', { retryAfterMs }), T0);

    expect(health.availability(busy, T0)).toEqual({ kind: 'until', atMs: T0 + waitMs });
    expect(health.availability(busy, T0 + waitMs)).toEqual({ kind: 'ready' });
    expect(health.report(1).breaker).toBe('closed');
  });

  it('keeps the longer of two pauses', () => {
    const { health } = healthOf();
    const busy = offer(1);

    health.begin(busy, T0)(failed('busy', { retryAfterMs: 9_000 }), T0);
    health.begin(busy, T0)(failed('busy', { retryAfterMs: 1_000 }), T0);

    expect(health.availability(busy, T0)).toEqual({ kind: 'until', atMs: T0 + 9_000 });
  });

  it('is that its circuit is open after failures, half-open for one probe, and closed after it', () => {
    const { health, events } = healthOf();
    const sick = offer(1);
    health.begin(sick, T0)(failed('timeout'), T0);
    health.begin(sick, T0)(failed('misconfigured'), T0);

    expect(health.availability(sick, T0)).toEqual({ kind: 'until', atMs: T0 + 1_000 });
    expect(health.report(1)).toMatchObject({ breaker: 'open', reason: 'misconfigured' });

    const probe = health.begin(sick, T0);
    expect(health.availability(sick, T0 + 1_000)).toEqual({ kind: 'full' });
    probe(ranked(sick), T0 + 1_001);

    expect(health.availability(sick, T0 + 1_001)).toEqual({ kind: 'ready' });
    expect(events).toMatchObject([
      { kind: 'breaker', channelId: 1, state: 'open', reason: 'misconfigured', forMs: 1_000 },
      { kind: 'breaker', state: 'closed', reason: '' },
    ]);
  });

  it('listens to the probe alone while the circuit is half-open', () => {
    const { health } = healthOf();
    const sick = offer(1);
    const slow = health.begin(sick, T0);
    health.begin(sick, T0)(failed('timeout'), T0);
    health.begin(sick, T0)(failed('timeout'), T0);
    const probe = health.begin(sick, T0);

    slow(ranked(sick), T0 + 1_500);
    expect(health.report(1).breaker).toBe('half_open');
    probe('abandoned', T0 + 1_600);

    expect(health.report(1).breaker).toBe('open');
    expect(health.availability(sick, T0 + 1_600)).toEqual({ kind: 'ready' });
  });

  it('is not blamed for what callers send, nor for requests that end early', () => {
    const { health } = healthOf();
    const well = offer(1);

    for (const kind of ['caller', 'rejected', 'limit'] as const) {
      health.begin(well, T0)(failed(kind), T0);
      health.begin(well, T0)('abandoned', T0);
      health.begin(well, T0)({ kind: 'withdrawn' }, T0);
    }

    expect(health.report(1)).toMatchObject({ inFlight: 0, breaker: 'closed' });
  });

  it('is forgotten with the channel', () => {
    const { health } = healthOf();
    const gone = offer(1);
    health.begin(gone, T0)(failed('busy', { retryAfterMs: 9_000 }), T0);

    health.forget(1);

    expect(health.availability(gone, T0)).toEqual({ kind: 'ready' });
  });
});
