import Joi from 'joi';
import { present } from '../core/records.js';
import { listAudit } from '../management/audit-log.js';
import { listRequests, type LoggedRequest } from '../management/requests.js';
import { sumUsage } from '../management/usage-sums.js';
import type { Logged, LogSlice, UsageEntry } from '../store/store.js';
import { listOf } from '../shapes/lists.js';
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
import { extended, namesOf, nullable, shape, type ObjectOf, type Of } from '../shapes/shape.js';
import {
  AUDIT_FILTERS,
  auditFilterOf,
  filterOf,
  FILTERS,
  LOG_QUERY,
  OWN_FILTERS,
  OWN_REQUESTS_QUERY,
  partOf,
  REFUSED_FILTERS,
  refusedFilterOf,
  REQUEST,
  requestFilterOf,
  REQUESTS_QUERY,
} from './log-filters.js';
import { CSV, pageOrFile } from './list-file.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';

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
  summary: 'Sums over the requests that match',
  access: 'auditor',
  query: shape(FILTERS),
  reply: STATS,
  handler: async ({ deps, query }) => statsWire(await sumUsage(deps, filterOf(query))),
});

const ownStats = defineOperation({
  id: 'sumOwnUsage',
  method: 'GET',
  path: '/api/log/self/stat',
  summary: 'Sums over your own matching requests',
  access: 'login',
  query: shape(OWN_FILTERS),
  reply: STATS,
  handler: async ({ deps, query, actor }) =>
    statsWire(await sumUsage(deps, { ...filterOf(query), userId: actor.id })),
});

const audit = defineOperation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/audit',
  summary: 'Management writes: who did what, when, from where and why; newest first',
  access: 'auditor',
  query: shape({ ...LOG_QUERY, ...AUDIT_FILTERS }),
  reply: listOf(AUDIT),
  files: [CSV],
  handler: ({ deps, query }) =>
    pageOrFile(
      query,
      AUDIT_FILE,
      auditWire,
      (slice, before) =>
        listAudit(deps, {
          ...{ ...auditFilterOf(query), ...partOf(query), ...slice },
          ...present({ before }),
        }),
      ({ id }) => id,
    ),
});

type Ids = Pick<OperationDeps, 'logIds'>;

/** Users are not told how many entries others have. */
function masked<T, V>({ logIds }: Ids, view: (entry: Logged<T>) => V): (entry: Logged<T>) => V {
  return (entry) => view({ ...entry, id: logIds.mask(entry.id) });
}

function ownPartOf({ logIds }: Ids, query: ObjectOf<typeof LOG_QUERY>): Partial<LogSlice> {
  const { before, ...part } = partOf(query);
  return before === undefined ? part : { ...part, before: logIds.unmask(before) };
}

export const LOG_OPERATIONS = inArea('logs', [
  list,
  listOwn,
  requests,
  ownRequests,
  refused,
  ownRefused,
  stats,
  ownStats,
  audit,
]);
