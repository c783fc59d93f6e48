import Joi from 'joi';
import {
  disableTag,
  editTag,
  enableTag,
  listTags,
  type TagView,
  type TagWrite,
} from '../../management/tags.js';
import { invalid } from '../../management/fields.js';
import { IN_FORCE, inForce, type InForceView } from '../in-force.js';
import { ID } from '../lists.js';
import { defineOperation, type Operation, type OperationDeps } from '../operation.js';
import { because, REASON } from '../reason.js';
import { SHARED_BODY, sharedEdit, type SharedBody } from '../shared-edit.js';

interface SwitchBody {
  tag: string;
  reason?: string;
}

interface EditBody extends SharedBody, SwitchBody {
  /** Null and the empty text take the tag away. */
  new_tag?: string | null;
}

interface TaggedWire {
  id: number;
  name: string;
  live: boolean;
}

interface TagWire {
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

interface SwitchedWire extends InForceView {
  tag: string;
  disabled: boolean;
  reason: string | null;
  channels: CoveredWire[];
  channel_count: number;
  was_live_count: number;
  live_count: number;
}

interface EditedWire extends InForceView {
  ids: number[];
}

const TAG = Joi.string().max(1_024);
const COUNT = Joi.number().integer().min(0);
const TAGGED = {
  id: ID.required(),
  name: Joi.string().required(),
  live: Joi.boolean().required().description('Whether it takes traffic.'),
};
const SWITCH_BODY = Joi.object<SwitchBody, true>({ tag: TAG.required(), reason: REASON });
const SWITCHED = Joi.object<SwitchedWire, true>({
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
  channel_count: COUNT.required(),
  was_live_count: COUNT.required(),
  live_count: COUNT.required(),
  ...IN_FORCE,
});

const list = defineOperation({
  id: 'listTags',
  method: 'GET',
  path: '/api/channel/tag',
  area: 'channels',
  summary: 'All tags, with their switch and the channels that bear them',
  access: 'admin',
  reply: Joi.array<TagWire[]>()
    .items(
      Joi.object<TagWire, true>({
        tag: Joi.string().required(),
        disabled: Joi.boolean().required(),
        reason: Joi.string().allow(null).required(),
        changed_time: COUNT.required().description('Unix seconds; 0: never.'),
        changed_by: Joi.string().allow(null).required(),
        channels: Joi.array().items(Joi.object<TaggedWire, true>(TAGGED)).required(),
        channel_count: COUNT.required(),
        live_count: COUNT.required(),
      }),
    )
    .required(),
  handler: async ({ deps }) => (await listTags(deps)).map(tagWire),
});

const disable = defineOperation({
  id: 'disableTag',
  method: 'POST',
  path: '/api/channel/tag/disabled',
  area: 'channels',
  summary: 'Take every channel with a tag out of service, at once',
  description:
    'One switch that covers all channels with the tag, those added later included, and leaves their own status alone. When this has answered, no gateway begins an attempt on any of them.',
  access: 'admin',
  body: SWITCH_BODY,
  reply: SWITCHED,
  errors: ['not_found'],
  handler: async ({ deps, body, actor }) =>
    switched(deps, await disableTag(deps, body.tag, body.reason, actor)),
});

const enable = defineOperation({
  id: 'enableTag',
  method: 'POST',
  path: '/api/channel/tag/enabled',
  area: 'channels',
  summary: 'Put the channels with a tag back as they were before',
  access: 'admin',
  body: SWITCH_BODY,
  reply: SWITCHED,
  errors: ['not_found'],
  handler: async ({ deps, body, actor }) =>
    switched(deps, await enableTag(deps, body.tag, because(actor, body.reason))),
});

const edit = defineOperation({
  id: 'editTag',
  method: 'PUT',
  path: '/api/channel/tag',
  area: 'channels',
  summary: 'Change all channels with a tag, in one write',
  description:
    'What is absent stays. A tag that gets a new name while it is switched off stays off under that name. Channels of the configuration are changed there: with one among them, none is changed.',
  access: 'admin',
  body: Joi.object<EditBody, true>({
    tag: TAG.required(),
    new_tag: TAG.allow(null, ''),
    ...SHARED_BODY,
    reason: REASON,
  }),
  reply: Joi.object<EditedWire, true>({ ids: Joi.array().items(ID).required(), ...IN_FORCE }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const { tag, new_tag: moved, reason } = body;
    const change = {
      ...sharedEdit(body),
      ...(moved === undefined ? {} : { tag: moved === null || moved === '' ? undefined : moved }),
    };
    if (Object.keys(change).length === 0) throw invalid('tag', 'Say what to change.');
    const { ids, version } = await editTag(deps, tag, change, because(actor, reason));
    return { ids: [...ids], ...(await inForce(deps, version)) };
  },
});

function tagWire(entry: TagView): TagWire {
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

async function switched(deps: OperationDeps, write: TagWrite): Promise<SwitchedWire> {
  const { tag, disabled, reason, covered, version } = write;
  return {
    tag,
    disabled,
    reason: reason ?? null,
    channels: covered.map(({ id, name, live, wasLive }) => ({ id, name, live, was_live: wasLive })),
    channel_count: covered.length,
    was_live_count: covered.filter(({ wasLive }) => wasLive).length,
    live_count: covered.filter(({ live }) => live).length,
    ...(await inForce(deps, version)),
  };
}

export const TAG_OPERATIONS: readonly Operation[] = [list, disable, enable, edit];
