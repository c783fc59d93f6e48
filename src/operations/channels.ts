import Joi from 'joi';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  updateChannel,
  type ChannelWrite,
} from '../management/channels.js';
import { getChannel, listChannels } from '../management/channel-views.js';
import {
  API_KEY,
  API_KEYS,
  BECAUSE,
  CHANNEL,
  CHANNEL_BODY,
  CHANNEL_SORTS,
  channelEdit,
  channelWire,
  credentialsOf,
  ORIGIN,
  SECRET,
  type ChannelWire,
} from '../shapes/channel.js';
import { STATUS } from '../shapes/user.js';
import { IN_FORCE } from '../shapes/in-force.js';
import { inForce } from './in-force.js';
import {
  ID,
  ID_PARAMS,
  IF_REVISION,
  KEYWORD,
  LIST_QUERY,
  listOf,
  listReply,
  orderOf,
  sliceOf,
  sortOf,
  type ListQuery,
  type ListReply,
} from '../shapes/lists.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { orPresent } from './present.js';
import { REASON, REASON_QUERY } from './reason.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from './status-only.js';
import { CREATE_BODY, draftOf, NAME, withoutNull } from './channel-draft.js';
import {
  extended,
  mapOf,
  partial,
  recordOf,
  shape,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';

const FILTERS = partial({
  tag: NAME.empty(''),
  provider: NAME.empty(''),
  model: NAME.empty('').description('As callers name it.'),
  live: Joi.boolean().empty('').description('Whether it takes traffic.'),
  because: BECAUSE.empty('').description('Why it takes none.'),
  origin: ORIGIN.empty('').description(
    'Where it is written: in the store, or in the configuration.',
  ),
  sort: sortOf(CHANNEL_SORTS, 'by id; `tried`: as they are tried, by priority and weight'),
});
const SEARCHED = { ...FILTERS, keyword: KEYWORD };

/** What a copy may have of its own. */
const COPY = partial({ name: NAME.empty(''), status: STATUS });

const WRITTEN = extended(CHANNEL, IN_FORCE);
type WrittenWire = Of<typeof WRITTEN>;

const list = defineOperation({
  id: 'listChannels',
  method: 'GET',
  path: '/api/channel',
  summary: 'Channels, with their own status and whether they take traffic',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...FILTERS }),
  reply: listOf(CHANNEL),
  handler: ({ deps, query }) => listed(deps, query),
});

const search = defineOperation({
  id: 'searchChannels',
  method: 'GET',
  path: '/api/channel/search',
  summary: 'Search channels by part of the name, the address or a model, or by id',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, ...SEARCHED }),
  reply: listOf(CHANNEL),
  handler: ({ deps, query }) => listed(deps, query),
});

const get = defineOperation({
  id: 'getChannel',
  method: 'GET',
  path: '/api/channel/:id',
  summary: 'One channel',
  access: 'auditor',
  params: ID_PARAMS,
  reply: CHANNEL,
  errors: ['not_found'],
  handler: async ({ deps, params }) => channelWire(await getChannel(deps, params.id)),
});

const create = defineOperation({
  id: 'createChannel',
  method: 'POST',
  path: '/api/channel',
  summary: 'Add a channel',
  description:
    '`/api/channel/providers` lists the credentials and settings that each provider takes. Credentials are stored encrypted and never shown again.',
  access: 'admin',
  body: shape(CREATE_BODY),
  reply: WRITTEN,
  errors: ['conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    return written(deps, await createChannel(deps, draftOf(body), actor));
  },
});

const update = defineOperation({
  id: 'updateChannel',
  method: 'PUT',
  path: '/api/channel',
  summary: 'Change a channel',
  description:
    'Absent members stay as they are, and so does each absent name in settings and credentials; null removes one. Another provider starts without settings and credentials; a change of the provider, the address or a setting that may redirect requests requires all credentials again. Of a channel in the configuration only the status can change. With `status_only`, only the status of any channel changes.',
  access: 'admin',
  query: STATUS_ONLY_QUERY,
  body: shape({ ...CHANNEL_BODY, id: ID, if_revision: IF_REVISION, reason: REASON }),
  reply: WRITTEN,
  beside: { data: CHANNEL },
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor }) {
    const { id } = body;
    const { status } = body;
    const edit = isStatusOnly(query, body)
      ? status === undefined
        ? {}
        : { status }
      : channelEdit(body);
    const change = updateChannel(deps, id, edit, actor, body.if_revision);
    const read = async () => channelWire(await getChannel(deps, id));
    return written(deps, await orPresent(change, read));
  },
});

const remove = defineOperation({
  id: 'deleteChannel',
  method: 'DELETE',
  path: '/api/channel/:id',
  summary: 'Delete a channel, with its credentials',
  access: 'admin',
  params: ID_PARAMS,
  query: REASON_QUERY,
  reply: shape({ id: ID, ...IN_FORCE }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, params: { id }, actor }) {
    const version = await deleteChannel(deps, id, actor);
    return { id, ...(await inForce(deps, version)) };
  },
});

const copy = defineOperation({
  id: 'copyChannel',
  method: 'POST',
  path: '/api/channel/copy/:id',
  summary: 'Add a copy of a channel, without its credentials',
  description:
    'Credentials are never copied: give those of the copy here or later; it takes no traffic until it has all that it needs.',
  access: 'admin',
  params: ID_PARAMS,
  body: shape({
    ...COPY,
    ...partial({
      credentials: mapOf(SECRET),
      api_key: API_KEY,
      api_keys: API_KEYS,
    }),
    reason: REASON,
  }),
  reply: WRITTEN,
  errors: ['not_found', 'conflict'],
  idempotent: true,
  async handler({ deps, params, body, actor }) {
    const credentials = withoutNull(credentialsOf(body));
    const given = { ...recordOf(COPY, body), credentials };
    return written(deps, await copyChannel(deps, params.id, given, actor));
  },
});

async function listed(
  deps: OperationDeps,
  query: ListQuery & ObjectOf<typeof SEARCHED>,
): Promise<ListReply<ChannelWire>> {
  const { sort, ...wanted } = recordOf(SEARCHED, query);
  const found = await listChannels(deps, { ...wanted, ...orderOf(CHANNEL_SORTS, sort) });
  const { offset, limit } = sliceOf(query);
  const page = { items: found.slice(offset, offset + limit), total: found.length };
  return listReply(page, query, channelWire);
}

async function written(
  deps: OperationDeps,
  { channel, version }: ChannelWrite,
): Promise<WrittenWire> {
  return { ...channelWire(channel), ...(await inForce(deps, version)) };
}

export const CHANNEL_OPERATIONS = inArea('channels', [
  list,
  search,
  get,
  create,
  update,
  remove,
  copy,
]);
