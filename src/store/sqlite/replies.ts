import type { ReplyStore } from '../store.js';
import type { Database } from './database.js';

interface ReplyRow {
  readonly until_ms: number;
  readonly text: string;
}

export function openReplies(database: Database): ReplyStore {
  const find = database.prepare<ReplyRow>('SELECT until_ms, text FROM replies WHERE name = ?');
  // A replaced row gets the largest id, so ids follow the order in which rankings were stored.
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO replies (name, until_ms, text) VALUES (?, ?, ?)',
  );
  const removeOldest = database.prepare<never>(
    'DELETE FROM replies WHERE rowid <= (SELECT max(rowid) FROM replies) - ?',
  );
  const removeOver = database.prepare<never>('DELETE FROM replies WHERE until_ms <= ?');

  return {
    findReply: (name, nowMs) =>
      database.read(() => {
        const row = find.get(name);
        if (row === undefined || row.until_ms <= nowMs) return undefined;
        return { text: row.text, leftMs: row.until_ms - nowMs };
      }),

    keepReply: (name, text, nowMs, forMs, most) =>
      database.write(() => {
        removeOver.run(nowMs);
        put.run(name, nowMs + forMs, text);
        removeOldest.run(most);
      }),
  };
}
