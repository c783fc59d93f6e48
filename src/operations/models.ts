import Joi from 'joi';
import { widestRoom, type Room } from '../core/eligibility.js';
import { listCallableModels, type CallableModel } from '../management/models.js';
import { listPriceChanges } from '../management/price-changes.js';
import { getToken } from '../management/tokens.js';
import { COUNT } from '../shapes/counts.js';
import { ID } from '../shapes/lists.js';
import {
  PRICE,
  PRICE_CHANGE,
  priceChangeWire,
  PRICES,
  pricesWire,
  priceWire,
} from '../shapes/price.js';
import { SPAN, spanOf } from './span.js';
import { defineOperation, inArea } from './operation.js';
import { arrayOf, nullable, partial, shape, wireOf, type Of } from '../shapes/shape.js';

const MOST = nullable(COUNT);
/** What a request may be; null: no limit is known. */
const LIMITS = shape({
  documents: MOST.description('Null also where longer lists are split.'),
  documents_with_images: MOST.description('Where one of them is an image.'),
  query_characters: MOST,
  document_characters: MOST.description('Of one document.'),
  request_characters: MOST.description('The query and all documents together.'),
  request_bytes: MOST.description('Likewise.'),
  request_tokens: MOST.description('Likewise.'),
  images: Joi.boolean().description('Whether documents may be images.'),
}).description('The most that one of its live channels takes; null: no limit is known.');

const OWN_MODEL = shape({
  id: Joi.string(),
  live: Joi.boolean().description('Whether a channel answers for it now.'),
  price: PRICE,
  aliases: arrayOf(Joi.string()).description('Other names of it.'),
  limits: LIMITS,
});

const listOwn = defineOperation({
  id: 'listOwnModels',
  method: 'GET',
  path: '/api/model',
  summary: 'The models that callers may name, with their prices',
  description:
    'A key may be limited to some of them. A model without a live channel answers 503 until it has one.',
  access: 'login',
  query: shape(
    partial({ token_id: ID.description('A key: only channels that it is bound to count.') }),
  ),
  reply: arrayOf(OWN_MODEL),
  errors: ['not_found'],
  async handler({ deps, query: { token_id: id }, actor }) {
    const { prices, aliases, channels } = deps.gateway;
    const tags = id === undefined ? [] : (await getToken(deps, id, actor)).policy.tags;
    const { plans } = channels.current;
    return (await listCallableModels(deps, prices, aliases, tags)).map((model) => {
      const live = (plans.get(model.model)?.offers ?? []).filter(({ route }) => route.live);
      return modelWire(model, widestRoom(live.map(({ room }) => room)));
    });
  },
});

const listPrices = defineOperation({
  id: 'listPrices',
  method: 'GET',
  path: '/api/price',
  summary: 'The prices in force, by model, and the default price',
  access: 'login',
  reply: PRICES,
  handler: ({ deps }) => pricesWire(deps.prices),
});

const listChanges = defineOperation({
  id: 'listPriceChanges',
  method: 'GET',
  path: '/api/price/change',
  summary: 'When prices changed, and which',
  description:
    'Oldest first. Prices are settings: a change is known from the first start of a gateway that has it.',
  access: 'login',
  query: shape(SPAN),
  reply: arrayOf(PRICE_CHANGE),
  handler: async ({ deps, query }) =>
    (await listPriceChanges(deps.store, spanOf(query))).map(priceChangeWire),
});

function modelWire(
  { model, price, ...callable }: CallableModel,
  room: Partial<Room>,
): Of<typeof OWN_MODEL> {
  return wireOf(OWN_MODEL, {
    ...callable,
    id: model,
    price: priceWire(price),
    limits: wireOf(LIMITS, { ...room, images: room.images ?? false }),
  });
}

export const MODEL_OPERATIONS = inArea('models', [listOwn, listPrices, listChanges]);
