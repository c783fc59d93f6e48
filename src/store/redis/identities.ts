import type { IdentityStore } from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';

export function openIdentities(connection: Connection, keys: Keys): IdentityStore {
  const { client, answer } = connection;

  /** The account under a key, if it exists. */
  async function existing(held: string | null): Promise<number | undefined> {
    if (held === null) return undefined;
    return (await answer(client.exists(keys.user(Number(held))))) === 1 ? Number(held) : undefined;
  }

  return {
    async findIdentity(nameHash) {
      return existing(await answer(client.get(keys.identity(nameHash))));
    },

    async linkIdentity(nameHash, userId, nowMs, lifeMs) {
      const key = keys.identity(nameHash);
      if (lifeMs !== undefined) {
        await answer(client.set(key, `${userId}`, 'PX', lifeMs));
        return userId;
      }
      for (;;) {
        const held = await answer(client.get(key));
        const holder = await existing(held);
        if (holder !== undefined) return holder;
        const write: Step = ['SET', key, userId];
        const isMine = await change(connection, [['GET', key]], nowMs, ([found]) =>
          found === held ? { result: true, writes: [write] } : { result: false },
        );
        if (!isMine) continue;
        // By this the name is found when the account is deleted.
        await answer(client.sadd(keys.userIdentities(userId), nameHash));
        return userId;
      }
    },
  };
}
