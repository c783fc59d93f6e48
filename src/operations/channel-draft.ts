import Joi from 'joi';
import type { ChannelDraft } from '../management/channel-edits.js';
import { CHANNEL_BODY, channelEdit, modelMap, MODELS, SECRET, SETTING } from '../shapes/channel.js';
import { STATUS } from '../shapes/user.js';
import { REASON } from './reason.js';
import { mapOf, partial, type ObjectOf } from '../shapes/shape.js';

export const NAME = Joi.string().max(1_024);

/** What a new channel is made from, or a draft of one is tried with. */
export const CREATE_BODY = {
  ...CHANNEL_BODY,
  name: NAME,
  provider: NAME,
  models: MODELS,
  ...partial({ credentials: mapOf(SECRET), settings: mapOf(SETTING) }),
  status: STATUS.default(1),
  reason: REASON,
};
type CreateBody = ObjectOf<typeof CREATE_BODY>;

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
