import type { IdentityStore } from '../store.js';
import type { Database } from './database.js';

export function openIdentities(database: Database): IdentityStore {
  const find = database.prepare<{ readonly user_id: number }>(
    `SELECT user_id FROM identities WHERE name_hash = ? AND (until_ms IS NULL OR until_ms > ?)
     AND user_id IN (SELECT id FROM users)`,
  );
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO identities (name_hash, user_id, until_ms) VALUES (?, ?, ?)',
  );
  const removeEnded = database.prepare<never>('DELETE FROM identities WHERE until_ms <= ?');

  return {
    findIdentity: (nameHash, nowMs) => database.read(() => find.get(nameHash, nowMs)?.user_id),

    linkIdentity: (nameHash, userId, nowMs, lifeMs) =>
      database.write(() => {
        removeEnded.run(nowMs);
        const held = lifeMs === undefined ? find.get(nameHash, nowMs)?.user_id : undefined;
        if (held !== undefined) return held;
        put.run(nameHash, userId, lifeMs === undefined ? null : nowMs + lifeMs);
        return userId;
      }),
  };
}
