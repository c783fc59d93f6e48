import { closeSync, openSync } from 'node:fs';
import { StoreUnavailableError } from '../store.js';
import { isUnavailable, openDriver, wordsOf } from './driver.js';

const WAIT_FOR_OTHERS_MS = 10_000;

/** Copies a database, as it is at one moment, into a file that is not there yet; whoever works with it goes on. */
export function copyDatabase(from: string, to: string): void {
  // Made here, so that others on this machine cannot read it.
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
