import { readSpendKey, stepOf, type SpendKey } from '../core/rollups.js';
import { addTally, newTally, type Sums, type Tally } from '../core/tally.js';
import { dayOf, startOfDay } from '../core/time-zone.js';
import type { StatsRow } from '../store/store.js';
import { readSpending } from './spending.js';
import { completeFrom, namesFor, type Span, type StatsDeps } from './stats.js';

export const BREAKDOWN_GROUPS = [
  'user',
  'token',
  'model',
  'channel',
  'tag',
  'provider',
  'hour',
  'day',
] as const;

export const OWN_BREAKDOWN_GROUPS = ['token', 'model', 'hour', 'day'] as const;
export type BreakdownGroup = (typeof BREAKDOWN_GROUPS)[number];

export interface BreakdownQuery extends Span {
  readonly by: readonly BreakdownGroup[];
  readonly owner?: number;
  /** Whose days they are, if they are listed by day; UTC unless given. */
  readonly timeZone?: string;
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

/** What requests of one kind add up to. */
interface Group {
  readonly of: BreakdownRow['of'];
  readonly tally: Tally;
}

/**
 * Sums of a span, divided by one or two things, over all nodes. Spans that meet have nothing in common and lack nothing: they
 * are exact wherever a day begins in some time zone, also where clocks change. Of a UTC day of which only the whole sum is
 * left, all goes to the span that its noon is in, which the span in the reply then shows.
 */
export async function usageBreakdown(
  deps: StatsDeps,
  { by, owner, most = MAX_ROWS, named = true, timeZone = 'UTC', ...asked }: BreakdownQuery,
): Promise<UsageBreakdown> {
  const edges = by.includes('day') ? edgesOfDays(asked, timeZone) : [asked.fromMs];
  const groups = new Map<string, Group>();
  const total = newTally();
  const add = (row: StatsRow, startMs: number): void => {
    const of = spendOf(row, by, startMs);
    const id = JSON.stringify(by.map((name) => of[name] ?? null));
    let group = groups.get(id);
    if (group === undefined) groups.set(id, (group = { of, tally: newTally() }));
    addTally(group.tally, row.tally);
    addTally(total, row.tally);
  };
  const span = await readSpending(
    deps,
    {
      ...asked,
      owner,
      edges,
      byHour: by.includes('hour'),
      together: by.every((group) => group === 'day'),
    },
    add,
  );
  const ranked = [...groups.values()].sort(
    (a, b) =>
      b.tally.sums.quota - a.tally.sums.quota || b.tally.sums.requests - a.tally.sums.requests,
  );
  return {
    ...span,
    completeFromMs: await completeFrom(deps, by.includes('hour') ? 'spend_hour' : 'spend_day'),
    rows: [
      ...(await rowsOf(deps, named ? by : [], ranked.slice(0, most))),
      ...restRow(ranked.slice(most)),
    ],
    total: total.sums,
  };
}

/** The beginning of a span, and of each day in it after that. */
function edgesOfDays({ fromMs, toMs }: Span, timeZone: string): number[] {
  const edges = [fromMs];
  const { date, ...month } = dayOf(fromMs, timeZone);
  for (let days = 1; ; days += 1) {
    const startMs = startOfDay({ ...month, date: date + days }, timeZone);
    if (startMs >= toMs) return edges;
    if (startMs > fromMs) edges.push(startMs);
  }
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

function spendOf(row: StatsRow, by: readonly BreakdownGroup[], dayMs: number): BreakdownRow['of'] {
  const about = readSpendKey(row.key);
  const entries = by.map((group) => [group, valueOf(group, about, row, dayMs)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== ''));
}

function valueOf(
  group: BreakdownGroup,
  { tokenId, model, channelId, provider, tag }: SpendKey,
  { owner, atMs }: StatsRow,
  dayMs: number,
): string | number | undefined {
  switch (group) {
    case 'user':
      return owner;
    case 'token':
      return tokenId;
    case 'channel':
      return channelId;
    case 'hour':
      return stepOf('spend_hour', atMs) / 1_000;
    case 'day':
      return Math.floor(dayMs / 1_000);
    case 'model':
      return model;
    case 'provider':
      return provider;
    case 'tag':
      return tag;
  }
}
