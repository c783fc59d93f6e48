import { describe, expect, it } from '@jest/globals';
import { Chatter } from '../../src/http/chatter.js';

const BURST = 262_144;
const A_SECOND = 16_384;

describe('what a connection brings besides requests', () => {
  it('may be some at once', () => {
    expect(new Chatter().isTooMuch(A_SECOND + BURST, 0, 0)).toBe(false);
    expect(new Chatter().isTooMuch(A_SECOND + BURST + 1, 0, 0)).toBe(true);
  });

  it('may be a little for ever', () => {
    const chatter = new Chatter();
    const seconds = Array.from({ length: 1_000 }, (_, second) => second + 1);

    expect(seconds.some((second) => chatter.isTooMuch(second * A_SECOND, 0, 0))).toBe(false);
    expect(chatter.isTooMuch(1_001 * A_SECOND + BURST + 1, 0, 0)).toBe(true);
  });

  it('is not saved up by who is silent', () => {
    const chatter = new Chatter();
    for (let second = 0; second < 1_000; second += 1) chatter.isTooMuch(0, 0, 0);

    expect(chatter.isTooMuch(A_SECOND + BURST + 1, 0, 0)).toBe(true);
  });

  it('is not what belongs to requests, read or not, nor what reports of replies', () => {
    const chatter = new Chatter();
    chatter.explain(1_000_000);

    expect(chatter.isTooMuch(1_000_000 + 500_000 + 10_000, 2_560_000, 500_000)).toBe(false);
    expect(
      chatter.isTooMuch(1_500_000 + 10_000 + 2 * A_SECOND + BURST + 1, 2_560_000, 500_000),
    ).toBe(true);
  });
});
