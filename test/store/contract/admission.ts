import { describe, expect, test } from '@jest/globals';
import { freshStore, type OpenHarness } from './harness.js';

export function describeAdmission(open: OpenHarness): void {
  describe('admission', () => {
    const given = freshStore(open);

    test('answers', async () => {
      await expect(given.store.ping()).resolves.toBeUndefined();
    });
  });
}
