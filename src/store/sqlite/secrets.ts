import type { SecretStore } from '../store.js';
import type { Database } from './database.js';

export function openSecrets(database: Database): SecretStore {
  const put = database.prepare<never>('INSERT OR IGNORE INTO secrets (name, value) VALUES (?, ?)');
  const find = database.prepare<{ readonly value: string }>(
    'SELECT value FROM secrets WHERE name = ?',
  );
  return {
    keepSecret: (name, value) =>
      database.write(() => {
        put.run(name, value);
        return find.get(name)?.value ?? value;
      }),
  };
}
