import { MAX_QUOTA } from '../../core/quota.js';
import type {
  CodeBatch,
  NewRedemptionCode,
  Redemption,
  RedemptionChange,
  RedemptionCode,
  RedemptionStore,
} from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { pageOf } from './listing.js';
import { listOf, numberOf, run, SCRIPTS, textOf } from './scripts.js';

/** A code that has been taken and whose credit is not certain yet. */
interface Claim {
  /** As it is stored. */
  readonly text: string;
  readonly codeId: number;
  readonly number: number;
  readonly userId: number;
  readonly quota: number;
}

type RefusalReason = Extract<Redemption, { kind: 'refused' }>['reason'];

/** How many codes are processed in one step. */
const CHUNK = 500;

/**
 * All codes are in one slot and each user is in another, so redeeming takes several steps: the claim, stored with the code;
 * the credit, which the user's slot remembers by the claim's number and makes only once; the end of the claim. Whoever finds
 * a claim can continue from there.
 */
export function openRedemption(connection: Connection, keys: Keys): RedemptionStore {
  const { client, answer } = connection;
  const [hashesKey, idsKey, claimsKey] = [
    `${keys.codes}:hashes`,
    `${keys.codes}:ids`,
    `${keys.codes}:claims`,
  ];
  const recordKey = (id: number | string): string => `${keys.codes}:${id}`;

  async function remove(told: string, ids: readonly (number | string)[]): Promise<number> {
    const places = [hashesKey, idsKey, ...ids.map(recordKey)];
    return numberOf(await run(connection, SCRIPTS.removeCodes, places, [told, ...ids]));
  }

  async function read(id: number): Promise<RedemptionCode | undefined> {
    const fields = await answer(client.hgetall(`${keys.codes}:${id}`));
    return fields.hash === undefined ? undefined : codeOf(id, fields);
  }

  async function create(
    codes: readonly NewRedemptionCode[],
    nowMs: number,
  ): Promise<RedemptionCode[]> {
    if (codes.length === 0) return [];
    const createdTime = Math.floor(nowMs / 1000);
    const last = await answer(client.incrby(`${keys.codes}:seq`, codes.length));
    const ids = codes.map((_code, index) => last - codes.length + 1 + index);
    const written = await run(
      connection,
      SCRIPTS.writeCodes,
      [hashesKey, idsKey, ...ids.map(recordKey)],
      [
        createdTime,
        ...codes.flatMap(
          ({ name, batchId, quota, codeHash, codeHint, createdBy, expiredTime }, index) => [
            ...[ids[index] ?? 0, name, quota, codeHash, codeHint, createdBy, expiredTime, batchId],
          ],
        ),
      ],
    );
    if (written === null) throw new Error('This redemption code exists already.');
    return codes.map(({ codeHash: _, ...code }, index) => ({
      ...code,
      ...({ status: 'enabled', redeemedTime: 0, usedUserId: 0 } as const),
      id: ids[index] ?? 0,
      createdTime,
    }));
  }

  /** Credits a claim and ends it. */
  async function complete(
    claim: Claim,
  ): Promise<'credited' | 'already' | 'over' | 'quota_range' | 'unknown'> {
    const { codeId, number, userId, quota } = claim;
    const decision = await run(
      connection,
      SCRIPTS.creditUser,
      [keys.user(userId), keys.userCredits(userId)],
      [codeId, number, quota, MAX_QUOTA],
    );
    // The script returns one of these.
    const outcome = decision as Awaited<ReturnType<typeof complete>>;
    const isRefused = outcome === 'quota_range' || outcome === 'unknown';
    await run(
      connection,
      SCRIPTS.finishClaim,
      [claimsKey, recordKey(codeId)],
      [claim.text, isRefused ? 0 : 1],
    );
    return outcome;
  }

  /** The maker of a code never changes, so checking before the deletion is as good as within its step. */
  async function madeByOthers(
    ids: readonly string[],
    makers: ReadonlySet<number>,
  ): Promise<readonly string[]> {
    if (makers.size === 0) return ids;
    const found = await Promise.all(
      ids.map((id) => answer(client.hget(`${keys.codes}:${id}`, 'creator'))),
    );
    return ids.filter((_id, index) => !makers.has(Number(found[index] ?? -1)));
  }

  async function redeem(codeHash: string, userId: number, nowMs: number): Promise<Redemption> {
    const id = await answer(client.hget(hashesKey, codeHash));
    if (id === null) return { kind: 'refused', reason: 'unknown' };
    const [claimed, refused] = listOf(
      await run(
        connection,
        SCRIPTS.takeCode,
        [hashesKey, claimsKey, recordKey(id)],
        [codeHash, id, userId, connection.told(nowMs)],
      ),
    );
    if (claimed === null) {
      return { kind: 'refused', reason: textOf(refused) as RefusalReason };
    }
    const claim = claimOf(textOf(claimed));
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
          read: async (ids) =>
            (await Promise.all(ids.map((id) => read(Number(id))))).filter(
              (code) => code !== undefined,
            ),
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

    async updateCode(id, change, when) {
      const judged = when === undefined ? undefined : await read(id);
      if (when !== undefined && judged === undefined) return { kind: 'not_found' };
      if (judged !== undefined && judged.status !== 'used' && when?.(judged) === false) {
        return { kind: 'changed' };
      }
      const same =
        judged === undefined ? [] : fieldsOf({ ...judged, enabled: judged.status === 'enabled' });
      const reply = await run(connection, SCRIPTS.changeCode, recordKey(id), [
        ...[same.length, ...same],
        ...fieldsOf(change),
      ]);
      if (reply === 'used' || reply === 'changed') return { kind: reply };
      const code = reply === null ? undefined : await read(id);
      return code === undefined ? { kind: 'not_found' } : { kind: 'updated', code };
    },

    async deleteCode(id) {
      return (await remove('', [id])) === 1;
    },

    async deleteInvalidCodes(nowMs, notOf = []) {
      const ids = await answer(client.zrange(`${keys.codes}:ids`, '0', '-1'));
      let deleted = 0;
      for (let start = 0; start < ids.length; start += CHUNK) {
        const chunk = await madeByOthers(ids.slice(start, start + CHUNK), new Set(notOf));
        if (chunk.length === 0) continue;
        deleted += await remove(connection.told(nowMs), chunk);
      }
      return deleted;
    },

    redeem,

    async recoverRedemptions(nowMs, olderThanMs) {
      const claims = await answer(
        client.zrange(`${keys.codes}:claims`, '-inf', `(${nowMs - olderThanMs}`, 'BYSCORE'),
      );
      let credited = 0;
      for (const claim of claims) {
        if ((await complete(claimOf(claim))) === 'credited') credited += 1;
      }
      return credited;
    },
  };
}

