import { describe, expect, test } from '@jest/globals';
import { freshStore, unique, type OpenHarness } from './harness.js';

export function describeSecrets(open: OpenHarness): void {
  describe('secrets that gateways share', () => {
    const given = freshStore(open);

    test('are those of whoever was first, by name, and stay', async () => {
      const { store } = given;
      const [name, other] = [unique('secret'), unique('secret')];
      const kept = await Promise.all(
        ['one', 'two', 'three'].map((value) => store.keepSecret(name, value)),
      );

      expect(new Set(kept).size).toBe(1);
      expect(await store.keepSecret(other, 'four')).toBe('four');
      const again = await given.reopen();
      expect(await again.keepSecret(name, 'five')).toBe(kept[0]);
    });
  });
}
