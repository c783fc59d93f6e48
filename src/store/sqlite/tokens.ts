import { useAfter } from '../../core/budget.js';
import { labelPart } from '../../core/labels.js';
import { isExpired, type Token, type TokenStatus } from '../../core/token.js';
import type { NewToken, TokenChange, TokenOrder, TokenStore, TokenUpdate } from '../store.js';
import { tokenVersion } from '../version.js';
import { changedBalance } from './balance.js';
import type { Database } from './database.js';
import { Filter, orderSql, selectPage } from './page.js';
import type { Reservations } from './reservations.js';
import { TOKEN_COLUMNS, tokenOf, type TokenRow } from './token-rows.js';

/** The condition of each status; `?` is the time in milliseconds. */
const ENDED = 't.expired_time <> -1 AND t.expired_time * 1000 <= ?';
const STATUS: Readonly<Record<TokenStatus, string>> = {
  1: `t.enabled = 1 AND NOT (${ENDED}) AND (t.unlimited_quota = 1 OR t.remain_quota > 0)`,
  2: 't.enabled = 0 AND ? > 0',
  3: `t.enabled = 1 AND ${ENDED}`,
  4: `t.enabled = 1 AND NOT (${ENDED}) AND t.unlimited_quota = 0 AND t.remain_quota <= 0`,
};

const ORDERS: Readonly<Record<TokenOrder['by'], string>> = {
  name: 't.name_key',
  remainQuota: 'iif(t.unlimited_quota = 1, 9e999, t.remain_quota)',
  usedQuota: 't.used_quota',
  createdTime: 't.created_time',
  accessedTime: 't.accessed_time',
  expiredTime: 'iif(t.expired_time = -1, 9e999, t.expired_time)',
};

