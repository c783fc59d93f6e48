import type { Page, Slice } from '../store.js';
import type { Database, SqlValue } from './database.js';

/** The WHERE of a list: conditions are added for what was asked for, so few texts come out of it. */
export class Filter {
  readonly parameters: SqlValue[] = [];
  readonly #conditions: string[] = [];

  /** Adds a condition whose every `?` is `value`, unless nothing was asked for. */
  where(condition: string, value: SqlValue | undefined): this {
    if (value === undefined) return this;
    this.#conditions.push(`(${condition})`);
    for (let index = 1; index < condition.split('?').length; index += 1) {
      this.parameters.push(value);
    }
    return this;
  }

  get sql(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
  }
}

/** A table that is listed, and what its rows are. */
interface Listed<Row, T> {
  readonly table: string;
  readonly read: (row: Row) => T;
}

/** One slice of a table, newest first, and how many rows there are in all. */
export function selectPage<Row, T>(
  database: Database,
  { table, read }: Listed<Row, T>,
  filter: Filter,
  { offset, limit }: Slice,
): Page<T> {
  const total = database
    .prepare<{ readonly total: number }>(`SELECT count(*) AS total FROM ${table} t ${filter.sql}`)
    .get(...filter.parameters);
  const rows = database
    .prepare<Row>(`SELECT * FROM ${table} t ${filter.sql} ORDER BY id DESC LIMIT ? OFFSET ?`)
    .all(...filter.parameters, limit, offset);
  return { items: rows.map(read), total: total?.total ?? 0 };
}
