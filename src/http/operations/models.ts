import Joi from 'joi';
import { listCallableModels, type CallableModel } from '../../management/models.js';
import { listPriceChanges } from '../../management/price-changes.js';
import { SECONDS } from '../../wire/log.js';
import {
  PRICE,
  PRICE_CHANGE,
  priceChangeWire,
  PRICES,
  pricesWire,
  priceWire,
  type PriceChangeWire,
  type PriceWire,
} from '../../wire/price.js';
import { defineOperation, type Operation } from '../operation.js';

interface PriceChangesQuery {
  start_timestamp?: number;
  end_timestamp?: number;
}

interface OwnModelWire {
  id: string;
  live: boolean;
  price: PriceWire;
  aliases: string[];
}

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
  reply: PRICES,
  handler: ({ deps }) => pricesWire(deps.gateway.prices),
});

const listChanges = defineOperation({
  id: 'listPriceChanges',
  method: 'GET',
  path: '/api/price/change',
  area: 'models',
  summary: 'When prices changed, and which',
  description:
    'Oldest first. Prices are settings: a change is known from the first start of a gateway that has it.',
  access: 'login',
  query: Joi.object<PriceChangesQuery, true>({
    start_timestamp: SECONDS.description('Unix seconds.'),
    end_timestamp: SECONDS.description('Unix seconds, that second included.'),
  }),
  reply: Joi.array<PriceChangeWire[]>().items(PRICE_CHANGE).required(),
  async handler({ deps, query: { start_timestamp: start, end_timestamp: end } }) {
    const changes = await listPriceChanges(deps.store, {
      ...(start === undefined ? {} : { fromMs: start * 1_000 }),
      ...(end === undefined ? {} : { toMs: end * 1_000 + 999 }),
    });
    return changes.map(priceChangeWire);
  },
});

function modelWire({ model, live, price, aliases }: CallableModel): OwnModelWire {
  return { id: model, live, price: priceWire(price), aliases: [...aliases] };
}

export const MODEL_OPERATIONS: readonly Operation[] = [listOwn, listPrices, listChanges];
