import { describe, expect, test } from '@jest/globals';
import { MAX_QUOTA } from '../../../src/core/quota.js';
import type { NewRedemptionCode, RedemptionCode, Store } from '../../../src/store/store.js';
import {
  createUser,
  freshStore,
  sha256,
  T0,
  T0_SECONDS,
  unique,
  type OpenHarness,
} from './harness.js';

function newCode(given: Partial<NewRedemptionCode> = {}): NewRedemptionCode {
  return {
    name: 'a present',
    batchId: '',
    quota: 500,
    codeHash: sha256(unique('code')),
    codeHint: 'abcd…',
    createdBy: 999_998,
    expiredTime: 0,
    ...given,
  };
}

async function createCode(
  store: Store,
  given: Partial<NewRedemptionCode> = {},
): Promise<RedemptionCode> {
  const [code] = await store.createCodes([newCode(given)], T0);
  if (code === undefined) throw new Error('the code was not created');
  return code;
}

export function describeRedemption(open: OpenHarness): void {
  describe('redemption', () => {
    const given = freshStore(open);
    const quotaOf = async (userId: number): Promise<number | undefined> =>
      (await given.store.getUser(userId, T0))?.quota;

    test('adds codes up by name, the newest name first', async () => {
      const { store } = given;
      const [early, late] = [unique('early'), unique('late')];
      const userId = await createUser(store);
      const codeHash = sha256(unique('code'));
      await store.createCodes([newCode({ name: early, quota: 5, codeHash })], T0);
      await store.createCodes(
        [
          newCode({ name: late, quota: MAX_QUOTA }),
          newCode({ name: late, quota: MAX_QUOTA }),
          newCode({ name: late, quota: MAX_QUOTA }),
          newCode({ name: late, quota: 7, expiredTime: T0_SECONDS + 60 }),
        ],
        T0 + 5_000,
      );
      const disabled = await createCode(store, { name: early, quota: 3 });
      await store.updateCode(disabled.id, { enabled: false });
      await store.redeem(codeHash, userId, T0);
      const sums = async (nowMs: number) =>
        (await store.sumCodes(nowMs)).filter(({ name }) => [early, late].includes(name));

      const [first, second] = await sums(T0);

      expect(first).toEqual({
        ...{ batchId: '', name: early, made: 2, used: 1, usedQuota: 5, left: 0, leftQuota: 0 },
        createdTime: T0_SECONDS,
      });
      expect(second).toEqual({
        ...{ batchId: '', name: late, made: 4, used: 0, usedQuota: 0, left: 4 },
        leftQuota: 3 * MAX_QUOTA + 7,
        createdTime: T0_SECONDS + 5,
      });
      expect((await sums(T0 + 60_000))[1]).toMatchObject({ left: 3, leftQuota: 3 * MAX_QUOTA });
    });

    test('adds up codes that were made together, whatever their names, and finds them', async () => {
      const { store } = given;
      const [batchId, other, name] = [unique('batch'), unique('batch'), unique('name')];
      const made = await store.createCodes(
        [newCode({ batchId, name }), newCode({ batchId, name }), newCode({ batchId: other, name })],
        T0,
      );
      const [first] = made;
      await store.updateCode(first?.id ?? 0, { name: unique('renamed'), enabled: false });

      const sums = (await store.sumCodes(T0)).filter((batch) =>
        [batchId, other].includes(batch.batchId),
      );
      const slice = { offset: 0, limit: 10 };
      const all = await store.listCodes({ ...slice, batchId });
      const enabled = await store.listCodes({ ...slice, batchId, status: 'enabled' });

      expect(sums).toMatchObject([
        { batchId: other, name, made: 1, left: 1 },
        { batchId, name, made: 2, left: 1 },
      ]);
      expect([all.total, enabled.total]).toEqual([2, 1]);
      expect(enabled.items[0]).toEqual(made[1]);
    });

    test('keeps codes as they were created, in the order given, without what opens them', async () => {
      const wanted = [
        newCode({ name: 'first', quota: 1 }),
        newCode({ name: 'second', quota: MAX_QUOTA, expiredTime: T0_SECONDS + 60, createdBy: 9 }),
      ];

      const codes = await given.store.createCodes(wanted, T0);

      expect(codes).toEqual(
        wanted.map(({ codeHash: _, ...shown }, index) => ({
          ...shown,
          id: codes[index]?.id,
          status: 'enabled',
          createdTime: T0_SECONDS,
          redeemedTime: 0,
          usedUserId: 0,
        })),
      );
      const again = await given.reopen();
      for (const code of codes) expect(await again.getCode(code.id)).toEqual(code);
      expect(await again.createCodes([], T0)).toEqual([]);
    });

    test('numbers codes upwards and gives no number twice', async () => {
      const first = await createCode(given.store);
      const second = await createCode(given.store);
      await given.store.deleteCode(second.id);

      const third = await createCode(given.store);

      expect(second.id).toBeGreaterThan(first.id);
      expect(third.id).toBeGreaterThan(second.id);
    });

    test('credits the user and remembers who used the code', async () => {
      const userId = await createUser(given.store, { quota: 100 });
      const code = await createCode(given.store, { codeHash: sha256('c'), quota: 500 });

      const redemption = await given.store.redeem(sha256('c'), userId, T0 + 5_000);

      expect(redemption).toEqual({ kind: 'redeemed', quota: 500, codeId: code.id });
      expect(await quotaOf(userId)).toBe(600);
      expect(await given.store.getCode(code.id)).toEqual({
        ...code,
        status: 'used',
        redeemedTime: T0_SECONDS + 5,
        usedUserId: userId,
      });
    });

    test('refuses what is unknown, disabled, used or expired, and credits nothing', async () => {
      const userId = await createUser(given.store, { quota: 100 });
      const redeem = (code: string, nowMs = T0): Promise<unknown> =>
        given.store.redeem(sha256(code), userId, nowMs);
      const disabled = await createCode(given.store, { codeHash: sha256('disabled') });
      await given.store.updateCode(disabled.id, { enabled: false });
      await createCode(given.store, { codeHash: sha256('dated'), expiredTime: T0_SECONDS + 60 });
      await createCode(given.store, { codeHash: sha256('used'), quota: 1 });
      await redeem('used');
      const refused = (reason: string): unknown => ({ kind: 'refused', reason });

      expect(await redeem('nothing')).toEqual(refused('unknown'));
      expect(await redeem('disabled')).toEqual(refused('disabled'));
      expect(await redeem('used')).toEqual(refused('used'));
      expect(await redeem('dated', T0 + 60_000)).toEqual(refused('expired'));
      expect(await quotaOf(userId)).toBe(101);
      expect(await redeem('dated', T0 + 59_999)).toMatchObject({ kind: 'redeemed' });
    });

    test('refuses a code to its maker, and gives it to others', async () => {
      const maker = await createUser(given.store, { quota: 100 });
      const other = await createUser(given.store, { quota: 100 });
      const code = await createCode(given.store, { codeHash: sha256('c'), createdBy: maker });

      const refused = await given.store.redeem(sha256('c'), maker, T0);
      const untouched = await given.store.getCode(code.id);

      expect(refused).toEqual({ kind: 'refused', reason: 'own' });
      expect(untouched).toEqual(code);
      expect(await quotaOf(maker)).toBe(100);
      expect(await given.store.redeem(sha256('c'), other, T0)).toMatchObject({ kind: 'redeemed' });
      expect(await given.store.redeem(sha256('c'), maker, T0)).toMatchObject({ reason: 'used' });
    });

    test('deletes what is past use, except the codes of makers it is told to leave', async () => {
      const [mine, theirs] = [
        await createCode(given.store, { createdBy: 5 }),
        await createCode(given.store, { createdBy: 6 }),
      ];
      for (const { id } of [mine, theirs]) await given.store.updateCode(id, { enabled: false });

      const deleted = await given.store.deleteInvalidCodes(T0, [6, 7]);

      expect(deleted).toBe(1);
      expect(await given.store.getCode(mine.id)).toBeUndefined();
      expect(await given.store.getCode(theirs.id)).toMatchObject({ status: 'disabled' });
    });

    test('leaves a code as it was when its quota does not fit, and takes it when it does', async () => {
      const userId = await createUser(given.store, { quota: MAX_QUOTA });
      const code = await createCode(given.store, { codeHash: sha256('c'), quota: 2 });

      const refused = await given.store.redeem(sha256('c'), userId, T0);

      expect(refused).toEqual({ kind: 'refused', reason: 'quota_range' });
      expect(await given.store.getCode(code.id)).toEqual(code);
      expect(await quotaOf(userId)).toBe(MAX_QUOTA);
      await given.store.updateUser(userId, { quota: { add: -2 } }, T0);
      expect(await given.store.redeem(sha256('c'), userId, T0)).toMatchObject({ kind: 'redeemed' });
      expect(await quotaOf(userId)).toBe(MAX_QUOTA);
    });

    test('leaves a code as it was if the user does not exist', async () => {
      const userId = await createUser(given.store);
      const code = await createCode(given.store, { codeHash: sha256('c') });

      const refused = await given.store.redeem(sha256('c'), 999_999, T0);

      expect(refused).toEqual({ kind: 'refused', reason: 'unknown' });
      expect(await given.store.getCode(code.id)).toEqual(code);
      expect(await given.store.redeem(sha256('c'), userId, T0)).toMatchObject({ kind: 'redeemed' });
    });

    test('credits once when a hundred redeem at the same time, on two connections', async () => {
      const other = await given.reopen();
      const users = await Promise.all(
        Array.from({ length: 4 }, () => createUser(given.store, { quota: 0 })),
      );
      const code = await createCode(given.store, { codeHash: sha256('c'), quota: 500 });

      const redemptions = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).redeem(sha256('c'), users[index % 4] ?? 0, T0),
        ),
      );

      const redeemed = redemptions.filter(({ kind }) => kind === 'redeemed');
      expect(redeemed).toEqual([{ kind: 'redeemed', quota: 500, codeId: code.id }]);
      const refusals = redemptions.filter((redemption) => redemption.kind === 'refused');
      expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(['used']));
      const quotas = await Promise.all(users.map(quotaOf));
      expect(quotas.reduce((sum: number, quota) => sum + (quota ?? 0), 0)).toBe(500);
      const winner = (await given.store.getCode(code.id))?.usedUserId ?? 0;
      expect(await quotaOf(winner)).toBe(500);
    });

    test('has nothing to recover when every credit was made', async () => {
      const userId = await createUser(given.store, { quota: 0 });
      await createCode(given.store, { codeHash: sha256('c'), quota: 500 });
      await given.store.redeem(sha256('c'), userId, T0);

      expect(await given.store.recoverRedemptions(T0 + 3_600_000, 60_000)).toBe(0);
      expect(await quotaOf(userId)).toBe(500);
    });

    test('changes what is named and leaves the rest', async () => {
      const code = await createCode(given.store);

      expect(await given.store.updateCode(code.id, {})).toEqual({ kind: 'updated', code });
      const change = { name: 'Renamed', quota: 7, expiredTime: T0_SECONDS };
      expect(await given.store.updateCode(code.id, change)).toEqual({
        kind: 'updated',
        code: { ...code, ...change },
      });
      await given.store.updateCode(code.id, { enabled: false });
      expect((await given.store.getCode(code.id))?.status).toBe('disabled');
      await given.store.updateCode(code.id, { enabled: true });
      expect(await given.store.getCode(code.id)).toEqual({ ...code, ...change });
      expect(await given.store.updateCode(999, {})).toEqual({ kind: 'not_found' });
    });

    test('lets one of many who judged the same code change it', async () => {
      const code = await createCode(given.store);
      const other = await given.reopen();
      const isSame = ({ name }: RedemptionCode): boolean => name === code.name;

      const writes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).updateCode(
            code.id,
            { name: `writer ${index}` },
            isSame,
          ),
        ),
      );

      expect(writes.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
      expect(writes.filter(({ kind }) => kind === 'changed')).toHaveLength(9);
      expect(await other.updateCode(999, {}, isSame)).toEqual({ kind: 'not_found' });
    });

    test('keeps a used code used', async () => {
      const userId = await createUser(given.store);
      const { id } = await createCode(given.store, { codeHash: sha256('c') });
      await given.store.redeem(sha256('c'), userId, T0);
      const used = await given.store.getCode(id);

      expect(await given.store.updateCode(id, { enabled: true, quota: 9 })).toEqual({
        kind: 'used',
      });
      expect(await given.store.getCode(id)).toEqual(used);
    });

    test('lists newest first, in slices, by a part of the name or the id', async () => {
      const spring = await createCode(given.store, { name: 'Spring sale' });
      const summer = await createCode(given.store, { name: 'Summer sale' });
      const other = await createCode(given.store, { name: 'Thanks' });
      const list = async (
        keyword: string | undefined,
        offset = 0,
        limit = 10,
      ): Promise<{ ids: number[]; total: number }> => {
        const query = { offset, limit, ...(keyword === undefined ? {} : { keyword }) };
        const page = await given.store.listCodes(query);
        return { ids: page.items.map(({ id }) => id), total: page.total };
      };

      expect(await list(undefined)).toEqual({ ids: [other.id, summer.id, spring.id], total: 3 });
      expect(await list(undefined, 1, 1)).toEqual({ ids: [summer.id], total: 3 });
      expect(await list('SALE')).toEqual({ ids: [summer.id, spring.id], total: 2 });
      expect(await list('sale', 1, 5)).toEqual({ ids: [spring.id], total: 2 });
      expect(await list(String(other.id))).toEqual({ ids: [other.id], total: 1 });
      expect(await list('nothing')).toEqual({ ids: [], total: 0 });
      const named = await given.store.listCodes({ name: 'Thanks', offset: 0, limit: 5 });
      expect({ ids: named.items.map(({ id }) => id), total: named.total }).toEqual({
        ...{ ids: [other.id], total: 1 },
      });
      expect((await given.store.listCodes({ name: 'thanks', offset: 0, limit: 5 })).total).toBe(0);
    });

    test('deletes one code, and it opens nothing any more', async () => {
      const userId = await createUser(given.store);
      const { id } = await createCode(given.store, { codeHash: sha256('c') });

      expect(await given.store.deleteCode(id)).toBe(true);

      expect(await given.store.deleteCode(id)).toBe(false);
      expect(await given.store.getCode(id)).toBeUndefined();
      expect(await given.store.redeem(sha256('c'), userId, T0)).toEqual({
        kind: 'refused',
        reason: 'unknown',
      });
    });

    test('deletes the used, disabled and expired ones, and leaves the others', async () => {
      const userId = await createUser(given.store);
      const disabled = await createCode(given.store);
      await given.store.updateCode(disabled.id, { enabled: false });
      await createCode(given.store, { codeHash: sha256('used') });
      await given.store.redeem(sha256('used'), userId, T0);
      await createCode(given.store, { expiredTime: T0_SECONDS });
      const good = await createCode(given.store);
      const dated = await createCode(given.store, { expiredTime: T0_SECONDS + 1 });

      expect(await given.store.deleteInvalidCodes(T0)).toBe(3);

      const left = await given.store.listCodes({ offset: 0, limit: 10 });
      expect(left).toEqual({ items: [dated, good], total: 2 });
    });
  });
}
