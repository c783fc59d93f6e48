import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../src/core/channel.js';
import { DEFAULT_PRICE } from '../../src/core/quota.js';
import { Secret } from '../../src/core/secret.js';
import { offerOf, tiersOf, upstreamCost } from '../../src/gateway/offer.js';
import { MODEL, offer } from '../support/offers.js';

describe('what a channel offers for a model', () => {
  it('has the upstream’s name of it, or else the caller’s', () => {
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
    // What is around the texts has a tenth of the server's two megabytes.
    expect(splits.window).toMatchObject({ documents: 32, bytes: 1_800_000 });
  });

  it('bounds what is cut of a document, and not one that is ranked by its passages', () => {
    const provider = { provider: 'watsonx', pairTokens: 512 };
    const settings = { projectId: 'p' };
    const credentials = { apiKey: new Secret('key') };
    const cut = offer(1, { ...provider, settings, credentials });
    const inPassages = offer(1, { ...provider, settings, credentials, longDocuments: 'chunk' });

    expect([cut.room.wholeTokens, inPassages.room.wholeTokens]).toEqual([512, undefined]);
  });

  it.each([
    ['the limit of one', 'zhipu', { apiKey: new Secret('key') }, 4_096],
    [
      ...(['the limit of a request', 'tencent-lkeap'] as const),
      ...([{ secretId: new Secret('id'), secretKey: new Secret('key') }, 2_000] as const),
    ],
  ])('bounds each document where the list is split, by %s', (_, provider, credentials, most) => {
    const { route } = offer(1, { provider, credentials: { ...credentials } });

    expect(offerOf(route, MODEL, { split: true }).room.documentCharacters).toBe(most);
  });

  it.each([
    [{ maxDocuments: 1 }, { size: 2, stride: 1 }],
    [{ maxDocuments: 5 }, { size: 5, stride: 4 }],
    [{ maxDocuments: 99 }, { size: 20, stride: 10 }],
  ])('slides over a list ranked in order, within %j', (settings, slides) => {
    const given = { provider: 'chat-listwise', settings, windowSize: 20, windowStride: 10 };

    expect(offer(1, given).slides).toEqual(slides);
  });

  it.each([
    [{}, 4_096],
    [{ maxTokensPerDoc: 900 }, 900],
  ])('reads of a document what its provider does, or the channel says: %j', (settings, most) => {
    const credentials = { apiKey: new Secret('key') };
    const { reads } = offer(1, { provider: 'cohere', credentials, settings });

    expect(reads?.documentTokens).toBe(most);
  });

  it('names the channel as the one that served', () => {
    expect(offer(4, { tag: 'blue' }).servedBy).toEqual([
      { channelId: 4, provider: 'tei', tag: 'blue' },
    ]);
  });
});

describe('what a request costs the operator', () => {
  const prices = {
    models: {
      [MODEL]: { per: 'request', units: 9 },
      big: { per: 'million_tokens', units: 2_000 },
    },
    fallback: DEFAULT_PRICE,
  } as const;
  const hosted = { provider: 'cohere', credentials: { apiKey: new Secret('key') } };

  it.each<[string, Partial<Channel>, number]>([
    ['what the channel says', { ...hosted, cost: 3 }, 3],
    [
      'what it says of tokens, for a typical request',
      { cost: 2_000, costPer: 'million_tokens' },
      10,
    ],
    ['nothing at a server of one’s own', {}, 0],
    ['what the channel says, there too', { cost: 4 }, 4],
    ['the price of the model', hosted, 9],
    ['that, where the upstream’s has none', { ...hosted, models: { [MODEL]: 'theirs' } }, 9],
    ['the price of the upstream’s model', { ...hosted, models: { [MODEL]: 'big' } }, 10],
  ])('is %s', (_, channel, expected) => {
    expect(upstreamCost(offer(1, channel), MODEL, prices)).toBe(expected);
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

  it('have the cheaper ones of a priority in front, and equal ones together', () => {
    const offers = [
      offer(1, { cost: 7 }),
      offer(2, { cost: 0, priority: -1 }),
      offer(3, { cost: 2 }),
      offer(4, { cost: 7 }),
    ];

    const tiers = tiersOf(offers, (one) => one.route.channel.cost ?? 0);

    expect(tiers.map((tier) => tier.offers.map(({ id }) => id))).toEqual([[3], [1, 4], [2]]);
  });

  it('are none where nothing is live', () => {
    expect(tiersOf([])).toEqual([]);
  });
});
