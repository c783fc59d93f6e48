import type { RollupName } from '../core/rollups.js';
import type { Tally } from '../core/tally.js';

/** Something to be added to a row of a roll-up. */
export interface StatsAddition {
  readonly rollup: RollupName;
  /** The start of its bucket. */
  readonly atMs: number;
  /** Whose it is: an account's id, or 0 for what is about nobody. */
  readonly owner: number;
  /** Which row of the bucket. */
  readonly key: string;
  /** The row that it goes to where the bucket has `maxRows` of this owner and this one is not among them. */
  readonly otherKey: string;
  readonly expiresMs: number;
  readonly tally: Tally;
}

export interface StatsBatch {
  /** Who adds: a process, from its start to its end. */
  readonly writer: string;
  /** Grows with every batch of the writer, from 1: a batch that is added again, for want of an answer, changes nothing. */
  readonly serial: number;
  readonly nowMs: number;
  readonly maxRows: number;
  readonly additions: readonly StatsAddition[];
}

export interface StatsQuery {
  readonly rollup: RollupName;
  /** Those of all where it is absent. */
  readonly owner?: number;
  /** The starts of the first bucket and of the last. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface StatsRow {
  readonly atMs: number;
  readonly owner: number;
  readonly key: string;
  readonly tally: Tally;
}

export interface StatsStore {
  /** All of a batch or, where it is there already, nothing. */
  addStats(batch: StatsBatch): Promise<void>;
  /** Visits the rows of a span, bucket after bucket; read in parts, so that others get their turn in between. */
  readStats(query: StatsQuery, visit: (row: StatsRow) => void): Promise<void>;
  /** Since when roll-ups are kept; `undefined` before the first. */
  statsSince(): Promise<number | undefined>;
}
