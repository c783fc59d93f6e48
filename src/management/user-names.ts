import type { ManagementDeps } from './audit.js';

/** The names of accounts by id, each read once; an account that is gone has none. */
export async function userNames(
  { store, now }: Pick<ManagementDeps, 'store' | 'now'>,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, string>> {
  const nowMs = now();
  const users = await Promise.all([...new Set(ids)].map((id) => store.getUser(id, nowMs)));
  return new Map(users.flatMap((user) => (user === undefined ? [] : [[user.id, user.username]])));
}
