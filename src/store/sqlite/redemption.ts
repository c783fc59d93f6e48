import { MAX_QUOTA } from '../../core/quota.js';
import { changedCode, codeOf, codeRefusal, CODES, newStoredCode } from '../redemption.js';
import type {
  CodeBatch,
  NewRedemptionCode,
  Redemption,
  RedemptionCode,
  RedemptionStore,
} from '../store.js';
import type { Database } from './database.js';
import { Filter, selectPage } from './page.js';
import { finder, insertInto, updateOf } from './rows.js';

const LISTED = { table: 'codes', read: (row: object) => codeOf(CODES.fromRow(row)) };

export function openRedemption(database: Database): RedemptionStore {
  const byId = finder(database, CODES, 'id');
  const byHash = finder(database, CODES, 'code_hash');
  const sums = database.prepare<CodeBatch & { readonly id: number }>(
    `SELECT name, batch_id AS batchId, COUNT(*) AS made,
       SUM(status = 'used') AS used, TOTAL(quota * (status = 'used')) AS usedQuota,
       SUM(is_left) AS "left", TOTAL(quota * is_left) AS leftQuota,
       created_time AS createdTime, MAX(id) AS id
     FROM (SELECT *, status = 'enabled' AND (expired_time = 0 OR expired_time * 1000 > ?) AS is_left FROM codes)
     GROUP BY CASE batch_id WHEN '' THEN 'name ' || name ELSE batch_id END ORDER BY MAX(id) DESC`,
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

  function create(code: NewRedemptionCode, nowMs: number): RedemptionCode {
    const stored = newStoredCode(code, nowMs);
    return codeOf({ ...stored, id: insertInto(database, 'codes', CODES.toRow(stored)) });
  }

  function redeem(codeHash: string, userId: number, nowMs: number): Redemption {
    const code = byHash(codeHash);
    const user = balance.get(userId);
    if (code === undefined || user === undefined) return { kind: 'refused', reason: 'unknown' };
    const reason = codeRefusal(code, userId, nowMs);
    if (reason !== undefined) return { kind: 'refused', reason };
    if (user.quota + code.quota > MAX_QUOTA) return { kind: 'refused', reason: 'quota_range' };
    const used = { redeemedTime: Math.floor(nowMs / 1000), usedUserId: userId };
    updateOf(database, 'codes', CODES.toRow({ ...code, ...used, status: 'used' }), code.id);
    credit.run(code.quota, userId);
    return { kind: 'redeemed', quota: code.quota, codeId: code.id };
  }

  return {
    createCodes: (codes, nowMs) => database.write(() => codes.map((code) => create(code, nowMs))),

    getCode: (id) =>
      database.read(() => {
        const code = byId(id);
        return code && codeOf(code);
      }),

    listCodes: ({ keyword, name, batchId, status, offset, limit }) =>
      database.read(() => {
        const filter = new Filter()
          .where('instr(t.name_key, ?) > 0 OR CAST(t.id AS TEXT) = ?', keyword?.toLowerCase())
          .where('t.name = ?', name)
          .where('t.batch_id = ?', batchId)
          .where('t.status = ?', status);
        return selectPage(database, LISTED, filter, { offset, limit });
      }),

    sumCodes: (nowMs) => database.read(() => sums.all(nowMs).map(({ id: _, ...batch }) => batch)),

    updateCode: (id, wanted, when) =>
      database.write(() => {
        const code = byId(id);
        const changed = changedCode(code && codeOf(code), wanted, when);
        if (changed.kind === 'updated') {
          updateOf(database, 'codes', CODES.toRow(changed.code), id);
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
