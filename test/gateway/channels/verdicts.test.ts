import { describe, expect, it } from '@jest/globals';
import { AdaptiveLimit } from '../../../src/core/adaptive-limit.js';
import { Latencies } from '../../../src/core/hedge.js';
import { Patience } from '../../../src/core/patience.js';
import {
  adapt,
  isFaultOfKey,
  keyVerdictOn,
  timed,
  verdictOn,
} from '../../../src/gateway/channels/verdicts.js';
import { failed, offer, ranked } from '../../support/offers.js';

const T0 = 1_000_000;
const RANKED = ranked(offer(1));
const WITHDRAWN = { kind: 'withdrawn' } as const;

describe('what the end of an attempt says', () => {
  it.each([
    ['a ranking', RANKED, 'praise', true],
    ['a time-out', failed('timeout'), 'late', true],
    ['one that was given up early', failed('timeout', { isEarly: true }), 'none', true],
    ['a fault of the server', failed('transient'), 'blame', false],
    ['a reply that is not a ranking', failed('invalid'), 'blame', false],
    ['refused credentials', failed('misconfigured'), 'blame', false],
    ['an overload', failed('busy'), 'none', false],
    ['a refused request', failed('caller'), 'praise', false],
    ['a request that is too large', failed('limit'), 'praise', false],
    ['a call that was not sent', WITHDRAWN, 'none', false],
    ['a caller that left', 'abandoned', 'none', false],
  ] as const)('of its channel: %s', (_what, end, verdict, isLatency) => {
    expect(verdictOn(end)).toBe(verdict);
    const latencies = new Latencies();
    timed({ latencies, patience: new Patience() }, end, 50, 100);
    expect(latencies.averageMs).toBe(isLatency ? 50 : undefined);
  });

  it.each([
    ['a ranking', RANKED, { kind: 'works' }],
    ['no credit', failed('misconfigured', { status: 402 }), { kind: 'refused' }],
    ['refused credentials', failed('misconfigured', { status: 401 }), { kind: 'refused' }],
    [
      'too many requests',
      failed('busy', { status: 429, retryAfterMs: 3_000 }),
      { kind: 'rests', untilMs: T0 + 3_000 },
    ],
    [
      'too many, and no word for how long',
      failed('busy', { status: 429 }),
      { kind: 'rests', untilMs: T0 + 1_000 },
    ],
    [
      'too many, for longer than is believed',
      failed('busy', { status: 429, retryAfterMs: 9e9 }),
      { kind: 'rests', untilMs: T0 + 60_000 },
    ],
    ['a server that is full', failed('busy', { status: 503 }), { kind: 'none' }],
    ['a fault of the server', failed('transient', { status: 500 }), { kind: 'none' }],
    ['a call that was not sent', WITHDRAWN, { kind: 'none' }],
    ['a caller that left', 'abandoned', { kind: 'none' }],
  ] as const)('of its key: %s', (_what, end, verdict) => {
    expect(keyVerdictOn(end, T0, 60_000)).toMatchObject(verdict);
    expect(isFaultOfKey(end)).toBe(verdict.kind === 'refused' || verdict.kind === 'rests');
  });

  it('of how long to wait for its channel: answers, and attempts that were given up early', () => {
    const mostMs = (end: Parameters<typeof timed>[1]): number | undefined => {
      const patience = new Patience();
      timed({ latencies: new Latencies(), patience }, end, 1_000, 100);
      return patience.mostMs(100);
    };

    expect([RANKED, failed('timeout', { isEarly: true })].map(mostMs)).toEqual([4_000, 4_000]);
    expect([failed('timeout'), failed('transient')].map(mostMs)).toEqual([undefined, undefined]);
  });

  it('of how much its channel takes: answers and overloads alone', () => {
    const heard = (end: Parameters<typeof adapt>[1]): string[] => {
      const calls: string[] = [];
      const limit = new AdaptiveLimit();
      limit.answered = (tookMs, underWay, nowMs) =>
        void calls.push(`${tookMs} ${underWay} ${nowMs}`);
      limit.overloaded = (nowMs) => void calls.push(`overloaded ${nowMs}`);
      adapt(limit, end, 4, T0, T0 + 50);
      return calls;
    };

    expect(heard(RANKED)).toEqual([`50 4 ${T0 + 50}`]);
    expect(heard(failed('busy'))).toEqual([`overloaded ${T0 + 50}`]);
    expect(heard(failed('timeout'))).toEqual([`overloaded ${T0 + 50}`]);
    for (const end of [failed('transient'), failed('caller'), WITHDRAWN, 'abandoned'] as const) {
      expect(heard(end)).toEqual([]);
    }
  });
});
