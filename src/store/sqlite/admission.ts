import {
  fitsBudget,
  reachOf,
  standingOf,
  windowOf,
  type BudgetMembers,
  type BudgetPeriod,
  type BudgetUse,
} from '../../core/budget.js';
import { takeRate, type RateDecision, type RateWindow } from '../../core/rate-limit.js';
import { isExpired, type Token } from '../../core/token.js';
import type { Admission, AdmissionStore, AdmitRequest, Credential, Settlement } from '../store.js';
import { credentialOf, TOKENS } from '../tokens.js';
import type { Database } from './database.js';
import { GIVEN_BACK, type Reservations } from './reservations.js';

interface BalanceRow {
  readonly user_quota: number;
  readonly user_budget: number;
  readonly user_spent: number;
  readonly user_until_ms: number;
  /** Null once the token is deleted, like the columns that follow. */
  readonly remain_quota: number | null;
  readonly budget: number | null;
  readonly spent: number;
  readonly until_ms: number;
}

interface Budget {
  readonly members: BudgetMembers;
  readonly use: BudgetUse;
}

interface Budgets {
  readonly token: Budget;
  readonly user: Budget;
}

interface CredentialRow extends RateWindow {
  readonly user_enabled: number;
  readonly user_quota: number;
  readonly in_flight: number;
  readonly user_budget: number;
  readonly user_budget_period: BudgetPeriod;
  readonly user_budget_time_zone: string;
  readonly user_budget_spent: number;
  readonly user_budget_until_ms: number;
}

