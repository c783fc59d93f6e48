import { camelKeys, snakeKeys } from '../../../core/records.js';
import { unknownMember } from '../../moved-rows.js';
import { MOVED_AT_ONCE, type MovedRow } from '../../moving.js';
import type { Vault } from '../../vault.js';
import type { Connection } from '../connection.js';
import type { Keys } from '../keys.js';

type Value = string | number | null;

/** A table: how its rows are found, and how some of them are written. */
export interface Moved {
  readonly rows: (nowMs: number) => AsyncIterable<readonly MovedRow[]>;
  readonly put: (rows: readonly MovedRow[]) => Promise<unknown>;
}

/** A column, its field in a hash, and what it is where the field is missing: a number says that the column is one. */
export type FieldSpec = readonly [column: string, field: string, absent: Value];

/** A store, and how its records are read and written in many at once. */
export interface Mover {
  readonly connection: Connection;
  readonly keys: Keys;
  readonly vault: Vault;
  /** The members of a zset in their order, some at a time. */
  readonly membersOf: (key: string) => AsyncGenerator<readonly string[]>;
  /** A row for each member of a zset; none where its record is missing. */
  readonly rowsAt: (
    key: string,
    read: (member: string) => Promise<MovedRow | undefined>,
  ) => AsyncGenerator<readonly MovedRow[]>;
  /** The row of a hash, unless it is missing. */
  readonly hashAt: (key: string, specs: readonly FieldSpec[]) => Promise<MovedRow | undefined>;
  /** Sends what each row takes, all at once. */
  readonly each: (
    rows: readonly MovedRow[],
    commandsOf: (row: MovedRow) => readonly Promise<unknown>[],
  ) => Promise<unknown>;
  readonly all: (commands: readonly Promise<unknown>[]) => Promise<unknown>;
}

export function openMover(connection: Connection, keys: Keys, vault: Vault): Mover {
  const { client, answer } = connection;

  async function* membersOf(key: string): AsyncGenerator<readonly string[]> {
    for (let at = 0; ; at += MOVED_AT_ONCE) {
      const found = await answer(client.zrange(key, `${at}`, `${at + MOVED_AT_ONCE - 1}`));
      if (found.length === 0) return;
      yield found;
    }
  }

  async function* rowsAt(
    key: string,
    read: (member: string) => Promise<MovedRow | undefined>,
  ): AsyncGenerator<readonly MovedRow[]> {
    for await (const members of membersOf(key)) {
      yield (await Promise.all(members.map(read))).filter((row) => row !== undefined);
    }
  }

  async function hashAt(key: string, specs: readonly FieldSpec[]): Promise<MovedRow | undefined> {
    const fields = await answer(client.hgetall(key));
    return Object.keys(fields).length === 0 ? undefined : rowFrom(fields, specs);
  }

  function each(
    rows: readonly MovedRow[],
    commandsOf: (row: MovedRow) => readonly Promise<unknown>[],
  ): Promise<unknown> {
    return all(rows.flatMap(commandsOf));
  }

  function all(commands: readonly Promise<unknown>[]): Promise<unknown> {
    return Promise.all(commands.map(answer));
  }

  return { connection, keys, vault, membersOf, rowsAt, hashAt, each, all };
}

function rowFrom(fields: Readonly<Record<string, string>>, specs: readonly FieldSpec[]): MovedRow {
  return Object.fromEntries(
    specs.map(([column, field, absent]) => {
      const value = fields[field] ?? absent;
      return [column, typeof absent === 'number' ? Number(value) : value];
    }),
  );
}

/** The fields of a row for its hash; what is null has none. */
export function fieldsFrom(
  table: string,
  row: MovedRow,
  specs: readonly FieldSpec[],
): (string | number)[] {
  const fieldOf = new Map(specs.map(([column, field]) => [column, field]));
  return Object.entries(row).flatMap(([column, value]) => {
    const field = fieldOf.get(column);
    if (field === undefined) throw unknownMember(table, column);
    return value === null ? [] : [field, value];
  });
}

/** A record as a row: absent members are null, and those that are named are JSON. */
export function rowOf(record: object, json: readonly string[] = []): MovedRow {
  const members = Object.entries(record as Record<string, Value | undefined>).map(
    ([name, value]) => [
      name,
      json.includes(name) && value !== undefined ? JSON.stringify(value) : (value ?? null),
    ],
  );
  return snakeKeys<Value>(Object.fromEntries(members) as Record<string, Value>);
}

/** The record that `rowOf` made a row of. */
export function memberOf(row: MovedRow, json: readonly string[] = []): Record<string, unknown> {
  const members = Object.entries(row).filter(([, value]) => value !== null);
  return camelKeys(
    Object.fromEntries(
      members.map(([name, value]) => [
        name,
        json.includes(name) ? (JSON.parse(String(value)) as unknown) : value,
      ]),
    ),
  );
}
