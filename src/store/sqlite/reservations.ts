import { LAPSED_MS } from '../admission.js';
import type { Database } from './database.js';

interface ReservationRow {
  readonly id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly amount: number;
  /** 1 if the amount was taken off the token too; `LAPSED` is added once it was given back. */
  readonly limited: number;
}

const LAPSED = 2;

/** What is left of a reservation; `places` is 0 if it was given back, and nothing is reserved any more. */
interface Taken {
  readonly tokenId: number;
  readonly amount: number;
  readonly limited: boolean;
  readonly places: number;
}

interface HeldRow {
  readonly units: number | null;
}

export type Reservations = ReturnType<typeof openReservations>;

/** Gives back to the current window, if one has begun. */
export const GIVEN_BACK = 'budget_spent = budget_spent - ? * (budget_until_ms > 0)';

/** The amounts set aside from balances. Call these inside a transaction. */
export function openReservations(database: Database) {
  const columns = 'id, user_id, token_id, amount, limited';
  const takeExpired = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE expires_at_ms <= ? RETURNING ${columns}`,
  );
  const takeExpiredOfUser = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE user_id = ? AND expires_at_ms <= ? RETURNING ${columns}`,
  );
  const takeOne = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE id = ? AND user_id = ? RETURNING ${columns}`,
  );
  const keepLapsed = database.prepare<never>(
    'INSERT INTO reservations (id, user_id, token_id, amount, limited, expires_at_ms) VALUES (?, ?, ?, 0, ?, ?)',
  );
  const creditUser = database.prepare<never>(
    `UPDATE users SET quota = quota + ?, ${GIVEN_BACK} WHERE id = ?`,
  );
  const creditToken = database.prepare<never>(
    `UPDATE tokens SET remain_quota = remain_quota + ?, in_flight = in_flight - 1, ${GIVEN_BACK} WHERE id = ?`,
  );

  const held = 'SELECT sum(amount) AS units FROM reservations WHERE user_id = ?';
  const heldByUser = database.prepare<HeldRow>(held);
  const heldByToken = database.prepare<HeldRow>(`${held} AND token_id = ?`);

  return {
    /** Gives back the reservations that were not settled in time: those of one user, or of all. */
    giveBackExpired(nowMs: number, userId?: number): void {
      const expired =
        userId === undefined ? takeExpired.all(nowMs) : takeExpiredOfUser.all(userId, nowMs);
      for (const { id, user_id, token_id, amount, limited } of expired) {
        if (limited >= LAPSED) continue;
        keepLapsed.run(id, user_id, token_id, limited + LAPSED, nowMs + LAPSED_MS);
        creditUser.run(amount, amount, user_id);
        creditToken.run(limited * amount, amount, token_id);
      }
    },
    /** Removes a reservation without changing a balance. */
    take(id: string, userId: number): Taken | undefined {
      const row = takeOne.get(id, userId);
      if (row === undefined) return undefined;
      const { token_id: tokenId, amount, limited } = row;
      return { tokenId, amount, limited: limited % LAPSED === 1, places: limited < LAPSED ? 1 : 0 };
    },
    /** The total amount of a user's reservations, or of those of one token. */
    heldBy: (userId: number, tokenId?: number): number =>
      (tokenId === undefined ? heldByUser.get(userId) : heldByToken.get(userId, tokenId))?.units ??
      0,
  };
}
