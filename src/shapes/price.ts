import Joi from 'joi';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import type { Price, PriceList } from '../core/quota.js';
import { mapValues } from '../core/records.js';
import type { PriceChange } from '../management/price-changes.js';
import { SECONDS } from './log.js';
import { secondsOf } from './seconds.js';
import { arrayOf, choice, mapOf, nullable, shape, type Of } from './shape.js';

/** What a model costs, on the wire. */
export const PRICE = shape({
  per: choice('request', 'search_unit', 'million_tokens').description(
    'A search unit is one query with up to 100 documents.',
  ),
  units: Joi.number().min(0).description('Of quota.'),
});
export type PriceWire = Of<typeof PRICE>;

/** All prices in force, on the wire. */
export const PRICES = shape({
  units_per_usd: Joi.number().integer().min(1),
  default: PRICE.description('Of a model that is not named.'),
  models: mapOf(PRICE),
});
export type PricesWire = Of<typeof PRICES>;

/** When prices changed, and which, on the wire. */
export const PRICE_CHANGE = shape({
  changed_at: SECONDS.description('Unix seconds: when the first gateway had them.'),
  prices: arrayOf(
    shape({
      model: nullable(Joi.string()).description('Null: of models without a price of their own.'),
      before: PRICE,
      after: PRICE,
    }),
  ),
});
export type PriceChangeWire = Of<typeof PRICE_CHANGE>;

export function priceChangeWire({ atMs, prices }: PriceChange): PriceChangeWire {
  return {
    changed_at: secondsOf(atMs),
    prices: prices.map(({ model, before, after }) => ({
      model: model ?? null,
      before: priceWire(before),
      after: priceWire(after),
    })),
  };
}

export function priceWire({ per, units }: Price): PriceWire {
  return { per, units };
}

export function pricesWire({ models, fallback }: PriceList): PricesWire {
  return {
    units_per_usd: UNITS_PER_DOLLAR,
    default: priceWire(fallback),
    models: mapValues(models, priceWire),
  };
}
