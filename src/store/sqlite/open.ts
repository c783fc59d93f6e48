import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnavailableError } from '../store.js';
import { Database } from './database.js';
import { isBusy, isUnavailable, openDriver, wordsOf, type Driver } from './driver.js';
import { migrate } from './schema.js';

/** Key hashes and balances are none of the business of others on this machine. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const RETRY_MS = 20;

/**
 * Opens a database file, creating it and its folder if they are missing, and migrates it to the current schema. SQLite
 * gives the files that it creates next to it the same mode.
 */
export function openDatabase(file: string, busyTimeoutMs: number): Database {
  mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
  closeSync(openSync(file, 'a', PRIVATE_FILE));
  const driver = openDriver(file);
  try {
    driver.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    useWriteAheadLog(driver, file, busyTimeoutMs);
    driver.exec('PRAGMA synchronous = NORMAL');
    migrate(driver, file);
    // From here on `Database` does the waiting, without blocking the event loop.
    driver.exec('PRAGMA busy_timeout = 0');
    return new Database(driver, busyTimeoutMs);
  } catch (error) {
    driver.close();
    if (!isUnavailable(error)) throw error;
    throw new StoreUnavailableError(
      `${file} cannot be used as the store of the gateway: ${wordsOf(error)}.`,
      {
        cause: error,
      },
    );
  }
}

/** In this mode readers and the writer do not wait for each other. The busy timeout does not cover the switch to it. */
function useWriteAheadLog(driver: Driver, file: string, timeoutMs: number): void {
  const statement = driver.prepare('PRAGMA journal_mode = WAL');
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      const { journal_mode: mode } = statement.get([]) as { readonly journal_mode: string };
      if (mode === 'wal') return;
      throw new Error(`${file} must be on a local disk: SQLite cannot share it where it is.`);
    } catch (error) {
      if (!isBusy(error) || waitedMs >= timeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
