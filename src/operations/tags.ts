import Joi from 'joi';
import { disableTag, editTag, enableTag, listTags, type TagWrite } from '../management/tags.js';
import { invalid } from '../management/fields.js';
import { SHARED_BODY, sharedEdit, type SharedBody } from '../shapes/channel.js';
import {
  SWITCHED_REPLY,
  switchedWire,
  TAG_ENTRY,
  tagWire,
  type SwitchedWire,
  type TagWire,
} from '../shapes/tag.js';
import { IN_FORCE, type InForceWire } from '../shapes/in-force.js';
import { inForce } from './in-force.js';
import { ID } from '../shapes/lists.js';
import { defineOperation, type OperationDeps } from './operation.js';
import { because, REASON } from './reason.js';

interface SwitchBody {
  tag: string;
  reason?: string;
}

interface EditBody extends SharedBody, SwitchBody {
  /** Null and the empty text remove the tag. */
  new_tag?: string | null;
}

interface SwitchedReply extends SwitchedWire, InForceWire {}

interface EditedWire extends InForceWire {
  ids: number[];
}

const TAG = Joi.string().max(1_024);
const SWITCH_BODY = Joi.object<SwitchBody, true>({ tag: TAG.required(), reason: REASON });
const SWITCHED = Joi.object<SwitchedReply, true>({ ...SWITCHED_REPLY, ...IN_FORCE });

const list = defineOperation({
  id: 'listTags',
  method: 'GET',
  path: '/api/channel/tag',
  area: 'channels',
  summary: 'All tags, with their switches and channels',
  access: 'auditor',
  reply: Joi.array<TagWire[]>().items(TAG_ENTRY).required(),
  handler: async ({ deps }) => (await listTags(deps)).map(tagWire),
});

const disable = defineOperation({
  id: 'disableTag',
  method: 'POST',
  path: '/api/channel/tag/disabled',
  area: 'channels',
  summary: 'Take every channel with a tag out of service, at once',
  description:
    'One switch that covers all channels with the tag, those added later included, and leaves their own status alone. Once this has answered, no gateway begins an attempt on any of them.',
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
  summary: 'Put the channels with a tag back as they were',
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
  summary: 'Change all channels with a tag in one write',
  description:
    'Absent members stay as they are. A tag that is renamed while it is switched off stays off under its new name. Channels in the configuration are changed there: if one of them is, none is changed.',
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
    if (Object.keys(change).length === 0)
      throw invalid('tag', 'Name at least one thing to change.');
    const { ids, version } = await editTag(deps, tag, change, because(actor, reason));
    return { ids: [...ids], ...(await inForce(deps, version)) };
  },
});

async function switched(deps: OperationDeps, write: TagWrite): Promise<SwitchedReply> {
  return { ...switchedWire(write), ...(await inForce(deps, write.version)) };
}

export const TAG_OPERATIONS = [list, disable, enable, edit] as const;
