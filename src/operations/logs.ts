import Joi from 'joi';
import { present } from '../core/records.js';
import { listAudit } from '../management/audit-log.js';
import { listRequests, type LoggedRequest, type RequestFilter } from '../management/requests.js';
import type { Logged, LogSlice, RefusedQuery, UsageEntry, UsageQuery } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import { ID, listOf } from '../shapes/lists.js';
import {
  AUDIT,
  auditWire,
  OWN_USAGE,
  ownUsageWire,
  STATS,
  statsWire,
  USAGE,
  usageWire,
} from '../shapes/log.js';
import { OWN_REFUSED, ownRefusedWire, REFUSED, refusedWire } from '../shapes/refused.js';
import {
  LISTED_REQUEST,
  listedWire,
  OWN_LISTED_REQUEST,
  ownListedWire,
} from '../shapes/request.js';
import {
  choice,
  extended,
  namesOf,
  nullable,
  optional,
  partial,
  recordOf,
  shape,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';
import { CSV, FORMAT_QUERY, pageOrFile } from './list-file.js';
import { SPAN, spanOf } from './span.js';
import { defineOperation, type OperationDeps } from './operation.js';

const FILTER = Joi.string().max(1_024).empty('');

/** Which entries of a log, and whether as a file. */
const LOG_QUERY = {
  ...FORMAT_QUERY,
  before: optional(
    ID.description('The `id` of an entry: only older ones, whatever was written since.'),
  ),
  count: Joi.boolean()
    .default(true)
    .description(
      'False: `total` counts no further than one entry beyond the page, which is quicker.',
    ),
};

/** The filters that users have for their own requests. */
const OWN_FILTERS = {
  ...partial({
    token_id: ID,
    token_name: FILTER,
    model: FILTER,
    outcome: FILTER.description('ok, an error code, or failed for all error codes.'),
    min_duration_ms: COUNT.description('Only those that took as long, or longer.'),
  }),
  ...SPAN,
};
const FILTERS = {
  ...OWN_FILTERS,
  ...partial({ user_id: ID, channel_id: ID, provider: FILTER, tag: FILTER }),
};
/** A filter of lists, and not of sums. */
const REQUEST = { request_id: optional(FILTER.description('The newest request with this id.')) };
const REFUSED_FILTERS = {
  ...OWN_FILTERS,
  ...REQUEST,
  ...partial({ user_id: ID, address: FILTER }),
};
const AUDIT_FILTERS = {
  ...partial({
    actor_id: ID,
    actor: FILTER.description('The name of who did it.'),
    action: FILTER.description('Such as channel.create or tag.disable.'),
    target: FILTER.description('Such as channel:7 or tag:blue.'),
  }),
  ...SPAN,
};

/** Both logs in one list, which goes on with `before` alone. */
const OWN_REQUESTS_QUERY = shape({
  ...LOG_QUERY,
  p: Joi.number<1>().valid(1).default(1).description('Only 1: older ones come with `before`.'),
  ...partial({
    before: Joi.string()
      .max(64)
      .empty('')
      .description('The `id` of a request: only older ones, whatever was written since.'),
    kind: choice('admitted', 'refused').empty('').description('Only these. If not given: both.'),
  }),
  ...OWN_FILTERS,
  ...REQUEST,
});
const REQUESTS_QUERY = extended(
  OWN_REQUESTS_QUERY,
  partial({ user_id: ID, channel_id: ID, provider: FILTER, tag: FILTER, address: FILTER }),
);
type RequestsQuery = Of<typeof REQUESTS_QUERY>;

/** A request in the log with the name of its channel. */
const NAMED_USAGE = extended(USAGE, {
  channel: nullable(Joi.string()).description('Its name today; null once it is gone.'),
});
type NamedUsageWire = Of<typeof NAMED_USAGE>;

const OWN_USAGE_FILE = { name: 'usage', columns: namesOf(OWN_USAGE) };
const USAGE_FILE = { name: 'usage', columns: namesOf(NAMED_USAGE) };
const OWN_REFUSED_FILE = { name: 'refused', columns: namesOf(OWN_REFUSED) };
const REFUSED_FILE = { name: 'refused', columns: namesOf(REFUSED) };
const OWN_REQUESTS_FILE = { name: 'requests', columns: namesOf(OWN_LISTED_REQUEST) };
const REQUESTS_FILE = { name: 'requests', columns: namesOf(LISTED_REQUEST) };
const AUDIT_FILE = { name: 'audit', columns: namesOf(AUDIT) };

const list = defineOperation({
  id: 'listUsage',
  method: 'GET',
  path: '/api/log',
  area: 'logs',
  summary: 'Admitted requests, newest first',
  access: 'auditor',
  query: shape({ ...LOG_QUERY, ...FILTERS, ...REQUEST }),
  reply: listOf(NAMED_USAGE),
  files: [CSV],
  handler: async ({ deps, query }) => {
    const nameOf = await deps.known.names();
    const view = (entry: Logged<UsageEntry>): NamedUsageWire => ({
      ...usageWire(entry),
      channel: entry.channelId === undefined ? null : (nameOf(entry.channelId) ?? null),
    });
    return pageOrFile(query, USAGE_FILE, view, (slice) =>
      deps.store.listUsage({ ...filterOf(query), ...partOf(query), ...slice }),
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
  query: shape({ ...LOG_QUERY, ...OWN_FILTERS, ...REQUEST }),
  reply: listOf(OWN_USAGE),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_USAGE_FILE, masked(deps, ownUsageWire), (slice) =>
      deps.store.listUsage({
        ...filterOf(query),
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
  query: REQUESTS_QUERY,
  reply: listOf(LISTED_REQUEST),
  files: [CSV],
  handler: async ({ deps, query }) => {
    const nameOf = await deps.known.names();
    return pageOrFile(
      query,
      REQUESTS_FILE,
      (entry: LoggedRequest) => listedWire(entry, nameOf),
      ({ limit }) => listRequests(deps.store, requestFilterOf(query), { limit, ...partOf(query) }),
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
  query: OWN_REQUESTS_QUERY,
  reply: listOf(OWN_LISTED_REQUEST),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_REQUESTS_FILE, ownListedWire, ({ limit }) =>
      listRequests(
        deps.store,
        { ...requestFilterOf(query), userId: actor.id },
        { limit, ...partOf(query) },
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
  query: shape({ ...LOG_QUERY, ...REFUSED_FILTERS }),
  reply: listOf(REFUSED),
  files: [CSV],
  handler: ({ deps, query }) =>
    pageOrFile(query, REFUSED_FILE, refusedWire, (slice) =>
      deps.store.listRefused({ ...refusedFilterOf(query), ...partOf(query), ...slice }),
    ),
});

const ownRefused = defineOperation({
  id: 'listOwnRefusals',
  method: 'GET',
  path: '/api/log/self/refused',
  area: 'logs',
  summary: 'Refused requests with your own keys, newest first',
  access: 'login',
  query: shape({ ...LOG_QUERY, ...OWN_FILTERS, ...REQUEST }),
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
  query: shape(FILTERS),
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
  query: shape(OWN_FILTERS),
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
  query: shape({ ...LOG_QUERY, ...AUDIT_FILTERS }),
  reply: listOf(AUDIT),
  files: [CSV],
  handler: ({ deps, query }) => {
    const { startTimestamp: _, endTimestamp: __, ...wanted } = recordOf(AUDIT_FILTERS, query);
    return pageOrFile(
      query,
      AUDIT_FILE,
      auditWire,
      (slice, before) =>
        listAudit(deps, {
          ...{ ...wanted, ...spanOf(query), ...partOf(query), ...slice },
          ...present({ before }),
        }),
      ({ id }) => id,
    );
  },
});

function filterOf(
  query: ObjectOf<typeof FILTERS & typeof REQUEST>,
): Omit<UsageQuery, keyof LogSlice> {
  const record = recordOf({ ...FILTERS, ...REQUEST }, query);
  const { outcome, startTimestamp: _, endTimestamp: __, ...wanted } = record;
  return {
    ...wanted,
    ...(outcome === undefined ? {} : outcome === 'failed' ? { failed: true } : { outcome }),
    ...spanOf(query),
  };
}

function requestFilterOf(query: RequestsQuery): RequestFilter {
  const { kind, address } = query;
  return { ...filterOf(query), ...present({ kind, address }) };
}

function refusedFilterOf(
  query: ObjectOf<typeof REFUSED_FILTERS>,
): Omit<RefusedQuery, keyof LogSlice> {
  const record = recordOf(REFUSED_FILTERS, query);
  const { outcome, startTimestamp: _, endTimestamp: __, ...wanted } = record;
  return {
    ...wanted,
    // All of them failed.
    ...(outcome === undefined || outcome === 'failed' ? {} : { outcome }),
    ...spanOf(query),
  };
}

/** Where a list goes on, and whether all that match are counted. */
function partOf<Id>({ before, count }: { readonly before?: Id; readonly count: boolean }): {
  readonly before?: Id;
  readonly count?: false;
} {
  return { ...(before === undefined ? {} : { before }), ...(count ? {} : { count }) };
}

type Ids = Pick<OperationDeps, 'logIds'>;

/** Users are not told how many entries others have. */
function masked<T, V>({ logIds }: Ids, view: (entry: Logged<T>) => V): (entry: Logged<T>) => V {
  return (entry) => view({ ...entry, id: logIds.mask(entry.id) });
}

function ownPartOf({ logIds }: Ids, query: ObjectOf<typeof LOG_QUERY>): Partial<LogSlice> {
  const { before, ...part } = partOf(query);
  return before === undefined ? part : { ...part, before: logIds.unmask(before) };
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
