import { describe, expect, test } from '@jest/globals';
import { freshStore, T0, unique, type OpenHarness } from './harness.js';

const MINUTE = 60_000;

export function describeDuties(open: OpenHarness): void {
  describe('duties', () => {
    const given = freshStore(open);

    test('gives a duty to one of many callers, and to the next when it was not ended in time', async () => {
      const name = unique('duty');

      const taken = await Promise.all(
        Array.from({ length: 20 }, () => given.store.takeDuty(name, T0, MINUTE)),
      );

      expect(taken.filter(({ isMine }) => isMine)).toEqual([
        { isMine: true, dueAtMs: T0 + MINUTE, note: '' },
      ]);
      expect(await given.store.takeDuty(name, T0 + MINUTE - 1, MINUTE)).toEqual({
        isMine: false,
        dueAtMs: T0 + MINUTE,
        note: '',
      });
      expect(await given.store.takeDuty(name, T0 + MINUTE, MINUTE)).toMatchObject({ isMine: true });
    });

    test('keeps the note of whoever ended it, and when it is due again, across connections', async () => {
      const name = unique('duty');
      await given.store.takeDuty(name, T0, MINUTE);

      await given.store.endDuty(name, 'all well ü', T0 + 5, 2 * MINUTE);

      const again = await given.reopen();
      const ended = { dueAtMs: T0 + 5 + 2 * MINUTE, note: 'all well ü' };
      expect(await again.readDuty(name)).toEqual(ended);
      expect(await again.takeDuty(name, ended.dueAtMs - 1, MINUTE)).toMatchObject({
        isMine: false,
        ...ended,
      });
      for (const dueAtMs of [ended.dueAtMs, ended.dueAtMs + MINUTE]) {
        expect(await again.takeDuty(name, dueAtMs, MINUTE)).toMatchObject({
          isMine: true,
          note: 'all well ü',
        });
      }
    });

    test('makes a dropped duty due now, its note forgotten', async () => {
      const name = unique('duty');
      await given.store.endDuty(name, 'failed twice', T0, MINUTE);

      await given.store.dropDuty(name);

      expect(await given.store.readDuty(name)).toBeUndefined();
      expect(await given.store.takeDuty(name, T0, MINUTE)).toMatchObject({
        isMine: true,
        note: '',
      });
    });
  });
}
