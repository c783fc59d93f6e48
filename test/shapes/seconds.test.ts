import { expect, it } from '@jest/globals';
import { secondFrom, secondsOf } from '../../src/shapes/seconds.js';

it.each([
  [undefined, null, null],
  [0, 0, 0],
  [1_999, 1, 2],
  [2_000, 2, 2],
  [2_001, 2, 3],
])('%s ms are %s seconds, and the second from then on is %s', (ms, seconds, from) => {
  expect(secondsOf(ms)).toBe(seconds);
  expect(secondFrom(ms)).toBe(from);
});
