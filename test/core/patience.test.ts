import { describe, expect, it } from '@jest/globals';
import { Patience } from '../../src/core/patience.js';

function after(...answers: readonly (readonly [durationMs: number, bytes: number])[]): Patience {
  const patience = new Patience();
  for (const [durationMs, bytes] of answers) patience.answered(durationMs, bytes);
  return patience;
}

describe('how long a channel is waited for', () => {
  it('is unknown before its first answer', () => {
    expect(after().mostMs(1_000)).toBeUndefined();
  });

  it('is four times as long as its answers usually take, and a second at least', () => {
    expect(after([600, 1_000]).mostMs(1_000)).toBe(2_400);
    expect(after([20, 1_000]).mostMs(1_000)).toBe(1_000);
    expect(after([600, 1_000], [1_600, 1_000]).mostMs(1_000)).toBe(2_800);
  });

  it('is longer for more text than usual, and not shorter for less', () => {
    const patience = after([600, 1_000]);

    expect([10, 1_000, 10_000].map((bytes) => patience.mostMs(bytes))).toEqual([
      2_400, 2_400, 24_000,
    ]);
  });

  it('becomes longer at once when an attempt was given up early, for text of any length', () => {
    const patience = after([500, 1_000]);
    patience.gaveUp(20_000, 10_000);

    expect([1_000, 10_000].map((bytes) => patience.mostMs(bytes))).toEqual([8_000, 80_000]);

    patience.gaveUp(1_000, 1_000);
    expect(patience.mostMs(1_000)).toBe(8_000);
  });

  it('is known of a channel that was given up before it ever answered', () => {
    const patience = after();
    patience.gaveUp(1_000, 100);

    expect(patience.mostMs(100)).toBe(4_000);
  });

  it('does not mind answers without text', () => {
    expect(after([600, 0]).mostMs(0)).toBe(2_400);
  });
});
