import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { Secret } from '../../../src/core/secret.js';
import { KeyRings } from '../../../src/gateway/channels/key-rings.js';
import type { Route } from '../../../src/gateway/channels/route.js';
import { offer } from '../../support/offers.js';

const T0 = 1_700_000_000_000;
const RULE = { failures: 5, windowMs: 30_000, openMs: 1_000, longestMs: 4_000 };
const [ONE, TWO, THREE] = ['sk-first-key-1111', 'sk-second-key-2222', 'sk-third-key-3333'];

function channel(keys: readonly string[], given: Partial<Channel> = {}, id = 1): Route {
  const apiKey = new Secret(keys.join('\n'));
  return offer(id, { provider: 'jina', baseUrl: undefined, credentials: { apiKey }, ...given })
    .route;
}

/** Puts the key that is taken next out for half a second. */
function rest(rings: KeyRings, route: Route): void {
  const ring = rings.of(route);
  const key = ring.take(T0);
  if (key === undefined) throw new Error('no key is free');
  ring.done(key, { kind: 'rests', reason: 'busy', untilMs: T0 + 500 }, T0);
}

const restingIn = (rings: KeyRings): number => rings.pauses(T0).length;

describe('the keys of channels, as a node knows them', () => {
  it('keep their state while the channel has them, whatever else changes', () => {
    const rings = new KeyRings(RULE);
    rest(rings, channel([ONE, TWO]));

    rings.of(channel([ONE, TWO], { priority: 7 }));

    expect(rings.pauses(T0)).toMatchObject([
      { channelId: 1, key: expect.stringMatching(/1111$/), state: 'cooling', reason: 'busy' },
    ]);
  });

  it.each<[string, Route]>([
    ['one of them is another', channel([ONE, THREE])],
    ['there is one more', channel([ONE, TWO, THREE])],
    ['there is one less', channel([ONE])],
    ['they may do more at once', channel([ONE, TWO], { keyMaxConcurrency: 3 })],
  ])('are known anew when %s', (_, changed) => {
    const rings = new KeyRings(RULE);
    rest(rings, channel([ONE, TWO]));

    rings.of(changed);

    expect(restingIn(rings)).toBe(0);
  });

  it('say what keeps them all out: a pause, a limit, or the provider that refuses them', () => {
    const verdicts = [
      { kind: 'rests', reason: 'busy', untilMs: T0 + 500 },
      { kind: 'rests', reason: 'key_tokens_per_minute', untilMs: T0 + 500 },
      { kind: 'refused' },
    ] as const;
    const told = verdicts.map((verdict) => {
      const rings = new KeyRings(RULE);
      const route = channel([ONE, TWO]);
      const ring = rings.of(route);
      for (let key = ring.take(T0); key !== undefined; key = ring.take(T0)) {
        ring.done(key, verdict, T0);
      }
      return rings.readiness(route, T0);
    });

    expect(told).toEqual([
      { atMs: T0 + 500 },
      { atMs: T0 + 500, limit: 'key_tokens_per_minute' },
      { atMs: expect.any(Number), isRefused: true },
    ]);
  });

  it('are forgotten with their own channel only', () => {
    const rings = new KeyRings(RULE);
    rest(rings, channel([ONE, TWO]));
    rest(rings, channel([ONE, TWO], {}, 2));

    rings.forget(1);

    expect(rings.pauses(T0).map(({ channelId }) => channelId)).toEqual([2]);
  });
});
