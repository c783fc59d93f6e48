import { describe, expect, it } from '@jest/globals';
import { LineSpeed } from '../../src/core/line-speed.js';

function after(times: readonly number[], sinceMs = 0): LineSpeed {
  const speed = new LineSpeed();
  speed.begin(sinceMs);
  for (const atMs of times) speed.moved(atMs);
  return speed;
}

describe('the speed of a line', () => {
  it('is what so many turns took lately, however many there were at once', () => {
    const bursts = [100, 100, 100, 200, 200, 200, 300, 300, 300];
    const speed = after(bursts);

    expect(speed.expectedMs(2, 0, 300)).toBe(0);
    expect(speed.expectedMs(3, 0, 300)).toBe(100);
    expect(speed.expectedMs(3, 0, 399)).toBe(199);
    expect(speed.expectedMs(7, 0, 399)).toBe(299);
  });

  it('is an average for more turns than it has seen', () => {
    const speed = after([100, 200, 300, 400]);

    expect(speed.expectedMs(7, 0, 400)).toBe(800);
    expect(speed.expectedMs(3, 0, 400)).toBe(400);
  });

  it('is the usual one while too little was seen, but never faster than a line that stands still', () => {
    const speed = after([], 1_000);

    expect(speed.expectedMs(3, 20, 1_000)).toBe(80);
    expect(speed.expectedMs(3, 20, 1_500)).toBe(500);
    expect(speed.expectedMs(3, 0, 1_000)).toBe(0);
    expect(after([10], 0).expectedMs(0, 20, 10)).toBe(20);
  });

  it('forgets what was seen before a new line formed, and who had no place after all', () => {
    const speed = after([100, 200, 300]);
    speed.undo();
    expect(speed.expectedMs(3, 0, 300)).toBe(600);

    speed.begin(5_000);
    expect(speed.expectedMs(0, 7, 5_000)).toBe(7);
    speed.undo();
    speed.moved(5_100);
    speed.moved(5_200);
    expect(speed.expectedMs(1, 7, 5_200)).toBe(200);
  });

  it('goes by the last few hundred turns of a long line', () => {
    const slowThenFast = Array.from({ length: 3_000 }, (_, at) =>
      at < 2_000 ? at * 10 : 20_000 + at,
    );
    const speed = after(slowThenFast);

    expect(speed.expectedMs(99, 0, 22_999)).toBe(99);
    expect(speed.expectedMs(1_023, 0, 22_999)).toBe(1_022);
  });
});
