import Joi from 'joi';
import { joinApiKeys, MAX_API_KEYS } from '../core/api-keys.js';
import { CHANNEL_MEMBERS, SHARED_CHANNEL_MEMBERS } from '../core/channel-members.js';
import type { Channel, ChannelStatus } from '../core/channel.js';
import { mapValues, snakeCase, snakeKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import type { ChannelEdit, SharedEdit } from '../management/channel-edits.js';
import type { ChannelOrder, ChannelState, ChannelView } from '../management/channel-views.js';
import type { ChannelPause } from '../management/channel-sightings.js';
import { channelRevision } from '../management/revision.js';
import { ID, mapOf, REVISION } from './lists.js';
import {
  bodyMembers,
  membersWire,
  readMembers,
  replyMembers,
  type MembersWire,
} from './members.js';
import { secondsOf } from './seconds.js';

export type SettingValue = string | number | boolean;

/** A channel on the wire: everything but its credentials. */
export interface ChannelWire extends MembersWire<typeof CHANNEL_MEMBERS> {
  id: number;
  name: string;
  provider: string;
  base_url: string | null;
  credential_names: string[];
  /** The number of its API keys; null if the configuration keeps them. */
  key_count: number | null;
  settings: Record<string, SettingValue>;
  models: Record<string, string>;
  tag: string | null;
  /** The channel's own status: 1 enabled, 2 disabled, 3 disabled by the gateway. */
  status: ChannelStatus;
  effective: EffectiveWire;
  origin: Channel['origin'];
  revision: string;
}

/** Whether a channel takes traffic, all things considered; kept apart from what can be sent back to change it. */
export interface EffectiveWire {
  live: boolean;
  because: Extract<ChannelState, { live: false }>['because'] | null;
  reason: string | null;
  /** Unix seconds, like `next_try`; for a channel that was disabled automatically. */
  since: number | null;
  next_try: number | null;
  /** Gateways that leave it alone for a while. */
  paused: PauseWire[];
}

export interface PauseWire {
  node: string;
  /** The end of a key, if only one of several keys rests. */
  key: string | null;
  state: ChannelPause['state'];
  reason: string;
  since: number;
  until: number;
}

/** Models as an object from the callers' names to the upstream's, or names alone: an array, or separated by commas. */
export type Models = Readonly<Record<string, string>> | readonly string[] | string;

/** What can be set on one channel, and on many at once. */
export interface SharedBody extends Partial<MembersWire<typeof SHARED_CHANNEL_MEMBERS>> {
  models?: Models;
}

/** What can be set on a channel. */
export interface ChannelBody extends SharedBody, Partial<MembersWire<typeof CHANNEL_MEMBERS>> {
  name?: string;
  provider?: string;
  base_url?: string | null;
  api_key?: string;
  api_keys?: string[];
  credentials?: Record<string, string | null>;
  settings?: Record<string, SettingValue | null>;
  tag?: string | null;
  status?: ChannelStatus;
}

const NAME = Joi.string().max(1_024);
const SETTING_KINDS = [Joi.string().allow('').max(65_536), Joi.number(), Joi.boolean()];
export const SETTING = Joi.alternatives<SettingValue>().try(...SETTING_KINDS);
// Not `SETTING.allow(null)`: in the OpenAPI document, null would replace the kinds.
export const SETTING_OR_NULL = Joi.alternatives<SettingValue | null>().try(
  ...SETTING_KINDS,
  Joi.any().valid(null),
);
/** Private keys and service accounts are whole files. */
export const SECRET = Joi.string().max(65_536);
export const TAG = NAME.allow(null, '').description('Null or an empty string: none.');
const CHANNEL_STATUS = Joi.number<ChannelStatus>()
  .valid(1, 2, 3)
  .description('1 enabled, 2 disabled, 3 disabled by the gateway');
export const MODELS = Joi.alternatives<Models>()
  .try(mapOf<string>(NAME), Joi.array().items(NAME).max(10_000), Joi.string().max(100_000))
  .description(
    'The callers’ names, each with the upstream’s; or just names, as a list or with commas.',
  );

/** The members of `SharedBody` for the schema of a body. */
export const SHARED_BODY = { models: MODELS, ...bodyMembers(SHARED_CHANNEL_MEMBERS) };

export const API_KEY = SECRET.empty('').description('The same as credentials.api_key.');

export const API_KEYS = Joi.array()
  .items(SECRET)
  .min(1)
  .max(MAX_API_KEYS)
  .description('Several keys of one account or of many, which take turns; in place of api_key.');

/** The members of `ChannelBody` for the schema of a body. */
export const CHANNEL_BODY = {
  name: NAME,
  provider: NAME,
  base_url: Joi.string()
    .max(4_096)
    .allow(null, '')
    .description('Null or an empty string: the provider’s own.'),
  api_key: API_KEY,
  api_keys: API_KEYS,
  credentials: mapOf<string | null>(SECRET.allow(null)),
  settings: mapOf<SettingValue | null>(SETTING_OR_NULL),
  tag: TAG,
  status: CHANNEL_STATUS,
  models: MODELS,
  ...bodyMembers(CHANNEL_MEMBERS),
};

export const ORIGIN = Joi.string<Channel['origin']>().valid('config', 'store');

/** What channels can be ordered by. */
export const CHANNEL_SORTS: Readonly<Record<ChannelOrder, ChannelOrder>> = {
  ...{ id: 'id', name: 'name', provider: 'provider', tag: 'tag', status: 'status' },
  ...{ priority: 'priority', weight: 'weight', tried: 'tried' },
};

/** Why a channel may take no traffic. */
export const REASONS: readonly (EffectiveWire['because'] & string)[] = [
  ...(['disabled', 'auto_disabled', 'tag_disabled', 'credentials_locked', 'unusable'] as const),
];
export const BECAUSE = Joi.string<EffectiveWire['because'] & string>().valid(...REASONS);

const TIME = Joi.number().integer().allow(null).required();

const EFFECTIVE = Joi.object<EffectiveWire, true>({
  live: Joi.boolean().required().description('Whether it takes traffic.'),
  because: BECAUSE.allow(null).required().description('Why it takes none.'),
  reason: Joi.string().allow(null).required().description('The same in words, where available.'),
  since: TIME.description('When it was disabled automatically, in unix seconds.'),
  next_try: TIME.description('When it is tried again after that, in unix seconds.'),
  paused: Joi.array()
    .items(
      Joi.object<PauseWire, true>({
        node: Joi.string().required(),
        key: Joi.string()
          .allow(null)
          .required()
          .description(
            'The last characters of an API key, if one of several is left alone; null: the channel is.',
          ),
        state: Joi.string<PauseWire['state']>()
          .valid('open', 'half_open', 'cooling')
          .required()
          .description(
            'open: its circuit is open after failures; half_open: one request is under way to test it; cooling: it asked for a pause.',
          ),
        reason: Joi.string().required().description('The kind of the last failure.'),
        since: Joi.number().integer().required().description('Unix seconds.'),
        until: Joi.number().integer().required().description('Unix seconds.'),
      }),
    )
    .required()
    .description(
      'Gateways that leave it alone for a while, as they reported within the last few seconds.',
    ),
});

/** The members of `ChannelWire` for the schema of a reply. */
export const CHANNEL_REPLY = {
  id: ID.required(),
  name: Joi.string().required(),
  provider: Joi.string().required(),
  base_url: Joi.string().allow(null).required().description('Null: the provider’s own.'),
  credential_names: Joi.array()
    .items(Joi.string())
    .required()
    .description('Empty for a channel in the configuration, which keeps them there.'),
  key_count: Joi.number()
    .integer()
    .allow(null)
    .required()
    .description('API keys that take turns; null where the configuration keeps them.'),
  settings: mapOf<SettingValue>(SETTING).required(),
  models: mapOf<string>(Joi.string())
    .required()
    .description('The callers’ names, each with the upstream’s.'),
  tag: Joi.string().allow(null).required(),
  ...replyMembers(CHANNEL_MEMBERS),
  status: CHANNEL_STATUS.required(),
  effective: EFFECTIVE.required(),
  origin: ORIGIN.required().description(
    'Channels in the configuration are changed there, except for their status.',
  ),
  revision: REVISION,
};

export const CHANNEL = Joi.object<ChannelWire, true>(CHANNEL_REPLY);

/** A channel as the API returns it, and as the command line prints it with `--json`. */
export function channelWire(channel: ChannelView): ChannelWire {
  const { state } = channel;
  return {
    id: channel.id,
    name: channel.name,
    provider: channel.provider,
    base_url: channel.baseUrl ?? null,
    credential_names: channel.credentialNames.map(snakeCase),
    key_count: channel.keyCount ?? null,
    // Settings are checked when they are written.
    settings: snakeKeys(channel.settings as Record<string, SettingValue>),
    models: channel.models,
    tag: channel.tag ?? null,
    ...membersWire(CHANNEL_MEMBERS, channel),
    status: channel.status,
    effective: {
      live: state.live,
      because: state.live ? null : state.because,
      reason: reasonOf(state),
      since: secondsOf(channel.sighted.sinceMs),
      next_try: secondsOf(channel.sighted.nextTryMs),
      paused: channel.sighted.pauses.map(
        ({ node, key, state: paused, reason, sinceMs, untilMs }) => ({
          ...{ node, key: key ?? null, state: paused, reason },
          since: Math.floor(sinceMs / 1_000),
          until: Math.ceil(untilMs / 1_000),
        }),
      ),
    },
    origin: channel.origin,
    revision: channelRevision(channel),
  };
}

/** The edit that a body asks for. */
export function channelEdit(body: ChannelBody): ChannelEdit {
  const { name, provider, base_url, models, tag, settings, status } = body;
  const credentials = credentialsOf(body);
  return {
    ...readMembers(CHANNEL_MEMBERS, body),
    ...(models === undefined ? {} : { models: modelMap(models) }),
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
    ...(base_url === undefined ? {} : { baseUrl: textOf(base_url) }),
    ...(tag === undefined ? {} : { tag: textOf(tag) }),
    ...(status === undefined ? {} : { status }),
    ...(settings === undefined ? {} : { settings }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
}

export function sharedEdit(body: SharedBody): SharedEdit {
  const { models } = body;
  return {
    ...readMembers(SHARED_CHANNEL_MEMBERS, body),
    ...(models === undefined ? {} : { models: modelMap(models) }),
  };
}

export function modelMap(models: Models): Record<string, string> {
  if (typeof models !== 'string' && !Array.isArray(models)) {
    return { ...(models as Readonly<Record<string, string>>) };
  }
  const names = typeof models === 'string' ? models.split(',') : (models as readonly string[]);
  return Object.fromEntries(
    names
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => [name, name]),
  );
}

/** Null and the empty text mean none. */
export function textOf(given: string | null | undefined): string | undefined {
  return given === null || given === '' ? undefined : given;
}

export function credentialsOf({
  credentials = {},
  api_key: key,
  api_keys: keys,
}: Pick<ChannelBody, 'credentials' | 'api_key' | 'api_keys'>): Record<string, Secret | null> {
  const one = keys === undefined ? key : joinApiKeys(keys);
  const given = one === undefined ? credentials : { ...credentials, api_key: one };
  return mapValues(given, (text) => (text === null ? null : new Secret(text)));
}

function reasonOf(state: ChannelState): string | null {
  if (state.live) return null;
  if (state.because === 'credentials_locked') {
    return 'Its credentials cannot be read: set ENCRYPTION_KEY to the key that they were stored under, or enter them again.';
  }
  return ('reason' in state ? state.reason : undefined) ?? null;
}
