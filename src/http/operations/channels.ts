import Joi from 'joi';
import { own, snakeKeys } from '../../core/records.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  deleteChannels,
  editChannels,
  switchChannels,
  updateChannel,
  type ChannelWrite,
} from '../../management/channels.js';
import {
  getChannel,
  listChannels,
  listModels,
  listProviders,
  type Because,
  type ChannelFilter,
  type ChannelSort,
  type ProviderView,
  type ServedModel,
} from '../../management/channel-views.js';
import { listUpstreamModels, testChannel, testDraft } from '../../management/channel-trials.js';
import type { ChannelDraft } from '../../management/channel-edits.js';
import {
  API_KEY,
  API_KEYS,
  BECAUSE,
  CHANNEL,
  CHANNEL_BODY,
  CHANNEL_REPLY,
  channelEdit,
  channelWire,
  credentialsOf,
  modelMap,
  MODELS,
  SECRET,
  SETTING,
  SETTING_OR_NULL,
  TAG,
  textOf,
  type ChannelBody,
  type ChannelWire,
  type Models,
  type SettingValue,
} from '../../wire/channel.js';
import { STATUS } from '../../wire/user.js';
import { TESTED, testedWire } from '../../wire/tested.js';
import { IN_FORCE, type InForceWire } from '../../wire/in-force.js';
import { inForce } from '../in-force.js';
import {
  ID,
  ID_PARAMS,
  IF_REVISION,
  LIST_QUERY,
  listOf,
  listReply,
  mapOf,
  sliceOf,
  type ListQuery,
  type ListReply,
} from '../../wire/lists.js';
import { defineOperation, type Operation, type OperationDeps } from '../operation.js';
import { because, IDS, REASON, REASON_QUERY } from '../reason.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from '../status-only.js';

interface FilterQuery extends ListQuery {
  tag?: string;
  provider?: string;
  model?: string;
  live?: boolean;
  because?: Because;
  sort?: ChannelSort;
}

interface SearchQuery extends FilterQuery {
  keyword?: string;
}

interface CreateBody extends ChannelBody {
  name: string;
  provider: string;
  models: Models;
  credentials?: Record<string, string>;
  settings?: Record<string, SettingValue>;
  status: 1 | 2;
  reason?: string;
}

interface UpdateBody extends ChannelBody {
  id: number;
  if_revision?: string;
  reason?: string;
}

interface BatchBody {
  ids: number[];
  reason?: string;
}

interface RetagBody extends BatchBody {
  tag: string | null;
}

interface SwitchBody extends BatchBody {
  status: 1 | 2;
}

interface SwitchedWire extends ManyWire {
  auto_disabled: number[];
}

interface CopyBody {
  name?: string;
  status?: 1 | 2;
  credentials?: Record<string, string>;
  api_key?: string;
  api_keys?: string[];
  reason?: string;
}

interface TestBody {
  model?: string;
  reason?: string;
}

interface DraftBody extends CreateBody {
  model?: string;
}

interface WrittenWire extends ChannelWire, InForceWire {}

interface DeletedWire extends InForceWire {
  id: number;
}

interface ManyWire extends InForceWire {
  ids: number[];
  count: number;
}

interface ModelWire {
  id: string;
  /** Whether any of its channels takes traffic. */
  live: boolean;
  /** In the order in which they are tried. */
  channels: {
    id: number;
    name: string;
    provider: string;
    tag: string | null;
    upstream_model: string;
    priority: number;
    weight: number;
    live: boolean;
    because: Because | null;
  }[];
}

interface CredentialWire {
  name: string;
  required: boolean;
  description: string;
}

interface SettingWire extends CredentialWire {
  type: 'string' | 'number' | 'boolean';
  default: SettingValue | null;
}

interface ProviderWire {
  id: string;
  title: string;
  inside: boolean;
  base_url: string | null;
  credentials: CredentialWire[];
  settings: SettingWire[];
  example_models: string[];
  notes: string[];
}

const NAME = Joi.string().max(1_024);
const COUNT = Joi.number().integer().min(0);

const FILTER = {
  ...LIST_QUERY,
  tag: NAME.empty(''),
  provider: NAME.empty(''),
  model: NAME.empty('').description('As callers name it.'),
  live: Joi.boolean().empty('').description('Whether it takes traffic.'),
  because: BECAUSE.empty('').description('Why it takes none.'),
  sort: Joi.string<ChannelSort>()
    .valid('id', 'name', 'tried')
    .empty('')
    .description('By id if not given; `tried`: as they are tried, by priority and weight.'),
};

const WRITTEN = Joi.object<WrittenWire, true>({ ...CHANNEL_REPLY, ...IN_FORCE });
const MANY = Joi.object<ManyWire, true>({
  ids: Joi.array().items(ID).required(),
  count: COUNT.required(),
  ...IN_FORCE,
});

