import Joi from 'joi';
import { listAudit } from '../management/audit-log.js';
import {
  listRequests,
  type LoggedRequest,
  type RequestFilter,
  type RequestSlice,
} from '../management/requests.js';
import type {
  Logged,
  LogSlice,
  RefusedQuery,
  Slice,
  UsageEntry,
  UsageQuery,
} from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import {
  AUDIT_REPLY,
  auditWire,
  OWN_USAGE_REPLY,
  ownUsageWire,
  SECONDS,
  STATS,
  statsWire,
  USAGE_REPLY,
  usageWire,
  type AuditWire,
  type OwnUsageWire,
  type UsageWire,
} from '../shapes/log.js';
import {
  OWN_REFUSED_REPLY,
  ownRefusedWire,
  REFUSED_REPLY,
  refusedWire,
  type OwnRefusedWire,
  type RefusedWire,
} from '../shapes/refused.js';
import {
  LISTED_REQUEST,
  listedWire,
  OWN_LISTED_REQUEST,
  ownListedWire,
  type ListedRequestWire,
  type OwnListedRequestWire,
} from '../shapes/request.js';
import { ID, listOf } from '../shapes/lists.js';
import { CSV, FORMAT_QUERY, namesOf, pageOrFile, type FormatQuery } from './list-file.js';
import { defineOperation, type OperationDeps } from './operation.js';

interface SpanQuery {
  start_timestamp?: number;
  end_timestamp?: number;
}

/** Which entries of a log, and whether as a file. */
interface LogQuery extends FormatQuery {
  before?: number;
  count: boolean;
}

/** The filters that users have for their own requests. */
interface OwnFilterQuery extends SpanQuery {
  token_id?: number;
  token_name?: string;
  model?: string;
  outcome?: string;
  min_duration_ms?: number;
}

/** Filters of lists, and not of sums. */
interface RequestQuery {
  request_id?: string;
}

interface FilterQuery extends OwnFilterQuery {
  user_id?: number;
  channel_id?: number;
  provider?: string;
  tag?: string;
}

interface OwnRefusedQuery extends OwnFilterQuery, RequestQuery, LogQuery {}
interface RefusedListQuery extends OwnRefusedQuery {
  user_id?: number;
  address?: string;
}

interface UsageListQuery extends FilterQuery, RequestQuery, LogQuery {}
interface OwnUsageQuery extends OwnFilterQuery, RequestQuery, LogQuery {}

/** Both logs in one list, which goes on with `before` alone. */
interface OwnRequestsQuery extends OwnFilterQuery, RequestQuery, Omit<LogQuery, 'p' | 'before'> {
  p: 1;
  before?: string;
  kind?: 'admitted' | 'refused';
}
interface RequestsQuery extends OwnRequestsQuery, FilterQuery {
  address?: string;
}

interface AuditListQuery extends SpanQuery, LogQuery {
  actor_id?: number;
  actor?: string;
  action?: string;
  target?: string;
}

/** A request in the log with the name of its channel. */
interface NamedUsageView extends UsageWire {
  channel: string | null;
}

const FILTER = Joi.string().max(1_024).empty('');

const SPAN_QUERY = {
  start_timestamp: SECONDS.description('Unix seconds.'),
  end_timestamp: SECONDS.description('Unix seconds, that second included.'),
};
const LOG_QUERY = {
  ...FORMAT_QUERY,
  before: ID.description('The `id` of an entry: only older ones, whatever was written since.'),
  count: Joi.boolean()
    .default(true)
    .description(
      'False: `total` counts no further than one entry beyond the page, which is quicker.',
    ),
};
const OWN_FILTERS = {
  token_id: ID,
  token_name: FILTER,
  model: FILTER,
  outcome: FILTER.description('ok, an error code, or failed for all error codes.'),
  min_duration_ms: COUNT.description('Only those that took as long, or longer.'),
  ...SPAN_QUERY,
};
const FILTERS = {
  ...OWN_FILTERS,
  user_id: ID,
  channel_id: ID,
  provider: FILTER,
  tag: FILTER,
};

