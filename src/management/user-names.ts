import type { ManagementDeps } from './audit.js';

/** The names of accounts by id, each read once; one that is gone has a neutral name. */
export async function userNames(
  { store, now }: Pick<ManagementDeps, 'store' | 'now'>,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const nowMs = now();
  const found = [...new Set(ids)].map(async (id) => {
    const name = (await store.getUser(id, nowMs))?.username ?? deletedName(id);
    return [id, name] as const;
  });
  return new Map(await Promise.all(found));
}

/** What a deleted account is called in sums and in the audit log. */
export function deletedName(id: number): string {
  return `deleted user ${id}`;
}
