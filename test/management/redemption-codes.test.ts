import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Actor } from '../../src/management/audit.js';
import { redeemCode } from '../../src/management/redeem.js';
import {
  createRedemptionCodes,
  deleteInvalidRedemptionCodes,
  deleteRedemptionCode,
  disableRedemptionBatch,
  getRedemptionCode,
  listRedemptionCodes,
  recoverRedemptions,
  updateRedemptionCode,
} from '../../src/management/redemption-codes.js';
import { codeRevision } from '../../src/management/revision.js';
import { freshManagement, NOW_SECONDS, OPERATOR } from '../support/management.js';

const BATCH = { name: 'spring', quota: 500, count: 3, expiredTime: NOW_SECONDS + 60 };

describe('redemption codes', () => {
  const management = freshManagement();
  let ann: Actor & { readonly id: number };

  beforeEach(async () => {
    ann = await management.createUser('ann');
  });

  it('are made in one write, of random bytes, and kept as hashes', async () => {
    const fresh = await createRedemptionCodes(management.deps, BATCH, OPERATOR);

    expect(fresh.map(({ code }) => code)).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    for (const { record, code } of fresh) {
      expect(record.codeHint).toBe(`${code.slice(0, 4)}…${code.slice(-4)}`);
    }
    const [entry] = await management.audited();
    expect(entry).toMatchObject({
      action: 'redemption.create',
      detail: { name: 'spring', quota: 500, ids: fresh.map(({ record }) => record.id) },
    });
  });

  it('turn into quota until they expire, typed in any case', async () => {
    const [first, second] = await createRedemptionCodes(management.deps, BATCH, OPERATOR);
    const typed = ` ${first?.code.toUpperCase() ?? ''} `;

    expect(await redeemCode(management.deps, typed, ann)).toBe(500);
    management.pass(60_000);

    await expect(redeemCode(management.deps, second?.code ?? '', ann)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await deleteInvalidRedemptionCodes(management.deps, OPERATOR)).toBe(3);
    const left = await listRedemptionCodes(management.deps, { offset: 0, limit: 10 });
    expect(left.total).toBe(0);
  });

  it('take a change again whose answer was lost, with the revision from before it', async () => {
    const [fresh] = await createRedemptionCodes(management.deps, BATCH, OPERATOR);
    if (fresh === undefined) throw new Error('no code was made');
    const { id } = fresh.record;
    const revision = codeRevision(fresh.record);
    const change = { quota: 9, enabled: false };
    const send = (changed: typeof change) =>
      updateRedemptionCode(management.deps, id, changed, OPERATOR, revision);
    await send(change);

    expect(await send(change)).toMatchObject({ quota: 9, status: 'disabled' });
    await expect(send({ ...change, quota: 10 })).rejects.toMatchObject({ param: 'if_revision' });
  });

  it('are not for their maker to redeem', async () => {
    const admin = await management.createUser('admin', 10);
    const [fresh] = await createRedemptionCodes(management.deps, { ...BATCH, count: 1 }, admin);

    await expect(redeemCode(management.deps, fresh?.code ?? '', admin)).rejects.toMatchObject({
      code: 'permission_denied',
    });

    expect(await redeemCode(management.deps, fresh?.code ?? '', ann)).toBe(500);
  });

  it.each([
    ['root', 100],
    ['another admin', 10],
    ['the operator', undefined],
  ] as const)('of %s are not for an admin to touch', async (name, role) => {
    const { deps, store } = management;
    const admin = await management.createUser('admin', 10);
    const maker =
      role === undefined ? OPERATOR : await management.createUser(name.replace(' ', '-'), role);
    const [theirs] = await createRedemptionCodes(deps, { ...BATCH, count: 1 }, maker);
    const [own] = await createRedemptionCodes(deps, { ...BATCH, count: 1 }, admin);
    const id = theirs?.record.id ?? 0;
    const refused = { code: 'permission_denied' };

    await expect(updateRedemptionCode(deps, id, { quota: 1 }, admin)).rejects.toMatchObject(
      refused,
    );
    await expect(deleteRedemptionCode(deps, id, admin)).rejects.toMatchObject(refused);
    management.pass(60_000);
    const deleted = await deleteInvalidRedemptionCodes(deps, admin);

    expect(deleted).toBe(1);
    expect(await store.getCode(own?.record.id ?? 0)).toBeUndefined();
    expect(await store.getCode(id)).toEqual(theirs?.record);
    expect(await deleteInvalidRedemptionCodes(deps, maker)).toBe(1);
  });

  it('of admins and of the operator are for root to clear away', async () => {
    const { deps } = management;
    const admin = await management.createUser('admin', 10);
    const root = await management.createUser('root', 100);
    await createRedemptionCodes(deps, { ...BATCH, count: 1 }, admin);
    await createRedemptionCodes(deps, { ...BATCH, count: 1 }, OPERATOR);
    await createRedemptionCodes(deps, { ...BATCH, count: 1, expiredTime: 0 }, admin);
    management.pass(60_000);

    expect(await deleteInvalidRedemptionCodes(deps, root)).toBe(2);
  });

  it('that were disabled before, or are redeemed meanwhile, are not counted with their batch', async () => {
    const { deps, store } = management;
    const [first, second] = await createRedemptionCodes(deps, BATCH, OPERATOR);
    await store.updateCode(second?.record.id ?? 0, { enabled: false });
    const during: typeof store = {
      ...store,
      updateCode: async (id, change) => {
        if (id === first?.record.id) await redeemCode(deps, first.code, ann);
        return store.updateCode(id, change);
      },
    };

    const of = { name: BATCH.name };
    expect(await disableRedemptionBatch({ ...deps, store: during }, of, OPERATOR)).toBe(1);

    expect((await management.audited()).at(-1)).toMatchObject({ detail: { disabled: 1 } });
  });

  it.each([
    ['no number', { count: 0 }, 'count'],
    ['more than one write takes', { count: 1_000_000 }, 'count'],
    ['a part of a unit', { quota: 0.5 }, 'quota'],
    ['less than nothing', { quota: -1 }, 'quota'],
    ['time that is over', { expiredTime: NOW_SECONDS }, 'expired_time'],
    ['time beyond the calendar', { expiredTime: 8_640_000_000_001 }, 'expired_time'],
  ])('are not made with %s', async (_, wrong, param) => {
    const { deps } = management;

    await expect(createRedemptionCodes(deps, { ...BATCH, ...wrong }, ann)).rejects.toMatchObject({
      code: 'invalid_request',
      param,
    });
    expect((await listRedemptionCodes(deps, { offset: 0, limit: 10 })).total).toBe(0);
  });

  it('can be given more time, unless they were used', async () => {
    const [first, second] = await createRedemptionCodes(management.deps, BATCH, OPERATOR);
    await redeemCode(management.deps, first?.code ?? '', ann);
    const used = first?.record.id ?? 0;
    const unused = second?.record.id ?? 0;

    await expect(
      updateRedemptionCode(management.deps, used, { expiredTime: 0 }, OPERATOR),
    ).rejects.toMatchObject({ code: 'conflict' });
    await updateRedemptionCode(management.deps, unused, { expiredTime: 0 }, OPERATOR);
    management.pass(60_000);

    expect(await redeemCode(management.deps, second?.code ?? '', ann)).toBe(500);
    expect(await getRedemptionCode(management.deps, unused)).toMatchObject({
      status: 'used',
      usedUserId: ann.id,
    });
  });

  it('are left for a minute to whoever is crediting them', async () => {
    const { deps, store } = management;
    const asked: number[][] = [];
    const watched: typeof store = {
      ...store,
      recoverRedemptions: (...times) => Promise.resolve(asked.push(times)),
    };

    await recoverRedemptions({ ...deps, store: watched });

    expect(asked).toEqual([[deps.now(), 60_000]]);
  });

  it('have nothing to recover if every credit was made', async () => {
    const [code] = await createRedemptionCodes(management.deps, BATCH, OPERATOR);
    await redeemCode(management.deps, code?.code ?? '', ann);
    management.pass(3_600_000);

    await recoverRedemptions(management.deps);

    const user = await management.store.getUser(ann.id, management.deps.now());
    expect(user?.quota).toBe(1_000_500);
  });
});