const REQUEST = { request_id: FILTER.description('The newest request with this id.') };

const REQUESTS_QUERY = {
  ...LOG_QUERY,
  p: Joi.number<1>().valid(1).default(1).description('Only 1: older ones come with `before`.'),
  before: Joi.string()
    .max(64)
    .empty('')
    .description('The `id` of a request: only older ones, whatever was written since.'),
  kind: Joi.string<'admitted' | 'refused'>()
    .valid('admitted', 'refused')
    .empty('')
    .description('Only these. If not given: both.'),
  ...OWN_FILTERS,
  ...REQUEST,
};

const OWN_REFUSED = Joi.object<OwnRefusedWire, true>(OWN_REFUSED_REPLY);
const REFUSED = Joi.object<RefusedWire, true>(REFUSED_REPLY);
const OWN_USAGE = Joi.object<OwnUsageWire, true>(OWN_USAGE_REPLY);
const USAGE_MEMBERS = {
  ...USAGE_REPLY,
  channel: Joi.string().allow(null).required().description('Its name today; null once it is gone.'),
};
const USAGE = Joi.object<NamedUsageView, true>(USAGE_MEMBERS);
const AUDIT = Joi.object<AuditWire, true>(AUDIT_REPLY);

const OWN_USAGE_FILE = { name: 'usage', columns: namesOf(OWN_USAGE_REPLY) };
const USAGE_FILE = { name: 'usage', columns: namesOf(USAGE_MEMBERS) };
const OWN_REFUSED_FILE = { name: 'refused', columns: namesOf(OWN_REFUSED_REPLY) };
const REFUSED_FILE = { name: 'refused', columns: namesOf(REFUSED_REPLY) };
const OWN_REQUESTS_FILE = { name: 'requests', columns: namesOf(OWN_LISTED_REQUEST) };
const REQUESTS_FILE = { name: 'requests', columns: namesOf(LISTED_REQUEST) };
const AUDIT_FILE = { name: 'audit', columns: namesOf(AUDIT_REPLY) };

const list = defineOperation({
  id: 'listUsage',
  method: 'GET',
  path: '/api/log',
  area: 'logs',
  summary: 'Admitted requests, newest first',
  access: 'auditor',
  query: Joi.object<UsageListQuery, true>({ ...LOG_QUERY, ...FILTERS, ...REQUEST }),
  reply: listOf(USAGE),
  files: [CSV],
  handler: async ({ deps, query }) => {
    const nameOf = await deps.known.names();
    const view = (entry: Logged<UsageEntry>): NamedUsageView => ({
      ...usageWire(entry),
      channel: entry.channelId === undefined ? null : (nameOf(entry.channelId) ?? null),
    });
    return pageOrFile(query, USAGE_FILE, view, (slice) =>
      deps.store.listUsage({ ...filterOf(query), ...requestOf(query), ...partOf(query), ...slice }),
    );
  },
});

const listOwn = defineOperation({
  id: 'listOwnUsage',
  method: 'GET',
  path: '/api/log/self',
  area: 'logs',
  summary: 'Your own admitted requests, newest first',
  access: 'login',
  query: Joi.object<OwnUsageQuery, true>({ ...LOG_QUERY, ...OWN_FILTERS, ...REQUEST }),
  reply: listOf(OWN_USAGE),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_USAGE_FILE, masked(deps, ownUsageWire), (slice) =>
      deps.store.listUsage({
        ...filterOf(query),
        ...requestOf(query),
        ...ownPartOf(deps, query),
        ...{ userId: actor.id, ...slice },
      }),
    ),
});

const requests = defineOperation({
  id: 'listRequests',
  method: 'GET',
  path: '/api/log/request',
  area: 'logs',
  summary: 'Admitted and refused requests in one list, newest first',
  description:
    'A refused request has no channel, provider and tag: it does not match if one of these is asked for. An admitted one has no address.',
  access: 'auditor',
  query: Joi.object<RequestsQuery, true>({
    ...{ ...REQUESTS_QUERY, ...FILTERS },
    address: FILTER,
  }),
  reply: listOf(Joi.object<ListedRequestWire>(LISTED_REQUEST)),
  files: [CSV],
  handler: async ({ deps, query }) => {
    const nameOf = await deps.known.names();
    return pageOrFile(
      query,
      REQUESTS_FILE,
      (entry: LoggedRequest) => listedWire(entry, nameOf),
      (slice) => listRequests(deps.store, requestFilterOf(query), requestsPartOf(query, slice)),
    );
  },
});

