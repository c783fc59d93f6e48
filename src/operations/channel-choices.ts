import Joi from 'joi';
import { own, snakeKeys } from '../core/records.js';
import {
  listModels,
  listProviders,
  type ProviderView,
  type ServedModel,
} from '../management/channel-views.js';
import { BECAUSE, SETTING_OR_NULL } from '../shapes/channel.js';
import { ID } from '../shapes/lists.js';
import { defineOperation, inArea } from './operation.js';
import { arrayOf, extended, nullable, shape, wireOf, type Of } from '../shapes/shape.js';

const SERVING = shape({
  id: ID,
  name: Joi.string(),
  provider: Joi.string(),
  tag: nullable(Joi.string()),
  upstream_model: Joi.string(),
  priority: Joi.number(),
  weight: Joi.number(),
  live: Joi.boolean(),
  because: nullable(BECAUSE).description('Why it takes no traffic.'),
});
const MODEL = shape({
  id: Joi.string(),
  live: Joi.boolean(),
  channels: arrayOf(SERVING),
  fallbacks: arrayOf(Joi.string()).description(
    'Models that answer in its place, in this order, while no channel of its own does.',
  ),
});

const CREDENTIAL = shape({
  name: Joi.string(),
  required: Joi.boolean(),
  description: Joi.string(),
});
const PROVIDER = shape({
  id: Joi.string(),
  title: Joi.string(),
  inside: Joi.boolean().description('Whether it ranks inside the gateway.'),
  base_url: nullable(Joi.string()).description(
    'Null: a channel must name its server, unless it ranks inside.',
  ),
  credentials: arrayOf(CREDENTIAL),
  settings: arrayOf(
    extended(CREDENTIAL, {
      type: Joi.string<'string' | 'number' | 'boolean'>(),
      default: SETTING_OR_NULL,
    }),
  ),
  example_models: arrayOf(Joi.string()),
  notes: arrayOf(Joi.string()),
});

const models = defineOperation({
  id: 'listChannelModels',
  method: 'GET',
  path: '/api/channel/models',
  summary:
    'Every model that a channel serves, with its channels in the order in which they are tried',
  access: 'auditor',
  reply: arrayOf(MODEL),
  async handler({ deps }) {
    return (await listModels(deps)).map((model) =>
      modelWire(model, deps.known.fallbacksOf(model.model)),
    );
  },
});

const providers = defineOperation({
  id: 'listProviders',
  method: 'GET',
  path: '/api/channel/providers',
  summary: 'The providers, with the credentials and settings that each takes',
  access: 'auditor',
  reply: arrayOf(PROVIDER),
  handler: () => listProviders().map(providerWire),
});

function modelWire(
  { model, channels }: ServedModel,
  fallbacks: readonly string[],
): Of<typeof MODEL> {
  return {
    id: model,
    live: channels.some(({ state }) => state.live),
    channels: channels.map(({ models: served, state, ...channel }) =>
      wireOf(SERVING, {
        ...channel,
        upstreamModel: own(served, model) ?? model,
        live: state.live,
        because: state.live ? null : state.because,
      }),
    ),
    fallbacks,
  };
}

function providerWire(provider: ProviderView): Of<typeof PROVIDER> {
  const { credentials = {}, settings = {} } = provider;
  return wireOf(PROVIDER, {
    ...provider,
    credentials: Object.entries(snakeKeys(credentials)).map(([name, { required, describe }]) => ({
      name,
      required,
      description: describe,
    })),
    settings: Object.entries(snakeKeys(settings)).map(([name, spec]) => ({
      name,
      required: spec.required ?? false,
      description: spec.describe,
      type: spec.type,
      default: spec.default ?? null,
    })),
  });
}

export const CHANNEL_CHOICE_OPERATIONS = inArea('channels', [models, providers]);
