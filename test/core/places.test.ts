import { describe, expect, it } from '@jest/globals';
import { askPlaces, SHORT_MS, type PlaceHolder, type PlacesAsk } from '../../src/core/places.js';
import { fc } from '../support/property.js';

const T0 = 1_800_000_000_000;
const HOLD_MS = 5_000;

const ask = (node: string, want: number, more: Partial<PlacesAsk> = {}): PlacesAsk => ({
  ...{ node, most: 8, used: 0, want, forMs: HOLD_MS },
  ...more,
});
const holder = (node: string, held: number, more: Partial<PlaceHolder> = {}): PlaceHolder => ({
  ...{ node, held, untilMs: T0 + HOLD_MS, shortUntilMs: 0, shortSinceMs: 0 },
  ...more,
});

describe('places that nodes share', () => {
  it('are what a node wants, up to what others leave', () => {
    expect(askPlaces([], ask('a', 6), T0).answer).toEqual({ may: 6, isContended: false });
    expect(askPlaces([holder('a', 6)], ask('b', 6), T0).answer).toEqual({
      may: 2,
      isContended: false,
    });
    expect(askPlaces([holder('a', 9)], ask('b', 6), T0).answer.may).toBe(0);
  });

  it('come back from a node that wants none, and from one that was not heard of', () => {
    expect(askPlaces([holder('a', 6)], ask('a', 0), T0).next).toEqual([]);
    const gone = [holder('a', 8, { untilMs: T0 })];
    expect(askPlaces(gone, ask('b', 8), T0)).toEqual({
      next: [holder('b', 8)],
      answer: { may: 8, isContended: false },
    });
  });

  it('stay counted while a call is in them, whatever the node may have from now on', () => {
    const short = holder('b', 0, { shortUntilMs: T0 + SHORT_MS, shortSinceMs: T0 });
    const { next, answer } = askPlaces([holder('a', 8), short], ask('a', 8, { used: 7 }), T0);

    expect(answer).toEqual({ may: 4, isContended: true });
    expect(next).toEqual([
      short,
      holder('a', 7, { shortUntilMs: T0 + SHORT_MS, shortSinceMs: T0 }),
    ]);
  });

  it('are shared out in equal parts while somebody has too few, and only as long', () => {
    const short = holder('b', 1, { shortUntilMs: T0 + SHORT_MS, shortSinceMs: T0 });

    expect(askPlaces([short], ask('a', 8), T0).answer).toEqual({ may: 4, isContended: true });
    expect(askPlaces([short], ask('a', 8), T0 + SHORT_MS).answer).toEqual({
      may: 7,
      isContended: false,
    });
  });

  it('go to whoever has waited longest where there are fewer than nodes', () => {
    const one = { most: 1 };
    const waiting = askPlaces([holder('a', 1)], ask('b', 1, one), T0);
    expect(waiting.answer.may).toBe(0);

    const busy = askPlaces(waiting.next, ask('a', 1, { ...one, used: 1 }), T0 + 1);
    const idle = askPlaces(busy.next, ask('a', 1, one), T0 + 2);
    expect([busy.answer.may, idle.answer.may]).toEqual([0, 0]);
    const resting = askPlaces(idle.next, ask('b', 0, one), T0 + 3);
    expect(askPlaces(resting.next, ask('a', 1, one), T0 + 4).answer.may).toBe(0);

    const served = askPlaces(resting.next, ask('b', 1, one), T0 + 5);
    expect(served.answer.may).toBe(1);
    expect(askPlaces(served.next, ask('b', 1, one), T0 + 6).answer.may).toBe(0);
  });

  it('are never more than there are, whoever asks for how many', () => {
    const steps = fc.array(
      fc.record({
        node: fc.constantFrom('a', 'b', 'c'),
        want: fc.nat(12),
        begins: fc.nat(12),
        ends: fc.nat(12),
        afterMs: fc.nat(1_500),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (all, most) => {
        let holders: readonly PlaceHolder[] = [];
        let nowMs = T0;
        const nodes = new Map<string, { used: number; may: number; askedMs: number }>();
        for (const { node, want, begins, ends, afterMs } of all) {
          nowMs += afterMs;
          const own = nodes.get(node) ?? { used: 0, may: 0, askedMs: 0 };
          // Places that lapsed are used by nobody: such a node would be a dead one.
          const isHeld = nowMs < own.askedMs + HOLD_MS;
          own.used = isHeld ? Math.max(0, own.used - ends) : 0;
          const used = isHeld ? Math.max(own.used, own.may) : 0;
          const { next, answer } = askPlaces(holders, ask(node, want, { most, used }), nowMs);
          holders = next;
          nodes.set(node, {
            used: Math.max(own.used, Math.min(answer.may, own.used + begins)),
            may: answer.may,
            askedMs: nowMs,
          });
          const inUse = [...nodes.values()].filter(({ askedMs }) => nowMs < askedMs + HOLD_MS);
          expect(inUse.reduce((sum, one) => sum + one.used, 0)).toBeLessThanOrEqual(most);
        }
      }),
    );
  });
});
