import Joi from 'joi';
import { UNITS_PER_DOLLAR, type Price, type PriceList } from '../core/quota.js';
import { mapValues } from '../core/records.js';
import type { PriceChange } from '../management/price-changes.js';
import { mapOf } from './lists.js';
import { SECONDS } from './log.js';

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

/** When prices changed, and which, on the wire. */
export interface PriceChangeWire {
  /** Unix seconds. */
  changed_at: number;
  prices: ChangedPriceWire[];
}

interface ChangedPriceWire {
  model: string | null;
  before: PriceWire;
  after: PriceWire;
}

export const PRICE_CHANGE = Joi.object<PriceChangeWire, true>({
  changed_at: SECONDS.required().description('Unix seconds: when the first gateway had them.'),
  prices: Joi.array()
    .items(
      Joi.object<ChangedPriceWire, true>({
        model: Joi.string()
          .allow(null)
          .required()
          .description('Null: of models without a price of their own.'),
        before: PRICE.required(),
        after: PRICE.required(),
      }),
    )
    .required(),
});

export function priceChangeWire({ atMs, prices }: PriceChange): PriceChangeWire {
  return {
    changed_at: Math.floor(atMs / 1_000),
    prices: prices.map(({ model, before, after }) => ({
      ...{ model: model ?? null, before: priceWire(before), after: priceWire(after) },
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
