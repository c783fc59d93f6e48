import { describe, expect, it } from '@jest/globals';
import { offerOf, tiersOf } from '../../src/gateway/offer.js';
import { MODEL, offer } from '../support/offers.js';

describe('what a channel offers for a model', () => {
  it('has the upstream’s name of it, or the caller’s where there is no other', () => {
    const named = offer(1, { models: { [MODEL]: 'theirs' } });

    expect(named.upstreamModel).toBe('theirs');
    expect(offerOf(named.route, 'unnamed').upstreamModel).toBe('unnamed');
  });

  it('bounds the list where it is not split, and its windows where it is', () => {
    const { route } = offer(1);
    const whole = offerOf(route, MODEL);
    const splits = offerOf(route, MODEL, { split: true });

    expect(whole.room.documents).toBe(32);
    expect(whole.window).toBeUndefined();
    expect(splits.room.documents).toBeUndefined();
    expect(splits.window?.documents).toBe(32);
  });

  it('names the channel as the one that served', () => {
    expect(offer(4, { tag: 'blue' }).servedBy).toEqual([
      { channelId: 4, provider: 'tei', tag: 'blue' },
    ]);
  });
});

describe('tiers', () => {
  it('are live offers by priority, the highest first, with running sums of their weights', () => {
    const offers = [
      offer(1, { priority: 1, weight: 2 }),
      offer(2, { priority: 5, weight: 3 }),
      offer(3, { priority: 1, weight: 0 }),
      offer(4, { priority: 1, weight: 5 }),
      offer(5, { priority: 9, status: 2 }),
    ];
    // What is switched off is no offer of a tier, whatever its priority.
    const live = offers.map((one) => ({ ...one, route: { ...one.route, live: one.id !== 5 } }));

    const tiers = tiersOf(live).map((tier) => ({
      ids: tier.offers.map(({ id }) => id),
      sums: [...tier.cumulative],
    }));

    expect(tiers).toEqual([
      { ids: [2], sums: [3] },
      { ids: [1, 3, 4], sums: [2, 2, 7] },
    ]);
  });

  it('are none where nothing is live', () => {
    expect(tiersOf([])).toEqual([]);
  });
});
