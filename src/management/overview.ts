import { isFailing } from '../core/attention.js';
import { runningOut, type RunsOut } from '../core/running-out.js';
import { addTally, newTally, type Tally } from '../core/tally.js';
import { TOKEN_ENABLED, tokenStatus, type Token } from '../core/token.js';
import type { ChannelSnapshot } from '../store/store.js';
import { channelState, switchesOf, type Because } from './channel-views.js';
import { latestChannels } from './latest-channels.js';
import { listNodes, type NodesView } from './nodes.js';
import { listPriceChanges, type PriceChange } from './price-changes.js';
import { SharedReads } from './shared-reads.js';
import type { Span, StatsDeps } from './stats.js';
import { usageBreakdown, type UsageBreakdown } from './usage-breakdown.js';
import {
  OTHERS,
  steppedTallies,
  summaryOf,
  totalOf,
  usageSeries,
  type Summary,
  type UsageSeries,
} from './usage-series.js';

export interface OverviewQuery extends Span {
  /** When the reader's day began. */
  readonly dayFromMs: number;
}

/** What a channel was asked for, and how it went. */
export interface ChannelTraffic {
  /** Its id; '' for attempts of no known channel; others: everything beyond those that are listed. */
  readonly key: string;
  readonly name: string;
  /** Why it takes no traffic; `undefined`: it does, or there is no such channel. */
  readonly because: Because | undefined;
  readonly total: Summary;
  /** Of the last steps, which tell whether it is failing now. */
  readonly recent: { readonly requests: number; readonly failed: number };
}

interface Pace {
  readonly requests: number;
  readonly p95: number | undefined;
}

/** Findings besides traffic, switches and nodes. */
export interface Watched {
  /** What went well in the last hour, and in the same one yesterday. */
  readonly lastHour: Pace;
  readonly dayBefore: Pace;
  /** Keys that expire within three days: the first of them, and how many there are. */
  readonly ending: { readonly names: readonly string[]; readonly total: number };
  /** Keys and accounts that will have spent what they have within three days, the soonest first. */
  readonly runningOut: readonly RunsOut[];
}

