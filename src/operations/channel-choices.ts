import Joi from 'joi';
import { own, snakeKeys } from '../core/records.js';
import {
  listModels,
  listProviders,
  type Because,
  type ProviderView,
  type ServedModel,
} from '../management/channel-views.js';
import { BECAUSE, SETTING_OR_NULL, type SettingValue } from '../shapes/channel.js';
import { ID } from '../shapes/lists.js';
import { defineOperation } from './operation.js';

interface ModelWire {
  id: string;
  /** Whether any of its channels takes traffic. */
  live: boolean;
  /** In the order in which they are tried. */
  channels: {
    id: number;
    name: string;
    provider: string;
    tag: string | null;
    upstream_model: string;
    priority: number;
    weight: number;
    live: boolean;
    because: Because | null;
  }[];
  fallbacks: string[];
}

interface CredentialWire {
  name: string;
  required: boolean;
  description: string;
}

interface SettingWire extends CredentialWire {
  type: 'string' | 'number' | 'boolean';
  default: SettingValue | null;
}

interface ProviderWire {
  id: string;
  title: string;
  inside: boolean;
  base_url: string | null;
  credentials: CredentialWire[];
  settings: SettingWire[];
  example_models: string[];
  notes: string[];
}

const models = defineOperation({
  id: 'listChannelModels',
  method: 'GET',
  path: '/api/channel/models',
  area: 'channels',
  summary:
    'Every model that a channel serves, with its channels in the order in which they are tried',
  access: 'auditor',
  reply: Joi.array<ModelWire[]>()
    .items(
      Joi.object<ModelWire, true>({
        id: Joi.string().required(),
        live: Joi.boolean().required(),
        channels: Joi.array()
          .items(
            Joi.object<ModelWire['channels'][number], true>({
              id: ID.required(),
              name: Joi.string().required(),
              provider: Joi.string().required(),
              tag: Joi.string().allow(null).required(),
              upstream_model: Joi.string().required(),
              priority: Joi.number().required(),
              weight: Joi.number().required(),
              live: Joi.boolean().required(),
              because: BECAUSE.allow(null).required().description('Why it takes no traffic.'),
            }),
          )
          .required(),
        fallbacks: Joi.array()
          .items(Joi.string())
          .required()
          .description(
            'Models that answer in its place, in this order, while no channel of its own does.',
          ),
      }),
    )
    .required(),
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
  area: 'channels',
  summary: 'The providers, with the credentials and settings that each takes',
  access: 'auditor',
  reply: Joi.array<ProviderWire[]>()
    .items(
      Joi.object<ProviderWire, true>({
        id: Joi.string().required(),
        title: Joi.string().required(),
        inside: Joi.boolean().required().description('Whether it ranks inside the gateway.'),
        base_url: Joi.string()
          .allow(null)
          .required()
          .description('Null: a channel must name its server, unless it ranks inside.'),
        credentials: Joi.array()
          .items(
            Joi.object<CredentialWire, true>({
              name: Joi.string().required(),
              required: Joi.boolean().required(),
              description: Joi.string().required(),
            }),
          )
          .required(),
        settings: Joi.array()
          .items(
            Joi.object<SettingWire, true>({
              name: Joi.string().required(),
              required: Joi.boolean().required(),
              description: Joi.string().required(),
              type: Joi.string<SettingWire['type']>().required(),
              default: SETTING_OR_NULL.required(),
            }),
          )
          .required(),
        example_models: Joi.array().items(Joi.string()).required(),
        notes: Joi.array().items(Joi.string()).required(),
      }),
    )
    .required(),
  handler: () => listProviders().map(providerWire),
});

function modelWire({ model, channels }: ServedModel, fallbacks: readonly string[]): ModelWire {
  return {
    id: model,
    live: channels.some(({ state }) => state.live),
    channels: channels.map(({ id, name, provider, tag, models, priority, weight, state }) => ({
      ...{ id, name, provider, priority, weight },
      tag: tag ?? null,
      upstream_model: own(models, model) ?? model,
      live: state.live,
      because: state.live ? null : state.because,
    })),
    fallbacks: [...fallbacks],
  };
}

function providerWire(provider: ProviderView): ProviderWire {
  const { credentials = {}, settings = {} } = provider;
  return {
    id: provider.id,
    title: provider.title,
    inside: provider.inside,
    base_url: provider.baseUrl ?? null,
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
    example_models: [...provider.exampleModels],
    notes: [...provider.notes],
  };
}

export const CHANNEL_CHOICE_OPERATIONS = [models, providers] as const;
