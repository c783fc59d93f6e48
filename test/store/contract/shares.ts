import { describe, expect, test } from '@jest/globals';
import { NO_SHARES, takeShare, type ShareAnswer, type ShareAsk } from '../../../src/core/share.js';
import { fc } from '../../support/property.js';
import { freshStore, T0, unique, type OpenHarness } from './harness.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

const perMinute = (most: number, want = 1, least = 1): ShareAsk => ({
  ...{ most, want, least },
  span: { kind: 'sliding', ms: MINUTE },
});
const until = (most: number, want: number, atMs: number): ShareAsk => ({
  ...{ most, want, least: 1 },
  span: { kind: 'until', atMs },
});

export function describeShares(open: OpenHarness): void {
  describe('shares of a limit', () => {
    const given = freshStore(open);

    test('grant what is wanted, then what is left, then nothing until there is room', async () => {
      const name = unique('share');
      const ask = perMinute(100, 60, 30);

      const answers = [
        await given.store.takeShare(name, ask, T0),
        await given.store.takeShare(name, ask, T0 + 1_000),
        await given.store.takeShare(name, ask, T0 + 2_000),
      ];

      expect(answers).toEqual([
        { kind: 'granted', units: 60, forMs: MINUTE },
        { kind: 'granted', units: 40, forMs: MINUTE - 1_000 },
        { kind: 'refused', retryAfterMs: MINUTE - 2_000 },
      ]);
    });

    test('of a minute do not come twice around its end', async () => {
      const name = unique('share');
      await given.store.takeShare(name, perMinute(60, 60), T0 + MINUTE - 1);

      const early = await given.store.takeShare(name, perMinute(60, 60), T0 + MINUTE);
      const half = await given.store.takeShare(name, perMinute(60, 60), T0 + 1.5 * MINUTE);

      expect(early).toEqual({ kind: 'refused', retryAfterMs: 1_000 });
      expect(half).toMatchObject({ kind: 'granted', units: 30 });
    });

    test('are no more than the limit, however many connections ask at once', async () => {
      const name = unique('share');
      const second = await given.reopen();

      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 === 0 ? given.store : second).takeShare(name, perMinute(100, 7), T0),
        ),
      );

      expect(answers.reduce((sum, answer) => sum + unitsOf(answer), 0)).toBe(100);
    });

    test('of a budget last until it renews, and count again when they are given back', async () => {
      const name = unique('share');
      const end = T0 + 30 * DAY;
      await given.store.takeShare(name, until(100, 100, end), T0);
      expect(await given.store.takeShare(name, until(100, 10, end), end - 1)).toEqual({
        kind: 'refused',
        retryAfterMs: 1,
      });

      await given.store.returnShare(name, 40, T0 + DAY);
      const returned = await given.store.takeShare(name, until(100, 100, end), T0 + DAY);
      const renewed = await given.store.takeShare(name, until(100, 100, end + DAY), end);
      await given.store.returnShare(name, 40, end + DAY);

      expect(returned).toEqual({ kind: 'granted', units: 40, forMs: 29 * DAY });
      expect(renewed).toEqual({ kind: 'granted', units: 100, forMs: DAY });
    });

    test('are refused to a node that is behind the clock, until it has caught up', async () => {
      const name = unique('share');

      const answer = await given.store.takeShare(name, until(100, 10, T0), T0 + 5);

      expect(answer.kind).toBe('refused');
    });

    test('never come back in greater number than they were taken', async () => {
      const name = unique('share');
      const end = T0 + DAY;
      await given.store.takeShare(name, until(100, 10, end), T0);

      await given.store.returnShare(name, 40, T0);

      expect(await given.store.takeShare(name, until(100, 500, end), T0)).toEqual({
        kind: 'granted',
        units: 100,
        forMs: DAY,
      });
    });

    test('are worked out as the rule of the core says, even if the clock of the store goes back', async () => {
      const asks = fc.record({
        afterMs: fc.oneof(
          fc.integer({ min: 0, max: 50_000 }),
          fc.constantFrom(0, 1, MINUTE - 1, MINUTE, 2 * MINUTE, -1, -MINUTE, -2.5 * MINUTE),
        ),
        most: fc.constantFrom(6, 6, 5, 50),
        want: fc.integer({ min: 1, max: 7 }),
        least: fc.integer({ min: 1, max: 5 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(asks, { maxLength: 16 }), async (slides, steps) => {
          const name = unique('share');
          let state = NO_SHARES;
          let nowMs = T0;
          for (const { afterMs, most, want, least } of steps) {
            nowMs += afterMs;
            const atMs = (Math.floor(nowMs / MINUTE) + 1) * MINUTE;
            const span: ShareAsk['span'] = slides
              ? { kind: 'sliding', ms: MINUTE }
              : { kind: 'until', atMs };
            const ask = { most, want, least, span };
            const { next, answer } = takeShare(state, ask, nowMs);
            state = next;
            expect(await given.store.takeShare(name, ask, nowMs)).toEqual(answer);
          }
        }),
        { numRuns: 80 },
      );
    });
  });
}

function unitsOf(answer: ShareAnswer): number {
  return answer.kind === 'granted' ? answer.units : 0;
}
