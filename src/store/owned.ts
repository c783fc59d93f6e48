import { EXAMPLES, exampleStore, type ExampleStore } from './examples.js';
import type { Owned, OwnedRecords, OwnedSpec } from './owned-records.js';

/** Every kind of record that belongs to an account: both stores keep it, move it, and delete it with its account. */
export const OWNED = { examples: EXAMPLES } as const;

export type OwnedTable = keyof typeof OWNED;

export const OWNED_TABLES = Object.keys(OWNED) as OwnedTable[];

/** What the store does with them, where `open` keeps the records of one kind. */
export function ownedStores(
  open: <T extends Owned>(spec: OwnedSpec<T>) => OwnedRecords<T>,
): ExampleStore {
  return { ...exampleStore(open(EXAMPLES)) };
}
