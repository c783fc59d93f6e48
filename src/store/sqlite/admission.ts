import { takeRate, type RateDecision } from '../../core/rate-limit.js';
import { isExpired, type Token } from '../../core/token.js';
import type { Admission, AdmissionStore, AdmitRequest, Credential, Settlement } from '../store.js';
import type { Database } from './database.js';
import type { Reservations } from './reservations.js';
import { TOKEN_COLUMNS, tokenOf, type TokenRow } from './token-rows.js';

interface CredentialRow extends TokenRow {
  readonly user_enabled: number;
  readonly user_quota: number;
  readonly in_flight: number;
  readonly rate_window: number;
  readonly rate_current: number;
  readonly rate_previous: number;
}

export function openAdmission(database: Database, reservations: Reservations): AdmissionStore {
  const credentialColumns = `
    ${TOKEN_COLUMNS}, t.in_flight, t.rate_window, t.rate_current, t.rate_previous,
    u.enabled AS user_enabled, u.quota AS user_quota
    FROM tokens t JOIN users u ON u.id = t.user_id`;
  const byHash = database.prepare<CredentialRow>(
    `SELECT ${credentialColumns} WHERE t.key_hash = ?`,
  );
  const byId = database.prepare<CredentialRow>(
    `SELECT ${credentialColumns} WHERE t.id = ? AND t.user_id = ?`,
  );
  const reserve = database.prepare<never>(
    `INSERT INTO reservations (id, user_id, token_id, amount, limited, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const debitUser = database.prepare<never>('UPDATE users SET quota = quota - ? WHERE id = ?');
  const debitToken = database.prepare<never>(
    `UPDATE tokens SET remain_quota = remain_quota - ?, in_flight = in_flight + 1, accessed_time = ?,
       rate_window = ?, rate_current = ?, rate_previous = ?
     WHERE id = ?`,
  );
  const balances = database.prepare<{
    readonly user_quota: number;
    /** Null once the token is deleted. */
    readonly remain_quota: number | null;
  }>(
    `SELECT u.quota AS user_quota, t.remain_quota
     FROM users u LEFT JOIN tokens t ON t.id = ? WHERE u.id = ?`,
  );
  const settleUser = database.prepare<never>(
    `UPDATE users SET quota = quota + ?, used_quota = used_quota + ?, request_count = request_count + ?
     WHERE id = ?`,
  );
  const settleToken = database.prepare<never>(
    `UPDATE tokens SET remain_quota = remain_quota + ?, used_quota = used_quota + ?, in_flight = in_flight - 1
     WHERE id = ?`,
  );

  function admit(request: AdmitRequest): Admission {
    const { tokenId, userId, amount, nowMs } = request;
    reservations.giveBackExpired(nowMs, userId);
    const row = byId.get(tokenId, userId);
    if (row === undefined) return { kind: 'refused', reason: 'unknown' };
    const credential = credentialOf(row);
    if (credential.keyHash !== request.keyHash) return { kind: 'refused', reason: 'unknown' };
    if (credential.version !== request.version) return { kind: 'stale', credential };
    const { token } = credential;
    const reason = refusal(credential, row.user_quota, amount, nowMs);
    if (reason !== undefined) return { kind: 'refused', reason };
    const rate = rateOf(row, token, nowMs);
    if (rate?.allowed === false) {
      return {
        kind: 'refused',
        reason: 'rate',
        retryAfterMs: rate.retryAfterMs,
        rate: rate.state,
      };
    }
    const { maxConcurrency } = token.policy;
    if (maxConcurrency > 0 && row.in_flight >= maxConcurrency) {
      return { kind: 'refused', reason: 'concurrency' };
    }

    const limited = token.unlimitedQuota ? 0 : 1;
    reserve.run(request.reservationId, userId, tokenId, amount, limited, request.expiresAtMs);
    debitUser.run(amount, userId);
    debitToken.run(
      limited * amount,
      Math.floor(nowMs / 1000),
      rate?.next.window ?? row.rate_window,
      rate?.next.current ?? row.rate_current,
      rate?.next.previous ?? row.rate_previous,
      tokenId,
    );
    return { kind: 'admitted', rate: rate?.state };
  }

  function settle({ userId, reservationId, cost, served }: Settlement): number | undefined {
    const reservation = reservations.take(reservationId, userId);
    if (reservation === undefined) return undefined;
    const { token_id: tokenId, amount } = reservation;
    const limited = reservation.limited === 1;
    const left = balances.get(tokenId, userId);
    const reach = Math.min(
      left?.user_quota ?? 0,
      limited && left?.remain_quota != null ? left.remain_quota : Infinity,
    );
    const charged = Math.min(cost, amount + Math.max(0, reach));
    const back = amount - charged;
    settleUser.run(back, charged, served ? 1 : 0, userId);
    settleToken.run(limited ? back : 0, charged, tokenId);
    return charged;
  }

  return {
    findToken: (keyHash) =>
      database.read(() => {
        const row = byHash.get(keyHash);
        return row === undefined ? undefined : credentialOf(row);
      }),
    admit: (request) => database.write(() => admit(request)),
    settle: (settlement) => database.write(() => settle(settlement)),
  };
}

function credentialOf(row: CredentialRow): Credential {
  return {
    token: tokenOf(row),
    version: row.version,
    keyHash: row.key_hash,
    userEnabled: row.user_enabled === 1,
  };
}

function refusal(
  { token, userEnabled }: Credential,
  userQuota: number,
  amount: number,
  nowMs: number,
): 'user_disabled' | 'disabled' | 'expired' | 'token_quota' | 'user_quota' | undefined {
  if (!userEnabled) return 'user_disabled';
  if (!token.enabled) return 'disabled';
  if (isExpired(token.expiredTime, nowMs)) return 'expired';
  if (!token.unlimitedQuota && (token.remainQuota <= 0 || token.remainQuota < amount)) {
    return 'token_quota';
  }
  return userQuota < amount ? 'user_quota' : undefined;
}

function rateOf(row: CredentialRow, token: Token, nowMs: number): RateDecision | undefined {
  const { rateLimit } = token.policy;
  if (rateLimit <= 0) return undefined;
  const last = {
    window: row.rate_window,
    current: row.rate_current,
    previous: row.rate_previous,
  };
  return takeRate(last, rateLimit, nowMs);
}
