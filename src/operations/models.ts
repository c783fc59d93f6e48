import Joi from 'joi';
import { widestRoom, type Room } from '../core/eligibility.js';
import { listCallableModels, type CallableModel } from '../management/models.js';
import { listPriceChanges } from '../management/price-changes.js';
import { COUNT } from '../shapes/counts.js';
import { SECONDS } from '../shapes/log.js';
import {
  PRICE,
  PRICE_CHANGE,
  priceChangeWire,
  PRICES,
  pricesWire,
  priceWire,
  type PriceChangeWire,
  type PriceWire,
} from '../shapes/price.js';
import { defineOperation } from './operation.js';

interface PriceChangesQuery {
  start_timestamp?: number;
  end_timestamp?: number;
}

interface OwnModelWire {
  id: string;
  live: boolean;
  price: PriceWire;
  aliases: string[];
  limits: LimitsWire;
}

/** What a request may be; null: no limit is known. */
interface LimitsWire {
  documents: number | null;
  documents_with_images: number | null;
  query_characters: number | null;
  document_characters: number | null;
  request_characters: number | null;
  request_bytes: number | null;
  request_tokens: number | null;
  images: boolean;
}

const MOST = COUNT.allow(null).required();
const LIMITS = Joi.object<LimitsWire, true>({
  documents: MOST.description('Null also where longer lists are split.'),
  documents_with_images: MOST.description('Where one of them is an image.'),
  query_characters: MOST,
  document_characters: MOST.description('Of one document.'),
  request_characters: MOST.description('The query and all documents together.'),
  request_bytes: MOST.description('Likewise.'),
  request_tokens: MOST.description('Likewise.'),
  images: Joi.boolean().required().description('Whether documents may be images.'),
})
  .required()
  .description('The most that one of its live channels takes; null: no limit is known.');

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
        limits: LIMITS,
      }),
    )
    .required(),
  async handler({ deps }) {
    const { prices, aliases, channels } = deps.gateway;
    const { plans } = channels.current;
    return (await listCallableModels(deps, prices, aliases)).map((model) => {
      const live = (plans.get(model.model)?.offers ?? []).filter(({ route }) => route.live);
      return modelWire(model, widestRoom(live.map(({ room }) => room)));
    });
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
  handler: ({ deps }) => pricesWire(deps.prices),
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

function modelWire(
  { model, live, price, aliases }: CallableModel,
  room: Partial<Room>,
): OwnModelWire {
  const limits = limitsWire(room);
  return { id: model, live, price: priceWire(price), aliases: [...aliases], limits };
}

function limitsWire(room: Partial<Room>): LimitsWire {
  return {
    documents: room.documents ?? null,
    documents_with_images: room.documentsWithImages ?? null,
    query_characters: room.queryCharacters ?? null,
    document_characters: room.documentCharacters ?? null,
    request_characters: room.requestCharacters ?? null,
    request_bytes: room.requestBytes ?? null,
    request_tokens: room.requestTokens ?? null,
    images: room.images ?? false,
  };
}

export const MODEL_OPERATIONS = [listOwn, listPrices, listChanges] as const;
