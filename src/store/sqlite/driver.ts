import { createRequire } from 'node:module';

export type SqlValue = number | string | null;

/** What both drivers can do, all of it synchronous. */
export interface Driver {
  exec(sql: string): void;
  prepare(sql: string): DriverStatement;
  /** Does nothing where it was closed before. */
  close(): void;
}

interface DriverStatement {
  get(parameters: readonly SqlValue[]): unknown;
  all(parameters: readonly SqlValue[]): unknown[];
  /** Returns the number of changed rows. */
  run(parameters: readonly SqlValue[]): number;
}

/** The parts of `node:sqlite` that are used; the types of the oldest supported Node do not have it. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => {
    exec(sql: string): void;
    prepare(sql: string): {
      get(...parameters: readonly SqlValue[]): unknown;
      all(...parameters: readonly SqlValue[]): unknown[];
      run(...parameters: readonly SqlValue[]): { readonly changes: number | bigint };
    };
    close(): void;
  };
}

/** The parts of `libsql` that are used. It gets all parameters as one array: it cannot tell a lone null from none. */
type Libsql = new (file: string) => {
  exec(sql: string): void;
  prepare(sql: string): {
    get(parameters: readonly SqlValue[]): unknown;
    all(parameters: readonly SqlValue[]): unknown[];
    run(parameters: readonly SqlValue[]): { readonly changes: number };
  };
  close(): void;
};

/** Opens a file with Node's built-in SQLite, or else with that of the optional package `libsql`. */
export function openDriver(file: string): Driver {
  const builtin = loadNodeSqlite();
  return builtin === undefined ? openLibsql(loadLibsql(), file) : openNodeSqlite(builtin, file);
}

function openNodeSqlite({ DatabaseSync }: NodeSqlite, file: string): Driver {
  const database = new DatabaseSync(file);
  let isOpen = true;
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        get: (parameters) => statement.get(...parameters),
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => Number(statement.run(...parameters).changes),
      };
    },
    close() {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
}

function openLibsql(Libsql: Libsql, file: string): Driver {
  const database = new Libsql(file);
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      let statement = database.prepare(sql);
      return {
        get(parameters) {
          try {
            return statement.get(parameters);
          } catch (error) {
            // libsql does not reset a statement whose `get` failed: it would fail in the same way forever.
            statement = database.prepare(sql);
            throw error;
          }
        },
        all: (parameters) => statement.all(parameters),
        run: (parameters) => statement.run(parameters).changes,
      };
    },
    close: () => database.close(),
  };
}

/** Node 22 warns on load that the module is experimental; operators can do nothing about it. */
function loadNodeSqlite(): NodeSqlite | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function loadLibsql(): Libsql {
  try {
    return createRequire(import.meta.url)('libsql') as Libsql;
  } catch (cause) {
    throw new Error(
      'The embedded store needs Node 22.13 or newer, or the optional package libsql (npm install libsql); ' +
        'or set REDIS_URL to keep the data in Redis.',
      { cause },
    );
  }
}

const PRIMARY_CODE = 0xff;
const BUSY = 5;
const LOCKED = 6;
/** Primary result codes about the file and its environment rather than about the statement. */
const UNAVAILABLE = new Set([
  BUSY,
  LOCKED,
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  26, // NOTADB
]);

/** SQLite's primary result code for an error of either driver, or `undefined` if the error comes from neither. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { rawCode, errcode } = error as { rawCode?: unknown; errcode?: unknown };
  const code = rawCode ?? errcode;
  return typeof code === 'number' ? code & PRIMARY_CODE : undefined;
}

/** Whether an error means that the file cannot be used now, rather than that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && UNAVAILABLE.has(code);
}

/** SQLite rolls back automatically after some errors, and then refuses to do it again. */
export function rollBackAfter(error: unknown, rollBack: () => void): void {
  try {
    rollBack();
  } catch (second) {
    if (!isUnavailable(error)) throw second;
  }
}

const WORDS = new Map([
  [BUSY, 'another process keeps it busy'],
  [LOCKED, 'another process keeps it busy'],
  [7, 'there is no memory left'],
  [8, 'it is read-only'],
  [10, 'its disk fails or is full'],
  [11, 'it is damaged'],
  [13, 'the disk is full'],
  [14, 'it cannot be opened'],
  [26, 'it is not a database'],
]);

/** Why the file cannot be used, in words. */
export function wordsOf(error: unknown): string {
  return WORDS.get(resultCode(error) ?? 0) ?? 'it cannot be used';
}

/** Whether somebody else is using the file right now. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}
