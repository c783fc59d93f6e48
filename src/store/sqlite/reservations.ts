import type { Database } from './database.js';

interface ReservationRow {
  readonly user_id: number;
  readonly token_id: number;
  readonly amount: number;
  /** 1 when the amount was taken off the token too. */
  readonly limited: number;
}

/** What is set aside of the balances. To be called inside a transaction. */
export interface Reservations {
  /** Gives back what nobody settled in time: of one user, or of all. */
  giveBackExpired(nowMs: number, userId?: number): void;
  /** Takes a reservation out of the book, without moving a balance. */
  take(id: string, userId: number): ReservationRow | undefined;
}

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
  const creditUser = database.prepare<never>('UPDATE users SET quota = quota + ? WHERE id = ?');
  const creditToken = database.prepare<never>(
    'UPDATE tokens SET remain_quota = remain_quota + ?, in_flight = in_flight - 1 WHERE id = ?',
  );

  return {
    giveBackExpired(nowMs, userId) {
      const expired =
        userId === undefined ? takeExpired.all(nowMs) : takeExpiredOfUser.all(userId, nowMs);
      for (const { user_id, token_id, amount, limited } of expired) {
        creditUser.run(amount, user_id);
        creditToken.run(limited * amount, token_id);
      }
    },
    take: (id, userId) => takeOne.get(id, userId),
  };
}
