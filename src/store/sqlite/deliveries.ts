import { DELIVERIES } from '../deliveries.js';
import type { DeliveryStore } from '../store.js';
import type { Database } from './database.js';
import { finder } from './rows.js';

export function openDeliveries(database: Database): DeliveryStore {
  const insert = database.prepare<never>(
    `INSERT INTO deliveries (id, message_id, type, target, summary, body, at_ms, due_at_ms, changed_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const countOf = database.prepare<{ readonly count: number }>(
    `SELECT count(*) AS count FROM deliveries WHERE ? IN (state, '')`,
  );
  const conditions = database.prepare<{ readonly key: string; readonly value: string }>(
    'SELECT key, value FROM alert_conditions',
  );
  const find = database.prepare<{ readonly value: string }>(
    'SELECT value FROM alert_conditions WHERE key = ?',
  );
  const put = database.prepare<never>(
    'INSERT OR REPLACE INTO alert_conditions (key, value) VALUES (?, ?)',
  );
  const drop = database.prepare<never>('DELETE FROM alert_conditions WHERE key = ?');
  const due = database.prepare<object>(
    `SELECT * FROM deliveries WHERE state = 'waiting' AND due_at_ms <= ? ORDER BY due_at_ms, at_ms, id LIMIT ?`,
  );
  const lease = database.prepare<never>('UPDATE deliveries SET due_at_ms = ? WHERE id = ?');
  const byId = finder(database, DELIVERIES, 'id');
  const end = database.prepare<never>(
    'UPDATE deliveries SET state = ?, tries = ?, error = ?, due_at_ms = ?, changed_ms = ? WHERE id = ?',
  );
  const trim = database.prepare<never>(
    `DELETE FROM deliveries WHERE id IN
       (SELECT id FROM deliveries WHERE state = ? ORDER BY at_ms DESC, id DESC LIMIT -1 OFFSET ?)`,
  );
  const page = database.prepare<object>(
    `SELECT * FROM deliveries WHERE ? IN (state, '') ORDER BY at_ms DESC, id DESC LIMIT ? OFFSET ?`,
  );

  return {
    addDeliveries: (deliveries, nowMs, most, condition) =>
      database.write(() => {
        if (condition !== undefined) {
          if ((find.get(condition.key)?.value ?? '') === condition.value) return 'known';
        }
        const isFull = deliveries.length > 0 && (countOf.get('waiting')?.count ?? 0) >= most;
        if (isFull) return 'full';
        if (condition?.value === '') drop.run(condition.key);
        else if (condition !== undefined) put.run(condition.key, condition.value);
        const added = deliveries.map((one) => {
          const { id, messageId, type, target, summary, body, atMs } = one;
          return insert.run(id, messageId, type, target, summary, body, atMs, nowMs, nowMs);
        });
        return condition !== undefined || added.some((rows) => rows > 0) ? 'added' : 'known';
      }),

    alertConditions: () =>
      database.read(() => new Map(conditions.all().map(({ key, value }) => [key, value]))),

    async takeDeliveries(nowMs, forMs, most) {
      // Most of the time there is nothing to write.
      if ((await database.read(() => due.get(nowMs, 1))) === undefined) return [];
      return database.write(() => {
        const found = due.all(nowMs, most).map(DELIVERIES.fromRow);
        for (const { id } of found) lease.run(nowMs + forMs, id);
        return found.map((one) => ({ ...one, dueAtMs: nowMs + forMs }));
      });
    },

    endDelivery: (id, { state, tries, error, dueAtMs }, nowMs, keep) =>
      database.write(() => {
        end.run(state, tries, error, dueAtMs, nowMs, id);
        if (state !== 'waiting') trim.run(state, keep);
      }),

    redeliver: (id, nowMs) =>
      database.write(() => {
        end.run('waiting', 0, '', nowMs, nowMs, id);
        return byId(id);
      }),

    listDeliveries: ({ state = '', offset, limit }) =>
      database.read(() => ({
        items: page.all(state, limit, offset).map(DELIVERIES.fromRow),
        total: countOf.get(state)?.count ?? 0,
      })),
  };
}
