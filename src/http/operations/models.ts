import Joi from 'joi';
import type { Price } from '../../core/quota.js';
import { listCallableModels, type CallableModel } from '../../management/models.js';
import { defineOperation, type Operation } from '../operation.js';

interface OwnModelWire {
  id: string;
  live: boolean;
  price: { per: Price['per']; units: number };
  aliases: string[];
}

const listOwn = defineOperation({
  id: 'listOwnModels',
  method: 'GET',
  path: '/api/model',
  area: 'models',
  summary: 'The models that callers may name, with what each costs',
  description:
    'A key may be held to some of them. One that is not live answers 503 until a channel of it is.',
  access: 'login',
  reply: Joi.array<OwnModelWire[]>()
    .items(
      Joi.object<OwnModelWire, true>({
        id: Joi.string().required(),
        live: Joi.boolean().required().description('Whether a channel answers for it now.'),
        price: Joi.object<OwnModelWire['price'], true>({
          per: Joi.string<Price['per']>()
            .valid('request', 'search_unit', 'million_tokens')
            .required()
            .description('A search unit is one query with up to 100 documents.'),
          units: Joi.number().min(0).required().description('Of quota.'),
        }).required(),
        aliases: Joi.array().items(Joi.string()).required().description('Other names of it.'),
      }),
    )
    .required(),
  async handler({ deps }) {
    const { prices, aliases } = deps.gateway;
    return (await listCallableModels(deps, prices, aliases)).map(modelWire);
  },
});

function modelWire({ model, live, price, aliases }: CallableModel): OwnModelWire {
  const { per, units } = price;
  return { id: model, live, price: { per, units }, aliases: [...aliases] };
}

export const MODEL_OPERATIONS: readonly Operation[] = [listOwn];
