import type { Example, ExampleStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { numberOf, run, SCRIPTS } from './scripts.js';

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
      const written = await run(
        connection,
        SCRIPTS.writeExample,
        [ownKey(userId), sharedKey, recordKey(id)],
        [most, id, Number(shared), 'user', userId, 'name', name, 'created', createdTime, content],
      );
      if (written === null) return 'too_many';
      return { id, userId, name, shared, createdTime };
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
      const places = [ownKey(example.userId), sharedKey, recordKey(id)];
      return numberOf(await run(connection, SCRIPTS.removeExample, places, [id])) === 1;
    },
  };
}
