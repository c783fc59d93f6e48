import { describe, expect, it } from '@jest/globals';
import { Restarts } from '../../src/core/restarts.js';

/** The pauses after processes that ran for so long, one after the other. */
function pauses(ranMs: readonly number[]): readonly number[] {
  const restarts = new Restarts();
  return ranMs.map((each) => restarts.after(each));
}

describe('a process that died is started again', () => {
  it.each<[string, readonly number[], readonly number[]]>([
    ['soon where it had run for a while', [5_000, 60_000], [200, 200]],
    [
      'after twice the time whenever it could not run, up to a bound',
      [0, 4_999, 0, 0, 0, 0, 0],
      [400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
    ],
    ['soon again once one has run', [0, 0, 5_000, 0], [400, 800, 200, 400]],
  ])('%s', (_when, ranMs, expected) => {
    expect(pauses(ranMs)).toEqual(expected);
  });
});
