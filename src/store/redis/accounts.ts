import { MOST_PLACES, type AccountStore } from '../accounts.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { run, SCRIPTS, textOf } from './scripts.js';

export function openAccounts(connection: Connection, keys: Keys): AccountStore {
  return {
    async rememberPlace(userId, placeHash, nowMs, keepMs) {
      await run(connection, SCRIPTS.rememberPlace, keys.userPlaces(userId), [
        ...[placeHash, connection.told(nowMs), keepMs, MOST_PLACES],
      ]);
    },

    async knowsPlace(userId, placeHash, nowMs) {
      const known = await run(connection, SCRIPTS.knowsPlace, keys.userPlaces(userId), [
        placeHash,
        connection.told(nowMs),
      ]);
      return known === 1;
    },

    async putAddressCode(userId, email, codeHash, nowMs, lifeMs) {
      await run(connection, SCRIPTS.putCode, keys.userAddressCode(userId), [
        ...[connection.told(nowMs), lifeMs, 'email', email, 'hash', codeHash],
      ]);
    },

    async takeAddressCode(userId, codeHash, nowMs) {
      const taken = await run(connection, SCRIPTS.takeAddressCode, keys.userAddressCode(userId), [
        codeHash,
        connection.told(nowMs),
      ]);
      return taken === null ? undefined : textOf(taken);
    },
  };
}