const list = defineOperation({
  id: 'listChannels',
  method: 'GET',
  path: '/api/channel',
  area: 'channels',
  summary: 'Channels, with their own status and whether they take traffic',
  access: 'auditor',
  query: Joi.object<FilterQuery, true>(FILTER),
  reply: listOf(CHANNEL),
  handler: ({ deps, query }) => listed(deps, query),
});

const search = defineOperation({
  id: 'searchChannels',
  method: 'GET',
  path: '/api/channel/search',
  area: 'channels',
  summary: 'Channels by part of the name, the address or a model, or by id',
  access: 'auditor',
  query: Joi.object<SearchQuery, true>({ ...FILTER, keyword: Joi.string().max(256).empty('') }),
  reply: listOf(CHANNEL),
  handler: ({ deps, query }) => listed(deps, query),
});

const get = defineOperation({
  id: 'getChannel',
  method: 'GET',
  path: '/api/channel/:id',
  area: 'channels',
  summary: 'One channel',
  access: 'auditor',
  params: ID_PARAMS,
  reply: CHANNEL,
  errors: ['not_found'],
  handler: async ({ deps, params }) => channelWire(await getChannel(deps, params.id)),
});

const CREATE_BODY = {
  ...CHANNEL_BODY,
  name: NAME.required(),
  provider: NAME.required(),
  models: MODELS.required(),
  credentials: mapOf<string>(SECRET),
  settings: mapOf<SettingValue>(SETTING),
  status: STATUS.default(1),
  reason: REASON,
};

const create = defineOperation({
  id: 'createChannel',
  method: 'POST',
  path: '/api/channel',
  area: 'channels',
  summary: 'Add a channel',
  description:
    '`/api/channel/providers` lists the credentials and settings that each provider takes. Credentials are stored encrypted and never shown again.',
  access: 'admin',
  body: Joi.object<CreateBody, true>(CREATE_BODY),
  reply: WRITTEN,
  errors: ['conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    return written(deps, await createChannel(deps, draftOf(body), because(actor, body.reason)));
  },
});

const update = defineOperation({
  id: 'updateChannel',
  method: 'PUT',
  path: '/api/channel',
  area: 'channels',
  summary: 'Change a channel',
  description:
    'Absent members stay as they are, and so does each absent name in settings and credentials; null removes one. Another provider starts without settings and credentials; a change of the provider, the address or a setting that may redirect requests requires all credentials anew. Of a channel in the configuration only the status can change. With `status_only`, only the status of any channel changes.',
  access: 'admin',
  query: STATUS_ONLY_QUERY,
  body: Joi.object<UpdateBody, true>({
    ...CHANNEL_BODY,
    id: ID.required(),
    if_revision: IF_REVISION,
    reason: REASON,
  }),
  reply: WRITTEN,
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor }) {
    const { id, reason } = body;
    const { status } = body;
    const edit = isStatusOnly(query, body)
      ? status === undefined
        ? {}
        : { status }
      : channelEdit(body);
    const who = because(actor, reason);
    return written(deps, await updateChannel(deps, id, edit, who, body.if_revision));
  },
});

const remove = defineOperation({
  id: 'deleteChannel',
  method: 'DELETE',
  path: '/api/channel/:id',
  area: 'channels',
  summary: 'Delete a channel, with its credentials',
  access: 'admin',
  params: ID_PARAMS,
  query: REASON_QUERY,
  reply: Joi.object<DeletedWire, true>({ id: ID.required(), ...IN_FORCE }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, params: { id }, query, actor }) {
    const version = await deleteChannel(deps, id, because(actor, query.reason));
    return { id, ...(await inForce(deps, version)) };
  },
});

const removeMany = defineOperation({
  id: 'deleteChannels',
  method: 'POST',
  path: '/api/channel/batch',
  area: 'channels',
  summary: 'Delete many channels',
  description:
    'Skips those that do not exist. If one of them is in the configuration, none is deleted.',
  access: 'admin',
  body: Joi.object<BatchBody, true>({ ids: IDS.required(), reason: REASON }),
  reply: MANY,
  errors: ['conflict'],
  async handler({ deps, body, actor }) {
    const write = await deleteChannels(deps, body.ids, because(actor, body.reason));
    return many(deps, write);
  },
});

const retag = defineOperation({
  id: 'retagChannels',
  method: 'POST',
  path: '/api/channel/batch/tag',
  area: 'channels',
  summary: 'Give many channels another tag in one write',
  access: 'admin',
  body: Joi.object<RetagBody, true>({
    ids: IDS.required(),
    tag: TAG.required(),
    reason: REASON,
  }),
  reply: MANY,
  errors: ['not_found', 'conflict'],
  async handler({ deps, body, actor }) {
    const edit = { tag: textOf(body.tag) };
    return many(deps, await editChannels(deps, body.ids, edit, because(actor, body.reason)));
  },
});

