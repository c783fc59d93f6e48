import { describe, expect, it } from '@jest/globals';
import { tiersOf } from '../../src/gateway/offer.js';
import type { Tier } from '../../src/gateway/rank.js';
import { firstAbove, placeOf, ringOf } from '../../src/gateway/tier.js';
import { offer } from '../support/offers.js';

function tierOf(...weights: readonly number[]): Tier {
  const [tier] = tiersOf(weights.map((weight, at) => offer(at + 1, { weight })));
  if (tier === undefined) throw new Error('there is no tier');
  return tier;
}

describe('the place of a key in a tier', () => {
  it('is always the same, and keys are spread by weight', () => {
    const tier = tierOf(1, 3);
    const places = Array.from({ length: 4_000 }, (_, keyId) => placeOf(tier, { keyId }));

    expect(places).toEqual(Array.from({ length: 4_000 }, (_, keyId) => placeOf(tier, { keyId })));
    const share = places.filter((place) => place === 1).length / places.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.78);
  });

  it('is the first where nothing has weight', () => {
    expect(placeOf(tierOf(0, 0), { keyId: 7 })).toBe(0);
  });

  it('is where its turn around the tier begins', () => {
    const tier = tierOf(1, 1, 1);
    for (let keyId = 0; keyId < 50; keyId += 1) {
      const ids = ringOf(tier, { keyId }).map(({ id }) => id);
      const first = tier.offers[placeOf(tier, { keyId })]?.id ?? 0;

      expect(ids).toEqual([first, (first % 3) + 1, ((first + 1) % 3) + 1]);
    }
  });
});

it.each([
  [0, 0],
  [0.99, 0],
  [1, 2],
  [3.99, 2],
  [4, 3],
  [5, 3],
])('a point at %d is in the range of number %d', (point, place) => {
  // The second has no weight, and so no range.
  expect(firstAbove(Float64Array.of(1, 1, 4, 5), point)).toBe(place);
});
