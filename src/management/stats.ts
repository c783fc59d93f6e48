import { own } from '../core/records.js';
import { ROLLUPS, stepOf, SURE_HOURS_MS, type RollupName } from '../core/rollups.js';
import type { Store } from '../store/store.js';
import { latestChannels } from './latest-channels.js';

export interface StatsDeps {
  readonly store: Store;
  readonly now: () => number;
  /** For how many days spending is kept. */
  readonly statsDays: number;
}

export interface Span {
  readonly fromMs: number;
  /** That moment is not included. */
  readonly toMs: number;
}

const DAY_MS = 24 * 3_600_000;
/** Numbers are written some seconds after what they count: the first ones are of a little before the first write. */
const WRITTEN_LATER_MS = 10_000;

/**
 * Since when a roll-up lacks nothing, which is at or before all that it counts; `undefined` before the first numbers.
 */
export async function completeFrom(
  { store, now, statsDays }: StatsDeps,
  rollup: RollupName,
): Promise<number | undefined> {
  const firstWriteMs = await store.statsSince();
  if (firstWriteMs === undefined) return undefined;
  const sinceMs = stepOf('traffic_minute', firstWriteMs - WRITTEN_LATER_MS);
  const sureMs = rollup === 'spend_hour' ? SURE_HOURS_MS : ROLLUPS[rollup].keepMs;
  const keepMs = Math.min(sureMs, statsDays * DAY_MS);
  return Math.max(sinceMs, stepOf(rollup, now() - keepMs));
}

/** Today's names of what a group is about, by ids: names stand for themselves, and what was deleted has none. */
export async function namesFor(
  deps: StatsDeps,
  group: string,
  keys: readonly string[],
): Promise<(key: string) => string> {
  const find = own(NAMES, group);
  if (find === undefined) return (key) => key;
  const names = await find(deps, keys);
  return (key) => names.get(key) ?? '';
}

type FindNames = (deps: StatsDeps, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

const NAMES: Readonly<Record<string, FindNames>> = {
  user: named(async ({ store, now }, id) => (await store.getUser(id, now()))?.username),
  token: named(async ({ store, now }, id) => (await store.getToken(id, now()))?.name),
  channel: async ({ store }) => {
    const { channels } = await latestChannels(store);
    return new Map(channels.map(({ id, name }) => [String(id), name]));
  },
};

/** One question for each id. */
function named(nameOf: (deps: StatsDeps, id: number) => Promise<string | undefined>): FindNames {
  return async (deps, keys) => {
    const ids = keys.filter((key) => /^[1-9]\d*$/.test(key));
    const found = await Promise.all(
      ids.map(async (id) => [id, await nameOf(deps, Number(id))] as const),
    );
    return new Map(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
  };
}
