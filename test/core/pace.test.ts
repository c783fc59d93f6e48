import { describe, expect, it } from '@jest/globals';
import { Pace } from '../../src/core/pace.js';

function after(times: readonly number[], sinceMs = 0): Pace {
  const pace = new Pace();
  pace.begin(sinceMs);
  for (const atMs of times) pace.moved(atMs);
  return pace;
}

describe('the pace of a line', () => {
  it('is what so many turns took lately, however many there were at once', () => {
    const bursts = [100, 100, 100, 200, 200, 200, 300, 300, 300];
    const pace = after(bursts);

    expect(pace.expectedMs(2, 0, 300)).toBe(0);
    expect(pace.expectedMs(3, 0, 300)).toBe(100);
    expect(pace.expectedMs(3, 0, 399)).toBe(199);
    expect(pace.expectedMs(7, 0, 399)).toBe(299);
  });

  it('is an average for more turns than it has seen', () => {
    const pace = after([100, 200, 300, 400]);

    expect(pace.expectedMs(7, 0, 400)).toBe(800);
    expect(pace.expectedMs(3, 0, 400)).toBe(400);
  });

  it('is the usual one while too little was seen, but never faster than a line that stands still', () => {
    const pace = after([], 1_000);

    expect(pace.expectedMs(3, 20, 1_000)).toBe(80);
    expect(pace.expectedMs(3, 20, 1_500)).toBe(500);
    expect(pace.expectedMs(3, 0, 1_000)).toBe(0);
    expect(after([10], 0).expectedMs(0, 20, 10)).toBe(20);
  });

  it('forgets what was seen before a line forms anew, and who had no place after all', () => {
    const pace = after([100, 200, 300]);
    pace.undo();
    expect(pace.expectedMs(3, 0, 300)).toBe(600);

    pace.begin(5_000);
    expect(pace.expectedMs(0, 7, 5_000)).toBe(7);
    pace.undo();
    pace.moved(5_100);
    pace.moved(5_200);
    expect(pace.expectedMs(1, 7, 5_200)).toBe(200);
  });

  it('goes by the last few hundred turns of a long line', () => {
    const slowThenFast = Array.from({ length: 3_000 }, (_, at) =>
      at < 2_000 ? at * 10 : 20_000 + at,
    );
    const pace = after(slowThenFast);

    expect(pace.expectedMs(99, 0, 22_999)).toBe(99);
    expect(pace.expectedMs(1_023, 0, 22_999)).toBe(1_022);
  });
});
