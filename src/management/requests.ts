import { GatewayError } from '../core/errors.js';
import type {
  FoundRequest,
  Logged,
  LogSlice,
  LogStore,
  Page,
  RefusedEntry,
  RefusedQuery,
  Slice,
  UsageEntry,
  UsageQuery,
} from '../store/store.js';

/** One request, from whichever log has it. */
export type FoundOne =
  | { readonly kind: 'admitted'; readonly entry: UsageEntry }
  | { readonly kind: 'refused'; readonly entry: RefusedEntry };

/** The newest of what has an id. */
export function newest({ usage, refused }: FoundRequest): FoundOne | undefined {
  if (refused !== undefined && (usage === undefined || refused.atMs > usage.atMs)) {
    return { kind: 'refused', entry: refused };
  }
  return usage === undefined ? undefined : { kind: 'admitted', entry: usage };
}

/** Says how far back each log reaches. */
export async function noRequest(
  store: Pick<LogStore, 'logReach'>,
  requestId: string,
): Promise<GatewayError> {
  const { usageFromMs, refusedFromMs } = await store.logReach();
  const since = (ms: number | undefined): string =>
    ms === undefined ? 'there are none' : `they reach back to ${new Date(ms).toISOString()}`;
  return new GatewayError(
    'not_found',
    `There is no request "${requestId}". Of admitted requests, ${since(usageFromMs)}; of refused ones, ${since(refusedFromMs)}. Ids of other gateways look the same.`,
  );
}

/** Which requests of both logs. */
export interface RequestFilter extends Omit<UsageQuery, keyof LogSlice> {
  readonly kind?: FoundOne['kind'];
  /** Where refused ones came from; admitted ones have none. */
  readonly address?: string;
}

/** Which part of both logs: at most `limit` requests that come after the one with the id `before`. */
export interface RequestSlice extends Pick<Slice, 'limit'> {
  readonly before?: string;
  readonly count?: false;
}

/** A request in a list of both logs; a page after this one goes on after its `id`. */
export type LoggedRequest = FoundOne & { readonly id: string };

/**
 * The last entries of each log that a list has shown, and the time of the last one of all: a log of which nothing was shown yet
 * goes on at that time.
 */
interface Place {
  readonly atMs: number;
  readonly usage?: number;
  readonly refused?: number;
}

/** What the ids of a log are called outside. */
interface Ids {
  mask(id: number): number;
  unmask(id: number): number;
}

const PLAIN: Ids = { mask: (id) => id, unmask: (id) => id };
const PLACE = /^([0-9a-z]{1,11})-([0-9a-z]{0,11})-([0-9a-z]{0,11})$/;
const RADIX = 36;
const NONE: Page<never> = { items: [], total: 0 };

/**
 * Admitted and refused requests as one log, newest first. Entries written meanwhile do not shift its pages. `total` counts
 * what is left after `before`; throws `invalid_request` if that is no id of such a list.
 */
export async function listRequests(
  store: Pick<LogStore, 'listUsage' | 'listRefused'>,
  filter: RequestFilter,
  slice: RequestSlice,
  ids: Ids = PLAIN,
): Promise<Page<LoggedRequest>> {
  const { usage, refused } = byLog(filter);
  const { limit, before, count } = slice;
  const from = before === undefined ? undefined : placeOf(before, ids);
  const part = <Q extends { readonly toMs?: number }>(query: Q, last: number | undefined) => ({
    ...query,
    ...(from === undefined ? {} : { toMs: Math.min(query.toMs ?? Infinity, from.atMs) }),
    ...(last === undefined ? {} : { before: last }),
    ...(count === undefined ? {} : { count }),
    ...{ offset: 0, limit },
  });
  const [served, turnedAway] = await Promise.all([
    usage === undefined ? NONE : store.listUsage(part(usage, from?.usage)),
    refused === undefined ? NONE : store.listRefused(part(refused, from?.refused)),
  ]);
  const total = served.total + turnedAway.total;
  return {
    items: merged(served.items, turnedAway.items, limit, from, ids),
    total: count === false ? Math.min(total, limit + 1) : total,
  };
}

/** What to look for in each log; undefined where nothing can match, since its entries lack what is asked for. */
function byLog({ kind, address, ...wanted }: RequestFilter): {
  readonly usage: Omit<UsageQuery, keyof LogSlice> | undefined;
  readonly refused: Omit<RefusedQuery, keyof LogSlice> | undefined;
} {
  // All refused requests failed.
  const { channelId, provider, tag, failed: _, ...shared } = wanted;
  const isServed = [channelId, provider, tag].some((value) => value !== undefined);
  const isRefused = kind !== 'admitted' && !isServed && shared.outcome !== 'ok';
  return {
    usage: kind === 'refused' || address !== undefined ? undefined : wanted,
    refused: isRefused ? { ...shared, ...(address === undefined ? {} : { address }) } : undefined,
  };
}

function merged(
  served: readonly Logged<UsageEntry>[],
  turnedAway: readonly Logged<RefusedEntry>[],
  limit: number,
  from: Place | undefined,
  ids: Ids,
): LoggedRequest[] {
  let last: Omit<Place, 'atMs'> = from ?? {};
  let [s, t] = [0, 0];
  const items: LoggedRequest[] = [];
  while (items.length < limit) {
    const [admitted, denied] = [served[s], turnedAway[t]];
    if (admitted !== undefined && (denied === undefined || admitted.atMs >= denied.atMs)) {
      s += 1;
      last = { ...last, usage: admitted.id };
      items.push({ kind: 'admitted', entry: admitted, id: idOf(admitted, last, ids) });
    } else if (denied !== undefined) {
      t += 1;
      last = { ...last, refused: denied.id };
      items.push({ kind: 'refused', entry: denied, id: idOf(denied, last, ids) });
    } else break;
  }
  return items;
}

function idOf({ atMs }: { readonly atMs: number }, last: Omit<Place, 'atMs'>, ids: Ids): string {
  const text = (id: number | undefined): string =>
    id === undefined ? '' : ids.mask(id).toString(RADIX);
  return `${atMs.toString(RADIX)}-${text(last.usage)}-${text(last.refused)}`;
}

function placeOf(before: string, ids: Ids): Place {
  const [, atMs, usage = '', refused = ''] = PLACE.exec(before) ?? [];
  if (atMs === undefined) {
    throw new GatewayError(
      'invalid_request',
      `"${before}" is no \`id\` of this list; \`before\` takes the one of the last request that was read.`,
      { param: 'before' },
    );
  }
  const id = (text: string): number => ids.unmask(parseInt(text, RADIX));
  return {
    atMs: parseInt(atMs, RADIX),
    ...(usage === '' ? {} : { usage: id(usage) }),
    ...(refused === '' ? {} : { refused: id(refused) }),
  };
}
