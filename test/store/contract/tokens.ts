import { describe, expect, test } from '@jest/globals';
import { NOTHING_USED } from '../../../src/core/budget.js';
import { MAX_QUOTA } from '../../../src/core/quota.js';
import type { Token } from '../../../src/core/token.js';
import type { Store, TokenOrder, TokenQuery } from '../../../src/store/store.js';
import {
  admitRequest,
  createToken,
  createUser,
  freshStore,
  newToken,
  T0,
  T0_SECONDS,
  type OpenHarness,
} from './harness.js';
import { OPEN_POLICY } from '../../support/policy.js';

export function describeTokens(open: OpenHarness): void {
  describe('tokens', () => {
    const given = freshStore(open);

    test('creates no more than an account may have, also when many are made at once', async () => {
      const userId = await createUser(given.store);
      const other = await given.reopen();

      const created = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).createTokenWithin(newToken(userId), 5, T0),
        ),
      );

      expect(created.filter((token) => token === 'too_many')).toHaveLength(7);
      const { items } = await given.store.listTokens({ userId, offset: 0, limit: 20 }, T0);
      expect(items).toHaveLength(5);
      expect((await given.store.listTokens({ offset: 0, limit: 20 }, T0)).total).toBe(5);
      await given.store.deleteToken(items[0]?.id ?? 0);
      expect(await other.createTokenWithin(newToken(userId), 5, T0)).toMatchObject({ userId });
      expect(await other.createTokenWithin(newToken(999_999), 5, T0)).toBeUndefined();
    });

    test('refuses a key that exists already, and goes on making others', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId);
      await given.store.createToken(wanted, T0);

      await expect(given.store.createToken(wanted, T0)).rejects.toThrow();

      expect(await given.store.createToken(newToken(userId), T0)).toMatchObject({ userId });
      expect((await given.store.listTokens({ userId, offset: 0, limit: 20 }, T0)).total).toBe(2);
    });

    test('gives a token another key, and the one before it a time of its own', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId, { remainQuota: 100 });
      const { id } = (await given.store.createToken(wanted, T0)) ?? { id: 0 };
      const [second, third] = ['b'.repeat(64), 'c'.repeat(64)];
      const found = async (hash: string) => (await given.store.findToken(hash))?.endsAtMs;
      const roll = (keyHash: string, keepOldMs: number, ownerId?: number) =>
        given.store.rollToken(id, { keyHash, keyHint: 'sk-new', keepOldMs }, T0, ownerId);

      expect(await roll(second, 5_000, userId + 1)).toBeUndefined();
      expect(await roll(second, 5_000, userId)).toMatchObject({
        ...{ id, keyHint: 'sk-new', remainQuota: 100, oldKeyUntilMs: T0 + 5_000 },
      });

      expect(await given.store.findToken(second)).toMatchObject({ token: { id }, keyHash: second });
      expect(await found(second)).toBeUndefined();
      expect(await found(wanted.keyHash)).toBe(T0 + 5_000);
      const old = await given.store.findToken(wanted.keyHash);
      const listed = await given.store.listTokens(
        { keyHash: wanted.keyHash, offset: 0, limit: 9 },
        T0,
      );
      expect(listed.items).toMatchObject([{ id }]);
      if (old === undefined) throw new Error('The old key is not found.');
      const ask = admitRequest(old, { amount: 1, nowMs: T0 + 4_999 });
      expect(await given.store.admit(ask)).toMatchObject({ kind: 'admitted' });
      const stale = admitRequest({ ...old, version: old.version + 1 }, { amount: 1 });
      expect(await given.store.admit({ ...stale, nowMs: T0 + 4_999 })).toMatchObject({
        ...{ kind: 'stale', credential: { keyHash: wanted.keyHash, endsAtMs: T0 + 5_000 } },
      });
      expect(await given.store.admit({ ...stale, nowMs: T0 + 5_000 })).toEqual({
        ...{ kind: 'refused', reason: 'unknown' },
      });

      await roll(third, 0);

      expect(await given.store.findToken(wanted.keyHash)).toBeUndefined();
      expect(await given.store.findToken(second)).toBeUndefined();
      expect(await found(third)).toBeUndefined();
      expect((await given.store.getToken(id, T0))?.oldKeyUntilMs).toBeUndefined();
      expect(await given.store.admit({ ...ask, reservationId: 'later' })).toMatchObject({
        ...{ kind: 'refused', reason: 'unknown' },
      });
      const other = newToken(userId);
      await given.store.createToken(other, T0);
      await expect(roll(other.keyHash, 0)).rejects.toThrow();
      expect(await given.store.findToken(third)).toMatchObject({ token: { id } });
      expect(
        await given.store.rollToken(999, { keyHash: second, keyHint: '', keepOldMs: 0 }, T0),
      ).toBeUndefined();
      expect(await given.store.findToken(second)).toBeUndefined();
      expect(await given.store.deleteToken(id)).toBe(true);
      expect(await given.store.findToken(third)).toBeUndefined();
    });

    test('keeps a token as it was created, across connections', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId, {
        name: 'Schlüssel №1',
        enabled: false,
        expiredTime: T0_SECONDS + 60,
        remainQuota: MAX_QUOTA,
        policy: { ...OPEN_POLICY, models: [], allowIps: ['::1'], rateLimit: 60 },
      });

      const token = await given.store.createToken(wanted, T0 + 999);

      expect(token).toEqual({
        id: expect.any(Number),
        userId,
        name: 'Schlüssel №1',
        enabled: false,
        keyHint: 'sk-aaaa…zzzz',
        createdTime: T0_SECONDS,
        accessedTime: 0,
        expiredTime: T0_SECONDS + 60,
        remainQuota: MAX_QUOTA,
        unlimitedQuota: false,
        usedQuota: 0,
        budgetUse: NOTHING_USED,
        policy: { ...OPEN_POLICY, models: [], allowIps: ['::1'], rateLimit: 60 },
      });
      const again = await given.reopen();
      expect(await again.getToken(token?.id ?? 0, T0)).toEqual(token);
    });

    test('creates no token for a user that does not exist', async () => {
      expect(await given.store.createToken(newToken(4_711), T0)).toBeUndefined();
      expect((await list(given.store)).total).toBe(0);
    });

    test('knows nothing of a token that does not exist', async () => {
      expect(await given.store.getToken(1, T0)).toBeUndefined();
      expect(await given.store.updateToken(1, { name: 'x' }, T0)).toEqual({ kind: 'not_found' });
      expect(await given.store.deleteToken(1)).toBe(false);
    });

    test('numbers tokens upwards and gives no number twice', async () => {
      const userId = await createUser(given.store);
      const first = await given.store.createToken(newToken(userId), T0);
      const second = await given.store.createToken(newToken(userId), T0);
      await given.store.deleteToken(second?.id ?? 0);

      const third = await (await given.reopen()).createToken(newToken(userId), T0);

      expect([first?.id, second?.id, third?.id]).toEqual([1, 2, 3]);
    });

    test('lists newest first, in slices, with the number of all', async () => {
      const userId = await createUser(given.store);
      for (let count = 0; count < 5; count += 1) {
        await given.store.createToken(newToken(userId), T0);
      }

      const slice = await list(given.store, { offset: 1, limit: 2 });
      const beyond = await list(given.store, { offset: 10, limit: 2 });

      expect(slice.items.map(({ id }) => id)).toEqual([4, 3]);
      expect(slice.total).toBe(5);
      expect(beyond).toEqual({ items: [], total: 5 });
    });

    test('finds tokens by owner, by a part of the name in any case, and by the exact hash', async () => {
      const mine = await createUser(given.store);
      const other = await createUser(given.store);
      const alpha = newToken(mine, { name: 'Straße ALPHA 100%' });
      const beta = newToken(mine, { name: 'beta' });
      const foreign = newToken(other, { name: 'alphabet' });
      for (const token of [alpha, beta, foreign]) await given.store.createToken(token, T0);
      const ids = async (query: Partial<TokenQuery>): Promise<number[]> =>
        (await list(given.store, query)).items.map(({ id }) => id);

      expect(await ids({ userId: mine })).toEqual([2, 1]);
      expect(await ids({ name: 'Alpha' })).toEqual([3, 1]);
      expect(await ids({ name: 'straße alpha', userId: mine })).toEqual([1]);
      expect(await ids({ name: '%' })).toEqual([1]);
      expect(await ids({ name: '_' })).toEqual([]);
      expect(await ids({ keyHash: beta.keyHash })).toEqual([2]);
      expect(await ids({ keyHash: foreign.keyHash, userId: mine })).toEqual([]);
      expect((await list(given.store, { userId: mine, limit: 1 })).total).toBe(2);
    });

    test('changes what is named and leaves the rest', async () => {
      const { token } = await createToken(given.store, {
        policy: { ...OPEN_POLICY, models: ['a'], defaultModel: 'a', rateLimit: 5 },
      });

      const update = await given.store.updateToken(
        token.id,
        { name: 'Renamed', policy: { models: undefined, tags: ['eu'] } },
        T0,
      );

      const changed = {
        ...token,
        name: 'Renamed',
        policy: { ...token.policy, models: undefined, tags: ['eu'] },
      };
      expect(update).toEqual({ kind: 'updated', token: changed });
      expect(await given.store.getToken(token.id, T0)).toEqual(changed);
      expect((await list(given.store, { name: 'renamed' })).total).toBe(1);
      expect((await list(given.store, { name: 'a key' })).total).toBe(0);
    });

    test('is found by its key with every change, under another version each time', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId);
      const token = await given.store.createToken(wanted, T0);
      const before = await given.store.findToken(wanted.keyHash);

      await given.store.updateToken(token?.id ?? 0, { enabled: false }, T0);
      await given.store.updateUser(userId, { enabled: false }, T0);

      const after = await given.store.findToken(wanted.keyHash);
      expect(after?.token.enabled).toBe(false);
      expect(after?.userEnabled).toBe(false);
      expect(after?.version).not.toBe(before?.version);
    });

    test('hides a foreign token from an owner, for changes and deletion', async () => {
      const { token } = await createToken(given.store);
      const stranger = await createUser(given.store);

      expect(await given.store.updateToken(token.id, { name: 'x' }, T0, stranger)).toEqual({
        kind: 'not_found',
      });
      expect(await given.store.deleteToken(token.id, stranger)).toBe(false);
      expect(await given.store.getToken(token.id, T0)).toEqual(token);
      expect(await given.store.deleteToken(token.id, token.userId)).toBe(true);
    });

    test('finds tokens by status, by what they may do, and by how long they rest', async () => {
      const { store } = given;
      const userId = await createUser(store);
      const make = (fields: object, policy: object = {}) =>
        createToken(store, { userId, ...fields, policy: { ...OPEN_POLICY, ...policy } });
      const name = async (query: Omit<TokenQuery, 'offset' | 'limit'>, nowMs = T0) =>
        (await store.listTokens({ userId, ...query, offset: 0, limit: 10 }, nowMs)).items
          .map((token) => token.name)
          .sort();
      await make({ name: 'open', remainQuota: 5 });
      const off = { tags: ['eu'], labels: 'env=prod,team=search' };
      await make({ name: 'off', remainQuota: 5, enabled: false }, off);
      await make({ name: 'ends', remainQuota: 5, expiredTime: T0_SECONDS + 60 }, { models: ['m'] });
      await make({ name: 'empty', remainQuota: 0, unlimitedQuota: false }, { models: ['other'] });

      expect(await name({ status: 1 })).toEqual(['ends', 'open']);
      expect(await name({ status: 2 })).toEqual(['off']);
      expect(await name({ status: 3 })).toEqual([]);
      expect(await name({ status: 4 })).toEqual(['empty']);
      expect(await name({ status: 1 }, T0 + 60_000)).toEqual(['open']);
      expect(await name({ status: 3 }, T0 + 60_000)).toEqual(['ends']);
      expect(await name({ model: 'm' })).toEqual(['ends', 'off', 'open']);
      expect(await name({ tag: 'eu' })).toEqual(['off']);
      expect(await name({ label: 'team' })).toEqual(['off']);
      expect(await name({ label: 'env=prod' })).toEqual(['off']);
      expect(await name({ label: 'env=pro' })).toEqual([]);
      expect(await name({ expiresBefore: T0_SECONDS + 61 })).toEqual(['ends']);
      expect(await name({ expiresBefore: T0_SECONDS + 60 })).toEqual([]);
      expect(await name({ unusedSince: T0_SECONDS })).toEqual([]);
      expect(await name({ unusedSince: T0_SECONDS + 1, status: 2 })).toEqual(['off']);
    });

    test('lists in every order, the newest first among equals and what never ends last', async () => {
      const { store } = given;
      const userId = await createUser(store);
      await createToken(store, { userId, name: 'b', remainQuota: 7, expiredTime: T0_SECONDS + 9 });
      await createToken(store, { userId, name: 'A', unlimitedQuota: true });
      await createToken(store, { userId, name: 'c', remainQuota: 7 });
      await createToken(store, { userId, name: 'd', remainQuota: 3, expiredTime: T0_SECONDS + 5 });
      const names = async (by: TokenOrder['by'], descending = false, ofUser = true) => {
        const query = { ...(ofUser ? { userId } : {}), order: { by, descending } };
        const { items, total } = await store.listTokens({ ...query, offset: 0, limit: 3 }, T0);
        expect(total).toBe(4);
        return items.map(({ name }) => name).join('');
      };

      expect(await names('name')).toBe('Abc');
      expect(await names('name', true, false)).toBe('dcb');
      expect(await names('remainQuota')).toBe('dcb');
      expect(await names('remainQuota', true)).toBe('Acb');
      expect(await names('expiredTime')).toBe('dbc');
      expect(await names('expiredTime', true)).toBe('cAb');
      for (const by of ['usedQuota', 'createdTime', 'accessedTime'] as const) {
        expect(await names(by)).toBe('dcA');
      }
      const rest = { order: { by: 'name' as const, descending: false }, status: 1 as const };
      const { items } = await store.listTokens({ ...rest, offset: 3, limit: 3 }, T0);
      expect(items.map(({ name }) => name)).toEqual(['d']);
    });

    test('counts a key that has not been used as unused since it was made', async () => {
      const { store } = given;
      const { token } = await createToken(store, { name: 'new' });
      const unused = async (unusedSince: number): Promise<string[]> => {
        const query = { userId: token.userId, unusedSince, offset: 0, limit: 9 };
        return (await store.listTokens(query, T0)).items.map(({ name }) => name);
      };

      expect(token.accessedTime).toBe(0);
      expect(await unused(T0_SECONDS)).toEqual([]);
      expect(await unused(T0_SECONDS + 1)).toEqual(['new']);
    });

    test('lists names of all scripts in one order', async () => {
      const { store } = given;
      const userId = await createUser(store);
      const inOrder = ['a', 'é', '漢', '｡', '𝒳', '😀'];
      for (const name of inOrder.toReversed()) await createToken(store, { userId, name });
      const order = { by: 'name', descending: false } as const;

      const { items } = await store.listTokens({ userId, order, offset: 0, limit: 9 }, T0);

      expect(items.map(({ name }) => name)).toEqual(inOrder);
    });

    test('lets one of many who judged the same token change it, whatever traffic does to it', async () => {
      const { token } = await createToken(given.store, { remainQuota: 100 });
      const other = await given.reopen();
      const isSame = ({ name }: Token): boolean => name === token.name;
      const write = (store: Store, index: number) =>
        store.updateToken(
          ...([token.id, { name: `writer ${index}` }, T0, token.userId, isSame] as const),
        );

      const [writes] = await Promise.all([
        Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            write(index % 2 === 0 ? given.store : other, index),
          ),
        ),
        given.store.updateToken(token.id, { quota: { add: 5 } }, T0),
      ]);

      expect(writes.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
      const changed = { kind: 'conflict', reason: 'changed' };
      expect(writes.filter(({ kind }) => kind !== 'updated')).toEqual(Array(9).fill(changed));
      expect((await other.getToken(token.id, T0))?.remainQuota).toBe(105);
    });

    test('sets and moves quota, never below zero or out of the exact range', async () => {
      const { token } = await createToken(given.store, { remainQuota: 100 });
      const change = async (quota: { set: number } | { add: number }): Promise<unknown> => {
        const update = await given.store.updateToken(token.id, { quota }, T0);
        return update.kind === 'updated' ? update.token.remainQuota : update;
      };
      const range = { kind: 'conflict', reason: 'quota_range' };

      expect(await change({ add: -40 })).toBe(60);
      expect(await change({ add: -61 })).toEqual(range);
      expect(await change({ set: -1 })).toEqual(range);
      expect(await change({ set: MAX_QUOTA + 1 })).toEqual(range);
      expect(await change({ set: MAX_QUOTA })).toBe(MAX_QUOTA);
      expect(await change({ add: 1 })).toEqual(range);
      expect(await change({ set: 0 })).toBe(0);
      expect((await given.store.getToken(token.id, T0))?.remainQuota).toBe(0);
    });

    test('changes nothing at all when the quota cannot be changed', async () => {
      const credential = await createToken(given.store, { remainQuota: 100 });
      const { token } = credential;

      await given.store.updateToken(token.id, { name: 'x', quota: { add: -101 } }, T0);

      expect(await given.store.getToken(token.id, T0)).toEqual(token);
      const admission = await given.store.admit(admitRequest(credential, { amount: 100 }));
      expect(admission.kind).toBe('admitted');
    });

    test('loses no move of quota when many run at once against traffic', async () => {
      const credential = await createToken(given.store, { remainQuota: 1_000 });
      const { token } = credential;
      const second = await given.reopen();

      await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const store = index % 2 === 0 ? given.store : second;
          return index % 4 < 2
            ? store.updateToken(token.id, { quota: { add: 7 } }, T0)
            : store.admit(admitRequest(credential, { amount: 0 }));
        }),
      );

      expect((await given.store.getToken(token.id, T0))?.remainQuota).toBe(1_140);
    });

    test('gives back to a balance that was set while the reservation ran', async () => {
      const credential = await createToken(given.store, { remainQuota: 100 });
      const request = admitRequest(credential, { amount: 30 });
      await given.store.admit(request);

      await given.store.updateToken(credential.token.id, { quota: { set: 50 } }, T0);
      await given.store.settle({ ...request, cost: 10, served: true });

      expect((await given.store.getToken(credential.token.id, T0))?.remainQuota).toBe(70);
    });

    test('enables only what works after the change', async () => {
      const expired = await createToken(given.store, { enabled: false, expiredTime: T0_SECONDS });
      const exhausted = await createToken(given.store, { enabled: false, remainQuota: 0 });
      const enable = async (id: number, more: object = {}): Promise<unknown> => {
        const update = await given.store.updateToken(id, { enabled: true, ...more }, T0);
        return update.kind === 'conflict' ? update.reason : update.kind;
      };

      expect(await enable(expired.token.id)).toBe('expired');
      expect(await enable(expired.token.id, { expiredTime: T0_SECONDS + 1 })).toBe('updated');
      expect(await enable(exhausted.token.id)).toBe('exhausted');
      expect(await enable(exhausted.token.id, { unlimitedQuota: true })).toBe('updated');
      expect(await enable(exhausted.token.id, { unlimitedQuota: false })).toBe('exhausted');
      expect(await enable(exhausted.token.id, { quota: { add: 1 } })).toBe('updated');
    });

    test('lets an expired and exhausted token be renamed and disabled', async () => {
      const { token } = await createToken(given.store, { expiredTime: 1, remainQuota: 0 });

      const update = await given.store.updateToken(token.id, { name: 'x', enabled: false }, T0);

      expect(update.kind).toBe('updated');
    });

    test('judges enabling by a balance to which expired reservations have been given back', async () => {
      const credential = await createToken(given.store, { remainQuota: 30 });
      await given.store.admit(admitRequest(credential, { amount: 30 }));
      const enable = async (nowMs: number): Promise<string> =>
        (await given.store.updateToken(credential.token.id, { enabled: true }, nowMs)).kind;

      expect(await enable(T0)).toBe('conflict');
      expect(await enable(T0 + 60_000)).toBe('updated');
    });

    test('forgets a deleted token, its key included', async () => {
      const userId = await createUser(given.store);
      const wanted = newToken(userId);
      const token = await given.store.createToken(wanted, T0);

      expect(await given.store.deleteToken(token?.id ?? 0)).toBe(true);

      expect(await given.store.findToken(wanted.keyHash)).toBeUndefined();
      expect(await given.store.getToken(token?.id ?? 0, T0)).toBeUndefined();
      expect((await list(given.store, { userId })).total).toBe(0);
      expect(await given.store.deleteToken(token?.id ?? 0)).toBe(false);
    });
  });
}

function list(store: Store, query: Partial<TokenQuery> = {}): ReturnType<Store['listTokens']> {
  return store.listTokens({ offset: 0, limit: 100, ...query }, T0);
}
