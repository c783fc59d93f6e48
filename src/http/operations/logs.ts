import Joi from 'joi';
import { GatewayError } from '../../core/errors.js';
import type {
  AuditEntry,
  Page,
  Slice,
  UsageEntry,
  UsageQuery,
  UsageStats,
} from '../../store/store.js';
import { csvOf } from '../csv.js';
import { ID, LIST_QUERY, listOf, listReply, sliceOf, type ListQuery } from '../lists.js';
import { defineOperation, FileReply, type Operation } from '../operation.js';

interface SpanQuery {
  start_timestamp?: number;
  end_timestamp?: number;
}

/** What somebody may ask of their own requests. */
interface OwnFilterQuery extends SpanQuery {
  token_id?: number;
  token_name?: string;
  model?: string;
  outcome?: string;
}

interface FilterQuery extends OwnFilterQuery {
  user_id?: number;
  channel_id?: number;
}

interface FormatQuery extends ListQuery {
  format: 'json' | 'csv';
}

interface UsageListQuery extends FilterQuery, FormatQuery {}
interface OwnUsageQuery extends OwnFilterQuery, FormatQuery {}

interface AuditListQuery extends SpanQuery, FormatQuery {
  actor_id?: number;
  action?: string;
  target?: string;
}

/** A request on the wire, as the one who made it may see it: which channel served it is for operators. */
interface OwnUsageView {
  created_at: number;
  request_id: string;
  token_id: number;
  token_name: string;
  model: string;
  attempts: number;
  documents: number;
  input_tokens: number;
  search_units: number;
  quota: number;
  duration_ms: number;
  outcome: string;
}

interface UsageView extends OwnUsageView {
  user_id: number;
  channel_id: number | null;
  provider: string | null;
  tag: string | null;
}

interface StatsView {
  requests: number;
  quota: number;
  documents: number;
  input_tokens: number;
}

interface AuditView {
  created_at: number;
  actor_id: number | null;
  actor: string;
  action: string;
  target: string;
  detail: Record<string, unknown>;
  address: string | null;
}

/** Read in one step, so that the entries that are written meanwhile do not shift it. */
const MAX_EXPORTED = 10_000;
const CSV = 'text/csv';

const SECONDS = Joi.number().integer().min(0).max(8_640_000_000_000);
const FILTER = Joi.string().max(1_024).empty('');
const COUNT = Joi.number().integer().min(0);
const TEXT = Joi.string().allow('').required();

const SPAN_QUERY = {
  start_timestamp: SECONDS.description('Unix seconds.'),
  end_timestamp: SECONDS.description('Unix seconds, that second included.'),
};
const FORMAT_QUERY = {
  ...LIST_QUERY,
  format: Joi.string()
    .valid('json', 'csv')
    .default('json')
    .description(`csv: all that match, ${MAX_EXPORTED} at most, as a file.`),
};
const OWN_FILTERS = {
  token_id: ID,
  token_name: FILTER,
  model: FILTER,
  outcome: FILTER.description('ok, or an error code.'),
  ...SPAN_QUERY,
};
const FILTERS = { ...OWN_FILTERS, user_id: ID, channel_id: ID };

const OWN_USAGE_MEMBERS = {
  created_at: SECONDS.required(),
  request_id: Joi.string().required(),
  token_id: COUNT.required(),
  token_name: TEXT,
  model: TEXT,
  attempts: COUNT.required(),
  documents: COUNT.required(),
  input_tokens: COUNT.required(),
  search_units: COUNT.required(),
  quota: COUNT.required(),
  duration_ms: COUNT.required(),
  outcome: Joi.string().required().description('ok, or the error code that the caller got.'),
};
const USAGE_MEMBERS = {
  ...OWN_USAGE_MEMBERS,
  user_id: COUNT.required(),
  channel_id: ID.allow(null).required(),
  provider: Joi.string().allow(null).required(),
  tag: Joi.string().allow(null).required(),
};
const OWN_USAGE = Joi.object<OwnUsageView, true>(OWN_USAGE_MEMBERS);
const USAGE = Joi.object<UsageView, true>(USAGE_MEMBERS);
const STATS = Joi.object<StatsView, true>({
  requests: COUNT.required(),
  quota: COUNT.required(),
  documents: COUNT.required(),
  input_tokens: COUNT.required(),
});
const AUDIT_MEMBERS = {
  created_at: SECONDS.required(),
  actor_id: ID.allow(null).required().description('Null at the command line.'),
  actor: TEXT,
  action: Joi.string().required(),
  target: TEXT,
  detail: Joi.object<Record<string, unknown>>().required(),
  address: Joi.string().allow(null).required(),
};
const AUDIT = Joi.object<AuditView, true>(AUDIT_MEMBERS);

const OWN_USAGE_FILE = { name: 'usage', columns: namesOf(OWN_USAGE_MEMBERS) };
const USAGE_FILE = { name: 'usage', columns: namesOf(USAGE_MEMBERS) };
const AUDIT_FILE = { name: 'audit', columns: namesOf(AUDIT_MEMBERS) };

const list = defineOperation({
  id: 'listUsage',
  method: 'GET',
  path: '/api/log',
  area: 'logs',
  summary: 'Requests that were admitted, newest first',
  access: 'admin',
  query: Joi.object<UsageListQuery, true>({ ...FORMAT_QUERY, ...FILTERS }),
  reply: listOf(USAGE),
  files: [CSV],
  handler: ({ deps, query }) =>
    pageOrFile(query, USAGE_FILE, usageView, (slice) =>
      deps.store.listUsage({ ...filterOf(query), ...slice }),
    ),
});

