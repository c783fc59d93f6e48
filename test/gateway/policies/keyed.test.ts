import { describe, expect, it } from '@jest/globals';
import { KeyRing } from '../../../src/core/key-ring.js';
import { Secret } from '../../../src/core/secret.js';
import { keyed } from '../../../src/gateway/policies/keyed.js';
import type { TakenWithKey } from '../../../src/gateway/channels/limits.js';
import { createScope } from '../../../src/gateway/scope.js';
import { job, offer, ranked } from '../../support/offers.js';

const KEYS = ['key-of-account-aaaa', 'key-of-account-bbbb'];

interface Options {
  readonly hasPlace?: boolean;
  readonly keys?: readonly string[];
  /** Whether each call ends with a fault that concerns its key alone. */
  readonly isRefused?: boolean;
  readonly onSent?: () => void;
}

/** A channel with several keys, of which each may have one call in flight. */
function setUp(
  taken: TakenWithKey | Error,
  { hasPlace = true, keys = KEYS, isRefused = false, onSent }: Options = {},
) {
  const pool = offer(1, {
    provider: 'cohere',
    credentials: { apiKey: new Secret(keys.join('\n')) },
    keyMaxConcurrency: 1,
  });
  const ring = new KeyRing(keys.length, { most: 1, refusedMs: 1_000, longestMs: 60_000 });
  const places = { taken: 0, left: 0 };
  const rested: string[] = [];
  const sent: string[] = [];
  const attempt = keyed({
    health: {
      ringOf: () => ring,
      keyEnded: (_route, key, _outcome, nowMs) => {
        ring.done(key, { kind: 'works' }, nowMs);
        return isRefused;
      },
      keyRests: (_route, key, reason, untilMs, nowMs) => {
        rested.push(reason);
        ring.done(key, { kind: 'rests', reason, untilMs }, nowMs);
      },
    },
    limits: {
      takeWithKey: () => (taken instanceof Error ? Promise.reject(taken) : Promise.resolve(taken)),
    },
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
    onSent?.();
    return Promise.resolve(ranked(pool));
  });
  return { ask: (asked = job()) => attempt(pool, asked), places, rested, sent, ring };
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
    const { ask, places, rested, sent } = setUp(TAKEN, { hasPlace: false });

    expect((await ask()).kind).toBe('withdrawn');
    expect(sent).toEqual([]);
    expect(rested).toEqual(['busy', 'busy']);
    expect(places).toEqual({ taken: 0, left: 0 });
  });

  it('frees its key where nobody can say whether its limit has room', async () => {
    const { ask, places, ring } = setUp(new Error('the caller has left'));

    await expect(ask()).rejects.toThrow('the caller has left');

    expect(places).toEqual({ taken: 1, left: 1 });
    expect([ring.take(0), ring.take(0)].sort()).toEqual([0, 1]);
  });

  it('tries three keys that are refused, and leaves the others to later calls', async () => {
    const keys = Array.from({ length: 5 }, (_, at) => `key-of-account-${at}`);
    const { ask, sent } = setUp(TAKEN, { keys, isRefused: true });

    expect((await ask()).kind).toBe('ranked');
    expect(sent).toHaveLength(3);
  });

  it('uses no other key once its caller has left', async () => {
    const scope = createScope(Date.now(), 60_000);
    scope.release();
    const { ask, sent } = setUp(TAKEN, {
      isRefused: true,
      onSent: () => scope.end('client_gone'),
    });

    await expect(ask(job({ scope }))).rejects.toMatchObject({ code: 'client_closed_request' });
    expect(sent).toHaveLength(1);
  });
});
