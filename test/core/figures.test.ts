import { expect, it } from '@jest/globals';
import { duration } from '../../src/core/figures.js';

it.each([
  [0.04, '0 ms'],
  [0.5, '0.5 ms'],
  [999.4, '999 ms'],
  [999.6, '1 s'],
  [2_100, '2.1 s'],
  [59_960, '1 min'],
  [180_000, '3 min'],
])('%d ms are told as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
