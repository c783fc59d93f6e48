import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import {
  limitsOf,
  limitsOfKey,
  NO_TAG_BUDGETS,
  tagBudgetsOf,
} from '../../../src/gateway/channels/declared-limits.js';
import { offer } from '../../support/offers.js';

const channel = (id: number, given: Partial<Channel> = {}): Channel =>
  offer(id, given).route.channel;
const OF_TAG = { budget: 5, budgetScope: 'tag', tag: 'eu' } as const;

describe('the limits of a channel', () => {
  it('are those that it names', () => {
    expect(limitsOf(channel(1), NO_TAG_BUDGETS)).toEqual([]);
    const all = { requestsPerMinute: 60, tokensPerMinute: 900, budget: 7 };
    expect(limitsOf(channel(1, all), NO_TAG_BUDGETS)).toMatchObject([
      { name: 'requests_per_minute', counts: 'calls', most: 60 },
      { name: 'tokens_per_minute', counts: 'tokens', most: 900 },
      { name: 'budget', counts: 'cost', most: 7 },
    ]);
  });

  it('are counted afresh where the limit changes, and not where something else does', () => {
    const key = (given: Partial<Channel>) =>
      limitsOf(channel(1, given), NO_TAG_BUDGETS).map((limit) => limit.key);

    expect(key({ requestsPerMinute: 60 })).toEqual(key({ requestsPerMinute: 60, weight: 9 }));
    expect(key({ requestsPerMinute: 60 })).not.toEqual(key({ requestsPerMinute: 61 }));
  });

  it('include the budget of its tag, whichever channel declares it, and the least where they differ', () => {
    const first = channel(1, OF_TAG);
    const frugal = channel(2, { ...OF_TAG, budget: 3 });
    const lavish = channel(5, OF_TAG);
    const silent = channel(3, { tag: 'eu' });
    const other = channel(4, { tag: 'us' });
    const budgets = tagBudgetsOf([first, frugal, lavish, silent, other]);
    const most = (of: Channel) => limitsOf(of, budgets).map((limit) => [limit.name, limit.most]);

    expect([first, frugal, silent].map(most)).toEqual(Array(3).fill([['tag_budget', 3]]));
    expect(most(other)).toEqual([]);
    const counters = [first, silent].map((of) => limitsOf(of, budgets)[0]?.counter);
    expect(new Set(counters).size).toBe(1);
  });

  it('of a budget last as long as its window', () => {
    const [limit] = limitsOf(channel(1, { budget: 7 }), NO_TAG_BUDGETS);
    const noon = Date.UTC(2026, 4, 17, 12);
    const until = (nowMs: number): number => {
      const span = limit?.spanAt(nowMs);
      return span?.kind === 'until' ? span.atMs : 0;
    };

    expect(until(noon)).toBeGreaterThan(noon);
    expect(until(until(noon))).toBeGreaterThan(until(noon));
  });
});

it('a key has the limits that its channel gives to each key, under a name of its own', () => {
  const of = channel(1, { keyRequestsPerMinute: 2, keyTokensPerMinute: 30 });

  expect(limitsOfKey(channel(1), 'a')).toEqual([]);
  expect(limitsOfKey(of, 'a').map(({ name, most }) => [name, most])).toEqual([
    ['key_requests_per_minute', 2],
    ['key_tokens_per_minute', 30],
  ]);
  const counters = ['a', 'b'].flatMap((name) =>
    limitsOfKey(of, name).map(({ counter }) => counter),
  );
  expect(new Set(counters).size).toBe(4);
});