function withCode(
  batch: CodeBatch | undefined,
  { name, batchId, quota, status, expiredTime, createdTime }: RedemptionCode,
  nowMs: number,
): CodeBatch {
  const { made = 0, used = 0, usedQuota = 0, left = 0, leftQuota = 0 } = batch ?? {};
  const isUsed = status === 'used';
  const isLeft = status === 'enabled' && (expiredTime === 0 || expiredTime * 1000 > nowMs);
  return {
    name,
    batchId,
    made: made + 1,
    used: used + (isUsed ? 1 : 0),
    usedQuota: usedQuota + (isUsed ? quota : 0),
    left: left + (isLeft ? 1 : 0),
    leftQuota: leftQuota + (isLeft ? quota : 0),
    createdTime: Math.max(createdTime, batch?.createdTime ?? 0),
  };
}

function claimOf(text: string): Claim {
  const [codeId = 0, number = 0, userId = 0, quota = 0] = text.split(':').map(Number);
  return { text, codeId, number, userId, quota };
}

function fieldsOf({ name, quota, expiredTime, enabled }: RedemptionChange): (string | number)[] {
  return [
    ...(name === undefined ? [] : ['name', name]),
    ...(quota === undefined ? [] : ['quota', quota]),
    ...(expiredTime === undefined ? [] : ['expires', expiredTime]),
    ...(enabled === undefined ? [] : ['status', enabled ? 'enabled' : 'disabled']),
  ];
}

function codeOf(id: number, fields: Readonly<Record<string, string>>): RedemptionCode {
  const number = (name: string): number => numberOf(fields[name]);
  return {
    id,
    name: textOf(fields.name),
    batchId: fields.batch ?? '',
    quota: number('quota'),
    // The scripts write no other status.
    status: textOf(fields.status) as RedemptionCode['status'],
    codeHint: textOf(fields.hint),
    createdBy: number('creator'),
    createdTime: number('created'),
    redeemedTime: number('redeemed'),
    usedUserId: number('user'),
    expiredTime: number('expires'),
  };
}
