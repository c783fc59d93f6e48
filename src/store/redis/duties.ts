import type { DutyStore } from '../store.js';
import { change } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf } from './scripts.js';

type DutyTaken = Awaited<ReturnType<DutyStore['takeDuty']>>;

/** A duty that is no longer taken is forgotten after this time. */
const KEEP_MS = 86_400_000;

export function openDuties(connection: Connection, keys: Keys): DutyStore {
  const { client, answer } = connection;
  return {
    takeDuty(name, nowMs, forMs) {
      const key = keys.duty(name);
      const looks = [['HMGET', key, 'due', 'note']] as const;
      return change<DutyTaken>(connection, looks, nowMs, ([fields], now) => {
        const [due, note] = listOf(fields);
        const duty = { dueAtMs: Number(due ?? 0), note: String(note ?? '') };
        if (duty.dueAtMs > now) return { result: { ...duty, isMine: false } };
        const dueAtMs = now + forMs;
        const writes = [
          ['HSET', key, 'due', dueAtMs],
          ['PEXPIRE', key, forMs + KEEP_MS],
        ] as const;
        return { result: { ...duty, dueAtMs, isMine: true }, writes };
      });
    },

    async endDuty(name, note, nowMs, waitMs) {
      const key = keys.duty(name);
      await change(connection, [['EXISTS', key]], nowMs, (_, now) => ({
        result: undefined,
        writes: [
          ['HSET', key, 'due', now + waitMs, 'note', note],
          ['PEXPIRE', key, waitMs + KEEP_MS],
        ],
      }));
    },

    async readDuty(name) {
      const [due, note] = await answer(client.hmget(keys.duty(name), 'due', 'note'));
      return due == null ? undefined : { dueAtMs: Number(due), note: note ?? '' };
    },

    async dropDuty(name) {
      await answer(client.del(keys.duty(name)));
    },
  };
}
