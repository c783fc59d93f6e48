import { describe, expect, it } from '@jest/globals';
import { KeyRing } from '../../../src/core/key-ring.js';
import { Secret } from '../../../src/core/secret.js';
import { keyed } from '../../../src/gateway/policies/keyed.js';
import type { TakenWithKey } from '../../../src/gateway/channels/limits.js';
import { job, offer, ranked } from '../../support/offers.js';

const KEYS = ['key-of-account-aaaa', 'key-of-account-bbbb'];

/** A channel with two keys, of which each may have one call in flight. */
function setUp(taken: TakenWithKey, hasPlace = true) {
  const pool = offer(1, {
    provider: 'cohere',
    credentials: { apiKey: new Secret(KEYS.join('\n')) },
    keyMaxConcurrency: 1,
  });
  const ring = new KeyRing(2, { most: 1, refusedMs: 1_000, longestMs: 60_000 });
  const places = { taken: 0, left: 0 };
  const rested: string[] = [];
  const sent: string[] = [];
  const attempt = keyed({
    health: {
      ringOf: () => ring,
      keyEnded: (_route, key, _outcome, nowMs) => {
        ring.done(key, { kind: 'works' }, nowMs);
        return false;
      },
      keyRests: (_route, key, reason, untilMs, nowMs) => {
        rested.push(reason);
        ring.done(key, { kind: 'rests', reason, untilMs }, nowMs);
      },
    },
    limits: { takeWithKey: () => Promise.resolve(taken) },
    places: {
      takeNow: () => false,
      take: () => {
        if (hasPlace) places.taken += 1;
        return Promise.resolve(hasPlace);
      },
      leave: () => (places.left += 1),
    },
    now: () => 0,
  })(({ route }) => {
    sent.push(route.headers.join());
    return Promise.resolve(ranked(pool));
  });
  return { ask: () => attempt(pool, job()), places, rested, sent };
}

const TAKEN: TakenWithKey = { kind: 'taken', end: () => undefined };

describe('a call of a channel with several keys', () => {
  it('takes a place of its key, and leaves it', async () => {
    const { ask, places, sent } = setUp(TAKEN);

    expect((await ask()).kind).toBe('ranked');
    expect(sent).toHaveLength(1);
    expect(places).toEqual({ taken: 1, left: 1 });
  });

  it('leaves the place of a key whose limit is used up, and passes the channel over', async () => {
    const usedUp = { kind: 'used_up', limit: 'key_requests_per_minute', untilMs: 9_000 } as const;
    const { ask, places, rested, sent } = setUp(usedUp);

    expect((await ask()).kind).toBe('withdrawn');
    expect(sent).toEqual([]);
    expect(rested).toEqual(['key_requests_per_minute', 'key_requests_per_minute']);
    expect(places).toEqual({ taken: 2, left: 2 });
  });

  it('passes the channel over where no key has a place', async () => {
    const { ask, places, rested, sent } = setUp(TAKEN, false);

    expect((await ask()).kind).toBe('withdrawn');
    expect(sent).toEqual([]);
    expect(rested).toEqual(['busy', 'busy']);
    expect(places).toEqual({ taken: 0, left: 0 });
  });
});
