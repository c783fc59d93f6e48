import { describe, expect, test } from '@jest/globals';
import { standingOf } from '../../../src/core/budget.js';
import { OPEN_POLICY, type TokenPolicy } from '../../../src/core/token.js';
import type { Admission, Credential, Store } from '../../../src/store/store.js';
import {
  admitRequest,
  createToken,
  createUser,
  freshStore,
  settlement,
  T0,
  type OpenHarness,
} from './harness.js';

/** A Friday in 2055, 8:00 in UTC. */
const TOMORROW = Date.UTC(2055, 0, 16);
const DAY_MS = 86_400_000;

const DAILY = { budget: 100, budgetPeriod: 'day', budgetTimeZone: 'UTC' } as const;

export function describeBudgets(open: OpenHarness): void {
  describe('budgets that renew', () => {
    const given = freshStore(open);

    test('of a key: refuses what goes beyond it, and says how it stands', async () => {
      const key = await keyWith(given.store, DAILY);

      const first = await given.store.admit(admitRequest(key, { amount: 70 }));
      const second = await given.store.admit(admitRequest(key, { amount: 31 }));
      const third = await given.store.admit(admitRequest(key, { amount: 30 }));

      expect([first.kind, third.kind]).toEqual(['admitted', 'admitted']);
      expect(second).toEqual({
        kind: 'refused',
        reason: 'token_budget',
        standing: {
          budget: 100,
          period: 'day',
          timeZone: 'UTC',
          spent: 70,
          renewsAtMs: TOMORROW,
        },
        retryAfterMs: TOMORROW - T0,
      });
      expect(await spentOf(given.store, key)).toEqual({ key: 100, account: undefined });
    });

    test('that is used up refuses even a request that costs nothing', async () => {
      const key = await keyWith(given.store, { ...DAILY, budget: 50 });
      await settled(given.store, key, 50, T0);

      expect(await given.store.admit(admitRequest(key, { amount: 0 }))).toMatchObject({
        reason: 'token_budget',
        standing: { budget: 50, spent: 50 },
      });
    });

    test('of an account: one for all of its keys, and every one of them is refused', async () => {
      const userId = await createUser(given.store, { budget: 100, budgetPeriod: 'week' });
      const [first, second] = [
        await createToken(given.store, { userId }),
        await createToken(given.store, { userId }),
      ];

      await given.store.admit(admitRequest(first, { amount: 60 }));
      const refused = await given.store.admit(admitRequest(second, { amount: 50 }));

      expect(refused).toMatchObject({
        reason: 'user_budget',
        standing: { budget: 100, period: 'week', spent: 60, renewsAtMs: Date.UTC(2055, 0, 18) },
      });
      expect(await given.store.admit(admitRequest(second, { amount: 40 }))).toMatchObject({
        kind: 'admitted',
      });
    });

    test('counts what was charged in the end, and gives the rest back to both', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      const request = admitRequest(key, { amount: 80 });
      await given.store.admit(request);
      expect(await spentOf(given.store, key)).toEqual({ key: 80, account: 80 });

      expect(await given.store.settle(settlement(request, { cost: 25 }))).toBe(25);

      expect(await spentOf(given.store, key)).toEqual({ key: 25, account: 25 });
    });

    test.each([
      ['the key', DAILY, {}],
      ['the account', {}, DAILY],
    ] as const)('charges no more than is left of the budget of %s', async (_, ofKey, ofAccount) => {
      const key = await keyWith(given.store, ofKey, ofAccount);
      const request = admitRequest(key, { amount: 60 });
      await given.store.admit(request);

      expect(await given.store.settle(settlement(request, { cost: 150 }))).toBe(100);
    });

    test('that is lowered makes nothing cheaper that is under way', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      const request = admitRequest(key, { amount: 60 });
      await given.store.admit(request);

      await given.store.updateToken(key.token.id, { policy: { budget: 10 } }, T0);
      await given.store.updateUser(key.token.userId, { budget: 10 }, T0);

      expect(await given.store.settle(settlement(request, { cost: 55 }))).toBe(55);
      expect(await spentOf(given.store, key)).toEqual({ key: 55, account: 55 });
    });

    test('gives back what nobody settled', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      await given.store.admit(admitRequest(key, { amount: 80, expiresAtMs: T0 + 1_000 }));

      expect(await spentOf(given.store, key, T0 + 1_000)).toEqual({ key: 0, account: 0 });
      const after = admitRequest(key, { amount: 90, nowMs: T0 + 1_001 });
      expect(await given.store.admit(after)).toMatchObject({ kind: 'admitted' });
    });

    const TOKYO = { ...DAILY, budgetTimeZone: 'Asia/Tokyo' } as const;
    test.each([
      ['a key', TOKYO, {}],
      ['an account', {}, TOKYO],
    ] as const)(
      'of %s renews at midnight of its zone, to the millisecond',
      async (_, ofKey, ofAccount) => {
        const key = await keyWith(given.store, ofKey, ofAccount);
        const midnight = Date.UTC(2055, 0, 15, 15);
        await settled(given.store, key, 100, T0);

        const ask = (nowMs: number) => given.store.admit(admitRequest(key, { amount: 1, nowMs }));
        const [before, after] = [await ask(midnight - 1), await ask(midnight)];

        expect([before.kind, after.kind]).toEqual(['refused', 'admitted']);
        expect(Object.values(await spentOf(given.store, key, midnight))).toContain(1);
      },
    );

    test('takes what is under way into the next period, and each unit counts in one', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      const overnight = admitRequest(key, { amount: 60, expiresAtMs: TOMORROW + 60_000 });
      await given.store.admit(overnight);

      const next = { nowMs: TOMORROW, expiresAtMs: TOMORROW + 60_000 };
      const tooMuch = await given.store.admit(admitRequest(key, { ...next, amount: 41 }));
      const fits = await given.store.admit(admitRequest(key, { ...next, amount: 40 }));
      await given.store.settle(settlement(overnight, { cost: 10, nowMs: TOMORROW + 1 }));

      expect(tooMuch).toMatchObject({ reason: 'token_budget', standing: { spent: 60 } });
      expect(fits.kind).toBe('admitted');
      expect(await spentOf(given.store, key, TOMORROW + 1)).toEqual({ key: 50, account: 50 });
    });

    test('takes into the next period of a key what is under way with that key alone', async () => {
      const userId = await createUser(given.store, DAILY);
      const policy = { ...OPEN_POLICY, ...DAILY };
      const key = await createToken(given.store, { userId, policy });
      const other = await createToken(given.store, { userId, policy });
      const overnight = { expiresAtMs: TOMORROW + 60_000 };
      await given.store.admit(admitRequest(other, { ...overnight, amount: 60 }));

      const next = { nowMs: TOMORROW, expiresAtMs: TOMORROW + 60_000 };
      await given.store.admit(admitRequest(key, { ...next, amount: 5 }));

      expect(await spentOf(given.store, key, TOMORROW)).toEqual({ key: 5, account: 65 });
    });

    test('gives fifty callers on two connections what is left for ten, also as a period begins', async () => {
      const key = await keyWith(given.store, DAILY, { ...DAILY, budget: 1_000 });
      const second = await given.reopen();
      const burst = (nowMs: number): Promise<Admission[]> =>
        Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            (index % 2 === 0 ? given.store : second).admit(
              admitRequest(key, { amount: 10, nowMs, expiresAtMs: nowMs + 60_000 }),
            ),
          ),
        );

      const today = await burst(T0);
      const tomorrow = await burst(T0 + DAY_MS);

      for (const admissions of [today, tomorrow]) {
        expect(admissions.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
      }
    });

    test('keeps what is spent when the amount changes, and begins anew with another period', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      await settled(given.store, key, 40, T0);
      const { id, userId } = key.token;

      await given.store.updateToken(id, { policy: { budget: 50 } }, T0);
      await given.store.updateUser(userId, { budget: 60 }, T0);
      expect(await spentOf(given.store, key)).toEqual({ key: 40, account: 40 });

      await given.store.updateToken(id, { policy: { budgetPeriod: 'month' } }, T0);
      await given.store.updateUser(userId, { budgetTimeZone: 'Asia/Tokyo' }, T0);
      expect(await spentOf(given.store, key)).toEqual({ key: 0, account: 0 });
      const changed = (await given.store.findToken(key.keyHash)) ?? key;
      expect(await given.store.admit(admitRequest(changed, { amount: 51 }))).toMatchObject({
        reason: 'token_budget',
        standing: { period: 'month', renewsAtMs: Date.UTC(2055, 1, 1) },
      });
    });

    test('holds from the moment at which it is set, with what is under way', async () => {
      const key = await keyWith(given.store, {});
      const early = admitRequest(key, { amount: 70 });
      await given.store.admit(early);

      await given.store.updateToken(key.token.id, { policy: DAILY }, T0);
      const limited = (await given.store.findToken(key.keyHash)) ?? key;
      const refused = await given.store.admit(admitRequest(limited, { amount: 40 }));
      await given.store.settle(settlement(early, { cost: 20 }));
      const fits = await given.store.admit(admitRequest(limited, { amount: 80 }));

      expect(refused).toMatchObject({ reason: 'token_budget', standing: { spent: 70 } });
      expect(fits.kind).toBe('admitted');
    });

    test('does not hold for the cost of what was under way when it was set', async () => {
      const key = await keyWith(given.store, {});
      const [overrun, saving] = [
        admitRequest(key, { amount: 10 }),
        admitRequest(key, { amount: 40 }),
      ];
      await given.store.admit(overrun);
      await given.store.admit(saving);

      await given.store.updateToken(key.token.id, { policy: DAILY }, T0);
      await given.store.updateUser(key.token.userId, DAILY, T0);

      expect(await given.store.settle(settlement(overrun, { cost: 500 }))).toBe(500);
      expect(await given.store.settle(settlement(saving, { cost: 20 }))).toBe(20);
      expect(await spentOf(given.store, key)).toEqual({ key: 0, account: 0 });
    });

    test('is gone without a trace when it is taken away', async () => {
      const key = await keyWith(given.store, DAILY, DAILY);
      await settled(given.store, key, 100, T0);

      await given.store.updateToken(key.token.id, { policy: { budget: 0 } }, T0);
      await given.store.updateUser(key.token.userId, { budget: 0 }, T0);
      const free = (await given.store.findToken(key.keyHash)) ?? key;

      expect((await given.store.admit(admitRequest(free, { amount: 500 }))).kind).toBe('admitted');
      expect(free.token.budgetUse).toEqual({ spent: 0, untilMs: 0 });
    });

    test('of an account is created, read, listed and kept', async () => {
      const members = { budget: 7, budgetPeriod: 'day', budgetTimeZone: 'Europe/Berlin' } as const;
      const id = await createUser(given.store, members);
      const again = await given.reopen();

      expect(await again.getUser(id, T0)).toMatchObject(members);
      const { items } = await again.listUsers({ offset: 0, limit: 10 }, T0);
      expect(items).toEqual([expect.objectContaining({ id, ...members })]);
      const updated = await again.updateUser(id, { budgetPeriod: 'week' }, T0);
      expect(updated).toMatchObject({ user: { ...members, budgetPeriod: 'week' } });
    });
  });
}

function keyWith(
  store: Store,
  policy: Partial<TokenPolicy>,
  account: Parameters<typeof createUser>[1] = {},
): Promise<Credential> {
  return createUser(store, account).then((userId) =>
    createToken(store, { userId, policy: { ...OPEN_POLICY, ...policy } }),
  );
}

async function settled(store: Store, key: Credential, units: number, nowMs: number): Promise<void> {
  const request = admitRequest(key, { amount: units, nowMs });
  await store.admit(request);
  await store.settle(settlement(request, { cost: units }));
}

async function spentOf(
  store: Store,
  { token }: Credential,
  nowMs = T0,
): Promise<{ key: number | undefined; account: number | undefined }> {
  const found = await store.getToken(token.id, nowMs);
  const user = await store.getUser(token.userId, nowMs);
  if (found === undefined || user === undefined) throw new Error('the key is gone');
  return {
    key: standingOf(found.policy, found.budgetUse, nowMs)?.spent,
    account: standingOf(user, user.budgetUse, nowMs)?.spent,
  };
}
