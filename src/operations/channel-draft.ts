import Joi from 'joi';
import type { ChannelDraft } from '../management/channel-edits.js';
import {
  CHANNEL_BODY,
  channelEdit,
  modelMap,
  MODELS,
  SECRET,
  SETTING,
  type ChannelBody,
  type Models,
  type SettingValue,
} from '../shapes/channel.js';
import { STATUS } from '../shapes/user.js';
import { mapOf } from '../shapes/lists.js';
import { REASON } from './reason.js';

/** What a new channel is made from, or a draft of one is tried with. */
export interface CreateBody extends ChannelBody {
  name: string;
  provider: string;
  models: Models;
  credentials?: Record<string, string>;
  settings?: Record<string, SettingValue>;
  status: 1 | 2;
  reason?: string;
}

export const NAME = Joi.string().max(1_024);

export const CREATE_BODY = {
  ...CHANNEL_BODY,
  name: NAME.required(),
  provider: NAME.required(),
  models: MODELS.required(),
  credentials: mapOf<string>(SECRET),
  settings: mapOf<SettingValue>(SETTING),
  status: STATUS.default(1),
  reason: REASON,
};

export function draftOf(body: CreateBody): ChannelDraft {
  const { name, provider, models: served, settings = {} } = body;
  const edit = channelEdit(body);
  const credentials = withoutNull(edit.credentials ?? {});
  return { ...edit, name, provider, settings, credentials, models: modelMap(served) };
}

export function withoutNull<T>(members: Readonly<Record<string, T | null>>): Record<string, T> {
  const entries = Object.entries(members);
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== null));
}
