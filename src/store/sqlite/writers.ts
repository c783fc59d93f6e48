import type { Database } from './database.js';

const WRITER_TTL_MS = 24 * 3_600_000;

/**
 * Remembers the last batch of each writer. The returned function, called in the transaction that writes a batch, says whether the
 * batch is new.
 */
export function openWriters(
  database: Database,
): (writer: string, serial: number, nowMs: number) => boolean {
  const serialOf = database.prepare<{ readonly serial: number }>(
    'SELECT serial FROM stats_writers WHERE writer = ?',
  );
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO stats_writers (writer, serial, expires_at_ms) VALUES (?, ?, ?)',
  );
  const removeOld = database.prepare<never>('DELETE FROM stats_writers WHERE expires_at_ms <= ?');
  return (writer, serial, nowMs) => {
    if ((serialOf.get(writer)?.serial ?? 0) >= serial) return false;
    removeOld.run(nowMs);
    put.run(writer, serial, nowMs + WRITER_TTL_MS);
    return true;
  };
}
