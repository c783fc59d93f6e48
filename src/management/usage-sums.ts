import { bucketOf, otherSpendKey, readSpendKey } from '../core/rollups.js';
import { addTally, newTally } from '../core/tally.js';
import { usageSums } from '../core/usage-members.js';
import type { Store, UsageStats } from '../store/store.js';
import { bucketEnd, readSpending } from './spending.js';
import { completeFrom, type Span, type StatsDeps } from './stats.js';

type UsageSumsQuery = Parameters<Store['usageStats']>[0];

const SPEND_MEMBERS = ['tokenId', 'model', 'channelId', 'provider', 'tag'] as const;

/**
 * Sums over the admitted requests that match. Of all requests, or of those of one account or key, whole hours come from the roll-ups
 * of spending, which reach further back than the log. What these do not tell apart, and the rest of the first and the last hour,
 * is added up from the entries of the log.
 */
export async function sumUsage(deps: StatsDeps, query: UsageSumsQuery): Promise<UsageStats> {
  const { store } = deps;
  const hours = await hoursOf(deps, query);
  const counted = hours === undefined ? undefined : await sumOfHours(deps, query, hours);
  if (hours === undefined || counted === undefined) return store.usageStats(query);
  const { fromMs = 0, toMs = Infinity } = query;
  const parts = [counted];
  if (fromMs < hours.fromMs) {
    parts.push(await store.usageStats({ ...query, toMs: hours.fromMs - 1 }));
  }
  if (toMs >= hours.toMs) parts.push(await store.usageStats({ ...query, fromMs: hours.toMs }));
  return usageSums((name) => parts.reduce((sum, part) => sum + part[name], 0));
}

/** The whole hours of a query, if roll-ups have what it asks for. */
async function hoursOf(
  deps: StatsDeps,
  { fromMs = 0, toMs = Infinity, tokenName, outcome, failed, minDurationMs }: UsageSumsQuery,
): Promise<Span | undefined> {
  if ((tokenName ?? outcome ?? failed ?? minDurationMs) !== undefined) return undefined;
  const sinceMs = deps.statsDays === 0 ? undefined : await completeFrom(deps, 'spend_day');
  if (sinceMs === undefined) return undefined;
  const beginMs = Math.max(fromMs, sinceMs);
  const isWhole = bucketOf('spend_hour', beginMs) === beginMs;
  const hours = {
    fromMs: isWhole ? beginMs : bucketEnd(beginMs),
    toMs: Math.min(bucketOf('spend_hour', toMs + 1), bucketEnd(deps.now())),
  };
  return hours.fromMs < hours.toMs ? hours : undefined;
}

/** What roll-ups have of whole hours; `undefined` if they do not have it exactly. */
async function sumOfHours(
  deps: StatsDeps,
  query: UsageSumsQuery,
  hours: Span,
): Promise<UsageStats | undefined> {
  const wanted = SPEND_MEMBERS.filter((name) => query[name] !== undefined);
  const owner = query.userId ?? (await ownerOf(deps, query));
  // The rows of all accounts may be more than the entries of the log.
  if (owner === undefined && wanted.length > 0) return undefined;
  const others = otherSpendKey();
  const sum = newTally();
  let untold = 0;
  const read = await readSpending(
    deps,
    {
      ...{ ...hours, owner, edges: [hours.fromMs], byHour: false },
      together: wanted.length === 0,
    },
    ({ key, tally }) => {
      if (wanted.length > 0) {
        if (key === others) untold += 1;
        const about = readSpendKey(key);
        if (!wanted.every((name) => about[name] === query[name])) return;
      }
      addTally(sum, tally);
    },
  );
  const isExact = read.fromMs === hours.fromMs && read.toMs === hours.toMs;
  return isExact && untold === 0 ? usageSums((name) => sum.sums[name]) : undefined;
}

/** The account of the key that is asked for, if that is still there. */
async function ownerOf(
  { store, now }: StatsDeps,
  { tokenId }: UsageSumsQuery,
): Promise<number | undefined> {
  return tokenId === undefined ? undefined : (await store.getToken(tokenId, now()))?.userId;
}
