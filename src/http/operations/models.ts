import Joi from 'joi';
import { UNITS_PER_DOLLAR, type Price } from '../../core/quota.js';
import { mapValues } from '../../core/records.js';
import { listCallableModels, type CallableModel } from '../../management/models.js';
import { mapOf } from '../../wire/lists.js';
import { defineOperation, type Operation } from '../operation.js';

interface PriceWire {
  per: Price['per'];
  units: number;
}

interface PricesWire {
  units_per_usd: number;
  default: PriceWire;
  models: Record<string, PriceWire>;
}

interface OwnModelWire {
  id: string;
  live: boolean;
  price: PriceWire;
  aliases: string[];
}

const PRICE = Joi.object<PriceWire, true>({
  per: Joi.string<Price['per']>()
    .valid('request', 'search_unit', 'million_tokens')
    .required()
    .description('A search unit is one query with up to 100 documents.'),
  units: Joi.number().min(0).required().description('Of quota.'),
});

const listOwn = defineOperation({
  id: 'listOwnModels',
  method: 'GET',
  path: '/api/model',
  area: 'models',
  summary: 'The models that callers may name, with their prices',
  description:
    'A key may be limited to some of them. A model without a live channel answers 503 until it has one.',
  access: 'login',
  reply: Joi.array<OwnModelWire[]>()
    .items(
      Joi.object<OwnModelWire, true>({
        id: Joi.string().required(),
        live: Joi.boolean().required().description('Whether a channel answers for it now.'),
        price: PRICE.required(),
        aliases: Joi.array().items(Joi.string()).required().description('Other names of it.'),
      }),
    )
    .required(),
  async handler({ deps }) {
    const { prices, aliases } = deps.gateway;
    return (await listCallableModels(deps, prices, aliases)).map(modelWire);
  },
});

const listPrices = defineOperation({
  id: 'listPrices',
  method: 'GET',
  path: '/api/price',
  area: 'models',
  summary: 'The prices in force, by model, and the default price',
  access: 'login',
  reply: Joi.object<PricesWire, true>({
    units_per_usd: Joi.number().integer().min(1).required(),
    default: PRICE.required().description('Of a model that is not named.'),
    models: mapOf<PriceWire>(PRICE).required(),
  }),
  handler({ deps }) {
    const { models, fallback } = deps.gateway.prices;
    return {
      units_per_usd: UNITS_PER_DOLLAR,
      default: priceWire(fallback),
      models: mapValues(models, priceWire),
    };
  },
});

function priceWire({ per, units }: Price): PriceWire {
  return { per, units };
}

function modelWire({ model, live, price, aliases }: CallableModel): OwnModelWire {
  return { id: model, live, price: priceWire(price), aliases: [...aliases] };
}

export const MODEL_OPERATIONS: readonly Operation[] = [listOwn, listPrices];
