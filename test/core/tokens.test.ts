import { describe, expect, it } from '@jest/globals';
import { cutToTokens, leastTokens, mostTokens } from '../../src/core/tokens.js';

/**
 * Texts with their tokens in vocabularies that models come with: the fewest and the most of o200k, cl100k, XLM-R and
 * BERT's, rounded outwards.
 */
const COUNTED: readonly (readonly [script: string, text: string, fewest: number, most: number])[] =
  [
    ['English', 'Saturn is circled by well over a hundred moons.', 10, 13],
    ['German', 'Donaudampfschifffahrtsgesellschaftskapitän', 10, 16],
    ['Russian', 'Сатурн окружён более чем сотней спутников.', 11, 22],
    ['Chinese', '土星有一百多颗卫星。', 7, 15],
    ['Japanese', '土星には百以上の衛星があります。', 9, 19],
    ['Hindi', 'शनि के सौ से अधिक चंद्रमा हैं।', 10, 45],
    ['digits', '3141592653589793', 6, 16],
    ['code', 'for(let i=0;i<n;++i){a[i]+=b[i];}', 14, 28],
  ];

describe('bounds of tokens', () => {
  it.each(COUNTED)('hold for %s', (_script, text, fewest, most) => {
    expect(leastTokens(text)).toBeLessThanOrEqual(fewest);
    expect(mostTokens(text)).toBeGreaterThanOrEqual(most);
  });

  it('are not so wide that they say nothing', () => {
    const text = 'Saturn is circled by well over a hundred moons. '.repeat(100);

    expect(leastTokens(text)).toBeGreaterThan(300);
    expect(mostTokens(text)).toBeLessThan(2_500);
  });

  it('of nothing are none', () => {
    expect([leastTokens(''), mostTokens('')]).toEqual([0, 0]);
  });
});

describe('cutToTokens', () => {
  it('leaves alone what surely fits', () => {
    expect(cutToTokens('moons', 100)).toBe('moons');
  });

  it('keeps as much as surely fits', () => {
    const cut = cutToTokens('moons '.repeat(1_000), 100);

    expect(mostTokens(cut)).toBeLessThanOrEqual(100);
    expect(mostTokens(cut)).toBeGreaterThan(95);
  });

  it('never leaves half a character', () => {
    for (let most = 0; most < 12; most += 1) {
      expect(cutToTokens('a🪐b🪐c', most).isWellFormed()).toBe(true);
    }
  });
});

it('tokens are counted no further than to the first that is too many', () => {
  const text = 'x'.repeat(1_000_000);
  const far = { least: leastTokens(text), most: mostTokens(text) };

  expect(leastTokens(text, 1_000)).toBe(1_001);
  expect(mostTokens(text, 1_000)).toBe(1_001);
  expect(leastTokens(text, far.least)).toBe(far.least);
  expect(mostTokens(text, far.most)).toBe(far.most);
});
