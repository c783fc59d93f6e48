import type { DeliveryRecord, DeliveryState, DeliveryStore } from '../store.js';
import type { Database } from './database.js';

interface DeliveryRow {
  readonly id: string;
  readonly message_id: string;
  readonly type: string;
  readonly target: string;
  readonly summary: string;
  readonly body: string;
  readonly at_ms: number;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly error: string;
  readonly due_at_ms: number;
  readonly changed_ms: number;
}

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
  const due = database.prepare<DeliveryRow>(
    `SELECT * FROM deliveries WHERE state = 'waiting' AND due_at_ms <= ? ORDER BY due_at_ms, at_ms, id LIMIT ?`,
  );
  const lease = database.prepare<never>('UPDATE deliveries SET due_at_ms = ? WHERE id = ?');
  const byId = database.prepare<DeliveryRow>('SELECT * FROM deliveries WHERE id = ?');
  const end = database.prepare<never>(
    'UPDATE deliveries SET state = ?, tries = ?, error = ?, due_at_ms = ?, changed_ms = ? WHERE id = ?',
  );
  const trim = database.prepare<never>(
    `DELETE FROM deliveries WHERE id IN
       (SELECT id FROM deliveries WHERE state = ? ORDER BY at_ms DESC, id DESC LIMIT -1 OFFSET ?)`,
  );
  const page = database.prepare<DeliveryRow>(
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
        const rows = due.all(nowMs, most);
        for (const { id } of rows) lease.run(nowMs + forMs, id);
        return rows.map((row) => ({ ...recordOf(row), dueAtMs: nowMs + forMs }));
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
        const row = byId.get(id);
        return row === undefined ? undefined : recordOf(row);
      }),

    listDeliveries: ({ state = '', offset, limit }) =>
      database.read(() => ({
        items: page.all(state, limit, offset).map(recordOf),
        total: countOf.get(state)?.count ?? 0,
      })),
  };
}

function recordOf(row: DeliveryRow): DeliveryRecord {
  const { message_id: messageId, at_ms: atMs, due_at_ms: dueAtMs, changed_ms: changedMs } = row;
  const { id, type, target, summary, body, state, tries, error } = row;
  return {
    ...{ id, messageId, type, target, summary, body, atMs },
    ...{ state, tries, error, dueAtMs, changedMs },
  };
}
