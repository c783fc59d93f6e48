import { describe, expect, it } from '@jest/globals';
import { NO_SHARES, takeShare, type ShareAsk } from '../../src/core/share.js';

const T0 = 1_800_000_000_000;
const ASK: ShareAsk = { most: 60, want: 1, least: 1, span: { kind: 'sliding', ms: 60_000 } };

describe('shares of a minute', () => {
  it('are never more than the limit in a minute of the clock, nor much more in any other', () => {
    const takenAt: number[] = [];
    let state = NO_SHARES;
    for (let nowMs = T0; nowMs < T0 + 600_000; nowMs += 100) {
      const { next, answer } = takeShare(state, ASK, nowMs);
      state = next;
      if (answer.kind === 'granted') takenAt.push(nowMs);
    }

    const within = (fromMs: number): number =>
      takenAt.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000).length;
    for (let minute = 0; minute < 10; minute += 1) {
      expect(within(T0 + minute * 60_000)).toBeLessThanOrEqual(60);
    }
    for (const atMs of takenAt) expect(within(atMs)).toBeLessThanOrEqual(75);
    expect(takenAt.length).toBeGreaterThan(9 * 50);
  });

  it('are not held back by a clock that was far ahead', () => {
    const ahead = { window: T0 / 60_000 + 9, current: 60, previous: 60 };

    expect(takeShare(ahead, ASK, T0).answer).toMatchObject({ kind: 'granted', units: 1 });
  });

  it('are there when the answer to the last refusal said so', () => {
    const full = { window: T0 / 60_000, current: 60, previous: 0 };
    const nowMs = T0 + 60_000;

    const refused = takeShare(full, { ...ASK, want: 6, least: 6 }, nowMs).answer;

    if (refused.kind !== 'refused') throw new Error('there was no room');
    expect(refused.retryAfterMs).toBe(6_000);
    expect(takeShare(full, { ...ASK, want: 6, least: 6 }, nowMs + 6_000).answer.kind).toBe(
      'granted',
    );
  });

  it('are asked for no sooner than in a millisecond', () => {
    const third = { ...ASK, most: 9, want: 3, least: 3 };
    const full = { window: T0 / 60_000, current: 9, previous: 0 };

    // A third of nine is free, but for rounding.
    expect(takeShare(full, third, T0 + 80_000).answer).toEqual({
      ...{ kind: 'refused', retryAfterMs: 1 },
    });
  });

  it('stay in the newer window for a node whose clock is a little behind', () => {
    const state = { window: T0 / 60_000 + 1, current: 60, previous: 0 };

    expect(takeShare(state, ASK, T0 + 59_999).answer.kind).toBe('refused');
  });
});
