import { exampleOf, EXAMPLES, type StoredExample } from '../examples.js';
import type { Example, ExampleStore } from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { numberOf } from './scripts.js';

/** All of them are in one slot: a hash for each, a set of ids for each account, and one of those that are shared. */
export function openExamples(connection: Connection, keys: Keys): ExampleStore {
  const { client, answer } = connection;
  const recordKey = (id: number | string): string => `${keys.examples}:${id}`;
  const ownKey = (userId: number): string => `${keys.examples}:of:${userId}`;
  const sharedKey = `${keys.examples}:shared`;

  const listed = EXAMPLES.fields.filter((name) => name !== 'content');

  async function read(id: number, fields = EXAMPLES.fields): Promise<StoredExample | undefined> {
    const texts = await answer(client.hmget(recordKey(id), ...fields));
    const found = texts.flatMap((text, at) => (text === null ? [] : [[fields[at] ?? '', text]]));
    return found.length === 0
      ? undefined
      : EXAMPLES.fromFields(Object.fromEntries(found) as Record<string, string>, { id });
  }

  return {
    async addExample(example, most, nowMs) {
      const id = await answer(client.incr(`${keys.examples}:seq`));
      const stored = { ...example, id, createdTime: Math.floor(nowMs / 1000) };
      const own = ownKey(example.userId);
      return change<Example | 'too_many'>(connection, [['SCARD', own]], nowMs, ([count]) => {
        if (numberOf(count) >= most) return { result: 'too_many' };
        const writes: Step[] = [
          ['HSET', recordKey(id), ...EXAMPLES.toFields(stored)],
          ['SADD', own, id],
          ...(example.shared ? [['SADD', sharedKey, id] as const] : []),
        ];
        return { result: exampleOf(stored), writes };
      });
    },

    async listExamples(userId) {
      const ids = await answer(client.sunion(ownKey(userId), sharedKey));
      const found = await Promise.all(ids.map((id) => read(Number(id), listed)));
      return found
        .flatMap((stored) => (stored === undefined ? [] : [exampleOf(stored)]))
        .sort((one, other) => other.id - one.id);
    },

    async getExample(id) {
      const stored = await read(id);
      return stored && { example: exampleOf(stored), content: stored.content };
    },

    async deleteExample(id) {
      const example = await read(id, listed);
      if (example === undefined) return false;
      const record = recordKey(id);
      return change(connection, [['EXISTS', record]], 0, ([found]) => ({
        result: found === 1,
        writes: exampleRemoval(keys, example.userId, id),
      }));
    },
  };
}

/** The writes that remove an example of an account. */
export function exampleRemoval({ examples }: Keys, userId: number, id: number | string): Step[] {
  return [
    ['SREM', `${examples}:of:${userId}`, id],
    ['SREM', `${examples}:shared`, id],
    ['DEL', `${examples}:${id}`],
  ];
}
