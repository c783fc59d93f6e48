import { setImmediate as nextTurn } from 'node:timers/promises';
import { snakeCase } from '../../core/records.js';
import type { Order, Page, Slice } from '../store.js';
import type { Database, SqlValue } from './database.js';

/** The WHERE clause of a list: conditions are added only for what was asked for, which makes few different texts. */
export class Filter {
  readonly parameters: SqlValue[] = [];
  readonly #conditions: string[] = [];

  /** Adds a condition in which every `?` is `value`, unless `value` is undefined. */
  where(condition: string, value: SqlValue | undefined): this {
    if (value === undefined) return this;
    this.#conditions.push(`(${condition})`);
    for (let index = 1; index < condition.split('?').length; index += 1) {
      this.parameters.push(value);
    }
    return this;
  }

  /** Adds that columns are what the members of a query say, where these are defined. */
  equal<Q extends object>(query: Q, members: readonly (keyof Q & string)[]): this {
    // Members of queries that name columns hold what columns hold.
    const wanted = query as Readonly<Record<string, SqlValue | undefined>>;
    for (const name of members) this.where(`t.${snakeCase(name)} = ?`, wanted[name]);
    return this;
  }

  get sql(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
  }
}

/** A table to list, and how its rows are read. */
interface Listed<Row, T> {
  readonly table: string;
  readonly read: (row: Row) => T;
}

/** The beginning of an ORDER BY clause; `expressions` say what each order is. */
export function orderSql<By extends string>(
  expressions: Readonly<Record<By, string>>,
  order: Order<By> | undefined,
): string {
  return order === undefined
    ? ''
    : `${expressions[order.by]} ${order.descending ? 'DESC' : 'ASC'},`;
}

/** One slice of the matching rows of a table, newest first unless `order` says otherwise, and the number of all of them. */
export function selectPage<Row, T>(
  database: Database,
  { table, read }: Listed<Row, T>,
  filter: Filter,
  { offset, limit, count }: Slice & { readonly count?: false },
  order = '',
): Page<T> {
  const rowsOf = (most: number): Row[] =>
    database
      .prepare<Row>(
        `SELECT * FROM ${table} t ${filter.sql} ORDER BY ${order} t.id DESC LIMIT ? OFFSET ?`,
      )
      .all(...filter.parameters, most, offset);
  if (count === false) {
    const rows = rowsOf(limit + 1);
    // Behind the end, nothing says how many there are; at the beginning, there are none.
    if (rows.length > 0 || offset === 0) {
      return { items: rows.slice(0, limit).map(read), total: offset + rows.length };
    }
  }
  const total = database
    .prepare<{ readonly total: number }>(`SELECT count(*) AS total FROM ${table} t ${filter.sql}`)
    .get(...filter.parameters);
  return { items: rowsOf(limit).map(read), total: total?.total ?? 0 };
}

/** How many rows of a log are looked at before others get their turn: some five milliseconds. */
const LOOKED_AT_ONCE = 10_000;

/**
 * The same of a log, newest first, for conditions that no index has: of the rows that `looked` lets through, `wanted` lets through
 * those that match. Looks at them in steps that end between two times, in between which others get their turn.
 */
export async function searchPage<Row, T>(
  database: Database,
  { table, read }: Listed<Row, T>,
  looked: () => Filter,
  wanted: () => Filter,
  { offset, limit, count }: Slice & { readonly count?: false },
): Promise<Page<T>> {
  const most = count === false ? offset + limit + 1 : Infinity;
  const order = 'ORDER BY t.at_ms DESC, t.id DESC LIMIT ? OFFSET ?';
  const items: T[] = [];
  let total = 0;
  let newestMs: number | undefined;

  function look(): number | undefined {
    const within = looked().where('t.at_ms <= ?', newestMs);
    const last = database
      .prepare<{ readonly at_ms: number }>(`SELECT t.at_ms FROM ${table} t ${within.sql} ${order}`)
      .get(...within.parameters, 1, LOOKED_AT_ONCE - 1);
    const { sql, parameters } = wanted()
      .where('t.at_ms <= ?', newestMs)
      .where('t.at_ms >= ?', last?.at_ms);
    const matching = database
      .prepare<{ readonly matching: number }>(`SELECT count(*) AS matching FROM ${table} t ${sql}`)
      .get(...parameters);
    const found = matching?.matching ?? 0;
    const [room, passed] = [limit - items.length, Math.max(0, offset - total)];
    if (room > 0 && found > passed) {
      const rows = database.prepare<Row>(`SELECT * FROM ${table} t ${sql} ${order}`);
      items.push(...rows.all(...parameters, room, passed).map(read));
    }
    total += found;
    return last?.at_ms;
  }

  for (;;) {
    const oldestMs = await database.read(look);
    if (oldestMs === undefined || total >= most) return { items, total: Math.min(total, most) };
    newestMs = oldestMs - 1;
    await nextTurn();
  }
}
