import Joi from 'joi';
import type { ChannelStatus } from '../../core/channel.js';
import type { ScoreScale } from '../../core/probe.js';
import { Secret } from '../../core/secret.js';
import {
  copyChannel,
  createChannel,
  deleteChannel,
  deleteChannels,
  editChannels,
  getChannel,
  listChannels,
  listModels,
  listProviders,
  testChannel,
  updateChannel,
  type ChannelEdit,
  type ChannelFilter,
  type ChannelWrite,
  type ProviderView,
  type ServedModel,
} from '../../management/channels.js';
import {
  CHANNEL,
  CHANNEL_MEMBERS,
  CHANNEL_STATUS,
  channelWire,
  snakeKeys,
  type ChannelWire,
} from '../channel-view.js';
import { IN_FORCE, inForce, type InForceView } from '../in-force.js';
import {
  ID,
  ID_PARAMS,
  LIST_QUERY,
  listOf,
  listReply,
  mapOf,
  sliceOf,
  type ListQuery,
  type ListReply,
} from '../lists.js';
import { defineOperation, type Operation, type OperationDeps } from '../operation.js';
import { because, IDS, REASON, REASON_QUERY } from '../reason.js';
import {
  modelMap,
  MODELS,
  SHARED_BODY,
  sharedEdit,
  type Models,
  type SharedBody,
} from '../shared-edit.js';
import { isStatusOnly, STATUS_ONLY_QUERY } from '../status-only.js';
import { STATUS } from '../user-view.js';
import { testedWire, type TestedWire } from './views.js';

type SettingValue = string | number | boolean;

interface FilterQuery extends ListQuery {
  tag?: string;
  provider?: string;
  model?: string;
  live?: boolean;
}

interface SearchQuery extends FilterQuery {
  keyword?: string;
}

interface CreateBody extends SharedBody {
  name: string;
  provider: string;
  models: Models;
  base_url?: string | null;
  api_key?: string;
  credentials?: Record<string, string>;
  settings?: Record<string, SettingValue>;
  tag?: string | null;
  status: 1 | 2;
  reason?: string;
}

interface UpdateBody extends SharedBody {
  id: number;
  name?: string;
  provider?: string;
  base_url?: string | null;
  api_key?: string;
  credentials?: Record<string, string | null>;
  settings?: Record<string, SettingValue | null>;
  tag?: string | null;
  status?: ChannelStatus;
  reason?: string;
}

interface BatchBody {
  ids: number[];
  reason?: string;
}

interface RetagBody extends BatchBody {
  tag: string | null;
}

interface CopyBody {
  name?: string;
  status?: 1 | 2;
  reason?: string;
}

interface TestBody {
  model?: string;
  reason?: string;
}

interface WrittenWire extends ChannelWire, InForceView {}

interface DeletedWire extends InForceView {
  id: number;
}

interface ManyWire extends InForceView {
  ids: number[];
  count: number;
}

interface ModelWire {
  id: string;
  /** Whether any of its channels takes traffic. */
  live: boolean;
  channels: { id: number; name: string; tag: string | null; live: boolean }[];
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
const URL_TEXT = Joi.string().max(4_096).allow(null, '');
/** Private keys and service accounts are whole files. */
const SECRET = Joi.string().max(65_536);
const API_KEY = SECRET.empty('').description('The same as credentials.api_key.');
const SETTING_KINDS = [Joi.string().allow('').max(65_536), Joi.number(), Joi.boolean()];
const SETTING = Joi.alternatives<SettingValue>().try(...SETTING_KINDS);
// Not `SETTING.allow(null)`: in the document, null would take the place of the kinds.
const SETTING_OR_NULL = Joi.alternatives<SettingValue | null>().try(
  ...SETTING_KINDS,
  Joi.any().valid(null),
);
const TAG = NAME.allow(null, '').description('Null and the empty text: none.');
const COUNT = Joi.number().integer().min(0);

const FILTER = {
  ...LIST_QUERY,
  tag: NAME.empty(''),
  provider: NAME.empty(''),
  model: NAME.empty('').description('As callers name it.'),
  live: Joi.boolean().empty('').description('Whether it takes traffic.'),
};

const WRITTEN = Joi.object<WrittenWire, true>({ ...CHANNEL_MEMBERS, ...IN_FORCE });
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
  access: 'admin',
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
  access: 'admin',
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
  access: 'admin',
  params: ID_PARAMS,
  reply: CHANNEL,
  errors: ['not_found'],
  handler: async ({ deps, params }) => channelWire(await getChannel(deps, params.id)),
});

