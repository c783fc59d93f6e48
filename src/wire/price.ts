import Joi from 'joi';
import type { Json } from '../core/json/json.js';
import { UNITS_PER_DOLLAR, type Price, type PriceList } from '../core/quota.js';
import { mapValues } from '../core/records.js';
import { mapOf } from './lists.js';

/** What a model costs, on the wire. */
export interface PriceWire {
  per: Price['per'];
  units: number;
}

/** All prices in force, on the wire. */
export interface PricesWire {
  units_per_usd: number;
  default: PriceWire;
  models: Record<string, PriceWire>;
}

export const PRICE = Joi.object<PriceWire, true>({
  per: Joi.string<Price['per']>()
    .valid('request', 'search_unit', 'million_tokens')
    .required()
    .description('A search unit is one query with up to 100 documents.'),
  units: Joi.number().min(0).required().description('Of quota.'),
});

export const PRICES = Joi.object<PricesWire, true>({
  units_per_usd: Joi.number().integer().min(1).required(),
  default: PRICE.required().description('Of a model that is not named.'),
  models: mapOf<PriceWire>(PRICE).required(),
});

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

export function readPrices(prices: Json): PricesWire {
  const models = prices.field('models');
  const names = Object.keys(models.value as object);
  return {
    units_per_usd: prices.field('units_per_usd').number(),
    default: readPrice(prices.field('default')),
    models: Object.fromEntries(names.map((name) => [name, readPrice(models.field(name))])),
  };
}

function readPrice(price: Json): PriceWire {
  // The API returns one of these.
  return { per: price.field('per').string() as Price['per'], units: price.field('units').number() };
}
