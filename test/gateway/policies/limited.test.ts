import { describe, expect, it } from '@jest/globals';
import { DEFAULT_PRICE } from '../../../src/core/quota.js';
import { NO_SHARES, takeShare } from '../../../src/core/share.js';
import { ChannelLimits } from '../../../src/gateway/channel-limits.js';
import { limited } from '../../../src/gateway/policies/limited.js';
import type { Attempt } from '../../../src/gateway/rank.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

/** The policy over the limits of one node, with a clock that the test turns. */
function setUp() {
  const clock = { nowMs: 1_800_000_000_000 };
  const shares = new Map<string, typeof NO_SHARES>();
  const limits = new ChannelLimits({
    store: {
      takeShare: (name, ask) => {
        const { next, answer } = takeShare(shares.get(name) ?? NO_SHARES, ask, clock.nowMs);
        shares.set(name, next);
        return Promise.resolve(answer);
      },
      returnShare: () => Promise.resolve(),
    },
    prices: { models: {}, fallback: DEFAULT_PRICE },
    observe: () => undefined,
    now: () => clock.nowMs,
    steady: () => clock.nowMs,
  });
  const sent: number[] = [];
  const send: Attempt = (to) => {
    sent.push(to.id);
    return Promise.resolve(ranked(to));
  };
  return { clock, limits, sent, send, layer: limited(limits) };
}

const NARROW = offer(1, { requestsPerMinute: 2 });

describe('a call of a channel with a limit', () => {
  it('is not sent where it is one too many, until there is room again', async () => {
    const { clock, sent, send, layer } = setUp();
    const attempt = layer(send);
    const kinds = async (): Promise<string[]> => [
      (await attempt(NARROW, job())).kind,
      (await attempt(NARROW, job())).kind,
      (await attempt(NARROW, job())).kind,
    ];

    expect(await kinds()).toEqual(['ranked', 'ranked', 'withdrawn']);
    expect(sent).toEqual([1, 1]);
    clock.nowMs += 120_000;
    expect(await kinds()).toEqual(['ranked', 'ranked', 'withdrawn']);
  });

  it('counts where it failed, and does not where it was not sent', async () => {
    const { layer } = setUp();
    const ask = async (end: Awaited<ReturnType<Attempt>>): Promise<string> =>
      (await layer(() => Promise.resolve(end))(NARROW, job())).kind;

    expect(await ask({ kind: 'withdrawn' })).toBe('withdrawn');
    expect(await ask({ kind: 'withdrawn' })).toBe('withdrawn');
    expect(await ask(failed('transient'))).toBe('failed');
    expect(await ask(failed('transient'))).toBe('failed');
    expect(await ask(ranked(NARROW))).toBe('withdrawn');
  });

  it('ends what it has taken, whose caller leaves', async () => {
    const { limits, layer } = setUp();
    const ends: unknown[] = [];
    const watched = limited({
      take: async (...asked) => {
        const end = await limits.take(...asked);
        return (outcome) => {
          ends.push(outcome);
          end?.(outcome);
        };
      },
    });

    const left = watched(() => Promise.reject(new Error('the caller left')))(NARROW, job());

    await expect(left).rejects.toThrow('the caller left');
    expect(ends).toEqual(['abandoned']);
    expect((await layer((to) => Promise.resolve(ranked(to)))(NARROW, job())).kind).toBe('ranked');
  });

  it('asks nobody where there is no limit', async () => {
    const take = () => Promise.reject(new Error('asked'));
    const attempt = limited({ take })((to) => Promise.resolve(ranked(to)));

    expect((await attempt(offer(1), job())).kind).toBe('ranked');
  });
});