const create = defineOperation({
  id: 'createChannel',
  method: 'POST',
  path: '/api/channel',
  area: 'channels',
  summary: 'Add a channel',
  description:
    'Which credentials and settings a provider takes is told by `/api/channel/providers`. Credentials are kept encrypted and never shown again.',
  access: 'admin',
  body: Joi.object<CreateBody, true>({
    name: NAME.required(),
    provider: NAME.required(),
    base_url: URL_TEXT.description('Null and the empty text: the provider’s own.'),
    api_key: API_KEY,
    credentials: mapOf<string>(SECRET),
    settings: mapOf<SettingValue>(SETTING),
    tag: TAG,
    status: STATUS.default(1),
    ...SHARED_BODY,
    models: MODELS.required(),
    reason: REASON,
  }),
  reply: WRITTEN,
  errors: ['conflict'],
  idempotent: true,
  async handler({ deps, body, actor }) {
    const { name, provider, status, reason } = body;
    const draft = {
      name,
      provider,
      status,
      baseUrl: textOf(body.base_url),
      tag: textOf(body.tag),
      settings: body.settings ?? {},
      credentials: withoutNull(credentialsOf(body)),
      ...sharedEdit(body),
      models: modelMap(body.models),
    };
    return written(deps, await createChannel(deps, draft, because(actor, reason)));
  },
});

