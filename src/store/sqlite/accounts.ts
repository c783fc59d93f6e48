import { MOST_PLACES, type AccountStore } from '../accounts.js';
import type { Database } from './database.js';

export function openAccounts(database: Database): AccountStore {
  const putPlace = database.prepare<never>(
    'INSERT OR REPLACE INTO known_places (user_id, place_hash, expires_at_ms) VALUES (?, ?, ?)',
  );
  const findPlace = database.prepare<{ readonly found: number }>(
    'SELECT 1 AS found FROM known_places WHERE user_id = ? AND place_hash = ? AND expires_at_ms > ?',
  );
  const trimPlaces = database.prepare<never>(
    `DELETE FROM known_places WHERE user_id = ?1 AND (expires_at_ms <= ?2 OR place_hash NOT IN (
       SELECT place_hash FROM known_places WHERE user_id = ?1 ORDER BY expires_at_ms DESC LIMIT ${MOST_PLACES}))`,
  );
  const putCode = database.prepare<never>(
    'INSERT OR REPLACE INTO address_codes (user_id, email, code_hash, expires_at_ms) VALUES (?, ?, ?, ?)',
  );
  const takeCode = database.prepare<{ readonly email: string; readonly expires_at_ms: number }>(
    'DELETE FROM address_codes WHERE user_id = ? AND code_hash = ? RETURNING email, expires_at_ms',
  );

  return {
    rememberPlace: (userId, placeHash, nowMs, keepMs) =>
      database.write(() => {
        putPlace.run(userId, placeHash, nowMs + keepMs);
        trimPlaces.run(userId, nowMs);
      }),

    knowsPlace: (userId, placeHash, nowMs) =>
      database.read(() => findPlace.get(userId, placeHash, nowMs) !== undefined),

    putAddressCode: (userId, email, codeHash, nowMs, lifeMs) =>
      database.write(() => {
        putCode.run(userId, email, codeHash, nowMs + lifeMs);
      }),

    takeAddressCode: (userId, codeHash, nowMs) =>
      database.write(() => {
        const taken = takeCode.get(userId, codeHash);
        return taken !== undefined && taken.expires_at_ms > nowMs ? taken.email : undefined;
      }),
  };
}
