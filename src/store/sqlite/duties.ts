import type { Duty, DutyStore } from '../store.js';
import type { Database } from './database.js';

/** After how long duties are forgotten that are no longer taken, such as those of deleted channels. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

export function openDuties(database: Database): DutyStore {
  const find = database.prepare<Duty>(
    'SELECT due_at_ms AS dueAtMs, note FROM duties WHERE name = ?',
  );
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO duties (name, due_at_ms, note) VALUES (?, ?, ?)',
  );
  const remove = database.prepare<never>('DELETE FROM duties WHERE name = ?');
  const removeOld = database.prepare<never>('DELETE FROM duties WHERE due_at_ms <= ?');

  return {
    takeDuty: (name, nowMs, forMs) =>
      database.write(() => {
        const { dueAtMs = 0, note = '' } = find.get(name) ?? {};
        if (dueAtMs > nowMs) return { isMine: false, dueAtMs, note };
        put.run(name, nowMs + forMs, note);
        return { isMine: true, dueAtMs: nowMs + forMs, note };
      }),

    endDuty: (name, note, nowMs, waitMs) =>
      database.write(() => {
        removeOld.run(nowMs - FORGOTTEN_AFTER_MS);
        put.run(name, nowMs + waitMs, note);
      }),

    readDuty: (name) =>
      database.read(() => {
        const duty = find.get(name);
        return duty && { dueAtMs: duty.dueAtMs, note: duty.note };
      }),

    dropDuty: (name) =>
      database.write(() => {
        remove.run(name);
      }),
  };
}
