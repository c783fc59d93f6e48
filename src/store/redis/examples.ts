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

  async function read(id: number | string): Promise<Example | undefined> {
    const [user, name, shared, created] = await answer(
      client.hmget(recordKey(id), 'user', 'name', 'shared', 'created'),
    );
    if (user === undefined || user === null) return undefined;
    return {
      id: Number(id),
      userId: Number(user),
      name: name ?? '',
      shared: shared === '1',
      createdTime: Number(created),
    };
  }

  return {
    async addExample({ userId, name, shared, content }, most, nowMs) {
      const id = await answer(client.incr(`${keys.examples}:seq`));
      const createdTime = Math.floor(nowMs / 1000);
      const own = ownKey(userId);
      return change<Example | 'too_many'>(connection, [['SCARD', own]], nowMs, ([count]) => {
        if (numberOf(count) >= most) return { result: 'too_many' };
        const fields = ['user', userId, 'name', name, 'created', createdTime, 'content', content];
        const writes: Step[] = [
          ['HSET', recordKey(id), 'shared', Number(shared), ...fields],
          ['SADD', own, id],
          ...(shared ? [['SADD', sharedKey, id] as const] : []),
        ];
        return { result: { id, userId, name, shared, createdTime }, writes };
      });
    },

    async listExamples(userId) {
      const ids = await answer(client.sunion(ownKey(userId), sharedKey));
      const found = await Promise.all(ids.map(read));
      return found
        .filter((example) => example !== undefined)
        .sort((one, other) => other.id - one.id);
    },

    async getExample(id) {
      const [example, content] = await Promise.all([
        read(id),
        answer(client.hget(recordKey(id), 'content')),
      ]);
      return example === undefined || content === null ? undefined : { example, content };
    },

    async deleteExample(id) {
      const example = await read(id);
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
