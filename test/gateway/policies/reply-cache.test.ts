import { describe, expect, it } from '@jest/globals';
import { ReplyCache } from '../../../src/gateway/policies/reply-cache.js';
import type { Outcome, Ranking } from '../../../src/gateway/rank.js';
import type { SharedReplies } from '../../../src/gateway/shared-replies.js';
import { job, offer, ranking } from '../../support/offers.js';

const T0 = 1_700_000_000_000;
const TTL_MS = 10_000;

function setUp(
  outcome: Outcome = { kind: 'ranked', ranking: ranking(offer(1)) },
  maxRows = 100,
  shared?: SharedReplies,
) {
  let nowMs = T0;
  let asked = 0;
  const cache = new ReplyCache({ maxRows, now: () => nowMs });
  const rank = cache.layer(
    TTL_MS,
    shared,
  )(() => {
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

  it('keeps what the upstream wrote, and nothing that lay beside it', async () => {
    const among = Buffer.from('other replies {"index":0} other replies');
    const written = { kind: 'rows', bytes: among.subarray(14, 25), rows: [] } as const;
    const { rank } = setUp({ kind: 'ranked', ranking: { ...ranking(offer(1)), written } });

    await rank(job());
    const kept = await rank(job());

    const found = kept.kind === 'ranked' ? kept.ranking.written : undefined;
    const bytes = found?.kind === 'rows' ? found.bytes : undefined;
    expect(String(bytes)).toBe('{"index":0}');
    expect(bytes?.buffer.byteLength).toBe(11);
  });

  it('answers for as long as a key may have it, in place of what the rule says', async () => {
    for (const keepMs of [1_000, 3 * TTL_MS]) {
      const { rank, asked, pass } = setUp();
      await rank(job({ keepMs }));
      pass(keepMs - 1);
      expect(await rank(job({ keepMs }))).toMatchObject({ ranking: { from: 'cache' } });
      pass(1);
      await rank(job({ keepMs }));
      expect(asked()).toBe(2);
    }
  });

  it('keeps what keys have for another time apart', async () => {
    const { rank, asked, pass } = setUp();
    await rank(job({ keepMs: 3 * TTL_MS }));
    pass(TTL_MS);

    await rank(job());
    await rank(job({ keepMs: 0 }));
    await rank(job({ keepMs: 3 * TTL_MS, mayBeOldMs: TTL_MS }));
    expect(asked()).toBe(2);
    await rank(job({ keepMs: 3 * TTL_MS, mayBeOldMs: TTL_MS - 1 }));
    expect(asked()).toBe(3);
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

  it('finds what another node keeps, for as long as it is kept there, and keeps for others', async () => {
    const theirs = new Map<string, Ranking>();
    const shared: SharedReplies = {
      find: (name) => {
        const found = theirs.get(name);
        return Promise.resolve(found && { ranking: found, leftMs: 4_000 });
      },
      keep: (name, kept) => void theirs.set(name, kept),
    };
    const [here, there] = [setUp(undefined, 100, shared), setUp(undefined, 100, shared)];

    await there.rank(job());
    const answer = await here.rank(job());
    expect(answer).toMatchObject({ ranking: { from: 'cache' } });
    theirs.clear();
    here.pass(3_999);
    await here.rank(job());
    expect(here.asked()).toBe(0);
    await here.rank(job({ owner: 'other' }));
    expect(here.asked()).toBe(1);
    here.pass(1);
    await here.rank(job());
    expect(here.asked()).toBe(2);
  });

  it('keeps what another node has no longer than its own rule says', async () => {
    let finds = 0;
    const { rank, asked, pass } = setUp(undefined, 100, {
      find: () => {
        finds += 1;
        const found = { ranking: ranking(offer(1)), leftMs: 3 * TTL_MS };
        return Promise.resolve(finds === 1 ? found : undefined);
      },
      keep: () => undefined,
    });

    await rank(job());
    pass(TTL_MS);
    await rank(job());

    expect([finds, asked()]).toEqual([2, 1]);
  });

  it('hears how old a ranking of another node may be', async () => {
    const found = { ranking: ranking(offer(1)), leftMs: TTL_MS - 2_000 };
    const { rank, asked } = setUp(undefined, 100, {
      find: () => Promise.resolve(found),
      keep: () => undefined,
    });

    await rank(job({ mayBeOldMs: 1_999 }));
    await rank(job({ query: 'other', mayBeOldMs: 2_000 }));

    expect(asked()).toBe(1);
  });

  it('keeps no more rows than it may', async () => {
    const { rank, asked } = setUp(undefined, 3);

    await rank(job());
    await rank(job({ query: 'other' }));
    await rank(job());

    expect(asked()).toBe(3);
  });
});
