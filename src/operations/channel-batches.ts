import { deleteChannels, editChannels, switchChannels } from '../management/channels.js';
import { TAG, textOf } from '../shapes/channel.js';
import { COUNT } from '../shapes/counts.js';
import { STATUS } from '../shapes/user.js';
import { IN_FORCE } from '../shapes/in-force.js';
import { inForce } from './in-force.js';
import { ID } from '../shapes/lists.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { IDS, REASON } from './reason.js';
import { arrayOf, shape, type Of } from '../shapes/shape.js';

const MANY = shape({ ids: arrayOf(ID), count: COUNT, ...IN_FORCE });
type ManyWire = Of<typeof MANY>;

const removeMany = defineOperation({
  id: 'deleteChannels',
  method: 'POST',
  path: '/api/channel/batch',
  summary: 'Delete many channels',
  description:
    'Skips those that do not exist. If one of them is in the configuration, none is deleted.',
  access: 'admin',
  body: shape({ ids: IDS, reason: REASON }),
  reply: MANY,
  errors: ['conflict'],
  async handler({ deps, body, actor }) {
    const write = await deleteChannels(deps, body.ids, actor);
    return many(deps, write);
  },
});

const retag = defineOperation({
  id: 'retagChannels',
  method: 'POST',
  path: '/api/channel/batch/tag',
  summary: 'Give many channels another tag in one write',
  access: 'admin',
  body: shape({ ids: IDS, tag: TAG, reason: REASON }),
  reply: MANY,
  errors: ['not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const edit = { tag: textOf(body.tag) };
    return many(deps, await editChannels(deps, body.ids, edit, actor));
  },
});

const switchMany = defineOperation({
  id: 'switchChannels',
  method: 'POST',
  path: '/api/channel/batch/status',
  summary: 'Switch many channels on or off in one write',
  description:
    'Including those in the configuration. `ids` in the reply are those whose status changed, so that switching them back is the exact undo; those of them that the gateway itself had disabled are in `auto_disabled`.',
  access: 'admin',
  body: shape({ ids: IDS, status: STATUS, reason: REASON }),
  reply: shape({ ids: arrayOf(ID), count: COUNT, auto_disabled: arrayOf(ID), ...IN_FORCE }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, body: { ids, status }, actor }) {
    const write = await switchChannels(deps, ids, status === 1, actor);
    return { ...(await many(deps, write)), auto_disabled: [...write.autoDisabled] };
  },
});

async function many(
  deps: OperationDeps,
  { ids, version }: { readonly ids: readonly number[]; readonly version: number },
): Promise<ManyWire> {
  return { ids: [...ids], count: ids.length, ...(await inForce(deps, version)) };
}

export const CHANNEL_BATCH_OPERATIONS = inArea('channels', [removeMany, retag, switchMany]);
