import { snakeCase } from '../core/records.js';

/** A value as a column of the embedded store holds it. */
export type Column = string | number | null;
export type Columns = Readonly<Record<string, Column>>;
type Fields = Readonly<Record<string, string>>;

/** How a member of a record is kept. */
interface Kind<V> {
  /** Its field in a hash of Redis; none if it is part of the key there. */
  readonly field: string | undefined;
  /** What the text of a field is as a column. */
  readonly columnOf: (text: string) => Column;
  readonly read: (kept: string | number) => V;
  readonly keep: (value: V) => Column;
  /** What it is where it is missing, as in records of older releases. */
  readonly absent: V;
  /** The text of its field where there is no value; without it, there is no field then. */
  readonly blank?: string;
}

export function text<V extends string = string>(field?: string, absent = '' as V): Kind<V> {
  // Written from a V.
  return { field, columnOf: String, read: (kept) => String(kept) as V, keep: String, absent };
}

export function number<V extends number = number>(field?: string, absent = 0 as V): Kind<V> {
  // Written from a V.
  return { field, columnOf: Number, read: (kept) => Number(kept) as V, keep: Number, absent };
}

export function flag(field?: string): Kind<boolean> {
  return {
    ...{ field, columnOf: Number, read: (kept) => Number(kept) === 1, keep: Number },
    absent: false,
  };
}

/** A member with its own form: it is kept as JSON, and read back by `read`. */
export function json<V>(
  field: string | undefined,
  absent: V,
  // Written from a V.
  read = (text: string) => JSON.parse(text) as V,
): Kind<V> {
  const keep = (value: V): string => JSON.stringify(value);
  return { field, columnOf: String, read: (kept) => read(String(kept)), keep, absent };
}

/** A member that may be missing. */
export function maybe<V>(kind: Kind<V>, blank?: string): Kind<V | undefined> {
  return {
    ...kind,
    columnOf: (text) => (text === '' ? null : kind.columnOf(text)),
    read: (kept) => (kept === '' ? undefined : kind.read(kept)),
    keep: (value) => (value === undefined ? null : kind.keep(value)),
    absent: undefined,
    ...(blank === undefined ? {} : { blank }),
  };
}

/** One kind of record: its members, one row each, and what both stores make of them. */
export interface RecordSpec<T> {
  /** The table of the embedded store. */
  readonly table: string;
  /** Its columns, in the order of the members, without those that follow from others. */
  readonly columns: readonly string[];
  /** The fields of its hash in Redis. */
  readonly fields: readonly string[];
  readonly fromRow: (row: object) => T;
  /** What a hash says; `given` are the members that are in its key. */
  readonly fromFields: (fields: Fields, given?: Partial<T>) => T;
  /** The columns of those members that are given, with those that follow from them. */
  readonly toRow: (members: Partial<T>) => Columns;
  /** The fields of those members that are given, and their values, as HSET takes them. */
  readonly toFields: (members: Partial<T>) => (string | number)[];
  /** A row that follows from columns: what lists look for, in lower case. */
  readonly derived: (columns: Columns) => Columns;
  /** The columns of a hash as they are, and the fields of a row: to move records between stores. */
  readonly movedColumns: (fields: Fields) => Columns;
  readonly movedFields: (columns: Columns) => (string | number)[];
}

/** `lowered` names the columns that have members in lower case. */
export function recordOf<T extends object>(
  table: string,
  kinds: { readonly [K in keyof T]-?: Kind<T[K]> },
  lowered: { readonly [K in keyof T]?: string } = {},
): RecordSpec<T> {
  // Each kind reads and keeps what its own member holds.
  const rows = kinds as unknown as Readonly<Record<string, Kind<unknown>>>;
  const members = Object.entries(rows).map(([name, kind]) => ({
    ...{ name, kind, column: snakeCase(name) },
    lowered: (lowered as Readonly<Record<string, string | undefined>>)[name],
  }));
  const hashed = members.flatMap(({ column, kind: { field, ...kind } }) =>
    field === undefined ? [] : [{ column, field, kind }],
  );
  type Member = (typeof members)[number];
  const record = (keptOf: (member: Member) => Column | undefined): T =>
    // Each member is read by its kind.
    Object.fromEntries(
      members.map((member) => {
        const kept = keptOf(member) ?? null;
        return [member.name, kept === null ? member.kind.absent : member.kind.read(kept)];
      }),
    ) as T;
  const given = (values: Partial<T>): (Member & { readonly value: unknown })[] =>
    members.flatMap((member) =>
      member.name in values
        ? [{ ...member, value: (values as Readonly<Record<string, unknown>>)[member.name] }]
        : [],
    );
  const derived = (columns: Columns): Columns =>
    Object.fromEntries(
      members.flatMap(({ column, lowered: key }) => {
        if (key === undefined || !(column in columns)) return [];
        const value = columns[column];
        return [[key, typeof value === 'string' ? value.toLowerCase() : null]];
      }),
    );
  const fieldOf = (field: string, blank: string | undefined, value: Column): (string | number)[] =>
    value !== null ? [field, value] : blank === undefined ? [] : [field, blank];

  return {
    ...{ table, columns: members.map(({ column }) => column), derived },
    fields: hashed.map(({ field }) => field),
    fromRow: (row) => record(({ column }) => (row as Columns)[column]),
    fromFields: (fields, inKey = {}) => ({
      ...record(({ kind: { field } }) => (field === undefined ? null : fields[field])),
      ...inKey,
    }),
    toRow(values) {
      const columns = Object.fromEntries(
        given(values).map(({ column, kind, value }) => [column, kind.keep(value)]),
      );
      return { ...columns, ...derived(columns) };
    },
    toFields: (values) =>
      given(values).flatMap(({ kind: { field, blank, keep }, value }) =>
        field === undefined ? [] : fieldOf(field, blank, keep(value)),
      ),
    movedColumns: (fields) =>
      Object.fromEntries(
        hashed.map(({ column, field, kind }) => {
          const found = fields[field];
          return [column, found === undefined ? kind.keep(kind.absent) : kind.columnOf(found)];
        }),
      ),
    movedFields: (columns) =>
      hashed.flatMap(({ column, field, kind }) =>
        column in columns ? fieldOf(field, kind.blank, columns[column] ?? null) : [],
      ),
  };
}
