import { bucketOf, bucketsIn, ROLLUPS, stepOf, SURE_HOURS_MS } from '../core/rollups.js';
import { addTally, newTally } from '../core/tally.js';
import type { StatsQuery, StatsRow } from '../store/store.js';
import type { Span, StatsDeps } from './stats.js';

export interface SpendingQuery extends Span {
  /** Whose; of all accounts if absent. */
  readonly owner: number | undefined;
  /** Where the span begins, and where each further part of it does. */
  readonly edges: readonly number[];
  /** Rows of hours alone. */
  readonly byHour: boolean;
  /** Whether rows may be those of all accounts, keys and models together. */
  readonly together: boolean;
}

const { stepMs: HOUR_MS } = ROLLUPS.spend_hour;
const { stepMs: DAY_MS } = ROLLUPS.spend_day;

/**
 * Visits all that was spent in a span, each with the edge that begins its part. UTC days without an edge are read as days,
 * the others bucket by bucket. Resolves to the span that was read.
 */
export async function readSpending(
  deps: StatsDeps,
  { owner, edges, byHour, together, ...asked }: SpendingQuery,
  visit: (row: StatsRow, edgeMs: number) => void,
): Promise<Span> {
  const { store } = deps;
  let fromMs = bucketOf('spend_hour', asked.fromMs);
  let toMs = bucketEnd(Math.max(asked.fromMs, asked.toMs - 1));
  const of = owner === undefined ? {} : { owner };
  const add = (row: StatsRow, atMs = row.atMs): void => {
    if (atMs < fromMs || atMs >= toMs) return;
    visit(row, edges.findLast((edgeMs) => edgeMs <= atMs) ?? asked.fromMs);
  };
  if (byHour) {
    await store.readStats({ rollup: 'spend_hour', fromMs, toMs: toMs - 1, ...of }, add);
    return { fromMs, toMs };
  }
  const totalsFromMs = together && owner === undefined ? await totalsFrom(deps) : Infinity;
  for (const part of partsOf(fromMs, toMs, edges, totalsFromMs)) {
    const rows = { ...part, ...of };
    const isSplit = part.rollup === 'spend_hour';
    const rollup = isSplit ? await finestOf(deps, rows) : part.rollup;
    const noonMs = part.fromMs + DAY_MS / 2;
    const isWhole = isSplit && rollup === 'spend_day';
    await store.readStats({ ...rows, rollup }, (row) => add(row, isWhole ? noonMs : row.atMs));
    if (!isWhole) continue;
    if (fromMs > part.fromMs) fromMs = noonMs >= fromMs ? part.fromMs : part.fromMs + DAY_MS;
    if (toMs < part.fromMs + DAY_MS) toMs = noonMs >= toMs ? part.fromMs : part.fromMs + DAY_MS;
  }
  return { fromMs, toMs };
}

interface Part extends Span {
  readonly rollup: 'total_hour' | 'spend_hour' | 'spend_day';
}

/**
 * Which buckets to read, in the order of time: UTC days in a row that are read alike, and each of those that have an edge
 * within them and no totals.
 */
function partsOf(
  fromMs: number,
  toMs: number,
  edges: readonly number[],
  totalsFromMs: number,
): Part[] {
  const split = new Set(
    [fromMs, toMs, ...edges.slice(1)]
      .filter((atMs) => stepOf('spend_day', atMs) !== atMs)
      .map((atMs) => stepOf('spend_day', atMs)),
  );
  const parts: Part[] = [];
  for (let dayMs = stepOf('spend_day', fromMs); dayMs < toMs; dayMs += DAY_MS) {
    const isSplit = split.has(dayMs) && dayMs < totalsFromMs;
    const rollup = dayMs >= totalsFromMs ? 'total_hour' : isSplit ? 'spend_hour' : 'spend_day';
    const part = { rollup, fromMs: dayMs, toMs: dayMs + DAY_MS - 1 } as const;
    const last = parts.at(-1);
    if (isSplit || last?.rollup !== rollup) parts.push(part);
    else parts[parts.length - 1] = { ...last, toMs: part.toMs };
  }
  return parts;
}

/** Of days that begin earlier, some hours may be gone. */
function hoursFrom({ now, statsDays }: StatsDeps, keepMs: number): number {
  return now() - Math.min(keepMs, statsDays * DAY_MS);
}

/**
 * The first UTC day from which on the totals of hours have all that was spent. A release that keeps them goes on to do so: they
 * are complete if the oldest day with spending is.
 */
async function totalsFrom(deps: StatsDeps): Promise<number> {
  const sinceMs = await deps.store.statsSince();
  if (sinceMs === undefined) return Infinity;
  const keptMs = hoursFrom(deps, ROLLUPS.total_hour.keepMs) + DAY_MS - 1;
  const fromMs = stepOf('spend_day', Math.max(sinceMs, keptMs));
  for (let dayMs = fromMs; dayMs <= deps.now(); dayMs += DAY_MS) {
    const day = { fromMs: dayMs, toMs: dayMs + DAY_MS - 1 };
    const [totals, whole] = await Promise.all([
      sumOf(deps, { ...day, rollup: 'total_hour' }),
      sumOf(deps, { ...day, rollup: 'spend_day' }),
    ]);
    if (totals !== whole) return Infinity;
    if (whole !== NOTHING) break;
  }
  return fromMs;
}

/** The roll-up that has all of a UTC day in the smallest parts: hours that may lack something must add up to the day. */
async function finestOf(
  deps: StatsDeps,
  day: Omit<StatsQuery, 'rollup'>,
): Promise<'spend_hour' | 'spend_day'> {
  if (day.fromMs >= hoursFrom(deps, SURE_HOURS_MS)) return 'spend_hour';
  const [whole, hours] = await Promise.all([
    sumOf(deps, { ...day, rollup: 'spend_day' }),
    sumOf(deps, { ...day, rollup: 'spend_hour' }),
  ]);
  return hours === whole ? 'spend_hour' : 'spend_day';
}

const NOTHING = JSON.stringify(newTally().sums);

/** All sums over some rows, as text that can be compared. */
async function sumOf({ store }: StatsDeps, query: StatsQuery): Promise<string> {
  const sum = newTally();
  await store.readStats(query, ({ tally }) => addTally(sum, tally));
  return JSON.stringify(sum.sums);
}

/** Where the bucket of a moment ends. */
export function bucketEnd(atMs: number): number {
  const hourMs = stepOf('spend_hour', atMs);
  const next = bucketsIn('spend_hour', hourMs, hourMs + HOUR_MS).find((startMs) => startMs > atMs);
  return next ?? hourMs + HOUR_MS;
}