const ownRequests = defineOperation({
  id: 'listOwnRequests',
  method: 'GET',
  path: '/api/log/self/request',
  area: 'logs',
  summary: 'Your own requests, admitted and refused, in one list, newest first',
  access: 'login',
  query: Joi.object<OwnRequestsQuery, true>(REQUESTS_QUERY),
  reply: listOf(Joi.object<OwnListedRequestWire>(OWN_LISTED_REQUEST)),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_REQUESTS_FILE, ownListedWire, (slice) =>
      listRequests(
        deps.store,
        requestFilterOf({ ...query, user_id: actor.id }),
        requestsPartOf(query, slice),
        deps.logIds,
      ),
    ),
});

const refused = defineOperation({
  id: 'listRefusals',
  method: 'GET',
  path: '/api/log/refused',
  area: 'logs',
  summary: 'Refused requests, newest first',
  description:
    'For each address and code, a gateway writes ten a second and counts the rest in the last one.',
  access: 'auditor',
  query: Joi.object<RefusedListQuery, true>({
    ...LOG_QUERY,
    ...OWN_FILTERS,
    ...REQUEST,
    user_id: ID,
    address: FILTER,
  }),
  reply: listOf(REFUSED),
  files: [CSV],
  handler: ({ deps, query }) => {
    const { user_id: userId, address } = query;
    const wanted = {
      ...refusedFilterOf(query),
      ...(userId === undefined ? {} : { userId }),
      ...(address === undefined ? {} : { address }),
    };
    return pageOrFile(query, REFUSED_FILE, refusedWire, (slice) =>
      deps.store.listRefused({ ...wanted, ...partOf(query), ...slice }),
    );
  },
});

const ownRefused = defineOperation({
  id: 'listOwnRefusals',
  method: 'GET',
  path: '/api/log/self/refused',
  area: 'logs',
  summary: 'Refused requests with your own keys, newest first',
  access: 'login',
  query: Joi.object<OwnRefusedQuery, true>({ ...LOG_QUERY, ...OWN_FILTERS, ...REQUEST }),
  reply: listOf(OWN_REFUSED),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_REFUSED_FILE, masked(deps, ownRefusedWire), (slice) =>
      deps.store.listRefused({
        ...refusedFilterOf(query),
        ...ownPartOf(deps, query),
        ...{ userId: actor.id, ...slice },
      }),
    ),
});

const stats = defineOperation({
  id: 'sumUsage',
  method: 'GET',
  path: '/api/log/stat',
  area: 'logs',
  summary: 'Sums over the requests that match',
  access: 'auditor',
  query: Joi.object<FilterQuery, true>(FILTERS),
  reply: STATS,
  handler: async ({ deps, query }) => statsWire(await deps.store.usageStats(filterOf(query))),
});

const ownStats = defineOperation({
  id: 'sumOwnUsage',
  method: 'GET',
  path: '/api/log/self/stat',
  area: 'logs',
  summary: 'Sums over your own matching requests',
  access: 'login',
  query: Joi.object<OwnFilterQuery, true>(OWN_FILTERS),
  reply: STATS,
  handler: async ({ deps, query, actor }) =>
    statsWire(await deps.store.usageStats({ ...filterOf(query), userId: actor.id })),
});

