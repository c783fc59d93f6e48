import { readFileSync, writeFileSync } from 'node:fs';
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';

/** A store before anything is written to it: the endings of its files, and what is in them. */
let files: readonly (readonly [ending: string, bytes: Buffer])[] = [];

/**
 * Opens an embedded store whose file is not there yet. The first one of a suite makes its tables, which takes longer than
 * all else; the others begin with a copy.
 */
export function openEmptyStore(options: SqliteStoreOptions): Store {
  for (const [ending, bytes] of files) writeFileSync(options.file + ending, bytes, { mode: 0o600 });
  const store = openSqliteStore(options);
  if (files.length === 0) {
    files = ['', '-wal'].map((ending) => [ending, readFileSync(options.file + ending)]);
  }
  return store;
}
