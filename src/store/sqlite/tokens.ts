import { useAfter } from '../../core/budget.js';
import { labelPart } from '../../core/labels.js';
import { present } from '../../core/records.js';
import { isExpired, type Token, type TokenStatus } from '../../core/token.js';
import type { NewToken, TokenChange, TokenOrder, TokenStore, TokenUpdate } from '../store.js';
import { newStoredToken, tokenOf, TOKENS, type StoredToken } from '../tokens.js';
import type { Columns } from '../records.js';
import { tokenVersion } from '../version.js';
import { changedBalance } from './balance.js';
import type { Database } from './database.js';
import { Filter, orderSql, selectPage } from './page.js';
import type { Reservations } from './reservations.js';
import { finder, insertInto, updateOf } from './rows.js';

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
  const byId = finder(database, TOKENS, 'id');
  const countOfUser = database.prepare<{ readonly count: number }>(
    'SELECT count(*) AS count FROM tokens WHERE user_id = ?',
  );
  const remove = database.prepare<never>('DELETE FROM tokens WHERE id = ?');

  /** The budget is also in a column, for requests. */
  const columnsOf = (token: Omit<StoredToken, 'id'>): Columns => ({
    ...TOKENS.toRow(token),
    budget: token.policy.budget,
  });

  function create(token: NewToken, nowMs: number): Token | undefined {
    if (userExists.get(token.userId) === undefined) return undefined;
    const stored = newStoredToken(token, nowMs);
    return tokenOf({ ...stored, id: insertInto(database, 'tokens', columnsOf(stored)) });
  }

  /** Reads a token after giving back its owner's expired reservations. */
  function read(id: number, nowMs: number): StoredToken | undefined {
    const found = byId(id);
    if (found === undefined) return undefined;
    reservations.giveBackExpired(nowMs, found.userId);
    return byId(id);
  }

  function readOwn(id: number, nowMs: number, ownerId: number | undefined) {
    const token = read(id, nowMs);
    return ownerId === undefined || token?.userId === ownerId ? token : undefined;
  }

  function write(next: StoredToken): Token {
    updateOf(database, 'tokens', columnsOf(next), next.id);
    return tokenOf(next);
  }

  function change(
    id: number,
    wanted: TokenChange,
    nowMs: number,
    ownerId: number | undefined,
    when: ((token: Token) => boolean) | undefined,
  ): TokenUpdate {
    const token = readOwn(id, nowMs, ownerId);
    if (token === undefined) return { kind: 'not_found' };
    const before = tokenOf(token);
    if (when?.(before) === false) return { kind: 'conflict', reason: 'changed' };
    const remainQuota = changedBalance(token.remainQuota, wanted.quota);
    if (remainQuota === undefined) return { kind: 'conflict', reason: 'quota_range' };
    const policy = { ...token.policy, ...wanted.policy };
    const use = useAfter(token.policy, before.budgetUse, policy);
    const { name, enabled, expiredTime, unlimitedQuota } = wanted;
    const next: StoredToken = {
      ...token,
      ...present({ name, enabled, expiredTime, unlimitedQuota }),
      ...{ remainQuota, policy, budgetSpent: use.spent, budgetUntilMs: use.untilMs },
      version: tokenVersion(),
    };
    if (wanted.enabled === true) {
      if (isExpired(next.expiredTime, nowMs)) return { kind: 'conflict', reason: 'expired' };
      if (!next.unlimitedQuota && next.remainQuota <= 0) {
        return { kind: 'conflict', reason: 'exhausted' };
      }
    }
    return { kind: 'updated', token: write(next) };
  }

  return {
    createToken: (token, nowMs) => database.write(() => create(token, nowMs)),

    createTokenWithin: (token, most, nowMs) =>
      database.write(() =>
        (countOfUser.get(token.userId)?.count ?? 0) >= most ? 'too_many' : create(token, nowMs),
      ),

    getToken: (id, nowMs) =>
      database.write(() => {
        const token = read(id, nowMs);
        return token && tokenOf(token);
      }),

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
        const listed = { table: 'tokens', read: (row: object) => tokenOf(TOKENS.fromRow(row)) };
        const slice = { offset, limit };
        return selectPage(database, listed, filter, slice, orderSql(ORDERS, order));
      }),

    updateToken: (id, wanted, nowMs, ownerId, when) =>
      database.write(() => change(id, wanted, nowMs, ownerId, when)),

    rollToken: (id, { keyHash, keyHint, keepOldMs }, nowMs, ownerId) =>
      database.write(() => {
        const token = readOwn(id, nowMs, ownerId);
        if (token === undefined) return undefined;
        const old =
          keepOldMs > 0
            ? { oldKeyHash: token.keyHash, oldKeyUntilMs: nowMs + keepOldMs }
            : { oldKeyHash: undefined, oldKeyUntilMs: 0 };
        return write({ ...token, ...old, keyHash, keyHint, version: tokenVersion() });
      }),

    deleteToken: (id, ownerId) =>
      database.write(() => {
        const token = byId(id);
        if (ownerId !== undefined && token?.userId !== ownerId) return false;
        return remove.run(id) > 0;
      }),
  };
}
