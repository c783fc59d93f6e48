import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../../src/core/text-documents.js';
import { Secret } from '../../../src/core/secret.js';
import { ChannelHealth } from '../../../src/gateway/channels/health.js';
import type { GatewayEvent } from '../../../src/gateway/events.js';
import type { Outage } from '../../../src/core/outage.js';
import type { AttemptOutcome, Offer } from '../../../src/gateway/rank.js';
import { failed, offer, ranked } from '../../support/offers.js';

const T0 = 1_700_000_000_000;

function healthOf(maxCooldownMs = 60_000, failures = 2) {
  const events: GatewayEvent[] = [];
  const outages: Outage[] = [];
  const health = new ChannelHealth({
    limits: { outOf: () => undefined, pauses: () => [] },
    places: { isFull: () => false },
    maxCooldownMs,
    breaker: { failures, windowMs: 10_000, openMs: 1_000, longestMs: 60_000 },
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

  it('is that one that was down to one call at a time takes more again while it answers as fast', () => {
    const { health } = healthOf();
    const adaptive = offer(1, { adaptiveConcurrency: true });
    let nowMs = T0;
    const each = (outcome: AttemptOutcome, times: number): void => {
      for (let time = 0; time < times; time += 1) {
        const end = health.begin(adaptive, nowMs);
        nowMs += 300;
        end(outcome, nowMs);
      }
    };
    const isFullWithOne = (): boolean => {
      nowMs += 300;
      const end = health.begin(adaptive, nowMs);
      const { kind } = health.availability(adaptive, nowMs);
      end('abandoned', nowMs);
      return kind === 'full';
    };

    each(failed('busy', { retryAfterMs: 1 }), 9);
    expect(isFullWithOne()).toBe(true);
    each(ranked(adaptive), 40);

    expect(isFullWithOne()).toBe(false);
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

const ASKED = { query: 'moons', documents: textDocuments(['Saturn']) };
const REFUSED = failed('misconfigured', { status: 401, message: 'no' });

describe('a fault that is certain', () => {
  it('is told after so many in a row, with the words of the last, and again after as many', () => {
    const { health, outages } = healthOf();
    const sick = offer(1);

    for (let time = 0; time < 6; time += 1) health.begin(sick, T0)(REFUSED, T0 + time, ASKED);

    expect(outages).toEqual([
      { reason: 'credentials_refused', message: 'no', sinceMs: T0 + 2 },
      { reason: 'credentials_refused', message: 'no', sinceMs: T0 + 5 },
    ]);
  });

  it.each([
    ['an answer in between', (well: Offer) => ranked(well)],
    ['another certain fault in between', () => failed('misconfigured', { status: 402 })],
  ])('is not told after %s', (_what, between) => {
    const { health, outages } = healthOf();
    const sick = offer(1);
    for (const outcome of [REFUSED, REFUSED, between(sick), REFUSED, REFUSED]) {
      health.begin(sick, T0)(outcome, T0, ASKED);
    }

    expect(outages).toEqual([]);
  });

  it('says nothing where nobody knows what was asked', () => {
    const { health, outages } = healthOf();

    for (let time = 0; time < 3; time += 1) health.begin(offer(1), T0)(REFUSED, T0);

    expect(outages).toMatchObject([{ message: '' }]);
  });
});

describe('the keys of a channel', () => {
  const keyed = () =>
    offer(1, {
      credentials: { apiKey: new Secret('first-of-two-keys-aaaa\nsecond-of-two-keys-bbbb') },
    });
  const take = (health: ChannelHealth, { route }: Offer, nowMs: number): number =>
    health.ringOf(route).take(nowMs) ?? -1;

  it('rest no longer than the bound, whatever their account asks for', () => {
    const { health } = healthOf(60_000);
    const of = keyed();
    const busy = failed('busy', { status: 429, retryAfterMs: 3_600_000 });

    for (const nowMs of [T0, T0]) {
      health.keyEnded(of.route, take(health, of, nowMs), busy, nowMs, ASKED);
    }

    expect(health.availability(of, T0)).toEqual({ kind: 'until', atMs: T0 + 60_000 });
  });

  it('are left alone one by one, and the channel with the last', () => {
    const { health, events } = healthOf();
    const of = keyed();
    const first = take(health, of, T0);

    expect(health.keyEnded(of.route, first, REFUSED, T0, ASKED)).toBe(true);
    expect(health.availability(of, T0)).toEqual({ kind: 'ready' });
    expect(events).toMatchObject([{ kind: 'key_refused', channelId: 1, key: '…aaaa' }]);
    const second = take(health, of, T0);
    const busy = failed('busy', { status: 429, retryAfterMs: 500 });

    expect(health.keyEnded(of.route, second, busy, T0, ASKED)).toBe(true);
    expect(events).toHaveLength(1);
    expect(health.availability(of, T0)).toEqual({ kind: 'until', atMs: T0 + 500 });
    expect(health.pauses(T0)).toEqual([
      {
        channelId: 1,
        key: '…aaaa',
        state: 'open',
        reason: 'misconfigured',
        sinceMs: T0,
        untilMs: T0 + 1_000,
      },
      {
        channelId: 1,
        key: '…bbbb',
        state: 'cooling',
        reason: 'busy',
        sinceMs: T0,
        untilMs: T0 + 500,
      },
    ]);
    health.forget(1);
    expect(health.pauses(T0)).toEqual([]);
  });

  it('are not blamed for what no key can help', () => {
    const { health } = healthOf();
    const of = keyed();

    for (const outcome of [
      ranked(of),
      failed('timeout'),
      failed('busy', { status: 503 }),
      'abandoned',
    ] as const) {
      expect(health.keyEnded(of.route, take(health, of, T0), outcome, T0, ASKED)).toBe(false);
    }
    expect(health.pauses(T0)).toEqual([]);
  });

  it('are the channel’s fault once all of them were refused often enough', () => {
    const { health, outages } = healthOf();
    const of = keyed();
    const refuse = (nowMs: number) =>
      health.keyEnded(of.route, take(health, of, nowMs), REFUSED, nowMs, ASKED);

    refuse(T0);
    refuse(T0);
    expect(outages).toEqual([]);
    refuse(T0 + 1_000);
    expect(outages).toEqual([]);
    refuse(T0 + 1_000);

    expect(outages).toMatchObject([
      { reason: 'credentials_refused', message: 'no', sinceMs: T0 + 1_000 },
    ]);
  });

  it('are full while each has as many attempts as it may', () => {
    const { health } = healthOf();
    const of = offer(1, { credentials: keyed().route.channel.credentials, keyMaxConcurrency: 1 });
    take(health, of, T0);
    expect(health.availability(of, T0)).toEqual({ kind: 'ready' });
    take(health, of, T0);

    expect(health.availability(of, T0)).toEqual({ kind: 'full' });
  });
});

describe('a health check', () => {
  const openAndClosed = () => {
    const set = healthOf();
    const { route } = offer(1);
    return { ...set, route, breaker: () => set.health.report(1).breaker };
  };

  it('opens the circuit of a channel that fails, and closes it once it answers', () => {
    const { health, route, breaker, events } = openAndClosed();

    health.checked(route, 'timeout', T0);
    health.checked(route, 'transient', T0 + 1);
    expect([breaker(), health.report(1).reason]).toEqual(['open', 'timeout']);
    expect(health.pauses(T0 + 1)).toEqual([
      { channelId: 1, state: 'open', reason: 'timeout', sinceMs: T0, untilMs: T0 + 1_000 },
    ]);
    health.checked(route, 'ok', T0 + 2);

    expect(breaker()).toBe('closed');
    expect(health.pauses(T0 + 2)).toEqual([]);
    expect(events).toMatchObject([
      { state: 'open', sinceMs: T0, forMs: 1_000 },
      { state: 'closed', sinceMs: 0, forMs: 0 },
    ]);
  });

  it('leaves the circuit alone where the channel is only busy, or well already', () => {
    const { health, route, breaker, events } = openAndClosed();

    for (const kind of ['busy', 'caller', 'limit', 'ok'] as const) health.checked(route, kind, T0);

    expect([breaker(), events]).toEqual(['closed', []]);
  });

  it('opens no circuit where none ever opens', () => {
    const { health } = healthOf(undefined, 0);

    health.checked(offer(1).route, 'timeout', T0);

    expect(health.report(1).breaker).toBe('closed');
  });

  it('leaves the decision to a probe that is under way', () => {
    const { health, route, breaker } = openAndClosed();
    health.checked(route, 'timeout', T0);
    health.begin(offer(1), T0 + 1_000);

    health.checked(route, 'ok', T0 + 1_001);
    health.checked(route, 'timeout', T0 + 1_001);

    expect(breaker()).toBe('half_open');
    expect(health.pauses(T0 + 1_001)).toMatchObject([{ state: 'half_open', untilMs: T0 + 1_001 }]);
  });
});

describe('how busy a channel is', () => {
  it('is told by its attempts and its weight', () => {
    const { health } = healthOf();
    const light = offer(1, { weight: 1 });
    const heavy = offer(2, { weight: 4 });
    expect([health.load(light), health.load(heavy)]).toEqual([1, 0.25]);

    const end = health.begin(heavy, T0);
    expect(health.load(heavy)).toBe(0.5);
    end(ranked(heavy), T0);

    expect(health.load(heavy)).toBe(0.25);
    expect(health.load(offer(3, { weight: 0 }))).toBeGreaterThan(1e300);
  });

  it('is judged by how long its answers take, time-outs included, and by who waits', () => {
    const { health } = healthOf();
    const one = offer(1);
    expect([health.expectedMs(one), health.slowAfterMs(one)]).toEqual([0, undefined]);
    health.begin(one, T0)(ranked(one), T0 + 100);
    expect(health.expectedMs(one)).toBe(100);
    health.begin(one, T0);
    expect(health.expectedMs(one)).toBe(200);

    health.begin(one, T0)(failed('transient'), T0 + 5_000);
    health.begin(one, T0)('abandoned', T0 + 5_000);
    expect(health.expectedMs(one)).toBe(200);
    health.begin(one, T0)(failed('timeout'), T0 + 5_000);
    expect(health.expectedMs(one)).toBeGreaterThan(200);
  });
});

describe('a channel that was overtaken', () => {
  it('is left alone where nothing else was heard of it, with the reason', () => {
    const { health } = healthOf();
    const one = offer(1);

    health.overtaken(one, 'late', T0, T0 + 2_000);
    expect(health.report(1).breaker).toBe('closed');
    health.overtaken(one, 'outrun', T0, T0 + 2_000);

    expect(health.report(1)).toMatchObject({ breaker: 'open', reason: 'timeout' });
  });

  it('waits for the probe in flight, which decides', () => {
    const { health } = healthOf();
    const one = offer(1);
    health.overtaken(one, 'outrun', T0, T0 + 2_000);
    health.begin(one, T0 + 9_000);

    health.overtaken(one, 'outrun', T0, T0 + 9_000);

    expect(health.report(1).breaker).toBe('half_open');
  });
});

describe('a pause', () => {
  it('is shown with its reason and its beginning until it ends', () => {
    const { health } = healthOf();
    const busy = offer(2);
    health.begin(busy, T0)(failed('busy', { retryAfterMs: 2_000 }), T0);
    health.begin(busy, T0)(failed('busy', { retryAfterMs: 3_000 }), T0 + 500);
    health.begin(offer(1), T0)(failed('busy', { retryAfterMs: 9_000 }), T0);

    const [first, second] = health.pauses(T0 + 1_000);

    expect(first?.channelId).toBe(1);
    expect(second).toEqual({
      ...{ channelId: 2, state: 'cooling', reason: 'busy' },
      ...{ sinceMs: T0, untilMs: T0 + 3_500 },
    });
    expect(health.pauses(T0 + 3_500).map(({ channelId }) => channelId)).toEqual([1]);
    health.begin(busy, T0)(failed('busy', { retryAfterMs: 1_000 }), T0 + 4_000);
    expect(health.pauses(T0 + 4_000)[1]).toMatchObject({ sinceMs: T0 + 4_000 });
  });

  it('began with the first failures, however many probes have failed since', () => {
    const { health } = healthOf();
    const sick = offer(1);
    for (const atMs of [T0, T0, T0 + 1_500]) health.begin(sick, atMs)(failed('timeout'), atMs);

    expect(health.pauses(T0 + 1_600)).toMatchObject([{ state: 'open', sinceMs: T0 }]);
  });

  it('is over for a channel that is forgotten', () => {
    const { health } = healthOf();
    const busy = offer(1);
    health.begin(busy, T0)(failed('busy', { retryAfterMs: 9_000 }), T0);

    health.forget(busy.id);
    // It starts afresh, with nothing to wait for.
    health.begin(busy, T0 + 1)(ranked(busy), T0 + 1);

    expect(health.pauses(T0 + 1)).toEqual([]);
    expect(health.availability(busy, T0 + 1)).toEqual({ kind: 'ready' });
  });
});
