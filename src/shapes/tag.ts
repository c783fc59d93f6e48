import Joi from 'joi';
import type { TagView, TagWrite } from '../management/tags.js';
import { WHY_NOT_LIVE } from './channel.js';
import { COUNT } from './counts.js';
import { ID } from './lists.js';
import { arrayOf, extended, nullable, shape, wireOf, type Of } from './shape.js';

const TAGGED = shape({
  id: ID,
  name: Joi.string(),
  live: Joi.boolean().description('Whether it takes traffic.'),
  because: WHY_NOT_LIVE,
});

/** A tag on the wire, with its switch and the channels that carry it. */
export const TAG_ENTRY = shape({
  tag: Joi.string(),
  disabled: Joi.boolean(),
  reason: nullable(Joi.string()),
  changed_time: COUNT.description('Unix seconds; 0: never.'),
  changed_by: nullable(Joi.string()),
  channels: arrayOf(TAGGED),
  channel_count: COUNT,
  live_count: COUNT,
});
export type TagWire = Of<typeof TAG_ENTRY>;

const COVERED = extended(TAGGED, {
  was_live: Joi.boolean().description('Whether it took traffic before.'),
});

/** The result of switching a tag. */
export const SWITCHED = shape({
  tag: Joi.string(),
  disabled: Joi.boolean(),
  reason: nullable(Joi.string()),
  channels: arrayOf(COVERED),
  channel_count: COUNT,
  was_live_count: COUNT,
  live_count: COUNT,
});
export type SwitchedWire = Of<typeof SWITCHED>;

/** A tag as the API returns it, and as the command line prints it with `--json`. */
export function tagWire(entry: TagView): TagWire {
  return wireOf(TAG_ENTRY, {
    ...entry,
    channelCount: entry.channels.length,
    liveCount: entry.channels.filter(({ live }) => live).length,
  });
}

export function switchedWire({ covered, ...write }: TagWrite): SwitchedWire {
  return wireOf(SWITCHED, {
    ...write,
    channels: covered.map((channel) => wireOf(COVERED, channel)),
    channelCount: covered.length,
    wasLiveCount: covered.filter(({ wasLive }) => wasLive).length,
    liveCount: covered.filter(({ live }) => live).length,
  });
}