const audit = defineOperation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/audit',
  area: 'logs',
  summary: 'Management writes: who did what, when, from where and why; newest first',
  access: 'auditor',
  query: Joi.object<AuditListQuery, true>({
    ...LOG_QUERY,
    actor_id: ID,
    actor: FILTER.description('The name of who did it.'),
    action: FILTER.description('Such as channel.create or tag.disable.'),
    target: FILTER.description('Such as channel:7 or tag:blue.'),
    ...SPAN_QUERY,
  }),
  reply: listOf(AUDIT),
  files: [CSV],
  handler: ({ deps, query }) => {
    const { actor_id: actorId, actor, action, target } = query;
    const wanted = {
      ...(actorId === undefined ? {} : { actorId }),
      ...(actor === undefined ? {} : { actor }),
      ...(action === undefined ? {} : { action }),
      ...(target === undefined ? {} : { target }),
      ...spanOf(query),
    };
    return pageOrFile(
      query,
      AUDIT_FILE,
      auditWire,
      (slice, before) =>
        listAudit(deps, {
          ...{ ...wanted, ...partOf(query), ...slice },
          ...(before === undefined ? {} : { before }),
        }),
      ({ id }) => id,
    );
  },
});

function filterOf(query: FilterQuery): Omit<UsageQuery, keyof LogSlice> {
  const { user_id: userId, token_id: tokenId, token_name: tokenName } = query;
  const { model, channel_id: channelId, outcome, provider, tag } = query;
  const { min_duration_ms: minDurationMs } = query;
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(tokenName === undefined ? {} : { tokenName }),
    ...(model === undefined ? {} : { model }),
    ...(channelId === undefined ? {} : { channelId }),
    ...(provider === undefined ? {} : { provider }),
    ...(tag === undefined ? {} : { tag }),
    ...(minDurationMs === undefined ? {} : { minDurationMs }),
    ...(outcome === undefined ? {} : outcome === 'failed' ? { failed: true } : { outcome }),
    ...spanOf(query),
  };
}

function requestFilterOf(query: RequestsQuery): RequestFilter {
  const { kind, address } = query;
  return {
    ...filterOf(query),
    ...requestOf(query),
    ...(kind === undefined ? {} : { kind }),
    ...(address === undefined ? {} : { address }),
  };
}

function requestsPartOf(
  { before, count }: Pick<OwnRequestsQuery, 'before' | 'count'>,
  { limit }: Slice,
): RequestSlice {
  return {
    limit,
    ...(before === undefined ? {} : { before }),
    ...(count ? {} : { count: false as const }),
  };
}

function partOf({ before, count }: LogQuery): Partial<LogSlice> {
  return { ...(before === undefined ? {} : { before }), ...(count ? {} : { count }) };
}

type Ids = Pick<OperationDeps, 'logIds'>;

/** Users are not told how many entries others have. */
function masked<T, V>({ logIds }: Ids, view: (entry: Logged<T>) => V): (entry: Logged<T>) => V {
  return (entry) => view({ ...entry, id: logIds.mask(entry.id) });
}

function ownPartOf({ logIds }: Ids, query: LogQuery): Partial<LogSlice> {
  const { before, ...part } = partOf(query);
  return before === undefined ? part : { ...part, before: logIds.unmask(before) };
}

function requestOf({ request_id: requestId }: RequestQuery): { readonly requestId?: string } {
  return requestId === undefined ? {} : { requestId };
}

function refusedFilterOf(query: OwnFilterQuery & RequestQuery): Omit<RefusedQuery, keyof LogSlice> {
  const { token_id: tokenId, token_name: tokenName, model, outcome } = query;
  const { min_duration_ms: minDurationMs } = query;
  return {
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(tokenName === undefined ? {} : { tokenName }),
    ...(model === undefined ? {} : { model }),
    // All of them failed.
    ...(outcome === undefined || outcome === 'failed' ? {} : { outcome }),
    ...(minDurationMs === undefined ? {} : { minDurationMs }),
    ...requestOf(query),
    ...spanOf(query),
  };
}

function spanOf({ start_timestamp: start, end_timestamp: end }: SpanQuery): {
  readonly fromMs?: number;
  readonly toMs?: number;
} {
  return {
    ...(start === undefined ? {} : { fromMs: start * 1000 }),
    ...(end === undefined ? {} : { toMs: end * 1000 + 999 }),
  };
}

export const LOG_OPERATIONS = [
  list,
  listOwn,
  requests,
  ownRequests,
  refused,
  ownRefused,
  stats,
  ownStats,
  audit,
] as const;
