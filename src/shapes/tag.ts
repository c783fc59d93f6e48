import Joi from 'joi';
import type { TagView, TagWrite } from '../management/tags.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID } from './lists.js';

interface TaggedWire {
  id: number;
  name: string;
  live: boolean;
}

/** A tag on the wire, with its switch and the channels that carry it. */
export interface TagWire {
  tag: string;
  disabled: boolean;
  reason: string | null;
  changed_time: number;
  changed_by: string | null;
  channels: TaggedWire[];
  channel_count: number;
  live_count: number;
}

interface CoveredWire extends TaggedWire {
  was_live: boolean;
}

/** The result of switching a tag. */
export interface SwitchedWire {
  tag: string;
  disabled: boolean;
  reason: string | null;
  channels: CoveredWire[];
  channel_count: number;
  was_live_count: number;
  live_count: number;
}

const TAGGED = {
  id: ID.required(),
  name: Joi.string().required(),
  live: Joi.boolean().required().description('Whether it takes traffic.'),
};

export const TAG_ENTRY = Joi.object<TagWire, true>({
  tag: Joi.string().required(),
  disabled: Joi.boolean().required(),
  reason: Joi.string().allow(null).required(),
  changed_time: REQUIRED_COUNT.description('Unix seconds; 0: never.'),
  changed_by: Joi.string().allow(null).required(),
  channels: Joi.array().items(Joi.object<TaggedWire, true>(TAGGED)).required(),
  channel_count: REQUIRED_COUNT,
  live_count: REQUIRED_COUNT,
});

/** The members of `SwitchedWire` for the schema of a reply. */
export const SWITCHED_REPLY = {
  tag: Joi.string().required(),
  disabled: Joi.boolean().required(),
  reason: Joi.string().allow(null).required(),
  channels: Joi.array()
    .items(
      Joi.object<CoveredWire, true>({
        ...TAGGED,
        was_live: Joi.boolean().required().description('Whether it took traffic before.'),
      }),
    )
    .required(),
  channel_count: REQUIRED_COUNT,
  was_live_count: REQUIRED_COUNT,
  live_count: REQUIRED_COUNT,
};

/** A tag as the API returns it, and as the command line prints it with `--json`. */
export function tagWire(entry: TagView): TagWire {
  return {
    tag: entry.tag,
    disabled: entry.disabled,
    reason: entry.reason ?? null,
    changed_time: entry.changedTime,
    changed_by: entry.changedBy ?? null,
    channels: [...entry.channels],
    channel_count: entry.channels.length,
    live_count: entry.channels.filter(({ live }) => live).length,
  };
}

export function switchedWire({ tag, disabled, reason, covered }: TagWrite): SwitchedWire {
  return {
    tag,
    disabled,
    reason: reason ?? null,
    channels: covered.map(({ id, name, live, wasLive }) => ({ id, name, live, was_live: wasLive })),
    channel_count: covered.length,
    was_live_count: covered.filter(({ wasLive }) => wasLive).length,
    live_count: covered.filter(({ live }) => live).length,
  };
}
