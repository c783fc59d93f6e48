import type { Token } from '../../core/token.js';
import { storedPolicy } from '../tokens.js';

/** The columns of `tokens` that make up a `Token`; `t` is the table. */
export const TOKEN_COLUMNS = `
  t.id, t.user_id, t.name, t.enabled, t.key_hint, t.created_time, t.accessed_time, t.expired_time, t.remain_quota,
  t.unlimited_quota, t.used_quota, t.version, t.policy, t.key_hash,
  t.budget_spent, t.budget_until_ms, t.old_key_hash, t.old_key_until_ms`;

export interface TokenRow {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly enabled: number;
  readonly key_hint: string;
  readonly created_time: number;
  readonly accessed_time: number;
  readonly expired_time: number;
  readonly remain_quota: number;
  readonly unlimited_quota: number;
  readonly used_quota: number;
  readonly version: number;
  readonly policy: string;
  readonly key_hash: string;
  readonly budget_spent: number;
  readonly budget_until_ms: number;
  readonly old_key_hash: string | null;
  readonly old_key_until_ms: number;
}

export function tokenOf(row: TokenRow): Token {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    enabled: row.enabled === 1,
    keyHint: row.key_hint,
    createdTime: row.created_time,
    accessedTime: row.accessed_time,
    expiredTime: row.expired_time,
    remainQuota: row.remain_quota,
    unlimitedQuota: row.unlimited_quota === 1,
    usedQuota: row.used_quota,
    budgetUse: { spent: row.budget_spent, untilMs: row.budget_until_ms },
    ...(row.old_key_hash === null ? {} : { oldKeyUntilMs: row.old_key_until_ms }),
    policy: storedPolicy(row.policy),
  };
}
