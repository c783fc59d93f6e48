import { IMPORT_STATE, type MovedTable, type MovingStore } from '../../moving.js';
import type { Vault } from '../../vault.js';
import type { Connection } from '../connection.js';
import type { Keys } from '../keys.js';
import { movedAccounts } from './accounts.js';
import { movedHistory } from './history.js';
import { openMover, type Moved } from './rows.js';
import { movedSettings } from './settings.js';

export function openMoving(connection: Connection, keys: Keys, vault: Vault): MovingStore {
  const { client, answer } = connection;
  const mover = openMover(connection, keys, vault);
  const tables: Readonly<Record<MovedTable, Moved>> = {
    ...movedSettings(mover),
    ...movedAccounts(mover),
    ...movedHistory(mover),
  };

  return {
    rowsOf: (table, nowMs) => tables[table].rows(nowMs),

    async putRows(table, rows) {
      if (rows.length > 0) await tables[table].put(rows);
    },

    async importState(state) {
      if (state !== undefined) await answer(client.hset(keys.secrets, IMPORT_STATE, state));
      return (await answer(client.hget(keys.secrets, IMPORT_STATE))) ?? undefined;
    },
  };
}
