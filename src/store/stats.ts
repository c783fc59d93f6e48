import type { RollupName } from '../core/rollups.js';
import type { Tally } from '../core/tally.js';

export interface StatsRow {
  /** The start of its bucket. */
  readonly atMs: number;
  /** The owner: an account's id, or 0 if there is none. */
  readonly owner: number;
  /** Which row of the bucket. */
  readonly key: string;
  readonly tally: Tally;
}

/** Something to be added to a row of a roll-up. */
export interface StatsAddition extends StatsRow {
  readonly rollup: RollupName;
  /** The row to use if the bucket already has `maxRows` of this owner and `key` is not among them. */
  readonly otherKey: string;
  readonly expiresMs: number;
}

export interface StatsBatch {
  /** Who adds: one run of a process, from start to end. */
  readonly writer: string;
  /** Grows with every batch of the writer, from 1: a batch that is sent again because no answer came changes nothing. */
  readonly serial: number;
  readonly nowMs: number;
  readonly maxRows: number;
  readonly additions: readonly StatsAddition[];
}

export interface StatsQuery {
  readonly rollup: RollupName;
  /** If absent, the rows of all owners. */
  readonly owner?: number;
  /** Of the buckets that begin in this span, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface StatsStore {
  /** Adds all of a batch, or nothing if it was added already. */
  addStats(batch: StatsBatch): Promise<void>;
  /** Visits the rows of a span, bucket by bucket; reads in parts, so that others get their turn in between. */
  readStats(query: StatsQuery, visit: (row: StatsRow) => void): Promise<void>;
  /** When roll-ups began; `undefined` before the first one. */
  statsSince(): Promise<number | undefined>;
}
