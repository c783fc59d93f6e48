import { describe, expect, it } from '@jest/globals';
import { AdaptiveLimit } from '../../src/core/adaptive-limit.js';

interface Server {
  /** It works on so many at once; beyond that answers take longer in proportion. */
  readonly places: number;
  readonly workMs: number;
}

/** Callers who always want more than they may, for so long; returns the clock at the end. */
function run(
  limit: AdaptiveLimit,
  { places, workMs }: Server,
  forMs: number,
  { wanted = 1_000, fromMs = 0 } = {},
): number {
  let nowMs = fromMs;
  while (nowMs < fromMs + forMs) {
    const underWay = Math.min(limit.limit, wanted);
    const tookMs = workMs * Math.max(1, underWay / places);
    nowMs += tookMs;
    for (let at = 0; at < underWay; at += 1) limit.answered(tookMs, underWay, nowMs);
  }
  return nowMs;
}

const LARGE: Server = { places: 100, workMs: 40 };
const SMALL: Server = { places: 5, workMs: 40 };

describe('an adaptive limit', () => {
  it('grows until answers take longer than with little to do', () => {
    const limit = new AdaptiveLimit();

    run(limit, LARGE, 60_000);

    expect(limit.limit).toBeGreaterThanOrEqual(90);
    expect(limit.limit).toBeLessThanOrEqual(200);
  });

  it('does not creep, however long it is under pressure', () => {
    const limit = new AdaptiveLimit();

    run(limit, LARGE, 600_000);

    expect(limit.limit).toBeLessThanOrEqual(220);
  });

  it('shrinks with a server that can do less, and grows with one that can do more again', () => {
    const limit = new AdaptiveLimit();
    let nowMs = run(limit, LARGE, 60_000);

    nowMs = run(limit, SMALL, 240_000, { fromMs: nowMs });
    expect(limit.limit).toBeLessThanOrEqual(15);

    run(limit, LARGE, 240_000, { fromMs: nowMs });
    expect(limit.limit).toBeGreaterThanOrEqual(80);
  });

  it('stays where it is while nobody wants as much', () => {
    const limit = new AdaptiveLimit();

    run(limit, LARGE, 20_000, { wanted: 4 });

    expect(limit.limit).toBe(20);
  });

  describe('once it knows how long an answer takes', () => {
    /** Ten answers that took 100 ms end the first window at 250 ms; the next one begins there. */
    function known(): AdaptiveLimit {
      const limit = new AdaptiveLimit();
      answer(limit, 1, { at: 0 });
      answer(limit, 9, { at: 250 });
      return limit;
    }

    function answer(
      limit: AdaptiveLimit,
      count: number,
      { at, took = 100, underWay = 20 }: { at: number; took?: number; underWay?: number },
    ): void {
      for (let one = 0; one < count; one += 1) limit.answered(took, underWay, at);
    }

    it.each([
      ['grows where all of it is in use', { underWay: 20 }, 22],
      ['grows where nearly all of it is in use', { underWay: 18 }, 22],
      ['stays where less of it is in use', { underWay: 17 }, 20],
      [
        'stays where answers take half as long again, and little is in use',
        { took: 150, underWay: 1 },
        20,
      ],
      ['shrinks as answers slow down', { took: 200 }, 17],
      ['shrinks by a quarter at most', { took: 5_000 }, 15],
    ])('%s', (_what, answers, expected) => {
      const limit = known();

      answer(limit, 10, { at: 500, ...answers });

      expect(limit.limit).toBe(expected);
    });

    it('decides on ten answers and a quarter of a second, not before', () => {
      const limit = known();

      answer(limit, 9, { at: 600 });
      expect(limit.limit).toBe(20);
      answer(limit, 1, { at: 600 });
      expect(limit.limit).toBe(22);
      answer(limit, 30, { at: 849 });
      expect(limit.limit).toBe(22);
      answer(limit, 1, { at: 850, underWay: 22 });
      expect(limit.limit).toBe(24);
    });

    it('counts how much was in use in the last window alone', () => {
      const limit = known();
      answer(limit, 10, { at: 500, underWay: 20 });

      answer(limit, 10, { at: 750, underWay: 1 });

      expect(limit.limit).toBe(22);
    });

    it('holds answers against the fastest window, until it measures again with few at once', () => {
      const limit = known();
      answer(limit, 10, { at: 500, took: 50, underWay: 1 });
      answer(limit, 10, { at: 750, took: 100, underWay: 1 });
      expect(limit.limit).toBe(17);

      answer(limit, 10, { at: 30_249, took: 50, underWay: 1 });
      expect(limit.limit).toBe(17);
      answer(limit, 10, { at: 30_499, took: 50, underWay: 1 });
      expect(limit.limit).toBe(4);
      answer(limit, 10, { at: 30_800, took: 302, underWay: 1 });
      expect(limit.limit).toBe(4);
      answer(limit, 10, { at: 30_800, took: 301, underWay: 1 });
      expect(limit.limit).toBe(17);
      answer(limit, 10, { at: 31_100, took: 301, underWay: 1 });
      expect(limit.limit).toBe(17);
    });

    it('falls at an overload again after a window, not sooner', () => {
      const limit = known();

      limit.overloaded(1_000);
      limit.overloaded(1_249);
      expect(limit.limit).toBe(14);
      limit.overloaded(1_250);
      expect(limit.limit).toBe(9);
    });
  });

  it('falls at once when the server says that it has too much to do, once for many who hear it', () => {
    const limit = new AdaptiveLimit();

    for (let time = 0; time < 50; time += 1) limit.overloaded(time);
    expect(limit.limit).toBe(14);
    limit.overloaded(1_000);
    expect(limit.limit).toBe(9);
  });

  it('is never below one', () => {
    const limit = new AdaptiveLimit();

    for (let time = 0; time < 100; time += 1) limit.overloaded(time * 1_000);

    expect(limit.limit).toBe(1);
    run(limit, LARGE, 60_000, { fromMs: 200_000 });
    expect(limit.limit).toBeGreaterThan(10);
  });
});
