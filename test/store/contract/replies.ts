import { describe, expect, test } from '@jest/globals';
import { freshStore, T0, unique, type OpenHarness } from './harness.js';

const MINUTE = 60_000;
const MOST = 1_000;

export function describeReplies(open: OpenHarness): void {
  describe('kept rankings', () => {
    const given = freshStore(open);

    test('are found by name until their time is up, on every connection', async () => {
      const name = unique('reply');
      const text = '{"rows":[1,0.5],"warnings":["ü\\n"]}\n 7';
      await given.store.keepReply(name, text, T0, MINUTE, MOST);
      const other = await given.reopen();

      expect(await other.findReply(name, T0 + 1)).toEqual({ text, leftMs: MINUTE - 1 });
      expect(await other.findReply(name, T0 + MINUTE)).toBeUndefined();
      expect(await other.findReply(unique('reply'), T0)).toBeUndefined();
    });

    test('replace earlier ones under the same name', async () => {
      const name = unique('reply');
      await given.store.keepReply(name, 'first', T0, MINUTE, MOST);
      await given.store.keepReply(name, 'second', T0 + 10, 2 * MINUTE, MOST);

      expect(await given.store.findReply(name, T0 + MINUTE)).toEqual({
        text: 'second',
        leftMs: MINUTE + 10,
      });
    });

    test('are no more than about as many as may be kept, the latest among them', async () => {
      const names = Array.from({ length: 150 }, () => unique('reply'));
      for (const [at, name] of names.entries()) {
        await given.store.keepReply(name, name, T0 + at, MINUTE, 32);
      }

      const found = await Promise.all(names.map((name) => given.store.findReply(name, T0 + 150)));
      const kept = found.filter((reply) => reply !== undefined).length;

      expect(kept).toBeGreaterThan(0);
      expect(kept).toBeLessThanOrEqual(32);
      expect(found.at(-1)).toMatchObject({ text: names.at(-1) });
    });
  });
}
