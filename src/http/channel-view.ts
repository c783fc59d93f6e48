import Joi from 'joi';
import type { Channel, ChannelStatus } from '../core/channel.js';
import type { ChannelState, ChannelView } from '../management/channels.js';
import { ID, mapOf } from './lists.js';

type SettingValue = string | number | boolean;

/** A channel on the wire: everything but its credentials. */
export interface ChannelWire {
  id: number;
  name: string;
  provider: string;
  base_url: string | null;
  credential_names: string[];
  settings: Record<string, SettingValue>;
  models: Record<string, string>;
  tag: string | null;
  priority: number;
  weight: number;
  timeout_ms: number | null;
  max_concurrency: number;
  scores: Channel['scores'];
  /** Its own: 1 enabled, 2 disabled, 3 disabled by the gateway. */
  status: ChannelStatus;
  effective: EffectiveWire;
  origin: Channel['origin'];
}

/** Whether a channel takes traffic, all told; apart from what can be sent back to change it. */
export interface EffectiveWire {
  live: boolean;
  because: Extract<ChannelState, { live: false }>['because'] | null;
  reason: string | null;
}

export const CHANNEL_STATUS = Joi.number<ChannelStatus>()
  .valid(1, 2, 3)
  .description('1 enabled, 2 disabled, 3 disabled by the gateway');
export const SCORES = Joi.string<Channel['scores']>()
  .valid('raw', 'normalized')
  .description('Whether logits become probabilities.');
const SETTING = Joi.alternatives<SettingValue>().try(
  Joi.string().allow(''),
  Joi.number(),
  Joi.boolean(),
);

const EFFECTIVE = Joi.object<EffectiveWire, true>({
  live: Joi.boolean().required().description('Whether it takes traffic.'),
  because: Joi.string<EffectiveWire['because'] & string>()
    .valid('disabled', 'auto_disabled', 'tag_disabled', 'credentials_locked', 'unusable')
    .allow(null)
    .required()
    .description('Why it takes none.'),
  reason: Joi.string()
    .allow(null)
    .required()
    .description('The same in words, where there are any.'),
});

export const CHANNEL_MEMBERS = {
  id: ID.required(),
  name: Joi.string().required(),
  provider: Joi.string().required(),
  base_url: Joi.string().allow(null).required().description('Null: the provider’s own.'),
  credential_names: Joi.array().items(Joi.string()).required(),
  settings: mapOf<SettingValue>(SETTING).required(),
  models: mapOf<string>(Joi.string())
    .required()
    .description('The callers’ names, each with the upstream’s.'),
  tag: Joi.string().allow(null).required(),
  priority: Joi.number().integer().required(),
  weight: Joi.number().min(0).required(),
  timeout_ms: Joi.number().integer().min(1).allow(null).required(),
  max_concurrency: Joi.number().integer().min(0).required(),
  scores: SCORES.required(),
  status: CHANNEL_STATUS.required(),
  effective: EFFECTIVE.required(),
  origin: Joi.string<Channel['origin']>()
    .valid('config', 'store')
    .required()
    .description('Channels of the configuration are changed there, but for their status.'),
};

export const CHANNEL = Joi.object<ChannelWire, true>(CHANNEL_MEMBERS);

export function channelWire(channel: ChannelView): ChannelWire {
  const { state } = channel;
  return {
    id: channel.id,
    name: channel.name,
    provider: channel.provider,
    base_url: channel.baseUrl ?? null,
    credential_names: channel.credentialNames.map(snakeCase),
    // Settings are checked when they are written.
    settings: snakeKeys(channel.settings as Record<string, SettingValue>),
    models: channel.models,
    tag: channel.tag ?? null,
    priority: channel.priority,
    weight: channel.weight,
    timeout_ms: channel.timeoutMs ?? null,
    max_concurrency: channel.maxConcurrency,
    scores: channel.scores,
    status: channel.status,
    effective: {
      live: state.live,
      because: state.live ? null : state.because,
      reason: reasonOf(state),
    },
    origin: channel.origin,
  };
}

/** The members of an object under names as the wire has them. */
export function snakeKeys<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [snakeCase(name), value]),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function reasonOf(state: ChannelState): string | null {
  if (state.live) return null;
  if (state.because === 'credentials_locked') {
    return 'Its credentials cannot be read: set ENCRYPTION_KEY to the key that they were stored under, or enter them again.';
  }
  return ('reason' in state ? state.reason : undefined) ?? null;
}
