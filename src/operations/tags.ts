import Joi from 'joi';
import { disableTag, editTag, enableTag, listTags, type TagWrite } from '../management/tags.js';
import { invalid } from '../management/fields.js';
import { SHARED_BODY, sharedEdit } from '../shapes/channel.js';
import { SWITCHED, switchedWire, TAG_ENTRY, tagWire } from '../shapes/tag.js';
import { IN_FORCE } from '../shapes/in-force.js';
import { inForce } from './in-force.js';
import { ID } from '../shapes/lists.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { REASON } from './reason.js';
import { arrayOf, extended, nullable, optional, shape, type Of } from '../shapes/shape.js';

const TAG = Joi.string().max(1_024);
const SWITCH_BODY = shape({ tag: TAG, reason: REASON });

const SWITCHED_REPLY = extended(SWITCHED, IN_FORCE);

const list = defineOperation({
  id: 'listTags',
  method: 'GET',
  path: '/api/channel/tag',
  summary: 'All tags, with their switches and channels',
  access: 'auditor',
  reply: arrayOf(TAG_ENTRY),
  handler: async ({ deps }) => (await listTags(deps)).map(tagWire),
});

const disable = defineOperation({
  id: 'disableTag',
  method: 'POST',
  path: '/api/channel/tag/disabled',
  summary: 'Take every channel with a tag out of service, at once',
  description:
    'One switch that covers all channels with the tag, those added later included, and leaves their own status alone. Once this has answered, no gateway begins an attempt on any of them.',
  access: 'admin',
  body: SWITCH_BODY,
  reply: SWITCHED_REPLY,
  errors: ['not_found'],
  handler: async ({ deps, body, actor }) =>
    switched(deps, await disableTag(deps, body.tag, body.reason, actor)),
});

const enable = defineOperation({
  id: 'enableTag',
  method: 'POST',
  path: '/api/channel/tag/enabled',
  summary: 'Put the channels with a tag back as they were',
  access: 'admin',
  body: SWITCH_BODY,
  reply: SWITCHED_REPLY,
  errors: ['not_found'],
  handler: async ({ deps, body, actor }) => switched(deps, await enableTag(deps, body.tag, actor)),
});

const edit = defineOperation({
  id: 'editTag',
  method: 'PUT',
  path: '/api/channel/tag',
  summary: 'Change all channels with a tag in one write',
  description:
    'Absent members stay as they are. A tag that is renamed while it is switched off stays off under its new name. Channels in the configuration are changed there: if one of them is, none is changed.',
  access: 'admin',
  body: shape({
    tag: TAG,
    new_tag: optional(nullable(TAG.allow(''))),
    ...SHARED_BODY,
    reason: REASON,
  }),
  reply: shape({ ids: arrayOf(ID), ...IN_FORCE }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const { tag, new_tag: moved } = body;
    const change = {
      ...sharedEdit(body),
      ...(moved === undefined ? {} : { tag: moved === null || moved === '' ? undefined : moved }),
    };
    if (Object.keys(change).length === 0)
      throw invalid('tag', 'Name at least one thing to change.');
    const { ids, version } = await editTag(deps, tag, change, actor);
    return { ids: [...ids], ...(await inForce(deps, version)) };
  },
});

async function switched(deps: OperationDeps, write: TagWrite): Promise<Of<typeof SWITCHED_REPLY>> {
  return { ...switchedWire(write), ...(await inForce(deps, write.version)) };
}

export const TAG_OPERATIONS = inArea('channels', [list, disable, enable, edit]);
