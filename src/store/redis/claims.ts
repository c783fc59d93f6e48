import { MAX_QUOTA } from '../../core/quota.js';
import { codeRefusal, CODES } from '../redemption.js';
import type { Redemption } from '../store.js';
import { change, fieldsOf, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { run, SCRIPTS } from './scripts.js';

/**
 * A code that has been taken and whose credit is not certain yet. It is stored with the time it was made, as
 * `<code id>:<number>:<user id>:<quota>`; codes count their claims.
 */
export interface Claim {
  readonly codeId: number;
  readonly number: number;
  readonly userId: number;
  readonly quota: number;
}

export type RefusalReason = Extract<Redemption, { kind: 'refused' }>['reason'];

/**
 * `already`: it was credited before; `over`: there has been a newer claim of the code, so that this one must have ended;
 * `unknown`: there is no such account.
 */
export type Credit = 'credited' | 'already' | 'over' | 'quota_range' | 'unknown';

/**
 * The steps of redeeming a code: all codes are in one slot and each user is in another. Whoever finds a claim can continue
 * from there.
 */
export function openClaims(connection: Connection, keys: Keys) {
  const { client, answer } = connection;
  const [hashesKey, claimsKey] = [`${keys.codes}:hashes`, `${keys.codes}:claims`];

  return {
    /** Marks the code as used by a user; the claim may be this user's own unfinished one. */
    async take(
      codeId: number,
      codeHash: string,
      userId: number,
      nowMs: number,
    ): Promise<Claim | RefusalReason> {
      const key = `${keys.codes}:${codeId}`;
      const looks: Step[] = [
        ['HGET', hashesKey, codeHash],
        ['HGETALL', key],
      ];
      const taken = await change<Claim | RefusalReason>(
        connection,
        looks,
        nowMs,
        ([holder, found], now) => {
          const fields = fieldsOf(found);
          if (holder !== String(codeId) || fields.hash === undefined) return { result: 'unknown' };
          const code = CODES.fromFields(fields, { id: codeId });
          const last = { codeId, number: Number(fields.claim), userId, quota: code.quota };
          const refusal = codeRefusal(code, userId, now);
          if (refusal === 'used' && code.usedUserId === userId) return { result: last };
          if (refusal !== undefined) return { result: refusal };
          const claim = { ...last, number: last.number + 1 };
          const redeemed = Math.floor(now / 1000);
          const writes: Step[] = [
            ['HSET', key, 'claim', claim.number, 'status', 'used'],
            ['HSET', key, 'user', userId, 'redeemed', redeemed],
            ['ZADD', claimsKey, now, textOf(claim)],
          ];
          return { result: claim, writes };
        },
      );
      if (typeof taken === 'string') return taken;
      // A claim that this user already had may have ended long ago.
      const isOpen = (await answer(client.zscore(claimsKey, textOf(taken)))) !== null;
      return isOpen ? taken : 'used';
    },

    /** Credits the user once; the decision is kept, so that whoever completes the claim later decides the same. */
    async credit({ codeId, number, userId, quota }: Claim, most = MAX_QUOTA): Promise<Credit> {
      const places = [keys.user(userId), keys.userCredits(userId)];
      const decision = await run(connection, SCRIPTS.creditUser, places, [
        ...[codeId, number, quota, most],
      ]);
      // The script returns one of these.
      return decision as Credit;
    },

    /** Ends the claim; a code whose credit was refused can be redeemed again. */
    async end(claim: Claim, isCredited: boolean): Promise<void> {
      const key = `${keys.codes}:${claim.codeId}`;
      const looks: Step[] = [
        ['ZSCORE', claimsKey, textOf(claim)],
        ['EXISTS', key],
      ];
      await change(connection, looks, 0, ([claimed, isThere]) => {
        if (claimed === null) return { result: undefined };
        const writes: Step[] = [['ZREM', claimsKey, textOf(claim)]];
        const isFree = !isCredited && isThere === 1;
        if (isFree) writes.push(['HSET', key, 'status', 'enabled', 'user', 0, 'redeemed', 0]);
        return { result: undefined, writes };
      });
    },

    /** The claims that were made before a time and have not ended. */
    async before(timeMs: number): Promise<Claim[]> {
      const found = await answer(client.zrange(claimsKey, '-inf', `(${timeMs}`, 'BYSCORE'));
      return found.map((text) => {
        const [codeId = 0, number = 0, userId = 0, quota = 0] = text.split(':').map(Number);
        return { codeId, number, userId, quota };
      });
    },
  };
}

function textOf({ codeId, number, userId, quota }: Claim): string {
  return [codeId, number, userId, quota].join(':');
}