const update = defineOperation({
  id: 'updateChannel',
  method: 'PUT',
  path: '/api/channel',
  area: 'channels',
  summary: 'Change a channel',
  description:
    'What is absent stays; of settings and credentials each name does, and null takes one away. Another provider starts without settings and credentials. Of a channel of the configuration the status alone can be changed. With `status_only`, so it is of any channel.',
  access: 'admin',
  query: STATUS_ONLY_QUERY,
  body: Joi.object<UpdateBody, true>({
    id: ID.required(),
    name: NAME,
    provider: NAME,
    base_url: URL_TEXT.description('Null and the empty text: the provider’s own.'),
    api_key: API_KEY,
    credentials: mapOf<string | null>(SECRET.allow(null)),
    settings: mapOf<SettingValue | null>(SETTING_OR_NULL),
    tag: TAG,
    status: CHANNEL_STATUS,
    ...SHARED_BODY,
    reason: REASON,
  }),
  reply: WRITTEN,
  errors: ['not_found', 'conflict'],
  async handler({ deps, query, body, actor }) {
    const { id, reason } = body;
    const edit = editOf(body, isStatusOnly(query, body));
    return written(deps, await updateChannel(deps, id, edit, because(actor, reason)));
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
    'Those that are not there are passed over. With one of the configuration among them, none is deleted.',
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
  summary: 'Give many channels another tag, in one write',
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

const copy = defineOperation({
  id: 'copyChannel',
  method: 'POST',
  path: '/api/channel/copy/:id',
  area: 'channels',
  summary: 'Add a channel like another, with its credentials',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<CopyBody, true>({
    name: NAME.empty(''),
    status: STATUS,
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
    };
    return written(deps, await copyChannel(deps, params.id, given, because(actor, reason)));
  },
});

const test = defineOperation({
  id: 'testChannel',
  method: 'POST',
  path: '/api/channel/test/:id',
  area: 'channels',
  summary: 'Send a channel a real request of two documents, switched on or not',
  description:
    'Costs what the provider takes for it. What is wrong is told in `problem`, with a status of 200: the test itself was made.',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<TestBody, true>({
    model: NAME.empty(['', null]).description('As callers name it; the first one if not given.'),
    reason: REASON,
  }),
  reply: Joi.object<TestedWire, true>({
    ok: Joi.boolean().required(),
    model: Joi.string().required(),
    upstream_model: Joi.string().required(),
    url: Joi.string().allow(null).required().description('Where the request went.'),
    status: Joi.number().integer().allow(null).required().description('Of its reply.'),
    latency_ms: Joi.number().min(0).required(),
    order: Joi.string<'right' | 'wrong' | 'undecided'>()
      .valid('right', 'wrong', 'undecided')
      .allow(null)
      .required(),
    scores: Joi.object<{ right: number; other: number }, true>({
      right: Joi.number().required(),
      other: Joi.number().required(),
    })
      .allow(null)
      .required()
      .description('Of the document that answers the query, and of the one that does not.'),
    score_scale: Joi.object<{ expected: ScoreScale; observed: string; fits: boolean }, true>({
      expected: Joi.string<ScoreScale>().required(),
      observed: Joi.string().required(),
      fits: Joi.boolean().required(),
    })
      .allow(null)
      .required(),
    usage: Joi.object<TestedWire['usage'], true>({
      input_tokens: Joi.number().allow(null).required(),
      search_units: Joi.number().allow(null).required(),
    })
      .required()
      .description('As the upstream tells it.'),
    problem: Joi.object<{ code: string; message: string }, true>({
      code: Joi.string().required(),
      message: Joi.string().required(),
    })
      .allow(null)
      .required(),
    warnings: Joi.array().items(Joi.string()).required(),
  }),
  errors: ['not_found', 'conflict'],
  async handler({ deps, params, body, actor }) {
    const { model, reason } = body;
    return testedWire(await testChannel(deps, params.id, model, because(actor, reason)));
  },
});

const models = defineOperation({
  id: 'listChannelModels',
  method: 'GET',
  path: '/api/channel/models',
  area: 'channels',
  summary: 'Every model that a channel serves, and which channels do',
  access: 'admin',
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
              tag: Joi.string().allow(null).required(),
              live: Joi.boolean().required(),
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
  access: 'admin',
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
  const { tag, provider, model, live, keyword } = query;
  const filter: ChannelFilter = {
    ...(tag === undefined ? {} : { tag }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(live === undefined ? {} : { live }),
    ...(keyword === undefined ? {} : { keyword }),
  };
  const found = await listChannels(deps, filter);
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

async function many(
  deps: OperationDeps,
  { ids, version }: { readonly ids: readonly number[]; readonly version: number },
): Promise<ManyWire> {
  return { ids: [...ids], count: ids.length, ...(await inForce(deps, version)) };
}

function editOf(body: UpdateBody, statusOnly: boolean): ChannelEdit {
  const { name, provider, base_url, tag, settings, status } = body;
  if (statusOnly) return status === undefined ? {} : { status };
  const credentials = credentialsOf(body);
  return {
    ...sharedEdit(body),
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
    ...(base_url === undefined ? {} : { baseUrl: textOf(base_url) }),
    ...(tag === undefined ? {} : { tag: textOf(tag) }),
    ...(status === undefined ? {} : { status }),
    ...(settings === undefined ? {} : { settings }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
}

function credentialsOf({
  credentials = {},
  api_key: key,
}: Pick<UpdateBody, 'credentials' | 'api_key'>): Record<string, Secret | null> {
  const given = key === undefined ? credentials : { ...credentials, api_key: key };
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, text === null ? null : new Secret(text)]),
  );
}

function withoutNull<T>(members: Readonly<Record<string, T | null>>): Record<string, T> {
  const entries = Object.entries(members);
  return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== null));
}

/** Null and the empty text say that there is none. */
function textOf(given: string | null | undefined): string | undefined {
  return given === null || given === '' ? undefined : given;
}

function modelWire({ model, channels }: ServedModel): ModelWire {
  return {
    id: model,
    live: channels.some(({ state }) => state.live),
    channels: channels.map(({ id, name, tag, state }) => ({
      id,
      name,
      tag: tag ?? null,
      live: state.live,
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
  ...[list, search, get, create, update, remove, removeMany, retag, copy, test, models, providers],
];