/** Whether everything is all right, and what that rests on. */
export interface Overview {
  /** By outcome. */
  readonly traffic: UsageSeries;
  readonly channels: readonly ChannelTraffic[];
  readonly nodes: NodesView;
  /** The models without a live channel, neither their own nor one of their fallbacks. */
  readonly darkModels: readonly string[];
  readonly watched: Watched;
  /** The accounts that have spent most since the day began. */
  readonly today: UsageBreakdown;
  readonly priceChanges: readonly PriceChange[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SOON_MS = 3 * DAY_MS;
/** How exact the times in rare questions are. */
const COARSE_MS = 5 * MINUTE_MS;
/** How many steps decide whether a channel is failing, if the steps are minutes. */
const JUDGED_STEPS = 5;
const MAX_CHANNELS = 12;
/** Of these, so many are kept for those with requests that fail, however little they are asked. */
const MAX_FAILING = 6;
const MAX_SPENDERS = 5;
const MAX_NAMED = 4;
/** The most that run out and are named. */
const MAX_OUT = 5;
/** How many are examined of those with the least left, and of those that spend most. */
const JUDGED = 100;

const channelReads = new SharedReads<readonly ChannelTraffic[]>(10_000);
const nodeReads = new SharedReads<NodesView>(2_000);
const watchedReads = new SharedReads<Watched>(15_000);
const todayReads = new SharedReads<UsageBreakdown>(30_000);
const priceReads = new SharedReads<readonly PriceChange[]>(30_000);

/**
 * All that an overview shows besides the tags. Each part is read again as seldom as it may be, and once for all readers: an
 * overview that is open asks every few seconds.
 */
export async function getOverview(
  deps: StatsDeps,
  query: OverviewQuery,
  fallbacksOf: (model: string) => readonly string[],
): Promise<Overview> {
  const { store, now } = deps;
  const nowMs = now();
  const { fromMs, toMs, dayFromMs } = query;
  const span = `${fromMs} ${toMs}`;
  const [traffic, channels, nodes, dark, watched, today, priceChanges] = await Promise.all([
    usageSeries(deps, { fromMs, toMs, group: 'outcome' }),
    channelReads.of(store, span, nowMs, () => channelTraffic(deps, { fromMs, toMs })),
    nodeReads.of(store, '', nowMs, () => listNodes(deps)),
    latestChannels(store).then((latest) => darkModels(latest, fallbacksOf)),
    watchedReads.of(store, '', nowMs, () => watch(deps)),
    todayReads.of(store, `${dayFromMs}`, nowMs, () => spentSince(deps, dayFromMs)),
    priceReads.of(store, span, nowMs, () => listPriceChanges(store, { fromMs, toMs: toMs - 1 })),
  ]);
  return { traffic, channels, nodes, darkModels: dark, watched, today, priceChanges };
}

async function channelTraffic(deps: StatsDeps, span: Span): Promise<ChannelTraffic[]> {
  const { stepMs, groups } = await steppedTallies(deps, { ...span, group: 'channel' });
  const judged = stepMs === MINUTE_MS ? JUDGED_STEPS : 1;
  const all = Array.from(groups, ([key, steps]) => ({
    ...{ key, total: totalOf(steps), recent: totalOf(steps.slice(-judged)) },
  }));
  const failing = all
    .filter(({ total }) => total.sums.failed > 0)
    .sort(by(({ recent, total }) => [recent.sums.failed, total.sums.failed]))
    .filter(
      ({ recent: { sums } }, at) => at < MAX_FAILING || isFailing(sums.requests, sums.failed),
    );
  const failed = new Set(failing);
  const others = all
    .filter((one) => !failed.has(one))
    .sort(by(({ total }) => [total.sums.requests]));
  const room = Math.max(0, MAX_CHANNELS - failing.length);
  const shown = [...failing, ...others.slice(0, room)].sort(
    by(({ total }) => [total.sums.requests]),
  );
  const rest = others.slice(room);
  const snapshot = await latestChannels(deps.store);
  const switches = switchesOf(snapshot);
  const byKey = new Map(snapshot.channels.map((channel) => [String(channel.id), channel]));
  const aboutOf = (key: string): Pick<ChannelTraffic, 'name' | 'because'> => {
    const channel = byKey.get(key);
    if (channel === undefined) return { name: '', because: undefined };
    const state = channelState(channel, switches, snapshot.locked);
    return { name: channel.name, because: state.live ? undefined : state.because };
  };
  return [...shown, ...(rest.length === 0 ? [] : [sumOf(rest)])].map(({ key, total, recent }) => ({
    ...{ key, ...aboutOf(key), total: summaryOf(total) },
    recent: { requests: recent.sums.requests, failed: recent.sums.failed },
  }));
}

interface Judged {
  readonly key: string;
  readonly total: Tally;
  readonly recent: Tally;
}

function sumOf(parts: readonly Judged[]): Judged {
  const sum = { key: OTHERS, total: newTally(), recent: newTally() };
  for (const { total, recent } of parts) {
    addTally(sum.total, total);
    addTally(sum.recent, recent);
  }
  return sum;
}

/** The greatest first, by the first number that differs. */
function by<T>(numbersOf: (of: T) => readonly number[]): (one: T, other: T) => number {
  return (one, other) => {
    const others = numbersOf(other);
    return numbersOf(one).reduce((order, n, at) => order || (others[at] ?? 0) - n, 0);
  };
}

const liveOf = new WeakMap<ChannelSnapshot, ReadonlyMap<string, boolean>>();

/** Each model that channels serve, and whether one of them takes traffic. */
function liveModels(snapshot: ChannelSnapshot): ReadonlyMap<string, boolean> {
  const known = liveOf.get(snapshot);
  if (known !== undefined) return known;
  const switches = switchesOf(snapshot);
  const live = new Map<string, boolean>();
  for (const channel of snapshot.channels) {
    const isLive = channelState(channel, switches, snapshot.locked).live;
    for (const model of Object.keys(channel.models)) {
      live.set(model, isLive || live.get(model) === true);
    }
  }
  liveOf.set(snapshot, live);
  return live;
}

function darkModels(
  snapshot: ChannelSnapshot,
  fallbacksOf: (model: string) => readonly string[],
): string[] {
  const live = liveModels(snapshot);
  const answers = (model: string): boolean => live.get(model) === true;
  return [...live.keys()]
    .filter((model) => !answers(model) && !fallbacksOf(model).some(answers))
    .sort();
}

async function watch(deps: StatsDeps): Promise<Watched> {
  const { store, now } = deps;
  const nowMs = now();
  const endMs = Math.floor(nowMs / COARSE_MS) * COARSE_MS;
  const hourTo = (toMs: number) =>
    usageSeries(deps, { fromMs: toMs - HOUR_MS, toMs, group: 'outcome' });
  const usable = { offset: 0, limit: JUDGED };
  const [lastHour, dayBefore, ending, spent, keys, accounts] = await Promise.all([
    hourTo(endMs),
    hourTo(endMs - DAY_MS),
    store.listTokens(
      {
        ...{ status: TOKEN_ENABLED, expiresBefore: Math.floor((endMs + SOON_MS) / 1_000) },
        ...{ order: { by: 'expiredTime', descending: false }, offset: 0, limit: MAX_NAMED },
      },
      nowMs,
    ),
    // To this moment: spending is kept by the hour, and that of an hour that has just begun counts as well.
    usageBreakdown(deps, {
      fromMs: endMs - DAY_MS,
      toMs: nowMs + 1,
      by: ['user', 'token'],
      named: false,
    }),
    store.listTokens(
      { ...usable, status: TOKEN_ENABLED, order: { by: 'remainQuota', descending: false } },
      nowMs,
    ),
    store.listUsers({ ...usable, enabled: true, order: { by: 'quota', descending: false } }, nowMs),
  ]);
  // Many may have little left and spend nothing: they would hide somebody who spends a lot.
  const [spendingKeys, spendingAccounts] = await Promise.all([
    eachOf(spent, 'token', (id) => store.getToken(id, nowMs)),
    eachOf(spent, 'user', (id) => store.getUser(id, nowMs)),
  ]);
  const isUsable = (key: Token): boolean => tokenStatus(key, nowMs) === TOKEN_ENABLED;
  return {
    lastHour: paceOf(lastHour),
    dayBefore: paceOf(dayBefore),
    ending: { names: ending.items.map(({ name }) => name), total: ending.total },
    runningOut: runningOut(
      spent.rows.map(({ of: { user, token }, sums: { quota } }) => ({
        ...{ userId: idOf(user), tokenId: idOf(token), quota },
      })),
      byId([...keys.items, ...spendingKeys.filter(isUsable)]),
      byId([...accounts.items, ...spendingAccounts.filter(({ enabled }) => enabled)]),
    ).slice(0, MAX_OUT),
  };
}

/** Those that spent most, as they are now. */
async function eachOf<T>(
  { rows }: UsageBreakdown,
  group: 'token' | 'user',
  find: (id: number) => Promise<T | undefined>,
): Promise<T[]> {
  const ids = new Set(rows.flatMap(({ of }) => idOf(of[group]) ?? []));
  const found = await Promise.all([...ids].slice(0, JUDGED).map(find));
  return found.flatMap((one) => one ?? []);
}

function byId<T extends { readonly id: number }>(all: readonly T[]): T[] {
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

function idOf(key: string | number | undefined): number | undefined {
  return typeof key === 'number' ? key : undefined;
}

/** Refusals are quick, and say nothing about upstreams. */
function paceOf({ series }: UsageSeries): Pace {
  const { requests, p95 } = series.find(({ key }) => key === 'ok')?.total ?? {
    requests: 0,
    p95: undefined,
  };
  return { requests, p95 };
}

function spentSince(deps: StatsDeps, fromMs: number): Promise<UsageBreakdown> {
  // Where clocks go back, a day has another hour.
  const longMs = fromMs + DAY_MS + HOUR_MS;
  const toMs = deps.now() < longMs ? longMs : fromMs + DAY_MS;
  return usageBreakdown(deps, { fromMs, toMs, by: ['user'], most: MAX_SPENDERS });
}
