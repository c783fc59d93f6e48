import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import type { Page, Slice } from '../store/store.js';
import { LIST_QUERY, listReply, sliceOf, type ListQuery } from '../wire/lists.js';
import { csvOf } from './csv.js';
import { FileReply } from './operation.js';

export interface FormatQuery extends ListQuery {
  format: 'json' | 'csv';
}

export const CSV = 'text/csv';
/** Read in one step, so that entries written meanwhile do not shift it. */
const MAX_EXPORTED = 10_000;

/** The members of `FormatQuery` for the schema of a query. */
export const FORMAT_QUERY = {
  ...LIST_QUERY,
  format: Joi.string()
    .valid('json', 'csv')
    .default('json')
    .description(`csv: all that match, ${MAX_EXPORTED} at most, as a file.`),
};

/** A list as a file: its name without the ending, its columns, and how to ask for less. */
interface ListFile<V extends object> {
  readonly name: string;
  readonly columns: readonly (keyof V & string)[];
  readonly narrowedBy?: string;
}

/** A page of a list, or all that match as a file; if they do not fit into one, they are refused, not cut short. */
export async function pageOrFile<T, V extends object>(
  query: FormatQuery,
  { name, columns, narrowedBy = 'start_timestamp and end_timestamp' }: ListFile<V>,
  view: (entry: T) => V,
  read: (slice: Slice) => Promise<Page<T>>,
): Promise<ReturnType<typeof listReply<T, V>> | FileReply> {
  if (query.format === 'json') return listReply(await read(sliceOf(query)), query, view);
  const { items, total } = await read({ offset: 0, limit: MAX_EXPORTED });
  if (total > MAX_EXPORTED) {
    throw new GatewayError(
      'invalid_request',
      `${total} entries match, and a file holds ${MAX_EXPORTED}: ask for less, with ${narrowedBy}.`,
      { param: 'format' },
    );
  }
  const rows = items.map(view);
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])));
  return new FileReply(CSV, `${name}.csv`, csvOf(columns, cells));
}

/** The names of the members of a view, in its order. */
export function namesOf<T extends object>(members: T): (keyof T & string)[] {
  return Object.keys(members) as (keyof T & string)[];
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return value === null ? null : JSON.stringify(value);
}
