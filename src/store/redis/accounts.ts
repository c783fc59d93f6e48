import { MOST_PLACES, type AccountStore } from '../accounts.js';
import { change, fieldsOf } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';

export function openAccounts(connection: Connection, keys: Keys): AccountStore {
  return {
    async rememberPlace(userId, placeHash, nowMs, keepMs) {
      const key = keys.userPlaces(userId);
      await change(connection, [], nowMs, (_, now) => ({
        result: undefined,
        writes: [
          ['ZADD', key, now + keepMs, placeHash],
          ['ZREMRANGEBYSCORE', key, '-inf', now],
          ['ZREMRANGEBYRANK', key, 0, -(MOST_PLACES + 1)],
          ['PEXPIRE', key, keepMs],
        ],
      }));
    },

    knowsPlace(userId, placeHash, nowMs) {
      const looks = [['ZSCORE', keys.userPlaces(userId), placeHash]] as const;
      return change(connection, looks, nowMs, ([expires], now) => ({
        result: expires !== null && Number(expires) > now,
      }));
    },

    putAddressCode(userId, email, codeHash, nowMs, lifeMs) {
      const key = keys.userAddressCode(userId);
      return putCode(connection, key, nowMs, lifeMs, { email, hash: codeHash });
    },

    takeAddressCode(userId, codeHash, nowMs) {
      const key = keys.userAddressCode(userId);
      return change(connection, [['HGETALL', key]], nowMs, ([fields], now) => {
        const { hash, expires, email } = fieldsOf(fields);
        if (hash !== codeHash) return { result: undefined };
        return { result: Number(expires) > now ? email : undefined, writes: [['DEL', key]] };
      });
    },
  };
}

/** Replaces a code that one user may take once. */
export async function putCode(
  connection: Connection,
  key: string,
  nowMs: number,
  lifeMs: number,
  fields: Readonly<Record<string, string | number>>,
): Promise<void> {
  await change(connection, [], nowMs, (_, now) => ({
    result: undefined,
    writes: [
      ['DEL', key],
      ['HSET', key, 'expires', now + lifeMs, ...Object.entries(fields).flat()],
    ],
  }));
}
