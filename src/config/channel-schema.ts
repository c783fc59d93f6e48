import Joi from 'joi';
import { checkBaseUrl, text } from './checks.js';
import { MAX_API_KEYS } from '../core/api-keys.js';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { isRecord } from '../core/records.js';
import type { SettingValue } from '../providers/provider.js';
import { fileMembers, type MembersFile } from '../shapes/members.js';

/** A channel as a file has it, checked without its provider. */
export interface FileChannel extends Partial<MembersFile<typeof CHANNEL_MEMBERS>> {
  name: string;
  provider: string;
  enabled: boolean;
  base_url: string | undefined;
  api_key: string | undefined;
  api_keys: string[] | undefined;
  credentials: Record<string, string>;
  models: string[] | Record<string, string>;
  tag: string | undefined;
  settings: Record<string, SettingValue>;
}

const OWN_MEMBERS = {
  name: text().required(),
  provider: text().required(),
  enabled: Joi.boolean().default(true),
  base_url: text().custom(checkBaseUrl),
  api_key: Joi.string().trim(),
  api_keys: Joi.array().items(Joi.string().trim()).unique().min(1).max(MAX_API_KEYS),
  credentials: Joi.object().pattern(Joi.string(), Joi.string().trim()).default({}),
  models: Joi.alternatives()
    .conditional(Joi.array(), {
      then: Joi.array().items(text()).min(1),
      otherwise: Joi.object().pattern(text(), text()).min(1),
    })
    .required(),
  tag: text().max(128),
  settings: Joi.object()
    .pattern(
      Joi.string(),
      Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean()).prefs({
        convert: false,
      }),
    )
    .default({}),
} satisfies Joi.PartialSchemaMap<FileChannel>;
const PLAIN_MEMBERS: Readonly<Record<string, Joi.Schema>> = fileMembers(CHANNEL_MEMBERS);

export const CHANNEL_SCHEMA = Joi.object<FileChannel>({ ...OWN_MEMBERS, ...PLAIN_MEMBERS });

const schemas = new Map<string, Joi.ObjectSchema<FileChannel>>();

/**
 * A channel as `CHANNEL_SCHEMA` reads it, except that the plain members that it lacks stay absent; `undefined` if anything is
 * wrong with it. To look for twenty members that hardly any channel has takes longer than all the rest.
 */
export function soundChannel(written: unknown): FileChannel | undefined {
  if (!isRecord(written)) return undefined;
  const names = Object.keys(PLAIN_MEMBERS).filter((name) => written[name] !== undefined);
  const key = names.join();
  let schema = schemas.get(key);
  if (schema === undefined) {
    const plain = names.map((name) => [name, PLAIN_MEMBERS[name]] as const);
    schema = Joi.object<FileChannel>({ ...OWN_MEMBERS, ...Object.fromEntries(plain) });
    schemas.set(key, schema);
  }
  const result: Joi.ValidationResult<FileChannel> = schema.validate(written);
  return result.error === undefined ? result.value : undefined;
}
