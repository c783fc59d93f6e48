import { describe, expect, test } from '@jest/globals';
import { BUDGET_DEFAULTS, NOTHING_USED } from '../../../src/core/budget.js';
import { MAX_QUOTA } from '../../../src/core/quota.js';
import type { UserOrder, Store, User } from '../../../src/store/store.js';
import {
  admitRequest,
  createToken,
  createUser,
  freshStore,
  newUser,
  sha256,
  T0,
  T0_SECONDS,
  unique,
  type OpenHarness,
} from './harness.js';

async function created(store: Store, given: Parameters<typeof newUser>[0] = {}): Promise<User> {
  const reply = await store.createUser(newUser(given), T0);
  if (reply.kind !== 'updated') throw new Error(`the user was not created: ${reply.kind}`);
  return reply.user;
}

export function describeUsers(open: OpenHarness): void {
  describe('users', () => {
    const given = freshStore(open);

    test('keeps an account as it was created, across connections', async () => {
      const wanted = newUser({
        username: 'Ada',
        email: 'Ada@Example.org',
        displayName: 'Ada L.',
        role: 10,
        quota: 7,
        labels: 'env=prod,team=search',
      });

      const user = await created(given.store, wanted);

      const { passwordHash, ...shown } = wanted;
      expect(user).toEqual({
        ...shown,
        ...BUDGET_DEFAULTS,
        id: user.id,
        budgetUse: NOTHING_USED,
        usedQuota: 0,
        requestCount: 0,
        createdTime: T0_SECONDS,
        lastLoginTime: 0,
      });
      const again = await given.reopen();
      expect(await again.getUser(user.id, T0)).toEqual(user);
      expect(await again.getPasswordHash(user.id)).toBe(passwordHash);
      await again.updateUser(user.id, { labels: 'team=ads' }, T0);
      expect(await again.getUser(user.id, T0)).toEqual({ ...user, labels: 'team=ads' });
      const found = ['team', 'team=ads', 'env', 'team=ad'].map(async (label) => {
        return (await again.listUsers({ label, offset: 0, limit: 9 }, T0)).total;
      });
      expect(await Promise.all(found)).toEqual([1, 1, 0, 0]);
    });

    test('changes an account only while it is what the change was judged by', async () => {
      const user = await created(given.store, { role: 10, passwordHash: 'first' });
      const { store } = given;
      const changed = { kind: 'conflict', reason: 'changed' };

      const byRole = { displayName: 'x', username: unique('name') };
      expect(await store.updateUser(user.id, byRole, T0, { role: 1 })).toEqual(changed);
      const byPassword = { passwordHash: 'third' };
      const condition = { passwordHash: 'second' };
      expect(await store.updateUser(user.id, byPassword, T0, condition)).toEqual(changed);

      expect(await store.getUser(user.id, T0)).toEqual(user);
      expect(await store.getPasswordHash(user.id)).toBe('first');
      expect(await store.findUser(byRole.username, T0)).toBeUndefined();
      const right = { role: 10, passwordHash: 'first' } as const;
      expect(await store.updateUser(user.id, byPassword, T0, right)).toMatchObject({
        kind: 'updated',
      });
      expect(await store.getPasswordHash(user.id)).toBe('third');
    });

    test('is found by whether it is enabled', async () => {
      const [on, off] = [
        await created(given.store),
        await created(given.store, { enabled: false }),
      ];
      const ids = async (enabled: boolean) =>
        (await given.store.listUsers({ enabled, offset: 0, limit: 100 }, T0)).items.map(
          ({ id }) => id,
        );

      expect(await ids(true)).toContain(on.id);
      expect(await ids(true)).not.toContain(off.id);
      expect(await ids(false)).toEqual([off.id]);
    });

    test('lets one of many who judged the same account change it', async () => {
      const user = await created(given.store, { email: undefined });
      const other = await given.reopen();
      const holds = ({ displayName }: User): boolean => displayName === user.displayName;

      const writes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).updateUser(
            user.id,
            { displayName: `writer ${index}` },
            T0,
            { holds },
          ),
        ),
      );

      expect(writes.filter(({ kind }) => kind === 'updated')).toHaveLength(1);
      const changed = { kind: 'conflict', reason: 'changed' };
      expect(writes.filter(({ kind }) => kind !== 'updated')).toEqual(Array(9).fill(changed));
      expect(await other.updateUser(999, {}, T0, { holds })).toEqual({ kind: 'not_found' });
    });

    test('is found by the name that it has, however its names change at the same time', async () => {
      const other = await given.reopen();
      for (let round = 0; round < 20; round += 1) {
        const [one, two] = [unique('one'), unique('two')];
        const { id } = await created(given.store, { username: one });

        await Promise.all(
          [two, one, two, one].map((username, index) =>
            (index % 2 === 0 ? given.store : other).updateUser(id, { username }, T0),
          ),
        );

        const user = await given.store.getUser(id, T0);
        expect(await given.store.findUser(user?.username ?? '', T0)).toEqual(user);
        const free = user?.username === one ? two : one;
        expect(await given.store.findUser(free, T0)).toBeUndefined();
      }
    });

    test('says that a name is taken only once the account can be found by it', async () => {
      const other = await given.reopen();
      for (let round = 0; round < 20; round += 1) {
        const username = unique('same');

        const replies = await Promise.all(
          [given.store, other].map(async (store) => {
            const reply = await store.createUser(newUser({ username }), T0);
            return { reply, found: await store.findUser(username, T0) };
          }),
        );

        expect(replies.filter(({ reply }) => reply.kind === 'updated')).toHaveLength(1);
        expect(replies.every(({ found }) => found !== undefined)).toBe(true);
      }
    });

    test('knows nothing of an account that does not exist', async () => {
      expect(await given.store.getUser(999, T0)).toBeUndefined();
      expect(await given.store.findUser('nobody', T0)).toBeUndefined();
      expect(await given.store.getPasswordHash(999)).toBeUndefined();
      expect(await given.store.updateUser(999, { displayName: 'x' }, T0)).toEqual({
        kind: 'not_found',
      });
      expect(await given.store.updateUser(999, { username: 'x' }, T0)).toEqual({
        kind: 'not_found',
      });
      expect(await given.store.deleteUser(999)).toBe(false);
      expect(await given.store.listUsers({ offset: 0, limit: 10 }, T0)).toEqual({
        items: [],
        total: 0,
      });
    });

    test('numbers accounts upwards and gives no number twice', async () => {
      const first = await created(given.store);
      const second = await created(given.store);
      await given.store.deleteUser(second.id);

      const third = await created(given.store);

      expect(second.id).toBeGreaterThan(first.id);
      expect(third.id).toBeGreaterThan(second.id);
    });

    test('finds by name, else by address, in any case', async () => {
      const ada = await created(given.store, { username: 'Ada', email: 'ada@example.org' });
      const bob = await created(given.store, { username: 'Bob' });

      expect(await given.store.findUser('aDA', T0)).toEqual(ada);
      expect(await given.store.findUser('ADA@example.ORG', T0)).toEqual(ada);
      expect(await given.store.findUser('bob', T0)).toEqual(bob);
      expect(await given.store.findUser('Somebody', T0)).toBeUndefined();
    });

    test('gives a name and an address to one account alone, in whatever case', async () => {
      await created(given.store, { username: 'Ada', email: 'ada@example.org' });
      const bob = await created(given.store, { username: 'Bob' });

      expect(await given.store.createUser(newUser({ username: 'aDa' }), T0)).toEqual({
        kind: 'taken',
        field: 'username',
      });
      expect(await given.store.createUser(newUser({ email: 'ADA@example.org' }), T0)).toEqual({
        kind: 'taken',
        field: 'email',
      });
      expect(await given.store.updateUser(bob.id, { username: 'ADA' }, T0)).toEqual({
        kind: 'taken',
        field: 'username',
      });
      expect(await given.store.updateUser(bob.id, { email: 'Ada@example.org' }, T0)).toEqual({
        kind: 'taken',
        field: 'email',
      });
      expect(await given.store.getUser(bob.id, T0)).toEqual(bob);
    });

    test('claims neither name nor address when one of them is taken', async () => {
      await created(given.store, { username: 'Ada', email: 'ada@example.org' });
      await given.store.createUser(newUser({ username: 'Bob', email: 'ada@example.org' }), T0);

      const bob = await given.store.createUser(newUser({ username: 'Bob' }), T0);

      expect(bob.kind).toBe('updated');
    });

    test('gives a name to one of many who ask at the same time, on two connections', async () => {
      const other = await given.reopen();

      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).createUser(newUser({ username: 'Ada' }), T0),
        ),
      );

      expect(replies.filter((reply) => reply.kind === 'updated')).toHaveLength(1);
      expect(replies.filter((reply) => reply.kind === 'taken')).toHaveLength(19);
      expect((await given.store.listUsers({ offset: 0, limit: 50 }, T0)).total).toBe(1);
    });

    test('frees the names of an account that is renamed or deleted', async () => {
      const ada = await created(given.store, { username: 'Ada', email: 'ada@example.org' });

      await given.store.updateUser(ada.id, { username: 'Lady', email: null }, T0);

      expect(await given.store.findUser('ada', T0)).toBeUndefined();
      expect(await given.store.findUser('ada@example.org', T0)).toBeUndefined();
      const second = await created(given.store, { username: 'Ada', email: 'ada@example.org' });
      await given.store.deleteUser(second.id);
      const third = await created(given.store, { username: 'ada', email: 'ADA@example.org' });
      expect(await given.store.findUser('Ada', T0)).toEqual(third);
    });

    test('lists an account that was renamed, and not one that was deleted', async () => {
      const [ada, bob] = [await created(given.store), await created(given.store)];

      await given.store.updateUser(ada.id, { username: unique('renamed'), email: null }, T0);
      await given.store.deleteUser(bob.id);

      const { items, total } = await given.store.listUsers({ offset: 0, limit: 10 }, T0);
      expect([items.map(({ id }) => id), total]).toEqual([[ada.id], 1]);
    });

    test('lets an account write its own name in another way', async () => {
      const ada = await created(given.store, { username: 'ada', email: 'ada@example.org' });

      const reply = await given.store.updateUser(
        ada.id,
        { username: 'ADA', email: 'Ada@Example.org' },
        T0,
      );

      expect(reply).toEqual({
        kind: 'updated',
        user: { ...ada, username: 'ADA', email: 'Ada@Example.org' },
      });
      expect(await given.store.findUser('ada', T0)).toMatchObject({ id: ada.id });
      expect(await given.store.findUser('ada@example.org', T0)).toMatchObject({ id: ada.id });
    });

    test('changes what is named and leaves the rest', async () => {
      const user = await created(given.store, { email: 'a@example.org' });

      expect(await given.store.updateUser(user.id, {}, T0)).toEqual({ kind: 'updated', user });
      const change = { displayName: 'New', role: 100, enabled: false } as const;
      const changed = { ...user, ...change };
      expect(await given.store.updateUser(user.id, change, T0)).toEqual({
        kind: 'updated',
        user: changed,
      });
      await given.store.updateUser(user.id, { passwordHash: 'another' }, T0);

      expect(await given.store.getUser(user.id, T0)).toEqual(changed);
      expect(await given.store.getPasswordHash(user.id)).toBe('another');
    });

    test('sets and moves quota, never below zero or out of the exact range', async () => {
      const { id } = await created(given.store, { quota: 100 });
      const quotaAfter = async (quota: { set: number } | { add: number }): Promise<unknown> => {
        const reply = await given.store.updateUser(id, { quota }, T0);
        return reply.kind === 'updated' ? reply.user.quota : reply;
      };
      const refused = { kind: 'conflict', reason: 'quota_range' };

      expect(await quotaAfter({ add: -100 })).toBe(0);
      expect(await quotaAfter({ add: -1 })).toEqual(refused);
      expect(await quotaAfter({ set: MAX_QUOTA })).toBe(MAX_QUOTA);
      expect(await quotaAfter({ add: 1 })).toEqual(refused);
      expect(await quotaAfter({ set: -1 })).toEqual(refused);
      expect(await quotaAfter({ set: MAX_QUOTA + 1 })).toEqual(refused);
      expect((await given.store.getUser(id, T0))?.quota).toBe(MAX_QUOTA);
      expect(await given.store.createUser(newUser({ quota: -1 }), T0)).toEqual(refused);
    });

    test('changes nothing at all when the quota cannot be changed', async () => {
      const user = await created(given.store, { username: 'Ada', quota: 1 });

      await given.store.updateUser(user.id, { username: 'Eve', quota: { add: -2 } }, T0);

      expect(await given.store.getUser(user.id, T0)).toEqual(user);
      expect((await given.store.createUser(newUser({ username: 'Eve' }), T0)).kind).toBe('updated');
      expect((await given.store.findUser('Ada', T0))?.id).toBe(user.id);
    });

    test('loses no move of quota when many run at once against traffic', async () => {
      const other = await given.reopen();
      const credential = await createToken(given.store, { userQuota: 10_000 });
      const { userId } = credential.token;

      await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const store = index % 2 === 0 ? given.store : other;
          await store.updateUser(userId, { quota: { add: 5 } }, T0);
          await store.admit(admitRequest(credential, { amount: 3 }));
        }),
      );

      expect((await given.store.getUser(userId, T0))?.quota).toBe(10_000 + 40 * 5 - 40 * 3);
    });

    test('shows a balance to which expired reservations have been given back', async () => {
      const credential = await createToken(given.store, { userQuota: 100 });
      const { userId } = credential.token;
      await given.store.admit(admitRequest(credential, { amount: 40, expiresAtMs: T0 + 1_000 }));

      expect((await given.store.getUser(userId, T0 + 999))?.quota).toBe(60);
      expect((await given.store.getUser(userId, T0 + 1_000))?.quota).toBe(100);
    });

    test('lists newest first, in slices, by keyword and role', async () => {
      const ada = await created(given.store, { username: 'Ada', displayName: 'Countess' });
      const bob = await created(given.store, { username: 'Bob', email: 'bob@example.org' });
      const eve = await created(given.store, { username: 'Eve', role: 10 });
      const list = async (
        query: Omit<Parameters<Store['listUsers']>[0], 'offset' | 'limit'>,
        offset = 0,
        limit = 10,
      ): Promise<{ ids: number[]; total: number }> => {
        const page = await given.store.listUsers({ ...query, offset, limit }, T0);
        return { ids: page.items.map(({ id }) => id), total: page.total };
      };

      expect(await list({})).toEqual({ ids: [eve.id, bob.id, ada.id], total: 3 });
      expect(await list({}, 1, 1)).toEqual({ ids: [bob.id], total: 3 });
      expect(await list({}, 3, 5)).toEqual({ ids: [], total: 3 });
      expect(await list({ keyword: 'ADA' })).toEqual({ ids: [ada.id], total: 1 });
      expect(await list({ keyword: 'countess' })).toEqual({ ids: [ada.id], total: 1 });
      expect(await list({ keyword: '@EXAMPLE' })).toEqual({ ids: [bob.id], total: 1 });
      expect(await list({ keyword: String(eve.id) })).toMatchObject({ ids: [eve.id] });
      expect(await list({ role: 10 })).toEqual({ ids: [eve.id], total: 1 });
      expect(await list({ role: 1 }, 1, 1)).toEqual({ ids: [ada.id], total: 2 });
      expect(await list({ role: 100, keyword: 'ada' })).toEqual({ ids: [], total: 0 });
    });

    test('lists in every order, the newest first among equals', async () => {
      const ada = await created(given.store, { username: 'ada', quota: 5 });
      const bob = await created(given.store, { username: 'Bob', quota: 9, role: 10 });
      const eve = await created(given.store, { username: 'eve', quota: 5 });
      await given.store.updateUser(ada.id, { lastLoginTime: 7 }, T0);
      const list = async (by: UserOrder['by'], descending = false): Promise<number[]> => {
        const order = { by, descending };
        return (await given.store.listUsers({ order, offset: 0, limit: 10 }, T0)).items.map(
          ({ id }) => id,
        );
      };

      expect(await list('username')).toEqual([ada.id, bob.id, eve.id]);
      expect(await list('username', true)).toEqual([eve.id, bob.id, ada.id]);
      expect(await list('quota')).toEqual([eve.id, ada.id, bob.id]);
      expect(await list('quota', true)).toEqual([bob.id, eve.id, ada.id]);
      expect(await list('role', true)).toEqual([bob.id, eve.id, ada.id]);
      expect(await list('lastLoginTime', true)).toEqual([ada.id, eve.id, bob.id]);
      for (const by of ['usedQuota', 'requestCount', 'createdTime'] as const) {
        expect(await list(by)).toEqual([eve.id, bob.id, ada.id]);
      }
      const page = await given.store.listUsers(
        { order: { by: 'quota', descending: true }, role: 1, offset: 1, limit: 1 },
        T0,
      );
      expect({ ...page, items: page.items.map(({ id }) => id) }).toEqual({
        ...{ items: [ada.id], total: 2 },
      });
    });

    test('removes an account with its tokens, reservations and sessions', async () => {
      const credential = await createToken(given.store, { keyHash: sha256('the key') });
      const { id: tokenId, userId } = credential.token;
      const idHash = sha256(unique('session'));
      await given.store.createSession({
        idHash,
        userId,
        kind: 'session',
        createdAtMs: T0,
        expiresAtMs: T0 + 60_000,
        endsAtMs: T0 + 600_000,
      });
      const request = admitRequest(credential);
      await given.store.admit(request);

      expect(await given.store.deleteUser(userId)).toBe(true);

      expect(await given.store.getUser(userId, T0)).toBeUndefined();
      expect(await given.store.getToken(tokenId, T0)).toBeUndefined();
      expect(await given.store.findToken(sha256('the key'))).toBeUndefined();
      expect(await given.store.listTokens({ userId, offset: 0, limit: 10 }, T0)).toEqual({
        items: [],
        total: 0,
      });
      expect(await given.store.findSession(idHash, T0, 1_000)).toBeUndefined();
      expect(await given.store.admit(admitRequest(credential))).toEqual({
        kind: 'refused',
        reason: 'unknown',
      });
      expect(await given.store.settle({ ...request, cost: 1, served: true })).toBeUndefined();
      expect(await given.store.deleteUser(userId)).toBe(false);
    });

    test('leaves other accounts alone when one is removed', async () => {
      const kept = await createToken(given.store, { keyHash: sha256('kept') });
      const goneId = await createUser(given.store);

      await given.store.deleteUser(goneId);

      expect(await given.store.findToken(sha256('kept'))).toEqual(kept);
    });
  });
}
