import { describe, expect, test } from '@jest/globals';
import type { PriceList } from '../../../src/core/quota.js';
import { freshStore, T0, type OpenHarness } from './harness.js';

const MANY = 100;

const prices = (units: number): PriceList => ({
  models: { 'rerank ü': { per: 'request', units } },
  fallback: { per: 'search_unit', units: 1_000 },
});

export function describePrices(open: OpenHarness): void {
  describe('prices', () => {
    const given = freshStore(open);

    test('are kept when they are others than the last, in whatever order their members are', async () => {
      const { store } = given;
      const [one, two] = [prices(1), prices(2)];
      const turned = {
        fallback: { units: 1_000, per: 'search_unit' },
        models: { 'rerank ü': { units: 1, per: 'request' } },
      } as const;

      expect(await store.listPrices()).toEqual([]);
      expect(await store.keepPrices({ atMs: T0, prices: one }, MANY)).toBe(true);
      expect(await store.keepPrices({ atMs: T0 + 1, prices: turned }, MANY)).toBe(false);
      expect(await store.keepPrices({ atMs: T0 + 2, prices: two }, MANY)).toBe(true);
      expect(await store.keepPrices({ atMs: T0 + 3, prices: one }, MANY)).toBe(true);

      const again = await given.reopen();
      expect(await again.listPrices()).toEqual([
        { atMs: T0, prices: one },
        { atMs: T0 + 2, prices: two },
        { atMs: T0 + 3, prices: one },
      ]);
    });

    test('are kept once when several gateways start at the same time', async () => {
      const { store } = given;
      const kept = await Promise.all(
        [1, 1, 1].map((units) => store.keepPrices({ atMs: T0, prices: prices(units) }, MANY)),
      );

      expect(kept.filter(Boolean)).toHaveLength(1);
      expect(await store.listPrices()).toHaveLength(1);
    });

    test('lose the oldest beyond their bound', async () => {
      for (const units of [1, 2, 3, 4]) {
        await given.store.keepPrices({ atMs: T0 + units, prices: prices(units) }, 2);
      }

      const kept = await given.store.listPrices();
      expect(kept.map(({ atMs }) => atMs - T0)).toEqual([3, 4]);
    });
  });
}
