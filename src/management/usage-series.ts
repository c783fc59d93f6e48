import { ERRORS } from '../core/errors.js';
import {
  readSpendKey,
  readTrafficKey,
  ROLLUPS,
  stepOf,
  type RollupName,
  type TrafficRollup,
} from '../core/rollups.js';
import { addTally, newTally, percentile, SUMS, type Sums, type Tally } from '../core/tally.js';
import type { StatsRow } from '../store/store.js';
import { SettledBuckets } from './settled-buckets.js';
import { SharedReads } from './shared-reads.js';
import { completeFrom, namesFor, type Span, type StatsDeps } from './stats.js';

/** How series are divided. Keys and accounts are known only by the hour. */
export const SERIES_GROUPS = [
  'none',
  'outcome',
  'channel',
  'model',
  'tag',
  'provider',
  'token',
  'user',
] as const;

export const OWN_SERIES_GROUPS = ['none', 'outcome', 'model', 'token'] as const;
export type SeriesGroup = (typeof SERIES_GROUPS)[number];

export interface SeriesQuery extends Span {
  readonly group: SeriesGroup;
  /** Only of this account. */
  readonly owner?: number;
  /** Only these of the group, each on its own. */
  readonly keys?: readonly string[];
}

/** Sums, and the values within which given shares lie. */
export interface Summary extends Sums {
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly p99: number | undefined;
}

export interface Series {
  /** The id or the name of what it is about; '' if there is none. */
  readonly key: string;
  readonly name: string;
  readonly total: Summary;
  /** One for each step. */
  readonly points: readonly Summary[];
}

export interface UsageSeries {
  /** The start of the first step. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly steps: number;
  /** Since when nothing is missing; `undefined` before the first numbers. */
  readonly completeFromMs: number | undefined;
  readonly total: Summary;
  readonly series: readonly Series[];
}

/** Series that are listed individually; all others are combined into one more. */
const MAX_SERIES = 12;

export const OTHERS = 'others';

/** Nodes add to the numbers this often. */
const SHARED_MS = 2_000;

const recent = new SharedReads<UsageSeries>(SHARED_MS);

/** The contents of buckets that are over. */
const settledOf = new WeakMap<object, SettledBuckets>();

/** What happened in each step of a span, over all nodes; as of a few seconds ago. */
export function usageSeries(deps: StatsDeps, query: SeriesQuery): Promise<UsageSeries> {
  const nowMs = deps.now();
  const span = spanOf(query, nowMs);
  const { group, owner, keys } = query;
  const key = JSON.stringify([span.rollup, span.fromMs, span.lastMs, group, owner, keys]);
  return recent.of(deps.store, key, nowMs, () => readSeries(deps, query, span));
}

/** Which buckets a series is made of. */
interface Buckets {
  readonly rollup: RollupName;
  readonly fromMs: number;
  /** The start of the last one. */
  readonly lastMs: number;
}

function spanOf(query: SeriesQuery, nowMs: number): Buckets {
  const rollup = seriesRollup(query, nowMs);
  return {
    rollup,
    fromMs: stepOf(rollup, query.fromMs),
    lastMs: stepOf(rollup, Math.max(query.fromMs, query.toMs - 1)),
  };
}

/** What each step of a span adds up to: all together, and for each key of the group. */
export interface SteppedTallies {
  readonly stepMs: number;
  readonly steps: number;
  readonly all: readonly Tally[];
  readonly groups: ReadonlyMap<string, readonly Tally[]>;
}

/** The numbers of series before they are ranked, named and summed up; they are not shared. */
export function steppedTallies(deps: StatsDeps, query: SeriesQuery): Promise<SteppedTallies> {
  return collect(deps, query, spanOf(query, deps.now()));
}

