import { OWNED_TABLES } from '../owned.js';
import type { Owned, OwnedRecords, OwnedSpec } from '../owned-records.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { numberOf } from './scripts.js';

/** Records that belong to an account, all in one slot: a hash for each, a set of ids for each account, and one of those that are shared. */
export function openOwned<T extends Owned>(
  connection: Connection,
  keys: Keys,
  spec: OwnedSpec<T>,
): OwnedRecords<T> {
  const { client, answer } = connection;
  const at = keys.owned(spec.table);
  const listed = spec.fields.filter((name) => !spec.unlisted.includes(name));

  async function read(id: number, fields = spec.fields): Promise<T | undefined> {
    const texts = await answer(client.hmget(`${at}:${id}`, ...fields));
    const found = texts.flatMap((text, place) => (text === null ? [] : [[fields[place], text]]));
    if (found.length === 0) return undefined;
    // The id is in the key.
    return spec.fromFields(
      Object.fromEntries(found) as Record<string, string>,
      { id } as Partial<T>,
    );
  }

  return {
    async add(record, most, nowMs) {
      const id = await answer(client.incr(`${at}:seq`));
      // With these two, nothing is missing.
      const stored = { ...record, id, createdTime: Math.floor(nowMs / 1000) } as unknown as T;
      const own = `${at}:of:${record.userId}`;
      return change<T | 'too_many'>(connection, [['SCARD', own]], nowMs, ([count]) => {
        if (numberOf(count) >= most) return { result: 'too_many' };
        const writes: Step[] = [
          ['HSET', `${at}:${id}`, ...spec.toFields(stored)],
          ['SADD', own, id],
          ...(record.shared ? [['SADD', `${at}:shared`, id] as const] : []),
        ];
        return { result: stored, writes };
      });
    },

    async list(userId) {
      const ids = await answer(client.sunion(`${at}:of:${userId}`, `${at}:shared`));
      const found = await Promise.all(ids.map((id) => read(Number(id), listed)));
      return found.filter((stored) => stored !== undefined).sort((one, other) => other.id - one.id);
    },

    get: (id) => read(id),

    async delete(id) {
      const record = await read(id, listed);
      if (record === undefined) return false;
      return change(connection, [['EXISTS', `${at}:${id}`]], 0, ([found]) => ({
        result: found === 1,
        writes: removal(at, record.userId, id),
      }));
    },
  };
}

/** The writes that remove a record of an account. */
function removal(at: string, userId: number, id: number | string): Step[] {
  return [
    ['SREM', `${at}:of:${userId}`, id],
    ['SREM', `${at}:shared`, id],
    ['DEL', `${at}:${id}`],
  ];
}

/** Removes all that belongs to an account. */
export async function removeOwned(
  connection: Connection,
  keys: Keys,
  userId: number,
): Promise<void> {
  const { client, answer } = connection;
  for (const table of OWNED_TABLES) {
    const at = keys.owned(table);
    const ids = await answer(client.smembers(`${at}:of:${userId}`));
    await change(connection, [], 0, () => ({
      result: undefined,
      writes: ids.flatMap((id) => removal(at, userId, id)),
    }));
  }
}
