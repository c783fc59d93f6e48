import Joi from 'joi';
import { listCallableModels, type CallableModel } from '../../management/models.js';
import { PRICE, PRICES, pricesWire, priceWire, type PriceWire } from '../../wire/price.js';
import { defineOperation, type Operation } from '../operation.js';

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

function modelWire({ model, live, price, aliases }: CallableModel): OwnModelWire {
  return { id: model, live, price: priceWire(price), aliases: [...aliases] };
}

export const MODEL_OPERATIONS: readonly Operation[] = [listOwn, listPrices];
