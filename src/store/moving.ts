import { OWNED_TABLES } from './owned.js';

/**
 * What moves between stores, in the order in which it is written: whoever owns something comes before it, and balances come
 * before the logs. Not moved is what ends by itself: reservations, limits of rate, one-time codes, cached replies, nodes.
 */
export const MOVED_TABLES = [
  'secrets',
  'users',
  'tokens',
  'sessions',
  'identities',
  'codes',
  'channels',
  'tag_switches',
  'price_lists',
  ...OWNED_TABLES,
  'stats_since',
  'stats',
  'audit_log',
  'refused_log',
  'usage_log',
  'sequences',
] as const;

export type MovedTable = (typeof MOVED_TABLES)[number];

/** A record by the columns of the embedded store, without those that follow from others. */
export type MovedRow = Readonly<Record<string, string | number | null>>;

/** How many rows are read or written at once. */
export const MOVED_AT_ONCE = 500;

/** The records of a store as they are, to move them to another one. */
export interface MovingStore {
  /**
   * All rows of a table, some at a time, always in the same order. `credentials` of a channel is the JSON of its secrets, unsealed:
   * rejects with `CredentialsLockedError` if they cannot be read. What is reserved for requests counts as given back.
   */
  rowsOf(table: MovedTable, nowMs: number): AsyncIterable<readonly MovedRow[]>;
  /** Writes rows as they are; those that are there already are replaced. Rejects if there is a column that it does not know. */
  putRows(table: MovedTable, rows: readonly MovedRow[]): Promise<void>;
  /** The state of an import into this store, after it is set to `state` if that is given. */
  importState(state?: string): Promise<string | undefined>;
}

/** The name in the table of secrets under which the state of an import is kept. */
export const IMPORT_STATE = 'import';