async function collect(
  deps: StatsDeps,
  query: SeriesQuery,
  span: Buckets,
): Promise<SteppedTallies> {
  const { stepMs } = ROLLUPS[span.rollup];
  const steps = Math.round((span.lastMs - span.fromMs) / stepMs) + 1;
  const makeTallies = (): Tally[] => Array.from({ length: steps }, newTally);
  const all = makeTallies();
  const groups = new Map<string, Tally[]>();
  const wanted = query.keys === undefined ? undefined : new Set(query.keys);
  const tallyAt = (at: number) => (group: string | undefined) => {
    if (group === undefined) return all[at] ?? newTally();
    if (wanted?.has(group) === false) return newTally();
    let tallies = groups.get(group);
    if (tallies === undefined) groups.set(group, (tallies = makeTallies()));
    return tallies[at] ?? newTally();
  };
  await addBuckets(deps, query, { ...span, steps }, tallyAt);
  return { stepMs, steps, all, groups };
}

async function readSeries(
  deps: StatsDeps,
  query: SeriesQuery,
  span: Buckets,
): Promise<UsageSeries> {
  const { stepMs, steps, all, groups } = await collect(deps, query, span);
  const ranked = [...groups]
    .map(([key, points]) => ({ key, points, total: totalOf(points) }))
    // A tag, provider or model of that name is part of the sum, so that no two series share a key.
    .sort(
      (a, b) =>
        Number(a.key === OTHERS) - Number(b.key === OTHERS) ||
        b.total.sums.requests - a.total.sums.requests,
    );
  const most = query.keys === undefined ? MAX_SERIES : new Set(query.keys).size;
  const shown = ranked.slice(0, most);
  const rest = ranked.slice(most);
  if (rest.length > 0) {
    const points = Array.from({ length: steps }, newTally);
    for (const each of rest) {
      points.forEach((sum, at) => addTally(sum, each.points[at] ?? newTally()));
    }
    shown.push({ key: OTHERS, points, total: totalOf(points) });
  }
  const nameOf = await namesFor(
    deps,
    query.group,
    shown.map(({ key }) => key),
  );
  return {
    ...{ fromMs: span.fromMs, stepMs, steps },
    completeFromMs: await completeFrom(deps, span.rollup),
    total: summaryOf(totalOf(all)),
    series: [
      ...(query.group === 'none' ? [{ key: '', points: all, total: totalOf(all) }] : shown),
    ].map(({ key, points, total }) => ({
      key,
      name: nameOf(key),
      total: summaryOf(total),
      points: points.map(summaryOf),
    })),
  };
}

/** Adds what each step's bucket holds: from memory as far as it is settled, and from the store after that. */
async function addBuckets(
  { store, now }: StatsDeps,
  { group, owner }: SeriesQuery,
  { rollup, fromMs, lastMs, steps }: Buckets & { readonly steps: number },
  tallyAt: (at: number) => (group: string | undefined) => Tally,
): Promise<void> {
  let settled = settledOf.get(store);
  if (settled === undefined) settledOf.set(store, (settled = new SettledBuckets()));
  const { stepMs } = ROLLUPS[rollup];
  const nowMs = now();
  const keyOf = (at: number): string => `${rollup} ${fromMs + at * stepMs} ${group} ${owner ?? ''}`;
  let known = 0;
  while (known < steps && settled.visit(keyOf(known), nowMs, tallyAt(known))) known += 1;
  const fresh = Array.from({ length: steps - known }, () => ({
    whole: newTally(),
    groups: new Map<string, Tally>(),
  }));
  const span = { fromMs: fromMs + known * stepMs, toMs: lastMs + stepMs - 1 };
  await store.readStats({ rollup, ...span, ...(owner === undefined ? {} : { owner }) }, (row) => {
    const bucket = fresh[Math.floor((row.atMs - span.fromMs) / stepMs)];
    if (bucket === undefined) return;
    for (const { key, tally, whole } of partsOf(rollup, row, group)) {
      if (whole) addTally(bucket.whole, tally);
      if (key === undefined) continue;
      let sum = bucket.groups.get(key);
      if (sum === undefined) bucket.groups.set(key, (sum = newTally()));
      addTally(sum, tally);
    }
  });
  fresh.forEach((bucket, index) => {
    const at = known + index;
    const tallyOf = tallyAt(at);
    addTally(tallyOf(undefined), bucket.whole);
    for (const [key, tally] of bucket.groups) addTally(tallyOf(key), tally);
    settled.keep(keyOf(at), fromMs + (at + 1) * stepMs, nowMs, bucket);
  });
}

