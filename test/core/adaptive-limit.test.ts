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
