import type { Example, ExampleStore } from '../store.js';
import type { Database } from './database.js';

interface ExampleRow {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly shared: number;
  readonly created_time: number;
}

export function openExamples(database: Database): ExampleStore {
  const columns = 'id, user_id, name, shared, created_time';
  const insert = database.prepare<ExampleRow>(
    `INSERT INTO examples (user_id, name, shared, created_time, content) VALUES (?, ?, ?, ?, ?) RETURNING ${columns}`,
  );
  const count = database.prepare<{ readonly count: number }>(
    'SELECT COUNT(*) AS count FROM examples WHERE user_id = ?',
  );
  const visible = database.prepare<ExampleRow>(
    `SELECT ${columns} FROM examples WHERE user_id = ? OR shared = 1 ORDER BY id DESC`,
  );
  const byId = database.prepare<ExampleRow & { readonly content: string }>(
    'SELECT * FROM examples WHERE id = ?',
  );
  const remove = database.prepare<never>('DELETE FROM examples WHERE id = ?');

  return {
    addExample: ({ userId, name, shared, content }, most, nowMs) =>
      database.write(() => {
        if ((count.get(userId)?.count ?? 0) >= most) return 'too_many';
        const seconds = Math.floor(nowMs / 1000);
        const row = insert.get(userId, name, Number(shared), seconds, content);
        if (row === undefined) throw new Error('The example was not written.');
        return exampleOf(row);
      }),

    listExamples: (userId) => database.read(() => visible.all(userId).map(exampleOf)),

    getExample: (id) =>
      database.read(() => {
        const row = byId.get(id);
        return row === undefined ? undefined : { example: exampleOf(row), content: row.content };
      }),

    deleteExample: (id) => database.write(() => remove.run(id) > 0),
  };
}

function exampleOf(row: ExampleRow): Example {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    shared: row.shared === 1,
    createdTime: row.created_time,
  };
}