/** The finest roll-up that reaches back far enough and has few enough steps. */
function seriesRollup({ fromMs, toMs, group, owner }: SeriesQuery, nowMs: number): RollupName {
  if (owner !== undefined || group === 'token' || group === 'user') return 'spend_hour';
  const names: readonly TrafficRollup[] = ['traffic_minute', 'traffic_5_minutes'];
  return (
    names.find((name) => {
      const { keepMs } = ROLLUPS[name];
      return nowMs - fromMs <= keepMs && toMs - fromMs <= keepMs;
    }) ?? 'traffic_hour'
  );
}

interface Part {
  /** `undefined`: in no series. */
  readonly key: string | undefined;
  readonly tally: Tally;
  /** Whether it counts for the total. */
  readonly whole: boolean;
}

/**
 * What a row adds to which series. Requests are what callers saw, and how long; for a channel, its tag and its provider that
 * is told by its attempts, and what they were spent on by the requests that it answered.
 */
function partsOf(rollup: RollupName, row: StatsRow, group: SeriesGroup): Part[] {
  const { tally } = row;
  if (rollup === 'spend_hour' || rollup === 'spend_day') {
    if (group === 'outcome') return [{ key: undefined, tally, whole: true }, ...outcomesOf(tally)];
    const about = readSpendKey(row.key);
    if (group === 'user') return [{ key: String(row.owner), tally, whole: true }];
    const key = group === 'token' ? about.tokenId : group === 'model' ? about.model : undefined;
    return [{ key: key === undefined ? undefined : `${key}`, tally, whole: true }];
  }
  const about = readTrafficKey(row.key);
  const isRequest = about.of === 'request';
  if (group === 'channel' || group === 'tag' || group === 'provider') {
    const key = group === 'channel' ? about.channelId : about[group];
    const named = key === undefined ? undefined : `${key}`;
    if (!isRequest) return [{ key: named ?? '', tally, whole: false }];
    const { documents, inputTokens, searchUnits, quota, cost } = tally.sums;
    const spent = newTally();
    Object.assign(spent.sums, { documents, inputTokens, searchUnits, quota, cost });
    return [
      { key: undefined, tally, whole: true },
      // A channel without requests is not listed.
      ...(named === undefined ? [] : [{ key: named, tally: spent, whole: false }]),
    ];
  }
  if (!isRequest) return [];
  if (group === 'outcome') return [{ key: classOf(about.outcome), tally, whole: true }];
  return [{ key: group === 'model' ? (about.model ?? '') : undefined, tally, whole: true }];
}

/** Of what was admitted it is known how many failed, and everything else only of all together. */
function outcomesOf({ sums: { requests, failed } }: Tally): Part[] {
  const ended = [
    { key: 'ok', requests: requests - failed, failed: 0 },
    { key: 'failed', requests: failed, failed },
  ];
  return ended.flatMap(({ key, ...sums }) => {
    if (sums.requests === 0) return [];
    const tally = newTally();
    Object.assign(tally.sums, sums);
    return [{ key, tally, whole: false }];
  });
}

/** Whether all went well, or who could have done better: the caller, or the gateway and its upstreams. */
function classOf(outcome: string): 'ok' | 'refused' | 'failed' {
  if (outcome === 'ok') return 'ok';
  const known = (ERRORS as Readonly<Record<string, { readonly status: number } | undefined>>)[
    outcome
  ];
  return known !== undefined && known.status < 500 ? 'refused' : 'failed';
}

export function totalOf(tallies: readonly Tally[]): Tally {
  const total = newTally();
  for (const tally of tallies) addTally(total, tally);
  return total;
}

export function summaryOf(tally: Tally): Summary {
  const sums = Object.fromEntries(SUMS.map((name) => [name, tally.sums[name]])) as Sums;
  return {
    ...sums,
    p50: percentile(tally, 0.5),
    p95: percentile(tally, 0.95),
    p99: percentile(tally, 0.99),
  };
}
