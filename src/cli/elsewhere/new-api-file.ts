import { existsSync } from 'node:fs';
import { isArrayBuffer, isUint8Array } from 'node:util/types';
import { isRecord, mapValues } from '../../core/records.js';
import { isUnavailable, openDriver, wordsOf, type Driver } from '../../store/sqlite/driver.js';
import { RefusedError } from '../errors.js';
import type { NewApiRows } from './new-api-rows.js';

/** Reads the SQLite file of new-api or one-api, and changes nothing in it. */
export function readNewApi(file: string): NewApiRows {
  if (!existsSync(file)) throw new RefusedError('There is no such file.');
  const database = openDriver(file);
  try {
    // new-api may be running, and writes after each request.
    database.exec('PRAGMA query_only = ON; PRAGMA busy_timeout = 5000');
    return {
      channels: required(database, 'channels'),
      tokens: required(database, 'tokens'),
      users: required(database, 'users'),
      redemptions: rowsOf(database, 'redemptions') ?? [],
      options: rowsOf(database, 'options') ?? [],
    };
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new RefusedError(`${file} cannot be read: ${wordsOf(error)}.`);
  } finally {
    database.close();
  }
}

function required(database: Driver, table: string): Record<string, unknown>[] {
  const rows = rowsOf(database, table);
  if (rows !== undefined) return rows;
  throw new RefusedError(`This is not a database of new-api: it has no table "${table}".`);
}

function rowsOf(database: Driver, table: string): Record<string, unknown>[] | undefined {
  const found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  if (found.get([table]) === undefined) return undefined;
  const rows = database.prepare(`SELECT * FROM ${table}`).all([]).filter(isRecord);
  return rows.map((row) => mapValues(row, asText));
}

/** What new-api writes as bytes, such as the state of a channel's keys, is JSON. */
function asText(value: unknown): unknown {
  const bytes = isArrayBuffer(value) ? new Uint8Array(value) : value;
  return isUint8Array(bytes) ? new TextDecoder().decode(bytes) : value;
}
