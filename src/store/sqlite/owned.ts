import type { Owned, OwnedRecords, OwnedSpec } from '../owned-records.js';
import type { Database } from './database.js';
import { finder, insertInto } from './rows.js';

/** Records that belong to an account, a table for each kind. */
export function openOwned<T extends Owned>(
  database: Database,
  spec: OwnedSpec<T>,
): OwnedRecords<T> {
  const { table } = spec;
  const columns = spec.columns.filter((name) => !spec.unlisted.includes(name)).join(', ');
  const count = database.prepare<{ readonly count: number }>(
    `SELECT COUNT(*) AS count FROM ${table} WHERE user_id = ?`,
  );
  const visible = database.prepare<object>(
    `SELECT ${columns} FROM ${table} WHERE user_id = ? OR shared = 1 ORDER BY id DESC`,
  );
  const byId = finder(database, spec, 'id');
  const remove = database.prepare<never>(`DELETE FROM ${table} WHERE id = ?`);

  return {
    add: (record, most, nowMs) =>
      database.write(() => {
        if ((count.get(record.userId)?.count ?? 0) >= most) return 'too_many';
        // All but the id, which the database gives.
        const stored = { ...record, createdTime: Math.floor(nowMs / 1000) } as unknown as T;
        return { ...stored, id: insertInto(database, table, spec.toRow(stored)) };
      }),

    list: (userId) => database.read(() => visible.all(userId).map(spec.fromRow)),
    get: (id) => database.read(() => byId(id)),
    delete: (id) => database.write(() => remove.run(id) > 0),
  };
}
