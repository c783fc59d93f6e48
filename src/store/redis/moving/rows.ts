import { camelKeys, snakeKeys } from '../../../core/records.js';
import { checkColumns } from '../../moved-rows.js';
import { MOVED_AT_ONCE, type MovedRow } from '../../moving.js';
import type { RecordSpec } from '../../records.js';
import type { Vault } from '../../vault.js';
import type { Connection } from '../connection.js';
import type { Keys } from '../keys.js';

type Value = string | number | null;

/** A table: how its rows are found, and how some of them are written. */
export interface Moved {
  readonly rows: (nowMs: number) => AsyncIterable<readonly MovedRow[]>;
  readonly put: (rows: readonly MovedRow[]) => Promise<unknown>;
}

/** What a record of a hash is as a row, and a row as fields. */
type HashSpec = Pick<RecordSpec<object>, 'table' | 'columns' | 'movedColumns' | 'movedFields'>;

export type Mover = ReturnType<typeof openMover>;

/** A store, and how its records are read and written in many at once. */
export function openMover(connection: Connection, keys: Keys, vault: Vault) {
  const { client, answer } = connection;

  /** The members of a zset in their order, some at a time. */
  async function* membersOf(key: string): AsyncGenerator<readonly string[]> {
    for (let at = 0; ; at += MOVED_AT_ONCE) {
      const found = await answer(client.zrange(key, `${at}`, `${at + MOVED_AT_ONCE - 1}`));
      if (found.length === 0) return;
      yield found;
    }
  }

  /** A row for each member of a zset; none where its record is missing. */
  async function* rowsAt(
    key: string,
    read: (member: string) => Promise<MovedRow | undefined>,
  ): AsyncGenerator<readonly MovedRow[]> {
    for await (const members of membersOf(key)) {
      yield (await Promise.all(members.map(read))).filter((row) => row !== undefined);
    }
  }

  /** The row of a hash, unless it is missing. */
  async function hashAt(key: string, spec: HashSpec): Promise<MovedRow | undefined> {
    const fields = await answer(client.hgetall(key));
    return Object.keys(fields).length === 0 ? undefined : spec.movedColumns(fields);
  }

  /** Sends what each row takes, all at once. */
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

/** The fields of a row for its hash. */
export function fieldsFrom(spec: HashSpec, row: MovedRow): (string | number)[] {
  checkColumns(spec.table, row, spec.columns);
  return spec.movedFields(row);
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
