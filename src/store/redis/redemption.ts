import {
  changedCode,
  codeOf,
  CODES,
  isInvalid,
  newStoredCode,
  type StoredCode,
} from '../redemption.js';
import type {
  CodeBatch,
  NewRedemptionCode,
  Redemption,
  RedemptionCode,
  RedemptionStore,
  RedemptionUpdate,
} from '../store.js';
import { change, fieldsOf, type Step } from './change.js';
import { openClaims, type Claim, type Credit } from './claims.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { pageOf } from './listing.js';

/** How many codes are processed in one step. */
const CHUNK = 500;

/** All codes are in one slot; `openClaims` has the steps of redeeming one. */
export function openRedemption(connection: Connection, keys: Keys): RedemptionStore {
  const { client, answer } = connection;
  const [hashesKey, idsKey] = [`${keys.codes}:hashes`, `${keys.codes}:ids`];
  const recordKey = (id: number): string => `${keys.codes}:${id}`;
  const claims = openClaims(connection, keys);

  /** Removes those of these codes that it may; a claim in progress is completed without its code. */
  function remove(
    ids: readonly number[],
    nowMs: number,
    may: (code: RedemptionCode, nowMs: number) => boolean,
  ): Promise<number> {
    const looks = ids.map((id) => ['HGETALL', recordKey(id)] as const);
    return change(connection, looks, nowMs, (answers, now) => {
      const found = answers.flatMap(
        (answer, index) => storedCode(ids[index] ?? 0, fieldsOf(answer)) ?? [],
      );
      const removed = found.filter((code) => may(code, now));
      const writes = removed.flatMap(({ id, codeHash }): Step[] => [
        ['DEL', recordKey(id)],
        ['HDEL', hashesKey, codeHash],
        ['ZREM', idsKey, id],
      ]);
      return { result: removed.length, writes };
    });
  }

  async function read(id: number): Promise<RedemptionCode | undefined> {
    const stored = storedCode(id, await answer(client.hgetall(recordKey(id))));
    return stored && codeOf(stored);
  }

  async function create(
    codes: readonly NewRedemptionCode[],
    nowMs: number,
  ): Promise<RedemptionCode[]> {
    if (codes.length === 0) return [];
    const last = await answer(client.incrby(`${keys.codes}:seq`, codes.length));
    const stored = codes.map((code, index) => ({
      ...{ ...newStoredCode(code, nowMs), id: last - codes.length + 1 + index },
    }));
    const looks = codes.map(({ codeHash }) => ['HEXISTS', hashesKey, codeHash] as const);
    const isNew = await change(connection, looks, nowMs, (answers) => {
      const hashes = new Set(codes.map(({ codeHash }) => codeHash));
      if (hashes.size < codes.length || answers.includes(1)) return { result: false };
      const writes = stored.flatMap((code): Step[] => [
        ['HSET', recordKey(code.id), ...CODES.toFields(code), 'claim', 0],
        ['HSET', hashesKey, code.codeHash, code.id],
        ['ZADD', idsKey, code.id, code.id],
      ]);
      return { result: true, writes };
    });
    if (!isNew) throw new Error('This redemption code exists already.');
    return stored.map(codeOf);
  }

  /** Credits a claim and ends it. */
  async function complete(claim: Claim): Promise<Credit> {
    const outcome = await claims.credit(claim);
    await claims.end(claim, outcome !== 'quota_range' && outcome !== 'unknown');
    return outcome;
  }

  async function redeem(codeHash: string, userId: number, nowMs: number): Promise<Redemption> {
    const id = await answer(client.hget(hashesKey, codeHash));
    if (id === null) return { kind: 'refused', reason: 'unknown' };
    const claim = await claims.take(Number(id), codeHash, userId, nowMs);
    if (typeof claim === 'string') return { kind: 'refused', reason: claim };
    const outcome = await complete(claim);
    switch (outcome) {
      case 'credited':
        return { kind: 'redeemed', quota: claim.quota, codeId: claim.codeId };
      // Another call has completed this claim and answers for it.
      case 'already':
      case 'over':
        return { kind: 'refused', reason: 'used' };
      case 'quota_range':
      case 'unknown':
        return { kind: 'refused', reason: outcome };
    }
  }

  return {
    createCodes: create,
    getCode: read,

    listCodes({ offset, limit, ...query }) {
      const keyword = query.keyword?.toLowerCase();
      const { name, batchId, status } = query;
      const matches = (code: RedemptionCode): boolean =>
        (name === undefined || code.name === name) &&
        (batchId === undefined || code.batchId === batchId) &&
        (status === undefined || code.status === status) &&
        (keyword === undefined ||
          String(code.id) === keyword ||
          code.name.toLowerCase().includes(keyword));
      const isFiltered = [keyword, name, batchId, status].some((one) => one !== undefined);
      return pageOf(
        connection,
        {
          key: `${keys.codes}:ids`,
          read: (ids) => Promise.all(ids.map((id) => read(Number(id)))),
        },
        { offset, limit },
        isFiltered ? matches : undefined,
      );
    },

    async sumCodes(nowMs) {
      const ids = await answer(client.zrange(idsKey, '0', '-1'));
      const batches = new Map<string, CodeBatch>();
      for (let start = 0; start < ids.length; start += CHUNK) {
        const chunk = ids.slice(start, start + CHUNK).map((id) => read(Number(id)));
        for (const code of await Promise.all(chunk)) {
          if (code === undefined) continue;
          const of = code.batchId === '' ? `name ${code.name}` : code.batchId;
          const batch = withCode(batches.get(of), code, nowMs);
          // Moved to the end, so that they are in the order of their newest codes.
          batches.delete(of);
          batches.set(of, batch);
        }
      }
      return [...batches.values()].reverse();
    },

    updateCode(id, wanted, when) {
      const key = recordKey(id);
      return change<RedemptionUpdate>(connection, [['HGETALL', key]], 0, ([found]) => {
        const stored = storedCode(id, fieldsOf(found));
        const result = changedCode(stored && codeOf(stored), wanted, when);
        if (result.kind !== 'updated') return { result };
        const { name, quota, expiredTime, status } = result.code;
        const members = { name, quota, expiredTime, status };
        return { result, writes: [['HSET', key, ...CODES.toFields(members)]] };
      });
    },

    deleteCode: async (id) => (await remove([id], 0, () => true)) === 1,

    async deleteInvalidCodes(nowMs, notOf = []) {
      const ids = (await answer(client.zrange(idsKey, '0', '-1'))).map(Number);
      const spared = new Set(notOf);
      let deleted = 0;
      for (let start = 0; start < ids.length; start += CHUNK) {
        deleted += await remove(
          ids.slice(start, start + CHUNK),
          nowMs,
          (code, now) => isInvalid(code, now) && !spared.has(code.createdBy),
        );
      }
      return deleted;
    },

    redeem,

    async recoverRedemptions(nowMs, olderThanMs) {
      let credited = 0;
      for (const claim of await claims.before(nowMs - olderThanMs)) {
        if ((await complete(claim)) === 'credited') credited += 1;
      }
      return credited;
    },
  };
}

/** A code from the fields of its record, unless there are none. */
function storedCode(id: number, fields: Readonly<Record<string, string>>): StoredCode | undefined {
  return fields.hash === undefined ? undefined : CODES.fromFields(fields, { id });
}

function withCode(batch: CodeBatch | undefined, code: RedemptionCode, nowMs: number): CodeBatch {
  const { name, batchId, quota, createdTime } = code;
  const { made = 0, used = 0, usedQuota = 0, left = 0, leftQuota = 0 } = batch ?? {};
  const isUsed = code.status === 'used';
  const isLeft = !isInvalid(code, nowMs);
  return {
    name,
    batchId,
    made: made + 1,
    used: used + (isUsed ? 1 : 0),
    usedQuota: usedQuota + (isUsed ? quota : 0),
    left: left + (isLeft ? 1 : 0),
    leftQuota: leftQuota + (isLeft ? quota : 0),
    // Codes come in the order of their making.
    createdTime,
  };
}
