import Joi from 'joi';
import { present } from '../core/records.js';
import { type RequestFilter } from '../management/requests.js';
import type { AuditQuery, LogSlice, RefusedQuery, UsageQuery } from '../store/store.js';
import { COUNT } from '../shapes/counts.js';
import { ID } from '../shapes/lists.js';
import {
  choice,
  extended,
  optional,
  partial,
  recordOf,
  shape,
  type ObjectOf,
  type Of,
} from '../shapes/shape.js';
import { FORMAT_QUERY } from './list-file.js';
import { SPAN, spanOf } from './span.js';

const FILTER = Joi.string().max(1_024).empty('');

/** Which entries of a log, and whether as a file. */
export const LOG_QUERY = {
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

const OWN_MATCHES = partial({
  token_id: ID,
  token_name: FILTER,
  model: FILTER,
  outcome: FILTER.description('ok, an error code, or failed for all error codes.'),
  min_duration_ms: COUNT.description('Only those that took as long, or longer.'),
});
const OPERATORS_MATCHES = partial({ user_id: ID, channel_id: ID, provider: FILTER, tag: FILTER });
const REFUSED_MATCHES = partial({ user_id: ID, address: FILTER });
const AUDIT_MATCHES = partial({
  actor_id: ID,
  actor: FILTER.description('The name of who did it.'),
  action: FILTER.description('Such as channel.create or tag.disable.'),
  target: FILTER.description('Such as channel:7 or tag:blue.'),
});

/** The filters that users have for their own requests. */
export const OWN_FILTERS = { ...OWN_MATCHES, ...SPAN };
/** Those that operators have. */
export const FILTERS = { ...OWN_FILTERS, ...OPERATORS_MATCHES };
/** A filter of lists, and not of sums. */
export const REQUEST = {
  request_id: optional(FILTER.description('The newest request with this id.')),
};
export const REFUSED_FILTERS = { ...OWN_FILTERS, ...REQUEST, ...REFUSED_MATCHES };
export const AUDIT_FILTERS = { ...AUDIT_MATCHES, ...SPAN };

/** Both logs in one list, which goes on with `before` alone. */
export const OWN_REQUESTS_QUERY = shape({
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
/** The same for operators. */
export const REQUESTS_QUERY = extended(OWN_REQUESTS_QUERY, {
  ...OPERATORS_MATCHES,
  address: optional(FILTER),
});
type RequestsQuery = Of<typeof REQUESTS_QUERY>;

/** Which admitted requests a query asks for. */
export function filterOf(
  query: ObjectOf<typeof FILTERS & typeof REQUEST>,
): Omit<UsageQuery, keyof LogSlice> {
  const members = { ...OWN_MATCHES, ...OPERATORS_MATCHES, ...REQUEST };
  const { outcome, ...wanted } = recordOf(members, query);
  return {
    ...wanted,
    ...(outcome === undefined ? {} : outcome === 'failed' ? { failed: true } : { outcome }),
    ...spanOf(query),
  };
}

/** Which requests of both logs. */
export function requestFilterOf(query: RequestsQuery): RequestFilter {
  const { kind, address } = query;
  return { ...filterOf(query), ...present({ kind, address }) };
}

/** Which refused requests. */
export function refusedFilterOf(
  query: ObjectOf<typeof REFUSED_FILTERS>,
): Omit<RefusedQuery, keyof LogSlice> {
  const members = { ...OWN_MATCHES, ...REQUEST, ...REFUSED_MATCHES };
  const { outcome, ...wanted } = recordOf(members, query);
  return {
    ...wanted,
    // All of them failed.
    ...(outcome === undefined || outcome === 'failed' ? {} : { outcome }),
    ...spanOf(query),
  };
}

/** Where a list goes on, and whether all that match are counted. */
export function partOf<Id>({ before, count }: { readonly before?: Id; readonly count: boolean }): {
  readonly before?: Id;
  readonly count?: false;
} {
  return { ...(before === undefined ? {} : { before }), ...(count ? {} : { count }) };
}

/** Which management writes. */
export function auditFilterOf(
  query: ObjectOf<typeof AUDIT_FILTERS>,
): Omit<AuditQuery, keyof LogSlice> {
  return { ...recordOf(AUDIT_MATCHES, query), ...spanOf(query) };
}
