import { describe, expect, it } from '@jest/globals';
import { ReadingTurns } from '../../src/http/reading.js';
import { until } from '../support/until.js';

const NEVER_MS = 3_600_000;
const PIECE = 65_536;
const nothing = (): number => 0;

/** Bodies that write down when they begin. */
function bodies(turns: ReadingTurns) {
  const begun: string[] = [];
  const take = (name: string, received = nothing): (() => void) =>
    turns.take(() => begun.push(name), received);
  return { begun, take };
}

describe('turns of large bodies', () => {
  it('begin as soon as others end, in the order in which they were asked for', () => {
    const { begun, take } = bodies(new ReadingTurns(2, NEVER_MS));
    const ends = ['a', 'b', 'c', 'd'].map((name) => take(name));
    expect(begun).toEqual(['a', 'b']);

    ends[1]?.();
    expect(begun).toEqual(['a', 'b', 'c']);
    ends[0]?.();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    for (const end of ends) end();
  });

  it('are not kept for whoever gives up, and are given back once', () => {
    const { begun, take } = bodies(new ReadingTurns(1, NEVER_MS));
    const [endA, endB, endC] = [take('a'), take('b'), take('c')];

    endB();
    endB();
    endA();
    endA();
    expect(begun).toEqual(['a', 'c']);
    const endD = take('d');
    expect(begun).toEqual(['a', 'c']);
    endC();
    expect(begun).toEqual(['a', 'c', 'd']);
    endD();
  });

  it('go to the next while a body is slow to come', async () => {
    const { begun, take } = bodies(new ReadingTurns(1, 1));
    let looks = 0;
    const endSlow = take('slow', () => {
      looks += 1;
      return Math.min(looks, 3) * PIECE;
    });
    const endNext = take('next', () => Number.MAX_SAFE_INTEGER);
    expect(begun).toEqual(['slow']);

    await until('the next body begins', () => begun.length === 2);

    expect(looks).toBe(4);
    endSlow();
    endNext();
  });
});
