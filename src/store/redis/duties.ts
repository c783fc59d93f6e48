import type { DutyStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS, textOf } from './scripts.js';

export function openDuties(connection: Connection, keys: Keys): DutyStore {
  const { client, answer, told } = connection;
  return {
    async takeDuty(name, nowMs, forMs) {
      const [taken, due, note] = listOf(
        await run(connection, SCRIPTS.takeDuty, keys.duty(name), [told(nowMs), forMs]),
      );
      return { isMine: taken === 1, dueAtMs: numberOf(due), note: textOf(note) };
    },

    async endDuty(name, note, nowMs, waitMs) {
      await run(connection, SCRIPTS.endDuty, keys.duty(name), [told(nowMs), waitMs, note]);
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
