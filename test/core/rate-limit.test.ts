import { describe, expect, it } from '@jest/globals';
import { takeRate, type RateWindow } from '../../src/core/rate-limit.js';

const WINDOW_MS = 60_000;
const LIMIT = 10;

/** Takes requests at these times, one after the other; how many were let through, and the window after them. */
function take(
  times: readonly number[],
  start: RateWindow = { window: 0, current: 0, previous: 0 },
) {
  let last = start;
  let allowed = 0;
  for (const nowMs of times) {
    const decision = takeRate(last, LIMIT, nowMs, WINDOW_MS);
    if (!decision.allowed) continue;
    allowed += 1;
    last = decision.next;
  }
  return { allowed, last };
}

const times = (count: number, nowMs: number) => Array.from({ length: count }, () => nowMs);

describe('takeRate', () => {
  it.each([
    ['up to the limit in one window', times(15, 1_000), 10],
    [
      'none at the edge of the next, which the last one fills',
      [...times(10, 59_999), ...times(5, 60_000)],
      10,
    ],
    [
      'half of them when half of the last window has passed',
      [...times(10, 59_999), ...times(10, 90_000)],
      15,
    ],
    ['all again two windows later', [...times(10, 0), ...times(15, 120_000)], 20],
    [
      'none that come late from before the window',
      [...times(10, 59_999), 60_001, 59_998, ...times(20, 60_002)],
      10,
    ],
    [
      'as many as are left, in whatever order the edge is passed',
      [...times(6, 59_000), ...[60_001, 59_999, 60_001, 59_999, 60_002]],
      10,
    ],
  ])('lets through %s', (_what, at, allowed) => {
    expect(take(at).allowed).toBe(allowed);
  });

  it.each<[string, RateWindow, number, number, ReturnType<typeof takeRate>]>([
    [
      'an allowed request',
      { window: 5, current: 3, previous: 8 },
      10,
      330_000,
      {
        allowed: true,
        next: { window: 5, current: 4, previous: 8 },
        state: { limit: 10, remaining: 2, resetMs: 30_000 },
      },
    ],
    [
      'the last one of a window',
      { window: 5, current: 9, previous: 0 },
      10,
      300_000,
      {
        allowed: true,
        next: { window: 5, current: 10, previous: 0 },
        state: { limit: 10, remaining: 0, resetMs: 60_000 },
      },
    ],
    [
      'one that the previous window still holds up',
      { window: 5, current: 3, previous: 8 },
      7,
      330_000,
      {
        allowed: false,
        retryAfterMs: 7_500,
        state: { limit: 7, remaining: 0, resetMs: 30_000 },
      },
    ],
    [
      'one that this window holds up into the next',
      { window: 5, current: 10, previous: 0 },
      10,
      300_500,
      {
        allowed: false,
        retryAfterMs: 65_500,
        state: { limit: 10, remaining: 0, resetMs: 59_500 },
      },
    ],
    [
      'a first request after a long pause',
      { window: 3, current: 10, previous: 10 },
      10,
      300_000,
      {
        allowed: true,
        next: { window: 5, current: 1, previous: 0 },
        state: { limit: 10, remaining: 9, resetMs: 60_000 },
      },
    ],
  ])('decides on %s', (_what, last, limit, nowMs, decision) => {
    expect(takeRate(last, limit, nowMs, WINDOW_MS)).toEqual(decision);
  });

  it('does not let a clock that is far ahead hold up the others', () => {
    const { last } = take(times(10, 10 * WINDOW_MS));

    expect(take(times(5, WINDOW_MS), last).allowed).toBe(5);
  });

  it('says how long to wait, and is true to it', () => {
    const { last } = take(times(10, 0));
    const refused = takeRate(last, LIMIT, 0, WINDOW_MS);
    const waitMs = refused.allowed ? Number.NaN : refused.retryAfterMs;

    expect(takeRate(last, LIMIT, waitMs, WINDOW_MS).allowed).toBe(true);
    expect(takeRate(last, LIMIT, waitMs - 10, WINDOW_MS).allowed).toBe(false);
  });
});
