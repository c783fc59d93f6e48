import type { Columns, RecordSpec } from '../records.js';
import type { Database } from './database.js';

/** Inserts a row; returns its id, which is a number unless `key` names a column with a text. */
export function insertInto(
  database: Database,
  table: string,
  columns: Columns,
  key = 'id',
): number {
  const names = Object.keys(columns);
  const marks = names.map(() => '?');
  const row = database
    .prepare<{ readonly id: number }>(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks.join(', ')}) RETURNING ${key} AS id`,
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

/** Finds the record that has a value in a column, if there is one. */
export function finder<T>(
  database: Database,
  { table, fromRow }: Pick<RecordSpec<T>, 'table' | 'fromRow'>,
  column: string,
): (value: number | string) => T | undefined {
  const statement = database.prepare<object>(`SELECT * FROM ${table} WHERE ${column} = ?`);
  return (value) => {
    const row = statement.get(value);
    return row === undefined ? undefined : fromRow(row);
  };
}
