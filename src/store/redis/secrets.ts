import type { SecretStore } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';

export function openSecrets({ client, answer }: Connection, keys: Keys): SecretStore {
  return {
    async keepSecret(name, value) {
      // Both in one breath: what is kept is never changed.
      const [, kept] = await Promise.all([
        answer(client.hsetnx(keys.secrets, name, value)),
        answer(client.hget(keys.secrets, name)),
      ]);
      return kept ?? value;
    },
  };
}
