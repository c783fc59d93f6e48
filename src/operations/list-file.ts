import { GatewayError } from '../core/errors.js';
import type { Page, Slice } from '../store/store.js';
import { LIST_QUERY, listReply, sliceOf } from '../shapes/lists.js';
import { choice, type ObjectOf } from '../shapes/shape.js';
import { csvOf, csvRows } from '../core/csv.js';
import { FileReply } from './operation.js';

export const CSV = 'text/csv';
const MAX_EXPORTED = 10_000;
/** A file is in memory until it is sent, and entries of the audit log may have 32 kB each. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Of a list that can be gone on with after an entry: what is read at once. */
const PART = 500;

/** Which part of a list, and whether as a file. */
export const FORMAT_QUERY = {
  ...LIST_QUERY,
  format: choice('json', 'csv')
    .default('json')
    .description(`csv: all that match, ${MAX_EXPORTED} and 16 MB at most, as a file.`),
};
export type FormatQuery = ObjectOf<typeof FORMAT_QUERY>;

/** A list as a file: its name without the ending, its columns, and how to ask for less. */
interface ListFile<V extends object> {
  readonly name: string;
  readonly columns: readonly (keyof V & string)[];
  readonly narrowedBy?: string;
}

/** Reads a part of a list; with `before`, only what comes after the entry with that id. */
type ReadPart<T> = (slice: Slice, before: number | undefined) => Promise<Page<T>>;

/** A page of a list, or all that match as a file; if they do not fit into one, they are refused, not cut short. */
export async function pageOrFile<T, V extends object>(
  query: FormatQuery,
  file: ListFile<V>,
  view: (entry: T) => V,
  read: ReadPart<T>,
  idOf?: (entry: T) => number,
): Promise<ReturnType<typeof listReply<T, V>> | FileReply> {
  if (query.format === 'json') return listReply(await read(sliceOf(query), undefined), query, view);
  return new FileReply(CSV, `${file.name}.csv`, await textOf(file, view, read, idOf));
}

/**
 * Without `idOf` the list is read in one step, with it in parts, and only their text is kept; entries written meanwhile shift
 * neither.
 */
async function textOf<T, V extends object>(
  { columns, narrowedBy = 'start_timestamp and end_timestamp' }: ListFile<V>,
  view: (entry: T) => V,
  read: ReadPart<T>,
  idOf: ((entry: T) => number) | undefined,
): Promise<string> {
  const refuse = (what: string): never => {
    throw new GatewayError('invalid_request', `${what}: ask for less, with ${narrowedBy}.`, {
      param: 'format',
    });
  };
  const limit = idOf === undefined ? MAX_EXPORTED : PART;
  let text = csvOf(columns, []);
  let count = 0;
  let last: T | undefined;
  do {
    const before = last === undefined ? undefined : idOf?.(last);
    const { items, total } = await read({ offset: 0, limit }, before);
    count += items.length;
    const found = Math.max(total, count);
    if (found > MAX_EXPORTED) refuse(`${found} entries match, and a file holds ${MAX_EXPORTED}`);
    text += csvRows(items.map(view).map((row) => columns.map((column) => cellOf(row[column]))));
    if (text.length > MAX_CHARACTERS) refuse('What matches has more than 16 MB');
    last = items.length < limit ? undefined : items.at(-1);
  } while (last !== undefined && idOf !== undefined);
  return text;
}

function cellOf(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value;
  return value === null ? null : JSON.stringify(value);
}