export function openAdmission(database: Database, reservations: Reservations): AdmissionStore {
  const credentialColumns = `
    ${TOKENS.columns.map((name) => `t.${name}`).join(', ')}, t.in_flight, t.rate_window AS window, t.rate_current AS current,
    t.rate_previous AS previous,
    u.enabled AS user_enabled, u.quota AS user_quota, u.budget AS user_budget, u.budget_period AS user_budget_period,
    u.budget_time_zone AS user_budget_time_zone, u.budget_spent AS user_budget_spent,
    u.budget_until_ms AS user_budget_until_ms
    FROM tokens t JOIN users u ON u.id = t.user_id`;
  const byHash = database.prepare<CredentialRow>(
    `SELECT ${credentialColumns} WHERE t.key_hash = ?1 OR t.old_key_hash = ?1`,
  );
  const byId = database.prepare<CredentialRow>(
    `SELECT ${credentialColumns} WHERE t.id = ? AND t.user_id = ?`,
  );
  const reserve = database.prepare<never>(
    `INSERT INTO reservations (id, user_id, token_id, amount, limited, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const debitUser = database.prepare<never>(
    'UPDATE users SET quota = quota - ?, budget_spent = ?, budget_until_ms = ? WHERE id = ?',
  );
  const debitToken = database.prepare<never>(
    `UPDATE tokens SET remain_quota = remain_quota - ?, in_flight = in_flight + 1, accessed_time = ?,
       rate_window = ?, rate_current = ?, rate_previous = ?, budget_spent = ?, budget_until_ms = ?
     WHERE id = ?`,
  );
  const balances = database.prepare<BalanceRow>(
    `SELECT u.quota AS user_quota, t.remain_quota, u.budget AS user_budget, u.budget_spent AS user_spent,
       u.budget_until_ms AS user_until_ms, t.budget, t.budget_spent AS spent, t.budget_until_ms AS until_ms
     FROM users u LEFT JOIN tokens t ON t.id = ? WHERE u.id = ?`,
  );
  const settleUser = database.prepare<never>(
    `UPDATE users SET quota = quota + ?, used_quota = used_quota + ?, request_count = request_count + ?,
       ${GIVEN_BACK}
     WHERE id = ?`,
  );
  const settleToken = database.prepare<never>(
    `UPDATE tokens SET remain_quota = remain_quota + ?, used_quota = used_quota + ?, in_flight = in_flight - ?,
       ${GIVEN_BACK}
     WHERE id = ?`,
  );

  function admit(request: AdmitRequest): Admission {
    const { tokenId, userId, amount, nowMs } = request;
    reservations.giveBackExpired(nowMs, userId);
    const row = byId.get(tokenId, userId);
    if (row === undefined) return { kind: 'refused', reason: 'unknown' };
    const credential = credentialIn(row, request.keyHash);
    if (credential === undefined || nowMs >= (credential.endsAtMs ?? Infinity)) {
      return { kind: 'refused', reason: 'unknown' };
    }
    if (credential.version !== request.version) return { kind: 'stale', credential };
    const { token } = credential;
    const reason = refusal(credential, row.user_quota, amount, nowMs);
    if (reason !== undefined) return { kind: 'refused', reason };
    const budgets = budgetsOf(row, token, nowMs);
    const over =
      budgetRefusal('token_budget', budgets.token, request) ??
      budgetRefusal('user_budget', budgets.user, request);
    if (over !== undefined) return over;
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
    const { window, current, previous } = rate?.next ?? row;
    debitUser.run(amount, ...useAfterTaking(budgets.user, amount), userId);
    debitToken.run(
      limited * amount,
      Math.floor(nowMs / 1000),
      window,
      current,
      previous,
      ...useAfterTaking(budgets.token, amount),
      tokenId,
    );
    return { kind: 'admitted', rate: rate?.state };
  }

  /** The budgets of a key and its owner, in their current windows. */
  function budgetsOf(row: CredentialRow, token: Token, nowMs: number): Budgets {
    const { id, userId, policy } = token;
    const owner: BudgetMembers = {
      budget: row.user_budget,
      budgetPeriod: row.user_budget_period,
      budgetTimeZone: row.user_budget_time_zone,
    };
    const use: BudgetUse = { spent: row.user_budget_spent, untilMs: row.user_budget_until_ms };
    return {
      token: begun(policy, token.budgetUse, nowMs, () => reservations.heldBy(userId, id)),
      user: begun(owner, use, nowMs, () => reservations.heldBy(userId)),
    };
  }

  function settle({ userId, reservationId, cost, served }: Settlement): number | undefined {
    const reservation = reservations.take(reservationId, userId);
    if (reservation === undefined) return undefined;
    const { tokenId, amount, limited, places } = reservation;
    const left = balances.get(tokenId, userId);
    const reach = Math.min(
      left?.user_quota ?? 0,
      limited && left?.remain_quota != null ? left.remain_quota : Infinity,
      left === undefined ? Infinity : budgetReach(left),
    );
    const charged = Math.min(cost, amount + Math.max(0, reach));
    const back = amount - charged;
    settleUser.run(back, charged, served ? 1 : 0, back, userId);
    settleToken.run(limited ? back : 0, charged, places, back, tokenId);
    return charged;
  }

  return {
    findToken: async (keyHash, nowMs) => {
      const find = (): Credential | undefined => {
        const row = byHash.get(keyHash);
        return row === undefined ? undefined : credentialIn(row, keyHash);
      };
      const found = await database.read(find);
      if (found === undefined || nowMs === undefined) return found;
      return database.write(() => {
        reservations.giveBackExpired(nowMs, found.token.userId);
        return find();
      });
    },
    admit: (request) => database.write(() => admit(request)),
    settle: (settlement) => database.write(() => settle(settlement)),
  };
}

/** A budget in its current window; `held` returns what already counts in a new one. */
function begun(members: BudgetMembers, use: BudgetUse, nowMs: number, held: () => number): Budget {
  if (members.budget === 0 || nowMs < use.untilMs) return { members, use };
  return { members, use: { spent: held(), untilMs: windowOf(members, nowMs).untilMs } };
}

function budgetRefusal(
  reason: 'token_budget' | 'user_budget',
  { members, use }: Budget,
  { amount, nowMs }: AdmitRequest,
): Admission | undefined {
  const standing = standingOf(members, use, nowMs);
  if (standing === undefined || fitsBudget(standing, amount)) return undefined;
  return {
    kind: 'refused',
    reason,
    standing,
    retryAfterMs: Math.max(1, standing.renewsAtMs - nowMs),
  };
}

/** The columns of a budget's window after taking an amount. */
function useAfterTaking({ members, use }: Budget, amount: number): [number, number] {
  return [use.spent + (members.budget === 0 ? 0 : amount), use.untilMs];
}

/** How far the budgets reach beyond what was reserved. */
function budgetReach(left: BalanceRow): number {
  return Math.min(
    reachOf(left.user_budget, { spent: left.user_spent, untilMs: left.user_until_ms }),
    reachOf(left.budget ?? 0, { spent: left.spent, untilMs: left.until_ms }),
  );
}

function credentialIn(row: CredentialRow, keyHash: string): Credential | undefined {
  return credentialOf(TOKENS.fromRow(row), row.user_enabled === 1, keyHash);
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
  return rateLimit <= 0 ? undefined : takeRate(row, rateLimit, nowMs);
}
