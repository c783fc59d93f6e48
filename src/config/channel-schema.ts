import Joi from 'joi';
import { checkBaseUrl, text } from './checks.js';
import { MAX_API_KEYS } from '../core/api-keys.js';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import type { SettingValue } from '../providers/provider.js';
import { fileMembers, type MembersFile } from '../shapes/members.js';

/** A channel as a file has it, checked without its provider. */
export interface FileChannel extends MembersFile<typeof CHANNEL_MEMBERS> {
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

export const CHANNEL_SCHEMA = Joi.object<FileChannel>({
  name: text().required(),
  provider: text().required(),
  enabled: Joi.boolean().default(true),
  base_url: text().custom(checkBaseUrl),
  api_key: Joi.string().trim(),
  api_keys: Joi.array().items(Joi.string().trim()).min(1).max(MAX_API_KEYS),
  credentials: Joi.object().pattern(Joi.string(), Joi.string().trim()).default({}),
  models: Joi.alternatives()
    .conditional(Joi.array(), {
      then: Joi.array().items(text()).min(1),
      otherwise: Joi.object().pattern(text(), text()).min(1),
    })
    .required(),
  tag: text().max(128),
  ...fileMembers(CHANNEL_MEMBERS),
  settings: Joi.object()
    .pattern(
      Joi.string(),
      Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean()).prefs({
        convert: false,
      }),
    )
    .default({}),
});
