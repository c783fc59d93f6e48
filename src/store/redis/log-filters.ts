import type {
  AuditEntry,
  AuditQuery,
  LogSlice,
  RefusedEntry,
  RefusedQuery,
  UsageEntry,
  UsageQuery,
} from '../store.js';

/** Conditions that entries must meet. */
export interface Filter<T> {
  /** What Redis can see of them in a record, so that most others stay there. */
  readonly signs: readonly Sign[];
  readonly matches: (entry: T) => boolean;
}

/** As the script that looks for it takes it: its kind, a text, and one more. */
type Sign =
  | readonly [kind: 'has', text: string, unused: '']
  | readonly [kind: 'lacks', text: string, unless: string]
  | readonly [kind: 'least', before: string, value: number];

/** The conditions that the lists by time and user do not cover, or `undefined` if they cover everything. */
export function usageFilter(
  query: Omit<UsageQuery, keyof LogSlice>,
): Filter<UsageEntry> | undefined {
  const { tokenId, tokenName, model, channelId, provider, tag, outcome, failed } = query;
  const named = { tokenId, tokenName, model, channelId, provider, tag, outcome };
  const equal = filterOf<UsageEntry>(named);
  return notBelow(failed === undefined ? equal : and(equal, FAILED), query.minDurationMs);
}

/** What was tried may have gone well where the request did not: records with a detail are read. */
const FAILED: Filter<UsageEntry> = {
  signs: [['lacks', '"outcome":"ok"', '"detail":']],
  matches: ({ outcome }) => outcome !== 'ok',
};

export function refusedFilter(query: RefusedQuery): Filter<RefusedEntry> | undefined {
  const { tokenId, tokenName, model, outcome, address } = query;
  const equal = filterOf<RefusedEntry>({ tokenId, tokenName, model, outcome, address });
  return notBelow(equal, query.minDurationMs);
}

export function auditFilter({
  actorId,
  actor,
  action,
  target,
}: Omit<AuditQuery, keyof LogSlice>): Filter<AuditEntry> | undefined {
  return filterOf<AuditEntry>({ actorId, actor, action, target });
}

/** The given members must be equal. */
function filterOf<T>(wanted: {
  readonly [K in keyof T]?: T[K] | undefined;
}): Filter<T> | undefined {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  return {
    // A record of an earlier release may lack a member, which then reads as 0 or empty.
    signs: given.flatMap(([name, value]) =>
      value === 0 || value === ''
        ? []
        : [['has', `${JSON.stringify(name)}:${JSON.stringify(value)}`, ''] as const],
    ),
    matches: (entry) => given.every(([name, value]) => entry[name as keyof T] === value),
  };
}

function notBelow<T extends { readonly durationMs: number }>(
  filter: Filter<T> | undefined,
  minDurationMs = 0,
): Filter<T> | undefined {
  if (minDurationMs === 0) return filter;
  return and(filter, {
    signs: [['least', '"durationMs":', minDurationMs]],
    matches: ({ durationMs }) => durationMs >= minDurationMs,
  });
}

function and<T>(filter: Filter<T> | undefined, also: Filter<T>): Filter<T> {
  if (filter === undefined) return also;
  return {
    signs: [...filter.signs, ...also.signs],
    matches: (entry) => filter.matches(entry) && also.matches(entry),
  };
}
