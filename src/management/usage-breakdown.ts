import { readSpendKey, stepOf, type SpendKey } from '../core/rollups.js';
import { addTally, newTally, type Sums, type Tally } from '../core/tally.js';
import { dayOf, startOfDay } from '../core/time-zone.js';
import type { StatsRow } from '../store/store.js';
import { labelValues } from './labels.js';
import { readSpending } from './spending.js';
import { completeFrom, namesFor, type Span, type StatsDeps } from './stats.js';

export const BREAKDOWN_GROUPS = [
  'user',
  'token',
  'model',
  'channel',
  'tag',
  'provider',
  'label',
  'hour',
  'day',
  'month',
] as const;

export const OWN_BREAKDOWN_GROUPS = ['token', 'model', 'label', 'hour', 'day', 'month'] as const;
export type BreakdownGroup = (typeof BREAKDOWN_GROUPS)[number];

export interface BreakdownQuery extends Span {
  readonly by: readonly BreakdownGroup[];
  readonly owner?: number;
  /** What this channel answered alone. */
  readonly channelId?: number;
  /** The label to group by, such as `team`; with a value, as `team=search`, only what has that value counts. */
  readonly label?: string;
  /** Whose days and months they are, if they are listed by day or month; UTC unless given. */
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
  {
    by,
    owner,
    most = MAX_ROWS,
    named = true,
    timeZone = 'UTC',
    label,
    channelId,
    ...asked
  }: BreakdownQuery,
): Promise<UsageBreakdown> {
  const step = by.includes('day') ? 'day' : by.includes('month') ? 'month' : undefined;
  const edges = step === undefined ? [asked.fromMs] : edgesOf(step, asked, timeZone);
  const monthOf = monthsIn(timeZone);
  const [name, value] = label?.split('=') ?? [];
  const labelOf = name === undefined ? undefined : await labelValues(deps, name, owner);
  const groups = new Map<string, Group>();
  const total = newTally();
  const add = (row: StatsRow, startMs: number): void => {
    const about = readSpendKey(row.key);
    if (channelId !== undefined && about.channelId !== channelId) return;
    const labelled = labelOf?.(about.tokenId, row.owner);
    if (value !== undefined && labelled !== value) return;
    const of = spendOf({ ...row, ...about, startMs, labelled, monthOf }, by);
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
      together:
        value === undefined &&
        channelId === undefined &&
        by.every((group) => group === 'day' || group === 'month'),
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

/** The beginning of a span, and of each day or month in it after that. */
function edgesOf(step: 'day' | 'month', { fromMs, toMs }: Span, timeZone: string): number[] {
  const edges = [fromMs];
  const { year, month, date } = dayOf(fromMs, timeZone);
  for (let steps = 1; ; steps += 1) {
    const next = { year, month, date: date + steps };
    const first = { year, month: month + steps, date: 1 };
    const startMs = startOfDay(step === 'day' ? next : first, timeZone);
    if (startMs >= toMs) return edges;
    if (startMs > fromMs) edges.push(startMs);
  }
}

/** The start of the month of a moment; each moment is asked for many times. */
function monthsIn(timeZone: string): (atMs: number) => number {
  const known = new Map<number, number>();
  return (atMs) => {
    let startMs = known.get(atMs);
    if (startMs === undefined) {
      known.set(atMs, (startMs = startOfDay({ ...dayOf(atMs, timeZone), date: 1 }, timeZone)));
    }
    return startMs;
  };
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

/** What a row of spending is about, and in which part of the span it is. */
interface Spending extends SpendKey, StatsRow {
  readonly startMs: number;
  readonly labelled: string | undefined;
  readonly monthOf: (atMs: number) => number;
}

function spendOf(row: Spending, by: readonly BreakdownGroup[]): BreakdownRow['of'] {
  const entries = by.map((group) => [group, valueOf(group, row)] as const);
  return Object.fromEntries(
    entries.filter(([group, value]) => value !== undefined && (value !== '' || group === 'label')),
  );
}

function valueOf(
  group: BreakdownGroup,
  { tokenId, model, channelId, provider, tag, owner, atMs, startMs, labelled, monthOf }: Spending,
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
      return Math.floor(startMs / 1_000);
    case 'month':
      return Math.floor(monthOf(startMs) / 1_000);
    case 'label':
      return labelled;
    case 'model':
      return model;
    case 'provider':
      return provider;
    case 'tag':
      return tag;
  }
}
