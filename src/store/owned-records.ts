import type { RecordSpec } from './records.js';

/** A record that belongs to an account: it is deleted with it, and everybody sees it if it is shared. */
export interface Owned {
  readonly id: number;
  readonly userId: number;
  readonly shared: boolean;
  readonly createdTime: number;
}

export interface OwnedSpec<T extends Owned> extends RecordSpec<T> {
  /** The columns that lists are without: they may be large. */
  readonly unlisted: readonly string[];
}

/** How a store keeps one kind of them. Each verb is atomic. */
export interface OwnedRecords<T extends Owned> {
  /** Keeps one more; `too_many` if the account already has `most` of them. */
  add(record: Omit<T, 'id' | 'createdTime'>, most: number, nowMs: number): Promise<T | 'too_many'>;
  /** Those of the account and those that are shared, newest first, each without what lists are without. */
  list(userId: number): Promise<readonly T[]>;
  get(id: number): Promise<T | undefined>;
  delete(id: number): Promise<boolean>;
}
