import type { Database, SqlValue } from './database.js';

/** Values of a row by the names of their columns. */
type Columns = Readonly<Record<string, SqlValue>>;

/** Inserts a row; resolves to its id, or that of its place where the table has none. */
export function insertInto(database: Database, table: string, columns: Columns): number {
  const names = Object.keys(columns);
  const marks = names.map(() => '?');
  const row = database
    .prepare<{ readonly id: number }>(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks.join(', ')}) RETURNING rowid AS id`,
    )
    .get(...Object.values(columns));
  if (row === undefined) throw new Error(`Nothing was written to ${table}.`);
  return row.id;
}

/** Replaces columns of the row with an id, if there is one. */
export function updateOf(database: Database, table: string, columns: Columns, id: number): void {
  const set = Object.keys(columns).map((name) => `${name} = ?`);
  database
    .prepare<never>(`UPDATE ${table} SET ${set.join(', ')} WHERE id = ?`)
    .run(...Object.values(columns), id);
}
