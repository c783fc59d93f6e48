import { describe, expect, it } from '@jest/globals';
import { LargeWork } from '../../src/bytes/turns.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Steps of `ms` each, by a clock that only they move, and in which turn each was made. */
function setUp() {
  let nowMs = 0;
  let turn = 0;
  let isOver = false;
  const work = new LargeWork(() => nowMs);
  const made: (readonly [string, number])[] = [];
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const end = (): void => {
    isOver = true;
  };
  const spend = (ms: number): void => {
    nowMs += ms;
  };
  const steps = async (name: string, times: number, ms: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await new Promise<void>((resolve) => work.join(resolve));
      // As in code with several layers.
      await Promise.resolve();
      spend(ms);
      made.push([name, turn]);
    }
  };
  /** What was done in each turn, in order. */
  const turns = (): string[] => {
    const names = new Map<number, string>();
    for (const [name, at] of made) names.set(at, (names.get(at) ?? '') + name);
    return [...names.values()];
  };
  return { work, spend, steps, turns, end, made };
}

describe('work on what is large', () => {
  it('takes half a millisecond a turn, all of it together, each in its turn', async () => {
    const { steps, turns, end } = setUp();

    await Promise.all([steps('a', 3, 0.2), steps('b', 3, 0.2), steps('c', 2, 0.2)]);
    end();

    expect(turns()).toEqual(['abc', 'abc', 'ab']);
  });

  it('makes one step a turn, however long that is, and whatever has arrived in it', async () => {
    const { work, spend, steps, turns, end } = setUp();

    const made = Promise.all([steps('a', 2, 7), steps('b', 1, 7)]);
    await nextTurn();
    expect(work.isSpent()).toBe(false);
    spend(0.6);
    expect(work.isSpent()).toBe(true);
    await made;
    end();

    expect(turns()).toEqual(['a', 'b', 'a']);
  });

  it('begins anew with each turn', async () => {
    const { work, spend, end } = setUp();
    const spent: boolean[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      spent.push(work.isSpent());
      spend(0.6);
      spent.push(work.isSpent());
      await nextTurn();
    }
    end();

    expect(spent).toEqual([false, true, false, true, false, true]);
  });

  it('comes after what is small and leaves in the same turn', async () => {
    const { work, steps, made, end } = setUp();

    const large = steps('large', 2, 1);
    await nextTurn();
    work.atTurnEnd(() => made.push(['small', 0]));
    await large;
    work.atTurnEnd(() => made.push(['small', 0]));
    await nextTurn();
    await nextTurn();
    end();

    expect(made.map(([name]) => name)).toEqual(['large', 'small', 'large', 'small']);
  });
});
