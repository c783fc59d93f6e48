import { setImmediate as nextTurn } from 'node:timers/promises';
import { ROLLUPS } from '../../core/rollups.js';
import { addTally, readTally, writeTally } from '../../core/tally.js';
import type { StatsAddition, StatsStore } from '../store.js';
import type { Database } from './database.js';
import { openWriters } from './writers.js';

interface Row {
  readonly at_ms: number;
  readonly owner: number;
  readonly row: string;
  readonly tally: string;
}

/** How many buckets are read before others get their turn. */
const CHUNK = 32;

export function openStats(database: Database): StatsStore {
  const isNew = openWriters(database);
  const begin = database.prepare<never>(
    'INSERT OR IGNORE INTO stats_since (only_row, since_ms) VALUES (1, ?)',
  );
  const since = database.prepare<{ readonly since_ms: number }>('SELECT since_ms FROM stats_since');
  const place = 'rollup = ? AND at_ms = ? AND owner = ?';
  const find = database.prepare<Row>(`SELECT * FROM stats WHERE ${place} AND row = ?`);
  const size = database.prepare<{ readonly rows: number }>(
    `SELECT count(*) AS rows FROM stats WHERE ${place}`,
  );
  const put = database.prepare<never>(
    `INSERT OR REPLACE INTO stats (rollup, at_ms, owner, row, tally, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const removeOld = database.prepare<never>('DELETE FROM stats WHERE expires_at_ms <= ?');
  const between = 'SELECT * FROM stats WHERE rollup = ? AND at_ms >= ? AND at_ms < ?';
  const ofAll = database.prepare<Row>(between);
  const ofOne = database.prepare<Row>(`${between} AND owner = ?`);

  function add(
    { rollup, atMs, owner, key, otherKey, expiresMs, tally }: StatsAddition,
    maxRows: number,
  ): void {
    let row = key;
    let before = find.get(rollup, atMs, owner, row);
    if (before === undefined && (size.get(rollup, atMs, owner)?.rows ?? 0) >= maxRows) {
      row = otherKey;
      before = find.get(rollup, atMs, owner, row);
    }
    const sum = readTally(before?.tally ?? '');
    addTally(sum, tally);
    put.run(rollup, atMs, owner, row, writeTally(sum), expiresMs);
  }

  return {
    addStats: ({ writer, serial, nowMs, maxRows, additions }) =>
      database.write(() => {
        if (!isNew(writer, serial, nowMs)) return;
        begin.run(nowMs);
        for (const addition of additions) add(addition, maxRows);
        removeOld.run(nowMs);
      }),

    async readStats({ rollup, owner, fromMs, toMs }, visit) {
      const stepMs = CHUNK * ROLLUPS[rollup].stepMs;
      for (let chunkMs = fromMs; chunkMs <= toMs; chunkMs += stepMs) {
        const endMs = Math.min(chunkMs + stepMs, toMs + 1);
        const rows = await database.read(() =>
          owner === undefined
            ? ofAll.all(rollup, chunkMs, endMs)
            : ofOne.all(rollup, chunkMs, endMs, owner),
        );
        for (const { at_ms: atMs, owner: of, row, tally } of rows) {
          visit({ atMs, owner: of, key: row, tally: readTally(tally) });
        }
        await nextTurn();
      }
    },

    statsSince: () => database.read(() => since.get()?.since_ms),
  };
}