const switchMany = defineOperation({
  id: 'switchChannels',
  method: 'POST',
  path: '/api/channel/batch/status',
  area: 'channels',
  summary: 'Switch many channels on or off in one write',
  description:
    'Including those in the configuration. `ids` in the reply are those whose status changed, so that switching them back is the exact undo; those of them that the gateway itself had disabled are in `auto_disabled`.',
  access: 'admin',
  body: Joi.object<SwitchBody, true>({
    ids: IDS.required(),
    status: STATUS.required(),
    reason: REASON,
  }),
  reply: Joi.object<SwitchedWire, true>({
    ids: Joi.array().items(ID).required(),
    count: COUNT.required(),
    auto_disabled: Joi.array().items(ID).required(),
    ...IN_FORCE,
  }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, body: { ids, status, reason }, actor }) {
    const write = await switchChannels(deps, ids, status === 1, because(actor, reason));
    return { ...(await many(deps, write)), auto_disabled: [...write.autoDisabled] };
  },
});

const copy = defineOperation({
  id: 'copyChannel',
  method: 'POST',
  path: '/api/channel/copy/:id',
  area: 'channels',
  summary: 'Add a copy of a channel, without its credentials',
  description:
    'Credentials are never copied: give those of the copy here or later; it takes no traffic until it has all that it needs.',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<CopyBody, true>({
    name: NAME.empty(''),
    status: STATUS,
    credentials: mapOf<string>(SECRET),
    api_key: API_KEY,
    api_keys: API_KEYS,
    reason: REASON,
  }),
  reply: WRITTEN,
  errors: ['not_found', 'conflict'],
  idempotent: true,
  async handler({ deps, params, body, actor }) {
    const { name, status, reason } = body;
    const given = {
      ...(name === undefined ? {} : { name }),
      ...(status === undefined ? {} : { status }),
      credentials: withoutNull(credentialsOf(body)),
    };
    return written(deps, await copyChannel(deps, params.id, given, because(actor, reason)));
  },
});

const TEST_MODEL = NAME.empty(['', null]).description(
  'Under the name that callers use; by default its first model.',
);

const test = defineOperation({
  id: 'testChannel',
  method: 'POST',
  path: '/api/channel/test/:id',
  area: 'channels',
  summary: 'Send a channel a real request of two documents, switched on or not',
  description:
    'Costs what the provider charges. `problem` says what is wrong, with status 200, since the test itself was made.',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<TestBody, true>({
    model: TEST_MODEL,
    reason: REASON,
  }),
  reply: TESTED,
  errors: ['not_found', 'conflict'],
  async handler({ deps, params, body, actor }) {
    const { model, reason } = body;
    return testedWire(await testChannel(deps, params.id, model, because(actor, reason)));
  },
});

const upstreamModels = defineOperation({
  id: 'listUpstreamModels',
  method: 'GET',
  path: '/api/channel/:id/upstream-models',
  area: 'channels',
  summary: 'The models that a channel’s server lists, under its own names',
  description: 'Asks the server; empty if it lists none.',
  access: 'admin',
  params: ID_PARAMS,
  reply: Joi.array<string[]>().items(Joi.string()).required(),
  errors: ['not_found', 'conflict', 'upstream_error'],
  handler: async ({ deps, params }) => [...(await listUpstreamModels(deps, params.id))],
});

const draft = defineOperation({
  id: 'testDraft',
  method: 'POST',
  path: '/api/channel/test',
  area: 'channels',
  summary: 'Send a draft of a channel a real request of two documents',
  description:
    'Takes the same input as adding a channel, and answers like the test of a channel. Stores nothing but an entry in the audit log, without credentials. Costs what the provider charges.',
  access: 'admin',
  body: Joi.object<DraftBody, true>({ ...CREATE_BODY, model: TEST_MODEL }),
  reply: TESTED,
  async handler({ deps, body, actor }) {
    const { model, reason } = body;
    return testedWire(await testDraft(deps, draftOf(body), model, because(actor, reason)));
  },
});

const models = defineOperation({
  id: 'listChannelModels',
  method: 'GET',
  path: '/api/channel/models',
  area: 'channels',
  summary:
    'Every model that a channel serves, with its channels in the order in which they are tried',
  access: 'auditor',
  reply: Joi.array<ModelWire[]>()
    .items(
      Joi.object<ModelWire, true>({
        id: Joi.string().required(),
        live: Joi.boolean().required(),
        channels: Joi.array()
          .items(
            Joi.object<ModelWire['channels'][number], true>({
              id: ID.required(),
              name: Joi.string().required(),
              provider: Joi.string().required(),
              tag: Joi.string().allow(null).required(),
              upstream_model: Joi.string().required(),
              priority: Joi.number().required(),
              weight: Joi.number().required(),
              live: Joi.boolean().required(),
              because: BECAUSE.allow(null).required().description('Why it takes no traffic.'),
            }),
          )
          .required(),
      }),
    )
    .required(),
  handler: async ({ deps }) => (await listModels(deps)).map(modelWire),
});

