import { expect, it } from '@jest/globals';
import type { Price, PriceList } from '../../src/core/quota.js';
import { listPriceChanges, notePrices } from '../../src/management/price-changes.js';
import { freshManagement, NOW } from '../support/management.js';

const management = freshManagement();
const perRequest = (units: number): Price => ({ per: 'request', units });
const list = (models: PriceList['models'], units = 10): PriceList => ({
  models,
  fallback: perRequest(units),
});

it('prices changed where what a model costs is another, and not where it is only named', async () => {
  const { store } = management;
  await notePrices(store, list({ a: perRequest(1), b: perRequest(2) }), NOW);
  // The same price, by name and not by name.
  await notePrices(store, list({ a: perRequest(1), b: perRequest(2), c: perRequest(10) }), NOW + 1);
  await notePrices(store, list({ a: perRequest(3), c: perRequest(10) }), NOW + 2);
  await notePrices(store, list({ a: perRequest(3), c: perRequest(10) }), NOW + 3);
  await notePrices(store, list({ a: perRequest(3), c: perRequest(10) }, 20), NOW + 4);
  const perUnit: Price = { per: 'search_unit', units: 3 };
  await notePrices(store, list({ a: perUnit, c: perRequest(10) }, 20), NOW + 9);

  const second = {
    atMs: NOW + 2,
    prices: [
      { model: 'a', before: perRequest(1), after: perRequest(3) },
      { model: 'b', before: perRequest(2), after: perRequest(10) },
    ],
  };
  const third = {
    atMs: NOW + 4,
    prices: [{ model: undefined, before: perRequest(10), after: perRequest(20) }],
  };
  const fourth = {
    atMs: NOW + 9,
    prices: [{ model: 'a', before: perRequest(3), after: perUnit }],
  };
  expect(await listPriceChanges(store, {})).toEqual([second, third, fourth]);
  expect(await listPriceChanges(store, { fromMs: NOW + 3 })).toEqual([third, fourth]);
  expect(await listPriceChanges(store, { toMs: NOW + 3 })).toEqual([second]);
});
