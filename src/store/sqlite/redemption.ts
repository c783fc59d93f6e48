import { MAX_QUOTA } from '../../core/quota.js';
import { changedCode, codeRefusal } from '../redemption.js';
import type {
  CodeBatch,
  NewRedemptionCode,
  Redemption,
  RedemptionCode,
  RedemptionStore,
} from '../store.js';
import type { Database } from './database.js';
import { Filter, selectPage } from './page.js';

interface CodeRow {
  readonly id: number;
  readonly name: string;
  readonly batch_id: string;
  readonly quota: number;
  readonly status: RedemptionCode['status'];
  readonly code_hint: string;
  readonly created_by: number;
  readonly created_time: number;
  readonly redeemed_time: number;
  readonly used_user_id: number;
  readonly expired_time: number;
}

interface BatchRow {
  readonly batch_id: string;
  readonly name: string;
  readonly made: number;
  readonly used: number;
  readonly used_quota: number;
  readonly left_count: number;
  readonly left_quota: number;
  readonly created_time: number;
}

export function openRedemption(database: Database): RedemptionStore {
  const insert = database.prepare<CodeRow>(
    `INSERT INTO codes (name, name_key, batch_id, quota, status, code_hash, code_hint, created_by, created_time, expired_time)
     VALUES (?, ?, ?, ?, 'enabled', ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byId = database.prepare<CodeRow>('SELECT * FROM codes WHERE id = ?');
  const sums = database.prepare<BatchRow>(
    `SELECT name, batch_id, COUNT(*) AS made,
       SUM(status = 'used') AS used, TOTAL(quota * (status = 'used')) AS used_quota,
       SUM(is_left) AS left_count, TOTAL(quota * is_left) AS left_quota,
       created_time, MAX(id)
     FROM (SELECT *, status = 'enabled' AND (expired_time = 0 OR expired_time * 1000 > ?) AS is_left FROM codes)
     GROUP BY CASE batch_id WHEN '' THEN 'name ' || name ELSE batch_id END ORDER BY MAX(id) DESC`,
  );
  const byHash = database.prepare<CodeRow>('SELECT * FROM codes WHERE code_hash = ?');
  const update = database.prepare<never>(
    'UPDATE codes SET name = ?, name_key = ?, quota = ?, expired_time = ?, status = ? WHERE id = ?',
  );
  const use = database.prepare<never>(
    "UPDATE codes SET status = 'used', redeemed_time = ?, used_user_id = ? WHERE id = ?",
  );
  const remove = database.prepare<never>('DELETE FROM codes WHERE id = ?');
  const removeInvalid = database.prepare<never>(
    `DELETE FROM codes
     WHERE (status <> 'enabled' OR (expired_time <> 0 AND expired_time * 1000 <= ?))
       AND created_by NOT IN (SELECT value FROM json_each(?))`,
  );
  const balance = database.prepare<{ readonly quota: number }>(
    'SELECT quota FROM users WHERE id = ?',
  );
  const credit = database.prepare<never>('UPDATE users SET quota = quota + ? WHERE id = ?');

  function create(code: NewRedemptionCode, nowMs: number): RedemptionCode[] {
    const row = insert.get(
      code.name,
      code.name.toLowerCase(),
      code.batchId,
      code.quota,
      code.codeHash,
      code.codeHint,
      code.createdBy,
      Math.floor(nowMs / 1000),
      code.expiredTime,
    );
    return row === undefined ? [] : [codeOf(row)];
  }

  function redeem(codeHash: string, userId: number, nowMs: number): Redemption {
    const code = byHash.get(codeHash);
    const user = balance.get(userId);
    if (code === undefined || user === undefined) return { kind: 'refused', reason: 'unknown' };
    const reason = codeRefusal(codeOf(code), userId, nowMs);
    if (reason !== undefined) return { kind: 'refused', reason };
    if (user.quota + code.quota > MAX_QUOTA) return { kind: 'refused', reason: 'quota_range' };
    use.run(Math.floor(nowMs / 1000), userId, code.id);
    credit.run(code.quota, userId);
    return { kind: 'redeemed', quota: code.quota, codeId: code.id };
  }

  return {
    createCodes: (codes, nowMs) =>
      database.write(() => codes.flatMap((code) => create(code, nowMs))),

    getCode: (id) =>
      database.read(() => {
        const row = byId.get(id);
        return row === undefined ? undefined : codeOf(row);
      }),

    listCodes: ({ keyword, name, batchId, status, offset, limit }) =>
      database.read(() => {
        const filter = new Filter()
          .where('instr(t.name_key, ?) > 0 OR CAST(t.id AS TEXT) = ?', keyword?.toLowerCase())
          .where('t.name = ?', name)
          .where('t.batch_id = ?', batchId)
          .where('t.status = ?', status);
        return selectPage(database, { table: 'codes', read: codeOf }, filter, { offset, limit });
      }),

    sumCodes: (nowMs) => database.read(() => sums.all(nowMs).map(batchOf)),

    updateCode: (id, wanted, when) =>
      database.write(() => {
        const row = byId.get(id);
        const changed = changedCode(row && codeOf(row), wanted, when);
        if (changed.kind === 'updated') {
          const { name, quota, expiredTime, status } = changed.code;
          update.run(name, name.toLowerCase(), quota, expiredTime, status, id);
        }
        return changed;
      }),

    deleteCode: (id) => database.write(() => remove.run(id) > 0),

    deleteInvalidCodes: (nowMs, notOf = []) =>
      database.write(() => removeInvalid.run(nowMs, JSON.stringify(notOf))),

    redeem: (codeHash, userId, nowMs) => database.write(() => redeem(codeHash, userId, nowMs)),

    /** Claim and credit are one transaction here: neither exists without the other. */
    recoverRedemptions: () => database.read(() => 0),
  };
}

function batchOf(row: BatchRow): CodeBatch {
  return {
    batchId: row.batch_id,
    ...{ name: row.name, made: row.made, used: row.used, usedQuota: row.used_quota },
    ...{ left: row.left_count, leftQuota: row.left_quota, createdTime: row.created_time },
  };
}

function codeOf(row: CodeRow): RedemptionCode {
  return {
    id: row.id,
    name: row.name,
    batchId: row.batch_id,
    quota: row.quota,
    status: row.status,
    codeHint: row.code_hint,
    createdBy: row.created_by,
    createdTime: row.created_time,
    redeemedTime: row.redeemed_time,
    usedUserId: row.used_user_id,
    expiredTime: row.expired_time,
  };
}
