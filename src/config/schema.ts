import Joi from 'joi';
import { CHANNEL_SCHEMA, soundChannel, type FileChannel } from './channel-schema.js';
import { TARGETS_SCHEMA, type FileTarget } from './alert-targets.js';
import { checkRange, text } from './checks.js';
import { MODEL_RULES_SCHEMA, type FileRules } from './rules.js';
import { groupSchema } from './setting.js';
import { SETTINGS } from './settings.js';
import { MAX_QUOTA } from '../core/quota.js';
import { mapValues } from '../core/records.js';

export type FilePrice =
  | { readonly per_request: number }
  | { readonly per_search_unit: number }
  | { readonly per_million_tokens: number };

/** What a file has besides the groups of plain settings: names in snake case, secrets still plain. */
interface FileShapes {
  callers: {
    aliases: Record<string, string>;
    anonymous: { addresses: string[]; key: string } | undefined;
    aws_keys: Record<string, string>;
  };
  models: Record<string, FileRules>;
  prices: { default: FilePrice | undefined; models: Record<string, FilePrice> };
  channels: FileChannel[] | undefined;
  tags: { tag: string; disabled: boolean; reason: string | undefined }[];
  alerts: { readonly targets: readonly FileTarget[] };
}

export type FileSettings = FileShapes &
  Readonly<Record<keyof typeof SETTINGS, Readonly<Record<string, unknown>>>>;

const units = (): Joi.NumberSchema => Joi.number().integer().min(0).max(MAX_QUOTA);

const PRICE_SCHEMA = Joi.object({
  per_request: units(),
  per_search_unit: units(),
  per_million_tokens: units(),
}).xor('per_request', 'per_search_unit', 'per_million_tokens');

const FILE = {
  ...mapValues(SETTINGS, groupSchema),
  alerts: groupSchema(SETTINGS.alerts).keys({ targets: TARGETS_SCHEMA }).default(),
  callers: Joi.object<FileSettings['callers'], true>({
    aliases: Joi.object().pattern(text(), text()).default({}),
    anonymous: Joi.object({
      addresses: Joi.array().items(text().custom(checkRange)).min(1).required(),
      key: Joi.string().trim().min(8).required(),
    }),
    aws_keys: Joi.object()
      .pattern(text().pattern(/^\w{4,128}$/), Joi.string().trim().min(8))
      .default({}),
  }).default(),
  models: Joi.object().pattern(Joi.string().max(256), MODEL_RULES_SCHEMA).default({}),
  prices: Joi.object({
    default: PRICE_SCHEMA,
    models: Joi.object().pattern(Joi.string(), PRICE_SCHEMA).default({}),
  }).default(),
  channels: Joi.array().items(CHANNEL_SCHEMA),
  tags: Joi.array()
    .items(
      Joi.object<FileSettings['tags'][number]>({
        tag: text().max(128).required(),
        disabled: Joi.boolean().default(false),
        reason: text(),
      }),
    )
    .default([]),
};

export const FILE_SCHEMA = Joi.object<FileSettings>(FILE);
const BESIDE_CHANNELS = FILE_SCHEMA.keys({ channels: Joi.any() });

/** What the schema makes of settings, or else everything that it finds wrong. */
export function readFileSettings(
  values: Readonly<Record<string, unknown>>,
): Joi.ValidationResult<FileSettings> {
  const channels = soundChannels(values.channels);
  if (channels !== undefined) {
    const rest: Joi.ValidationResult<FileSettings> = BESIDE_CHANNELS.validate(values);
    if (rest.error === undefined) return { ...rest, value: { ...rest.value, channels } };
  }
  return FILE_SCHEMA.validate(values, { abortEarly: false, errors: { label: false } });
}

function soundChannels(written: unknown): FileChannel[] | undefined {
  if (!Array.isArray(written)) return undefined;
  const sound: FileChannel[] = [];
  for (const each of written) {
    const channel = soundChannel(each);
    if (channel === undefined) return undefined;
    sound.push(channel);
  }
  return sound;
}

/** The names of everything that a file may have at its top. */
export const FILE_NAMES: readonly string[] = Object.keys(FILE);
