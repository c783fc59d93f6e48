import { setImmediate as nextTurn } from 'node:timers/promises';
import { bucketsIn } from '../../core/rollups.js';
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

/** How many rows are read before others get their turn: some milliseconds. */
const AT_ONCE = 250;

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
  const ofAll = database.prepare<Row>(
    `SELECT * FROM stats WHERE rollup = ? AND (at_ms, owner, row) > (?, ?, ?) AND at_ms <= ?
     ORDER BY at_ms, owner, row LIMIT ${AT_ONCE}`,
  );
  const ofOne = database.prepare<Row>(`SELECT * FROM stats WHERE ${place}`);

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

  async function* partsOfAll(rollup: string, fromMs: number, toMs: number) {
    let last: Omit<Row, 'tally'> | undefined = { at_ms: fromMs, owner: -1, row: '' };
    while (last !== undefined) {
      const { at_ms: at, owner, row }: typeof last = last;
      const rows: readonly Row[] = await database.read(() =>
        ofAll.all(rollup, at, owner, row, toMs),
      );
      yield rows;
      last = rows.length < AT_ONCE ? undefined : rows.at(-1);
    }
  }

  /** Bucket by bucket: in the order of time, the rows of one owner are far apart. */
  async function* partsOfOne(rollup: string, owner: number, starts: readonly number[]) {
    for (let at = 0; at < starts.length;) {
      yield await database.read(() => {
        const rows: Row[] = [];
        for (const end = at + AT_ONCE; at < Math.min(end, starts.length); at += 1) {
          if (rows.length >= AT_ONCE) break;
          rows.push(...ofOne.all(rollup, starts[at] ?? 0, owner));
        }
        return rows;
      });
    }
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
      const parts =
        owner === undefined
          ? partsOfAll(rollup, fromMs, toMs)
          : partsOfOne(rollup, owner, bucketsIn(rollup, fromMs, toMs));
      for await (const rows of parts) {
        for (const { at_ms: atMs, owner: of, row, tally } of rows) {
          visit({ atMs, owner: of, key: row, tally: readTally(tally) });
        }
        await nextTurn();
      }
    },

    statsSince: () => database.read(() => since.get()?.since_ms),
  };
}
