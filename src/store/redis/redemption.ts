import { MAX_QUOTA } from '../../core/quota.js';
import type {
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

/** A code that is taken and whose credit is not certain yet. */
interface Claim {
  /** As it is noted. */
  readonly text: string;
  readonly codeId: number;
  readonly number: number;
  readonly userId: number;
  readonly quota: number;
}

type RefusalReason = Extract<Redemption, { kind: 'refused' }>['reason'];

/** How many codes are looked at in one step. */
const CHUNK = 500;

/**
 * Codes lie in one slot and each user in its own, so redeeming takes steps: the claim, noted with the code; the credit,
 * which the user's slot remembers by the number of the claim and does once; the end of the claim. Whoever finds a claim can
 * go on from there.
 */
export function openRedemption(connection: Connection, keys: Keys): RedemptionStore {
  const { client, answer } = connection;

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
    const ids = await run(connection, SCRIPTS.createCodes, keys.codes, [
      createdTime,
      ...codes.flatMap(({ name, quota, codeHash, codeHint, createdBy, expiredTime }) => [
        ...[name, quota, codeHash, codeHint, createdBy, expiredTime],
      ]),
    ]);
    if (ids === null) throw new Error('There is such a redemption code already.');
    const created = listOf(ids);
    return codes.map(({ codeHash: _, ...code }, index) => ({
      ...code,
      ...({ status: 'enabled', redeemedTime: 0, usedUserId: 0 } as const),
      id: numberOf(created[index]),
      createdTime,
    }));
  }

  /** From the claim to its end. */
  async function complete(
    claim: Claim,
  ): Promise<'credited' | 'already' | 'over' | 'quota_range' | 'unknown'> {
    const { codeId, number, userId, quota } = claim;
    const decision = await run(connection, SCRIPTS.creditCode, keys.user(userId), [
      ...[codeId, number, quota, MAX_QUOTA],
    ]);
    // The script returns one of these.
    const outcome = decision as Awaited<ReturnType<typeof complete>>;
    const isRefused = outcome === 'quota_range' || outcome === 'unknown';
    await run(connection, SCRIPTS.endClaim, keys.codes, [claim.text, codeId, isRefused ? 0 : 1]);
    return outcome;
  }

  async function redeem(codeHash: string, userId: number, nowMs: number): Promise<Redemption> {
    const [claimed, refused] = listOf(
      await run(connection, SCRIPTS.claimCode, keys.codes, [codeHash, userId, nowMs]),
    );
    if (claimed === null) {
      return { kind: 'refused', reason: textOf(refused) as RefusalReason };
    }
    const claim = claimOf(textOf(claimed));
    const outcome = await complete(claim);
    switch (outcome) {
      case 'credited':
        return { kind: 'redeemed', quota: claim.quota, codeId: claim.codeId };
      // Another call has completed this claim, and answers for it.
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
      const matches = ({ id, name }: RedemptionCode): boolean =>
        keyword === undefined || String(id) === keyword || name.toLowerCase().includes(keyword);
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
        keyword === undefined ? undefined : matches,
      );
    },

    async updateCode(id, change) {
      const reply = await run(connection, SCRIPTS.updateCode, keys.codes, [
        id,
        ...fieldsOf(change),
      ]);
      if (reply === 'used') return { kind: 'used' };
      const code = reply === null ? undefined : await read(id);
      return code === undefined ? { kind: 'not_found' } : { kind: 'updated', code };
    },

    async deleteCode(id) {
      return (await run(connection, SCRIPTS.deleteCodes, keys.codes, ['', id])) === 1;
    },

    async deleteInvalidCodes(nowMs) {
      const ids = await answer(client.zrange(`${keys.codes}:ids`, '0', '-1'));
      let deleted = 0;
      for (let start = 0; start < ids.length; start += CHUNK) {
        const chunk = ids.slice(start, start + CHUNK);
        deleted += numberOf(
          await run(connection, SCRIPTS.deleteCodes, keys.codes, [nowMs, ...chunk]),
        );
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
    quota: number('quota'),
    // The scripts write no other.
    status: textOf(fields.status) as RedemptionCode['status'],
    codeHint: textOf(fields.hint),
    createdBy: number('creator'),
    createdTime: number('created'),
    redeemedTime: number('redeemed'),
    usedUserId: number('user'),
    expiredTime: number('expires'),
  };
}
