import { bucketOf, readSpendKey, ROLLUPS, type SpendKey } from '../core/rollups.js';
import { addTally, newTally, type Sums, type Tally } from '../core/tally.js';
import type { StatsRow, Store } from '../store/store.js';
import { completeFrom, namesFor, type Span, type StatsDeps } from './stats.js';

export const BREAKDOWN_GROUPS = [
  'user',
  'token',
  'model',
  'channel',
  'tag',
  'provider',
  'hour',
] as const;

export const OWN_BREAKDOWN_GROUPS = ['token', 'model', 'hour'] as const;
export type BreakdownGroup = (typeof BREAKDOWN_GROUPS)[number];

export interface BreakdownQuery extends Span {
  readonly by: readonly BreakdownGroup[];
  readonly owner?: number;
  /** The most rows that are listed individually, if fewer than usual. */
  readonly most?: number;
  /** Whether rows have names, which are looked up one by one; they do unless given. */
  readonly named?: boolean;
}

export interface BreakdownRow {
  /** By the names of the groups: ids and names. Absent where the requests have none. */
  readonly of: Readonly<Partial<Record<BreakdownGroup, string | number>>>;
  /** The names of accounts, keys and channels that still exist. */
  readonly names: Readonly<Partial<Record<BreakdownGroup, string>>>;
  /** Whether it stands for everything beyond the most rows that are listed individually. */
  readonly isRest: boolean;
  readonly sums: Sums;
}

export interface UsageBreakdown extends Span {
  readonly completeFromMs: number | undefined;
  readonly rows: readonly BreakdownRow[];
  readonly total: Sums;
}

const MAX_ROWS = 1_000;
const DAY_MS = 24 * 3_600_000;

/** What requests of one kind add up to. */
interface Group {
  readonly of: BreakdownRow['of'];
  readonly tally: Tally;
}

/**
 * Sums of a span, divided by one or two things, over all nodes. Whole days are read by day; hours at the ends are read by
 * hour as long as they are kept, and as UTC days after that, which the span in the reply then shows.
 */
export async function usageBreakdown(
  deps: StatsDeps,
  { by, owner, most = MAX_ROWS, named = true, ...asked }: BreakdownQuery,
): Promise<UsageBreakdown> {
  const parts = spendParts(asked, deps.now(), by.includes('hour'));
  const { groups, total } = await addUp(deps.store, parts, by, owner);
  const ranked = [...groups].sort(
    (a, b) =>
      b.tally.sums.quota - a.tally.sums.quota || b.tally.sums.requests - a.tally.sums.requests,
  );
  const [first] = parts;
  const last = parts.at(-1);
  return {
    fromMs: first?.fromMs ?? asked.fromMs,
    toMs: last === undefined ? asked.toMs : last.toMs + ROLLUPS[last.rollup].stepMs,
    completeFromMs: await completeFrom(deps, by.includes('hour') ? 'spend_hour' : 'spend_day'),
    rows: [
      ...(await rowsOf(deps, named ? by : [], ranked.slice(0, most))),
      ...restRow(ranked.slice(most)),
    ],
    total: total.sums,
  };
}

async function addUp(
  store: Store,
  parts: readonly SpendPart[],
  by: readonly BreakdownGroup[],
  owner: number | undefined,
): Promise<{ readonly groups: Iterable<Group>; readonly total: Tally }> {
  const groups = new Map<string, Group>();
  const total = newTally();
  for (const part of parts) {
    await store.readStats({ ...part, ...(owner === undefined ? {} : { owner }) }, (row) => {
      const of = spendOf(row, by);
      const id = JSON.stringify(by.map((name) => of[name] ?? null));
      let group = groups.get(id);
      if (group === undefined) groups.set(id, (group = { of, tally: newTally() }));
      addTally(group.tally, row.tally);
      addTally(total, row.tally);
    });
  }
  return { groups: groups.values(), total };
}

/** A row for each group, with the names of what it is about. */
async function rowsOf(
  deps: StatsDeps,
  namedBy: readonly BreakdownGroup[],
  groups: readonly Group[],
): Promise<BreakdownRow[]> {
  const named = await Promise.all(
    namedBy.map(async (group) => {
      const keys = new Set(
        groups.flatMap(({ of }) => (of[group] === undefined ? [] : [`${of[group]}`])),
      );
      return [group, await namesFor(deps, group, [...keys])] as const;
    }),
  );
  return groups.map(({ of, tally }) => ({
    of,
    names: Object.fromEntries(
      named.flatMap(([group, nameOf]) => {
        const key = of[group];
        const name = key === undefined ? '' : nameOf(`${key}`);
        return name === '' ? [] : [[group, name]];
      }),
    ),
    isRest: false,
    sums: tally.sums,
  }));
}

/** One row for everything beyond the most that are listed, if there is more. */
function restRow(groups: readonly Group[]): BreakdownRow[] {
  if (groups.length === 0) return [];
  const rest = newTally();
  for (const { tally } of groups) addTally(rest, tally);
  return [{ of: {}, names: {}, isRest: true, sums: rest.sums }];
}

interface SpendPart extends Span {
  readonly rollup: 'spend_hour' | 'spend_day';
}

/** Which buckets make up a span; `toMs` is the start of the last of them. */
function spendParts({ fromMs, toMs }: Span, nowMs: number, byHour: boolean): SpendPart[] {
  const hourMs = ROLLUPS.spend_hour.stepMs;
  const start = bucketOf('spend_hour', fromMs);
  const end = bucketOf('spend_hour', Math.max(fromMs, toMs - 1)) + hourMs;
  const hours = (from: number, to: number): SpendPart[] =>
    from < to ? [{ rollup: 'spend_hour', fromMs: from, toMs: to - hourMs }] : [];
  if (byHour) return hours(start, end);
  const hasHours = (atMs: number): boolean => nowMs - atMs <= ROLLUPS.spend_hour.keepMs;
  const firstDay = bucketOf('spend_day', start);
  const lastDay = bucketOf('spend_day', end);
  const dayStart = firstDay === start || !hasHours(start) ? firstDay : firstDay + DAY_MS;
  const dayEnd = lastDay === end || hasHours(end) ? lastDay : lastDay + DAY_MS;
  if (dayStart >= dayEnd) return hours(start, end);
  return [
    ...hours(start, dayStart),
    { rollup: 'spend_day', fromMs: dayStart, toMs: dayEnd - DAY_MS },
    ...hours(dayEnd, Math.max(dayEnd, end)),
  ];
}

function spendOf(row: StatsRow, by: readonly BreakdownGroup[]): BreakdownRow['of'] {
  const about = readSpendKey(row.key);
  const entries = by.map((group) => [group, valueOf(group, about, row)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== ''));
}

function valueOf(
  group: BreakdownGroup,
  { tokenId, model, channelId, provider, tag }: SpendKey,
  { owner, atMs }: StatsRow,
): string | number | undefined {
  switch (group) {
    case 'user':
      return owner;
    case 'token':
      return tokenId;
    case 'channel':
      return channelId;
    case 'hour':
      return Math.floor(atMs / 1_000);
    case 'model':
      return model;
    case 'provider':
      return provider;
    case 'tag':
      return tag;
  }
}
