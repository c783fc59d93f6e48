import type { Database } from './database.js';

interface ReservationRow {
  readonly user_id: number;
  readonly token_id: number;
  readonly amount: number;
  /** 1 if the amount was taken off the token too. */
  readonly limited: number;
}

interface HeldRow {
  readonly units: number | null;
}

/** The amounts set aside from balances. Call these inside a transaction. */
export interface Reservations {
  /** Gives back the reservations that were not settled in time: those of one user, or of all. */
  giveBackExpired(nowMs: number, userId?: number): void;
  /** Removes a reservation without changing a balance. */
  take(id: string, userId: number): ReservationRow | undefined;
  /** The total amount of a user's reservations, or of those of one token. */
  heldBy(userId: number, tokenId?: number): number;
}

/** Gives back to the current window, if one has begun. */
export const GIVEN_BACK = 'budget_spent = budget_spent - ? * (budget_until_ms > 0)';

export function openReservations(database: Database): Reservations {
  const columns = 'user_id, token_id, amount, limited';
  const takeExpired = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE expires_at_ms <= ? RETURNING ${columns}`,
  );
  const takeExpiredOfUser = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE user_id = ? AND expires_at_ms <= ? RETURNING ${columns}`,
  );
  const takeOne = database.prepare<ReservationRow>(
    `DELETE FROM reservations WHERE id = ? AND user_id = ? RETURNING ${columns}`,
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
    giveBackExpired(nowMs, userId) {
      const expired =
        userId === undefined ? takeExpired.all(nowMs) : takeExpiredOfUser.all(userId, nowMs);
      for (const { user_id, token_id, amount, limited } of expired) {
        creditUser.run(amount, amount, user_id);
        creditToken.run(limited * amount, amount, token_id);
      }
    },
    take: (id, userId) => takeOne.get(id, userId),
    heldBy: (userId, tokenId) =>
      (tokenId === undefined ? heldByUser.get(userId) : heldByToken.get(userId, tokenId))?.units ??
      0,
  };
}