const providers = defineOperation({
  id: 'listProviders',
  method: 'GET',
  path: '/api/channel/providers',
  area: 'channels',
  summary: 'The providers, with the credentials and settings that each takes',
  access: 'auditor',
  reply: Joi.array<ProviderWire[]>()
    .items(
      Joi.object<ProviderWire, true>({
        id: Joi.string().required(),
        title: Joi.string().required(),
        inside: Joi.boolean().required().description('Whether it ranks inside the gateway.'),
        base_url: Joi.string()
          .allow(null)
          .required()
          .description('Null: a channel must name its server, unless it ranks inside.'),
        credentials: Joi.array()
          .items(
            Joi.object<CredentialWire, true>({
              name: Joi.string().required(),
              required: Joi.boolean().required(),
              description: Joi.string().required(),
            }),
          )
          .required(),
        settings: Joi.array()
          .items(
            Joi.object<SettingWire, true>({
              name: Joi.string().required(),
              required: Joi.boolean().required(),
              description: Joi.string().required(),
              type: Joi.string<SettingWire['type']>().required(),
              default: SETTING_OR_NULL.required(),
            }),
          )
          .required(),
        example_models: Joi.array().items(Joi.string()).required(),
        notes: Joi.array().items(Joi.string()).required(),
      }),
    )
    .required(),
  handler: () => listProviders().map(providerWire),
});

async function listed(deps: OperationDeps, query: SearchQuery): Promise<ListReply<ChannelWire>> {
  const { tag, provider, model, live, because: why, sort, keyword } = query;
  const filter: ChannelFilter = {
    ...(tag === undefined ? {} : { tag }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(live === undefined ? {} : { live }),
    ...(why === undefined ? {} : { because: why }),
    ...(sort === undefined ? {} : { sort }),
    ...(keyword === undefined ? {} : { keyword }),
  };
  const found = await listChannels(deps, filter);
  const { offset, limit } = sliceOf(query);
  const page = { items: found.slice(offset, offset + limit), total: found.length };
  return listReply(page, query, channelWire);
}

function draftOf(body: CreateBody): ChannelDraft {
  const { name, provider, models: served, settings = {} } = body;
  const edit = channelEdit(body);
  const credentials = withoutNull(edit.credentials ?? {});
  return { ...edit, name, provider, settings, credentials, models: modelMap(served) };
}

async function written(
  deps: OperationDeps,
  { channel, version }: ChannelWrite,
): Promise<WrittenWire> {
  return { ...channelWire(channel), ...(await inForce(deps, version)) };
}

async function many(
  deps: OperationDeps,
  { ids, version }: { readonly ids: readonly number[]; readonly version: number },
): Promise<ManyWire> {
  return { ids: [...ids], count: ids.length, ...(await inForce(deps, version)) };
}

function withoutNull<T>(members: Readonly<Record<string, T | null>>): Record<string, T> {
  const entries = Object.entries(members);
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== null));
}

function modelWire({ model, channels }: ServedModel): ModelWire {
  return {
    id: model,
    live: channels.some(({ state }) => state.live),
    channels: channels.map(({ id, name, provider, tag, models, priority, weight, state }) => ({
      ...{ id, name, provider, priority, weight },
      tag: tag ?? null,
      upstream_model: own(models, model) ?? model,
      live: state.live,
      because: state.live ? null : state.because,
    })),
  };
}

function providerWire(provider: ProviderView): ProviderWire {
  const { credentials = {}, settings = {} } = provider;
  return {
    id: provider.id,
    title: provider.title,
    inside: provider.inside,
    base_url: provider.baseUrl ?? null,
    credentials: Object.entries(snakeKeys(credentials)).map(([name, { required, describe }]) => ({
      name,
      required,
      description: describe,
    })),
    settings: Object.entries(snakeKeys(settings)).map(([name, spec]) => ({
      name,
      required: spec.required ?? false,
      description: spec.describe,
      type: spec.type,
      default: spec.default ?? null,
    })),
    example_models: [...provider.exampleModels],
    notes: [...provider.notes],
  };
}

export const CHANNEL_OPERATIONS: readonly Operation[] = [
  ...[
    list,
    search,
    get,
    create,
    update,
    remove,
    removeMany,
    retag,
    switchMany,
    copy,
    upstreamModels,
    test,
    draft,
    models,
    providers,
  ],
];
