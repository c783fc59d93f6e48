import { exampleOf, EXAMPLES } from '../examples.js';
import type { ExampleStore } from '../store.js';
import type { Database } from './database.js';
import { finder, insertInto } from './rows.js';

export function openExamples(database: Database): ExampleStore {
  const columns = EXAMPLES.columns.filter((name) => name !== 'content').join(', ');
  const count = database.prepare<{ readonly count: number }>(
    'SELECT COUNT(*) AS count FROM examples WHERE user_id = ?',
  );
  const visible = database.prepare<object>(
    `SELECT ${columns} FROM examples WHERE user_id = ? OR shared = 1 ORDER BY id DESC`,
  );
  const byId = finder(database, EXAMPLES, 'id');
  const remove = database.prepare<never>('DELETE FROM examples WHERE id = ?');

  return {
    addExample: (example, most, nowMs) =>
      database.write(() => {
        if ((count.get(example.userId)?.count ?? 0) >= most) return 'too_many';
        const stored = { ...example, createdTime: Math.floor(nowMs / 1000) };
        return exampleOf({
          ...stored,
          id: insertInto(database, 'examples', EXAMPLES.toRow(stored)),
        });
      }),

    listExamples: (userId) =>
      database.read(() => visible.all(userId).map((row) => exampleOf(EXAMPLES.fromRow(row)))),

    getExample: (id) =>
      database.read(() => {
        const stored = byId(id);
        return stored && { example: exampleOf(stored), content: stored.content };
      }),

    deleteExample: (id) => database.write(() => remove.run(id) > 0),
  };
}
