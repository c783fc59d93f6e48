import { describe, expect, it } from '@jest/globals';
import { ReplyCache } from '../../../src/gateway/policies/reply-cache.js';
import type { Outcome } from '../../../src/gateway/rank.js';
import { job, offer, ranking } from '../../support/offers.js';

const T0 = 1_700_000_000_000;
const TTL_MS = 10_000;

function setUp(outcome: Outcome = { kind: 'ranked', ranking: ranking(offer(1)) }, maxRows = 100) {
  let nowMs = T0;
  let asked = 0;
  const cache = new ReplyCache({ maxRows, now: () => nowMs });
  const rank = cache.layer(TTL_MS)(() => {
    asked += 1;
    return Promise.resolve(outcome);
  });
  return { rank, asked: () => asked, pass: (ms: number) => (nowMs += ms) };
}

describe('a reply cache', () => {
  it('answers an identical call for as long as it may, and marks it', async () => {
    const { rank, asked, pass } = setUp();

    const fresh = await rank(job());
    pass(TTL_MS - 1);
    const kept = await rank(job());

    expect(fresh).not.toMatchObject({ ranking: { from: 'cache' } });
    expect(kept).toMatchObject({ ranking: { from: 'cache' } });
    expect(asked()).toBe(1);
    pass(1);
    await rank(job());
    expect(asked()).toBe(2);
  });

  it('answers no other owner', async () => {
    const { rank, asked } = setUp();

    await rank(job());
    await rank(job({ owner: 'other' }));

    expect(asked()).toBe(2);
  });

  it('hears how old a ranking may be', async () => {
    const { rank, asked, pass } = setUp();
    await rank(job());
    pass(2_000);

    await rank(job({ mayBeOldMs: 2_000 }));
    expect(asked()).toBe(1);
    await rank(job({ mayBeOldMs: 1_999 }));
    expect(asked()).toBe(2);
    await rank(job({ mayBeOldMs: 0 }));
    expect(asked()).toBe(3);
  });

  it('keeps neither failures nor what a last resort gave', async () => {
    const none = setUp({ kind: 'none', why: { kind: 'switched_off' } });
    const degraded = setUp({
      kind: 'ranked',
      ranking: { ...ranking(offer(1)), isDegraded: true },
    });

    for (const { rank, asked } of [none, degraded]) {
      await rank(job());
      await rank(job());
      expect(asked()).toBe(2);
    }
  });

  it('keeps no more rows than it may', async () => {
    const { rank, asked } = setUp(undefined, 3);

    await rank(job());
    await rank(job({ query: 'other' }));
    await rank(job());

    expect(asked()).toBe(3);
  });
});
