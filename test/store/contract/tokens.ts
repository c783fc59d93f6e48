import { describe, expect, test } from '@jest/globals';
import { freshStore, type OpenHarness } from './harness.js';

export function describeTokens(open: OpenHarness): void {
  describe('tokens', () => {
    const given = freshStore(open);

    test('answers', async () => {
      await expect(given.store.ping()).resolves.toBeUndefined();
    });
  });
}
