import { closeSync, openSync } from 'node:fs';
import { StoreUnavailableError } from '../store.js';
import { isBusy, isUnavailable, openDriver, wordsOf } from './driver.js';

const WAIT_FOR_OTHERS_MS = 10_000;

/** Copies a snapshot of a database into a file that must not exist yet; others keep working with the database meanwhile. */
export function copyDatabase(from: string, to: string): void {
  // Created here, so that others on this machine cannot read it.
  closeSync(openSync(to, 'wx', 0o600));
  const driver = openDriver(from);
  try {
    driver.exec(`PRAGMA busy_timeout = ${WAIT_FOR_OTHERS_MS}`);
    driver.prepare('VACUUM INTO ?').run([to]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new StoreUnavailableError(`${from} cannot be copied to ${to}: ${wordsOf(error)}.`, {
      cause: error,
    });
  } finally {
    driver.close();
  }
}

/** Whether a gateway works on a database, or did a moment ago; none works on a file that cannot be read as one. */
export function isInUse(file: string, nowMs: number): boolean {
  const driver = openDriver(file);
  try {
    const node = driver.prepare('SELECT 1 FROM nodes WHERE expires_at_ms > ?').get([nowMs]);
    return node !== undefined && node !== null;
  } catch (error) {
    return isBusy(error);
  } finally {
    driver.close();
  }
}
