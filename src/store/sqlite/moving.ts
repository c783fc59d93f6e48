import { checkColumns, credentialsIn, credentialsText, lockedChannel } from '../moved-rows.js';
import {
  IMPORT_STATE,
  MOVED_AT_ONCE,
  type MovedRow,
  type MovedTable,
  type MovingStore,
} from '../moving.js';
import { CODES } from '../redemption.js';
import { TOKENS } from '../tokens.js';
import { USERS } from '../users.js';
import { openCredentials, type Vault } from '../vault.js';
import { versionAfter } from '../version.js';
import type { Database, SqlValue } from './database.js';

/** Columns that follow from others, or are about requests in flight. */
const DERIVED: Partial<Record<MovedTable, (row: MovedRow) => MovedRow>> = {
  users: USERS.derived,
  tokens: (row) => ({
    ...TOKENS.derived(row),
    ...{ in_flight: 0, rate_window: 0, rate_current: 0, rate_previous: 0 },
    budget: (JSON.parse(String(row.policy)) as { readonly budget?: number }).budget ?? 0,
  }),
  codes: CODES.derived,
  stats_since: () => ({ only_row: 1 }),
};

/** Amounts that are set aside for requests, to add to what is left of a balance. */
const HELD = {
  users: 'SELECT sum(amount) AS spent, sum(amount) AS quota FROM reservations WHERE user_id = ?',
  tokens:
    'SELECT sum(amount) AS spent, sum(amount * limited) AS quota FROM reservations WHERE token_id = ?',
};

export function openMoving(database: Database, vault: Vault): MovingStore {
  const column = database.prepare<{ readonly name: string }>(
    'SELECT name FROM pragma_table_info(?)',
  );
  const key = database.prepare<{ readonly name: string }>(
    'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk',
  );
  const version = database.prepare<{ readonly version: number }>(
    'SELECT version FROM channels_version',
  );
  const putVersion = database.prepare<never>('UPDATE channels_version SET version = ?');
  const readState = database.prepare<{ readonly value: string }>(
    'SELECT value FROM secrets WHERE name = ?',
  );
  const putState = database.prepare<never>(
    'INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)',
  );
  const sequences = database.prepare<MovedRow>(
    'SELECT name, seq FROM sqlite_sequence ORDER BY name',
  );
  const dropSequence = database.prepare<never>('DELETE FROM sqlite_sequence WHERE name = ?');
  const putSequence = database.prepare<never>(
    'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)',
  );

  /** The next rows in the order of their key, by which a row also replaces another. */
  function page(table: string, last: MovedRow | undefined): readonly MovedRow[] {
    const names = key.all(table).map(({ name }) => name);
    const keys = names.join(', ');
    const after = names.map((name) => last?.[name] ?? null);
    const where =
      last === undefined ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(', ')})`;
    return database
      .prepare<MovedRow>(`SELECT * FROM ${table} ${where} ORDER BY ${keys} LIMIT ${MOVED_AT_ONCE}`)
      .all(...(last === undefined ? [] : after));
  }

  /** As it leaves the store. */
  function moved(table: MovedTable, row: MovedRow): MovedRow {
    const derived = Object.keys(DERIVED[table]?.({ policy: '{}', ...row }) ?? {});
    const own = Object.fromEntries(Object.entries(row).filter(([name]) => !derived.includes(name)));
    if (table === 'users' || table === 'tokens') return { ...own, ...settled(table, row) };
    if (table !== 'channels') return own;
    const { credentials, locked } = openCredentials(vault, textOf(row.credentials));
    if (locked) throw lockedChannel(row.name);
    return { ...own, credentials: credentialsText(credentials) };
  }

  /** A balance and what is spent of a budget, once what is set aside is given back. */
  function settled(
    table: 'users' | 'tokens',
    { id, quota, remain_quota: left, budget_spent: spent, budget_until_ms: until }: MovedRow,
  ): MovedRow {
    const held = database.prepare<MovedRow>(HELD[table]).get(id ?? 0);
    const balance = Number(quota ?? left) + Number(held?.quota ?? 0);
    return {
      [table === 'users' ? 'quota' : 'remain_quota']: balance,
      budget_spent: Number(until) > 0 ? Number(spent) - Number(held?.spent ?? 0) : (spent ?? 0),
    };
  }

  function put(table: MovedTable, row: MovedRow, known: readonly string[]): void {
    const sealed =
      table === 'channels'
        ? { credentials: vault.seal(credentialsIn(row.credentials)) ?? null }
        : {};
    const whole: Record<string, SqlValue> = { ...row, ...DERIVED[table]?.(row), ...sealed };
    checkColumns(table, whole, known);
    const names = Object.keys(whole);
    database
      .prepare<never>(
        `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      )
      .run(...Object.values(whole));
  }

  return {
    async *rowsOf(table) {
      if (table === 'sequences') {
        yield await database.read(() => sequences.all());
        return;
      }
      for (let last: MovedRow | undefined; ;) {
        const [rows, out] = await database.read(() => {
          const found = page(table, last);
          return [found, found.map((row) => moved(table, row))] as const;
        });
        if (rows.length === 0) return;
        last = rows.at(-1);
        yield table === 'secrets' ? out.filter(({ name }) => name !== IMPORT_STATE) : out;
      }
    },

    putRows: (table, rows) =>
      database.write(() => {
        if (table === 'sequences') {
          for (const { name, seq } of rows) {
            dropSequence.run(name ?? '');
            putSequence.run(name ?? '', seq ?? 0);
          }
          return;
        }
        const known = column.all(table).map(({ name }) => name);
        for (const row of rows) put(table, row, known);
        if (table === 'channels' || table === 'tag_switches') {
          putVersion.run(versionAfter(version.get()?.version ?? 0));
        }
      }),

    importState: (state) =>
      database.write(() => {
        if (state !== undefined) putState.run(IMPORT_STATE, state);
        return readState.get(IMPORT_STATE)?.value;
      }),
  };
}

function textOf(value: string | number | null | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