const listOwn = defineOperation({
  id: 'listOwnUsage',
  method: 'GET',
  path: '/api/log/self',
  area: 'logs',
  summary: 'One’s own requests that were admitted, newest first',
  access: 'login',
  query: Joi.object<OwnUsageQuery, true>({ ...FORMAT_QUERY, ...OWN_FILTERS }),
  reply: listOf(OWN_USAGE),
  files: [CSV],
  handler: ({ deps, query, actor }) =>
    pageOrFile(query, OWN_USAGE_FILE, ownUsageView, (slice) =>
      deps.store.listUsage({ ...filterOf(query), userId: actor.id, ...slice }),
    ),
});

const stats = defineOperation({
  id: 'sumUsage',
  method: 'GET',
  path: '/api/log/stat',
  area: 'logs',
  summary: 'Sums over the requests that match',
  access: 'admin',
  query: Joi.object<FilterQuery, true>(FILTERS),
  reply: STATS,
  handler: async ({ deps, query }) => statsView(await deps.store.usageStats(filterOf(query))),
});

const ownStats = defineOperation({
  id: 'sumOwnUsage',
  method: 'GET',
  path: '/api/log/self/stat',
  area: 'logs',
  summary: 'Sums over one’s own requests that match',
  access: 'login',
  query: Joi.object<OwnFilterQuery, true>(OWN_FILTERS),
  reply: STATS,
  handler: async ({ deps, query, actor }) =>
    statsView(await deps.store.usageStats({ ...filterOf(query), userId: actor.id })),
});

const audit = defineOperation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/audit',
  area: 'logs',
  summary: 'Management writes: who did what, when, from where and why; newest first',
  access: 'admin',
  query: Joi.object<AuditListQuery, true>({
    ...FORMAT_QUERY,
    actor_id: ID,
    action: FILTER.description('Such as channel.create or tag.disable.'),
    target: FILTER.description('Such as channel:7 or tag:blue.'),
    ...SPAN_QUERY,
  }),
  reply: listOf(AUDIT),
  files: [CSV],
  handler: ({ deps, query }) => {
    const { actor_id: actorId, action, target } = query;
    const wanted = {
      ...(actorId === undefined ? {} : { actorId }),
      ...(action === undefined ? {} : { action }),
      ...(target === undefined ? {} : { target }),
      ...spanOf(query),
    };
    return pageOrFile(query, AUDIT_FILE, auditView, (slice) =>
      deps.store.listAudit({ ...wanted, ...slice }),
    );
  },
});

/** A page of a log, or all of what matches as a file; what does not fit into one is refused, not cut short. */
async function pageOrFile<T, V extends object>(
  query: FormatQuery,
  { name, columns }: { readonly name: string; readonly columns: readonly (keyof V & string)[] },
  view: (entry: T) => V,
  read: (slice: Slice) => Promise<Page<T>>,
): Promise<ReturnType<typeof listReply<T, V>> | FileReply> {
  if (query.format === 'json') return listReply(await read(sliceOf(query)), query, view);
  const { items, total } = await read({ offset: 0, limit: MAX_EXPORTED });
  if (total > MAX_EXPORTED) {
    throw new GatewayError(
      'invalid_request',
      `${total} entries match, and a file holds ${MAX_EXPORTED}: ask for less, with start_timestamp and end_timestamp.`,
      { param: 'format' },
    );
  }
  const rows = items.map(view);
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])));
  return new FileReply(CSV, `${name}.csv`, csvOf(columns, cells));
}

/** The members of a view, in its order. */
function namesOf<T extends object>(members: T): (keyof T & string)[] {
  return Object.keys(members) as (keyof T & string)[];
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return value === null ? null : JSON.stringify(value);
}

function filterOf(query: FilterQuery): Omit<UsageQuery, 'offset' | 'limit'> {
  const { user_id: userId, token_id: tokenId, token_name: tokenName } = query;
  const { model, channel_id: channelId, outcome } = query;
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(tokenName === undefined ? {} : { tokenName }),
    ...(model === undefined ? {} : { model }),
    ...(channelId === undefined ? {} : { channelId }),
    ...(outcome === undefined ? {} : { outcome }),
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

function ownUsageView(entry: UsageEntry): OwnUsageView {
  return {
    created_at: Math.floor(entry.atMs / 1000),
    request_id: entry.requestId,
    token_id: entry.tokenId,
    token_name: entry.tokenName,
    model: entry.model,
    attempts: entry.attempts,
    documents: entry.documents,
    input_tokens: entry.inputTokens,
    search_units: entry.searchUnits,
    quota: entry.quota,
    duration_ms: Math.round(entry.durationMs),
    outcome: entry.outcome,
  };
}

function usageView(entry: UsageEntry): UsageView {
  return {
    ...ownUsageView(entry),
    user_id: entry.userId,
    channel_id: entry.channelId ?? null,
    provider: entry.provider ?? null,
    tag: entry.tag ?? null,
  };
}

function statsView({ requests, quota, documents, inputTokens }: UsageStats): StatsView {
  return { requests, quota, documents, input_tokens: inputTokens };
}

function auditView(entry: AuditEntry): AuditView {
  return {
    created_at: Math.floor(entry.atMs / 1000),
    actor_id: entry.actorId ?? null,
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    detail: { ...entry.detail },
    address: entry.address ?? null,
  };
}

export const LOG_OPERATIONS: readonly Operation[] = [list, listOwn, stats, ownStats, audit];
