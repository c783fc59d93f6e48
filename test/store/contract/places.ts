import { describe, expect, test } from '@jest/globals';
import { askPlaces, SHORT_MS, type PlaceHolder, type PlacesAsk } from '../../../src/core/places.js';
import { fc } from '../../support/property.js';
import { freshStore, T0, unique, type OpenHarness } from './harness.js';

const HOLD_MS = 5_000;

const ask = (node: string, want: number, used = 0): PlacesAsk => ({
  ...{ node, most: 10, used, want, forMs: HOLD_MS },
});

export function describePlaces(open: OpenHarness): void {
  describe('places for calls in flight', () => {
    const given = freshStore(open);

    test('are no more than the limit, however many connections ask at once', async () => {
      const name = unique('places');
      const second = await given.reopen();

      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, node) =>
          (node % 2 === 0 ? given.store : second).askPlaces(name, ask(`node ${node}`, 3), T0),
        ),
      );

      expect(answers.reduce((sum, { may }) => sum + may, 0)).toBe(10);
    });

    test('come back when they are given back, and from a node that is gone', async () => {
      const name = unique('places');
      await given.store.askPlaces(name, ask('a', 6), T0);
      await given.store.askPlaces(name, ask('b', 4), T0);

      await given.store.askPlaces(name, ask('a', 0), T0 + 1);
      const afterReturn = await given.store.askPlaces(name, ask('c', 10), T0 + 2);
      const afterLapse = await given.store.askPlaces(name, ask('c', 10, 6), T0 + HOLD_MS);

      expect(afterReturn.may).toBe(6);
      expect(afterLapse.may).toBe(10);
    });

    test('of one name have nothing to do with those of another', async () => {
      await given.store.askPlaces(unique('places'), ask('a', 10), T0);

      expect((await given.store.askPlaces(unique('places'), ask('b', 10), T0)).may).toBe(10);
    });

    test('are worked out as the rule of the core says, whatever is asked for', async () => {
      const asks = fc.record({
        node: fc.constantFrom('a', 'b', 'c', 'd'),
        want: fc.constantFrom(0, 1, 1, 1, 2, 10),
        used: fc.constantFrom(0, 0, 0, 1, 4),
        afterMs: fc.constantFrom(0, 0, 0, 1, 400, SHORT_MS - 1, SHORT_MS, HOLD_MS),
      });
      // Mostly fewer than nodes, so that it matters who has waited longest.
      const mosts = fc.constantFrom(1, 2, 3, 8);
      await fc.assert(
        fc.asyncProperty(mosts, fc.array(asks, { maxLength: 30 }), async (most, steps) => {
          const name = unique('places');
          let holders: readonly PlaceHolder[] = [];
          let nowMs = T0;
          for (const { afterMs, ...step } of steps) {
            nowMs += afterMs;
            const one = { ...step, most, forMs: HOLD_MS };
            const { next, answer } = askPlaces(holders, one, nowMs);
            holders = next;
            expect(await given.store.askPlaces(name, one, nowMs)).toEqual(answer);
          }
        }),
        { numRuns: 80 },
      );
    });
  });
}