export function openTokens(database: Database, reservations: Reservations): TokenStore {
  const userExists = database.prepare<{ readonly id: number }>('SELECT id FROM users WHERE id = ?');
  const insert = database.prepare<TokenRow>(
    `INSERT INTO tokens AS t (user_id, name, name_key, key_hash, key_hint, enabled, created_time, accessed_time,
       expired_time, remain_quota, unlimited_quota, policy, version, budget)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byId = database.prepare<TokenRow>(`SELECT ${TOKEN_COLUMNS} FROM tokens t WHERE t.id = ?`);
  const update = database.prepare<never>(
    `UPDATE tokens SET name = ?, name_key = ?, enabled = ?, expired_time = ?, remain_quota = ?, unlimited_quota = ?,
       policy = ?, version = ?, budget = ?, budget_spent = ?, budget_until_ms = ?
     WHERE id = ?`,
  );
  const countOfUser = database.prepare<{ readonly count: number }>(
    'SELECT count(*) AS count FROM tokens WHERE user_id = ?',
  );
  const roll = database.prepare<TokenRow>(
    `UPDATE tokens AS t SET old_key_hash = iif(?1, key_hash, NULL), old_key_until_ms = ?1, key_hash = ?2, key_hint = ?3,
       version = ?4
     WHERE id = ?5 RETURNING *`,
  );
  const remove = database.prepare<never>('DELETE FROM tokens WHERE id = ?');

  function create(token: NewToken, nowMs: number): Token | undefined {
    if (userExists.get(token.userId) === undefined) return undefined;
    const seconds = Math.floor(nowMs / 1000);
    const row = insert.get(
      token.userId,
      token.name,
      token.name.toLowerCase(),
      token.keyHash,
      token.keyHint,
      Number(token.enabled),
      seconds,
      0,
      token.expiredTime,
      token.remainQuota,
      Number(token.unlimitedQuota),
      JSON.stringify(token.policy),
      tokenVersion(),
      token.policy.budget,
    );
    return row === undefined ? undefined : tokenOf(row);
  }

  /** Reads a token after giving back its owner's expired reservations. */
  function read(id: number, nowMs: number): Token | undefined {
    const found = byId.get(id);
    if (found === undefined) return undefined;
    reservations.giveBackExpired(nowMs, found.user_id);
    const row = byId.get(id);
    return row === undefined ? undefined : tokenOf(row);
  }

  function change(
    id: number,
    wanted: TokenChange,
    nowMs: number,
    ownerId: number | undefined,
    when: ((token: Token) => boolean) | undefined,
  ): TokenUpdate {
    const token = read(id, nowMs);
    if (token === undefined || (ownerId !== undefined && token.userId !== ownerId)) {
      return { kind: 'not_found' };
    }
    if (when?.(token) === false) return { kind: 'conflict', reason: 'changed' };
    const remainQuota = changedBalance(token.remainQuota, wanted.quota);
    if (remainQuota === undefined) return { kind: 'conflict', reason: 'quota_range' };
    const policy = { ...token.policy, ...wanted.policy };
    const next: Token = {
      ...token,
      name: wanted.name ?? token.name,
      enabled: wanted.enabled ?? token.enabled,
      expiredTime: wanted.expiredTime ?? token.expiredTime,
      unlimitedQuota: wanted.unlimitedQuota ?? token.unlimitedQuota,
      remainQuota,
      policy,
      budgetUse: useAfter(token.policy, token.budgetUse, policy),
    };
    if (wanted.enabled === true) {
      if (isExpired(next.expiredTime, nowMs)) return { kind: 'conflict', reason: 'expired' };
      if (!next.unlimitedQuota && next.remainQuota <= 0) {
        return { kind: 'conflict', reason: 'exhausted' };
      }
    }
    update.run(
      next.name,
      next.name.toLowerCase(),
      Number(next.enabled),
      next.expiredTime,
      next.remainQuota,
      Number(next.unlimitedQuota),
      JSON.stringify(next.policy),
      tokenVersion(),
      next.policy.budget,
      next.budgetUse.spent,
      next.budgetUse.untilMs,
      id,
    );
    return { kind: 'updated', token: next };
  }

  return {
    createToken: (token, nowMs) => database.write(() => create(token, nowMs)),

    createTokenWithin: (token, most, nowMs) =>
      database.write(() =>
        (countOfUser.get(token.userId)?.count ?? 0) >= most ? 'too_many' : create(token, nowMs),
      ),

    getToken: (id, nowMs) => database.write(() => read(id, nowMs)),

    listTokens: ({ userId, name, keyHash, offset, limit, order, ...query }, nowMs) =>
      database.write(() => {
        reservations.giveBackExpired(nowMs, userId);
        const status = query.status === undefined ? undefined : STATUS[query.status];
        const filter = new Filter()
          .where('t.user_id = ?', userId)
          .where('instr(t.name_key, ?) > 0', name?.toLowerCase())
          .where('? IN (t.key_hash, t.old_key_hash)', keyHash)
          .where(status ?? '', status === undefined ? undefined : nowMs)
          .where(
            `json_type(t.policy, '$.models') IS NULL
             OR EXISTS (SELECT 1 FROM json_each(t.policy, '$.models') WHERE value = ?)`,
            query.model,
          )
          .where("EXISTS (SELECT 1 FROM json_each(t.policy, '$.tags') WHERE value = ?)", query.tag)
          .where(
            "instr(',' || json_extract(t.policy, '$.labels') || ',', ?) > 0",
            query.label === undefined ? undefined : labelPart(query.label),
          )
          .where('t.expired_time <> -1 AND t.expired_time < ?', query.expiresBefore)
          .where('max(t.created_time, t.accessed_time) < ?', query.unusedSince);
        const listed = { table: 'tokens', read: tokenOf };
        const slice = { offset, limit };
        return selectPage(database, listed, filter, slice, orderSql(ORDERS, order));
      }),

    updateToken: (id, wanted, nowMs, ownerId, when) =>
      database.write(() => change(id, wanted, nowMs, ownerId, when)),

    rollToken: (id, { keyHash, keyHint, keepOldMs }, nowMs, ownerId) =>
      database.write(() => {
        const token = read(id, nowMs);
        if (token === undefined || (ownerId !== undefined && token.userId !== ownerId)) {
          return undefined;
        }
        const untilMs = keepOldMs > 0 ? nowMs + keepOldMs : 0;
        const row = roll.get(untilMs, keyHash, keyHint, tokenVersion(), id);
        return row === undefined ? undefined : tokenOf(row);
      }),

    deleteToken: (id, ownerId) =>
      database.write(() => {
        const row = byId.get(id);
        if (row === undefined || (ownerId !== undefined && row.user_id !== ownerId)) return false;
        return remove.run(id) > 0;
      }),
  };
}
