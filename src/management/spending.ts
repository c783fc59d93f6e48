import { bucketOf, bucketsIn, ROLLUPS, stepOf, SURE_HOURS_MS } from '../core/rollups.js';
import { addTally, newTally } from '../core/tally.js';
import type { StatsQuery, StatsRow, Store } from '../store/store.js';
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
/** Until then, a day still changes while it is read. */
const SETTLED_AFTER_MS = 2 * 60_000;

/**
 * Visits all that was spent in a span, each with the edge that begins its part. UTC days without an edge are read as days,
 * the others bucket by bucket. Resolves to the span that was read.
 */
export async function readSpending(
  { store, now }: Pick<StatsDeps, 'store' | 'now'>,
  { owner, edges, byHour, together, ...asked }: SpendingQuery,
  visit: (row: StatsRow, edgeMs: number) => void,
): Promise<Span> {
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
  for (const part of partsOf(fromMs, toMs, edges)) {
    const rows = { ...part, ...of };
    const isSplit = part.rollup !== 'spend_day';
    const rollup = isSplit ? await finestOf(store, rows, now(), together) : part.rollup;
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
  readonly rollup: 'spend_hour' | 'spend_day';
}

/** Which buckets to read, in the order of time: UTC days in a row that have no edge within them, and each of the others. */
function partsOf(fromMs: number, toMs: number, edges: readonly number[]): Part[] {
  const split = new Set(
    [fromMs, toMs, ...edges.slice(1)]
      .filter((atMs) => stepOf('spend_day', atMs) !== atMs)
      .map((atMs) => stepOf('spend_day', atMs)),
  );
  const parts: Part[] = [];
  for (let dayMs = stepOf('spend_day', fromMs); dayMs < toMs; dayMs += DAY_MS) {
    const endMs = dayMs + DAY_MS - 1;
    const last = parts.at(-1);
    if (split.has(dayMs)) parts.push({ rollup: 'spend_hour', fromMs: dayMs, toMs: endMs });
    else if (last?.rollup === 'spend_day') parts[parts.length - 1] = { ...last, toMs: endMs };
    else parts.push({ rollup: 'spend_day', fromMs: dayMs, toMs: endMs });
  }
  return parts;
}

/**
 * The roll-up that has all of a UTC day in the smallest parts; of those that suffice, the one with the fewest rows. Earlier
 * releases kept hours for a shorter time, and no totals: what may lack something must add up to the day.
 */
async function finestOf(
  store: Store,
  day: Omit<StatsQuery, 'rollup'>,
  nowMs: number,
  together: boolean,
): Promise<'total_hour' | 'spend_hour' | 'spend_day'> {
  const sumOf = async (rollup: 'total_hour' | 'spend_hour' | 'spend_day'): Promise<string> => {
    const sum = newTally();
    await store.readStats({ ...day, rollup }, ({ tally }) => addTally(sum, tally));
    return JSON.stringify(sum.sums);
  };
  const isOver = nowMs - day.toMs > SETTLED_AFTER_MS;
  const isSure = nowMs - day.fromMs <= SURE_HOURS_MS;
  const mayBeTotal = together && day.owner === undefined && isOver;
  if (isSure && !mayBeTotal) return 'spend_hour';
  const whole = await sumOf('spend_day');
  if (mayBeTotal && (await sumOf('total_hour')) === whole) return 'total_hour';
  return isSure || (await sumOf('spend_hour')) === whole ? 'spend_hour' : 'spend_day';
}

/** Where the bucket of a moment ends. */
export function bucketEnd(atMs: number): number {
  const hourMs = stepOf('spend_hour', atMs);
  const next = bucketsIn('spend_hour', hourMs, hourMs + HOUR_MS).find((startMs) => startMs > atMs);
  return next ?? hourMs + HOUR_MS;
}
