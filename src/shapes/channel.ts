import Joi from 'joi';
import { joinApiKeys, MAX_API_KEYS } from '../core/api-keys.js';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import type { ChannelStatus } from '../core/channel.js';
import { mapValues, present, snakeCase, snakeKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import type { ChannelEdit, SharedEdit } from '../management/channel-edits.js';
import type { ChannelOrder, ChannelState, ChannelView } from '../management/channel-views.js';
import { channelRevision } from '../management/revision.js';
import { ID, REVISION } from './lists.js';
import { bodyMembers, readMembers, replyMembers } from './members.js';
import { secondsOf } from './seconds.js';
import {
  arrayOf,
  choice,
  mapOf,
  nullable,
  optional,
  partial,
  shape,
  wireOf,
  type ObjectOf,
  type Of,
} from './shape.js';

export type SettingValue = string | number | boolean;

/** Models as an object from the callers' names to the upstream's, or names alone: an array, or separated by commas. */
export type Models = Readonly<Record<string, string>> | readonly string[] | string;

const NAME = Joi.string().max(1_024);
const SETTING_KINDS = [Joi.string().allow('').max(65_536), Joi.number(), Joi.boolean()] as const;
export const SETTING = Joi.alternatives().try(...SETTING_KINDS);
// Not `SETTING.allow(null)`: in the OpenAPI document, null would replace the kinds.
export const SETTING_OR_NULL = Joi.alternatives().try(
  ...SETTING_KINDS,
  Joi.any<null>().valid(null),
);
/** Private keys and service accounts are whole files. */
export const SECRET = Joi.string().max(65_536);
export const TAG = nullable(NAME.allow('')).description('Null or an empty string: none.');
const CHANNEL_STATUS = Joi.number<ChannelStatus>()
  .valid(1, 2, 3)
  .description('1 enabled, 2 disabled, 3 disabled by the gateway');
export const MODELS = Joi.alternatives()
  .try(mapOf(NAME), arrayOf(NAME).max(10_000), Joi.string().max(100_000))
  .description(
    'The callers’ names, each with the upstream’s; or just names, as a list or with commas.',
  );

/** What can be set on one channel, and on many at once. */
export const SHARED_BODY = { models: optional(MODELS), ...bodyMembers(CHANNEL_MEMBERS) };
export type SharedBody = ObjectOf<typeof SHARED_BODY>;

export const API_KEY = SECRET.empty('').description('The same as credentials.api_key.');

export const API_KEYS = arrayOf(SECRET)
  .min(1)
  .max(MAX_API_KEYS)
  .description('Several keys of one account or of many, which take turns; in place of api_key.');

/** What can be set on a channel. */
export const CHANNEL_BODY = {
  ...partial({
    name: NAME,
    provider: NAME,
    base_url: nullable(Joi.string().max(4_096).allow('')).description(
      'Null or an empty string: the provider’s own.',
    ),
    api_key: API_KEY,
    api_keys: API_KEYS,
    credentials: mapOf(nullable(SECRET)),
    settings: mapOf(SETTING_OR_NULL),
    tag: TAG,
    status: CHANNEL_STATUS,
    models: MODELS,
  }),
  ...bodyMembers(CHANNEL_MEMBERS),
};
export type ChannelBody = ObjectOf<typeof CHANNEL_BODY>;

export const ORIGIN = choice('config', 'store');

/** What channels can be ordered by. */
export const CHANNEL_SORTS: Readonly<Record<ChannelOrder, ChannelOrder>> = {
  ...{ id: 'id', name: 'name', provider: 'provider', tag: 'tag', status: 'status' },
  ...{ priority: 'priority', weight: 'weight', tried: 'tried' },
};

/** Why a channel may take no traffic. */
const REASONS = [
  ...(['disabled', 'auto_disabled', 'tag_disabled', 'credentials_locked', 'unusable'] as const),
] as const;
export const BECAUSE = choice(...REASONS);
export const WHY_NOT_LIVE = nullable(BECAUSE).description('Why it takes none.');

const TIME = nullable(Joi.number().integer());

/** A gateway that leaves a channel, or one of its keys, alone for a while. */
const PAUSE = shape({
  node: Joi.string(),
  key: nullable(Joi.string()).description(
    'The last characters of an API key, if one of several is left alone; null: the channel is.',
  ),
  state: choice('open', 'half_open', 'cooling').description(
    'open: its circuit is open after failures; half_open: one request is under way to test it; cooling: it asked for a pause.',
  ),
  reason: Joi.string().description('The kind of the last failure.'),
  since: Joi.number().integer().description('Unix seconds.'),
  until: Joi.number().integer().description('Unix seconds.'),
});

/** Whether a channel takes traffic, all things considered; kept apart from what can be sent back to change it. */
const EFFECTIVE = shape({
  live: Joi.boolean().description('Whether it takes traffic.'),
  because: WHY_NOT_LIVE,
  reason: nullable(Joi.string()).description('The same in words, where available.'),
  since: TIME.description('When it was disabled automatically, in unix seconds.'),
  next_try: TIME.description('When it is tried again after that, in unix seconds.'),
  paused: arrayOf(PAUSE).description(
    'Gateways that leave it alone for a while, as they reported within the last few seconds.',
  ),
});
export type EffectiveWire = Of<typeof EFFECTIVE>;

/** A channel on the wire: everything but its credentials. */
export const CHANNEL = shape({
  id: ID,
  name: Joi.string(),
  provider: Joi.string(),
  base_url: nullable(Joi.string()).description('Null: the provider’s own.'),
  credential_names: arrayOf(Joi.string()).description(
    'Empty for a channel in the configuration, which keeps them there.',
  ),
  key_count: nullable(Joi.number().integer()).description(
    'API keys that take turns; null where the configuration keeps them.',
  ),
  settings: mapOf(SETTING),
  models: mapOf(Joi.string()).description('The callers’ names, each with the upstream’s.'),
  tag: nullable(Joi.string()),
  ...replyMembers(CHANNEL_MEMBERS),
  status: CHANNEL_STATUS,
  effective: EFFECTIVE,
  origin: ORIGIN.description(
    'Channels in the configuration are changed there, except for their status.',
  ),
  revision: REVISION,
});
export type ChannelWire = Of<typeof CHANNEL>;

/** A channel as the API returns it, and as the command line prints it with `--json`. */
export function channelWire(channel: ChannelView): ChannelWire {
  return wireOf(CHANNEL, {
    ...channel,
    credentialNames: channel.credentialNames.map(snakeCase),
    // Settings are checked when they are written.
    settings: snakeKeys(channel.settings as Record<string, SettingValue>),
    effective: effectiveWire(channel),
    revision: channelRevision(channel),
  });
}

function effectiveWire({ state, sighted }: ChannelView): EffectiveWire {
  return wireOf(EFFECTIVE, {
    live: state.live,
    because: state.live ? null : state.because,
    reason: reasonOf(state),
    since: secondsOf(sighted.sinceMs),
    nextTry: secondsOf(sighted.nextTryMs),
    paused: sighted.pauses.map((pause) =>
      wireOf(PAUSE, {
        ...pause,
        since: Math.floor(pause.sinceMs / 1_000),
        until: Math.ceil(pause.untilMs / 1_000),
      }),
    ),
  });
}

/** The edit that a body asks for. */
export function channelEdit(body: ChannelBody): ChannelEdit {
  const { name, provider, base_url, tag, settings, status } = body;
  const credentials = credentialsOf(body);
  return {
    ...readMembers(CHANNEL_MEMBERS, body),
    ...modelsOf(body),
    ...present({ name, provider, status, settings }),
    ...(base_url === undefined ? {} : { baseUrl: textOf(base_url) }),
    ...(tag === undefined ? {} : { tag: textOf(tag) }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
}

export function sharedEdit(body: SharedBody): SharedEdit {
  return { ...readMembers(CHANNEL_MEMBERS, body), ...modelsOf(body) };
}

function modelsOf({ models }: SharedBody): Pick<SharedEdit, 'models'> {
  return models === undefined ? {} : { models: modelMap(models) };
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
