import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { verifyPassword } from '../../src/management/passwords.js';
import { OURSELVES } from '../../src/management/scrypt-thread.js';
import {
  actorOf,
  adminNames,
  createUser,
  ensureRoot,
  findRoot,
  registerUser,
  removeUser,
  updateSelf,
  updateUser,
} from '../../src/management/users.js';
import { freshManagement, OPERATOR } from '../support/management.js';

const ROOT = { username: 'root', password: undefined, quota: 1_000_000 };

describe('ensureRoot', () => {
  const management = freshManagement();

  it('makes the account with a password that only its creator learns', async () => {
    const { deps, store } = management;

    const first = await ensureRoot(deps, ROOT);
    const second = await ensureRoot(deps, ROOT);

    expect(first).toMatchObject({ kind: 'created', user: { role: 100, quota: 1_000_000 } });
    const password = first.kind === 'created' ? first.password : undefined;
    const hash = await store.getPasswordHash(first.user.id);
    expect(await verifyPassword(password ?? '', hash, OURSELVES)).toBe(true);
    expect(second).toEqual({ kind: 'found', user: first.user });
    expect(JSON.stringify(await management.audited())).not.toContain(password);
  });

  it('makes one account when several processes start at once', async () => {
    const { deps } = management;
    const processes = [deps, deps, { ...deps, store: management.reopen() }];

    const results = await Promise.all(processes.map((each) => ensureRoot(each, ROOT)));

    expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(new Set(results.map(({ user }) => user.id)).size).toBe(1);
    expect(await management.audited()).toHaveLength(1);
  });

  it('takes a given password and does not repeat it', async () => {
    const { deps, store } = management;
    const password = new Secret('a given password');

    const created = await ensureRoot(deps, { ...ROOT, password });

    expect(created).toMatchObject({ kind: 'created', password: undefined });
    const hash = await store.getPasswordHash(created.user.id);
    expect(await verifyPassword('a given password', hash, OURSELVES)).toBe(true);
  });

  it('finds the account without a search where it is the oldest, and by one where it is not', async () => {
    const { deps, store } = management;
    const user = { email: undefined, displayName: 'A', passwordHash: 'x', enabled: true, quota: 0 };
    await store.createUser({ ...user, username: 'older', role: 1 }, deps.now());
    const { user: root } = await ensureRoot(deps, ROOT);
    await store.createUser({ ...user, username: 'younger', role: 1 }, deps.now());
    const searched: unknown[] = [];
    const watched: typeof store = {
      ...store,
      listUsers(query, nowMs) {
        if (query.role !== undefined) searched.push(query.role);
        return store.listUsers(query, nowMs);
      },
    };

    const byRole = await findRoot({ ...deps, store: watched });
    const searches = searched.splice(0).length;
    const older = await store.findUser('older', deps.now());
    await store.deleteUser(older?.id ?? 0);
    const asOldest = await findRoot({ ...deps, store: watched });

    expect([byRole?.id, asOldest?.id]).toEqual([root.id, root.id]);
    expect([searches, searched]).toEqual([1, []]);
  });

  it('knows the account under another name', async () => {
    const { deps, store } = management;
    const { user } = await ensureRoot(deps, ROOT);
    await store.updateUser(user.id, { username: 'captain' }, deps.now());

    expect(await ensureRoot(deps, ROOT)).toMatchObject({
      kind: 'found',
      user: { id: user.id, username: 'captain' },
    });
  });

  it('does not take over the account of somebody else', async () => {
    const { deps } = management;
    await management.createUser('root');

    await expect(ensureRoot(deps, ROOT)).rejects.toMatchObject({ code: 'conflict' });

    expect(await findRoot(deps)).toBeUndefined();
  });
});

describe('updateUser', () => {
  const management = freshManagement();

  it.each([{ set: 5 }, { add: 5 }])('leaves the own quota %j to root', async (quota) => {
    const { deps, store } = management;
    const admin = await management.createUser('admin', 10);
    const root = await management.createUser('boss', 100);

    await expect(updateUser(deps, admin.id, { quota }, admin)).rejects.toMatchObject({
      code: 'permission_denied',
    });

    expect((await store.getUser(admin.id, deps.now()))?.quota).toBe(1_000_000);
    expect((await updateUser(deps, root.id, { quota }, root)).quota).not.toBe(1_000_000);
  });
});

describe('a new account', () => {
  const management = freshManagement();

  it('has the budget and the labels that it is made with', async () => {
    const { deps, store } = management;
    const given = { budget: 5, budgetPeriod: 'week', labels: 'team=search' } as const;

    const { id } = await createUser(deps, { username: 'ann', ...given }, OPERATOR);

    expect(await store.getUser(id, deps.now())).toMatchObject(given);
  });

  it('has no password that is its name or its address, whoever makes it or changes it', async () => {
    const { deps, store } = management;
    const account = { username: 'ann-of-search', email: 'carla.jones@example.com' };
    const registering = { ...deps, accounts: { registration: true, initialQuota: 0 } };
    const { id } = await createUser(deps, { username: 'somebody' }, OPERATOR);

    for (const password of ['ann-of-search', 'carla.jones@example.com']) {
      const weak = { ...account, password };
      for (const refused of [
        createUser(deps, weak, OPERATOR),
        registerUser(registering, weak, undefined),
        updateUser(deps, id, weak, OPERATOR),
      ]) {
        await expect(refused).rejects.toMatchObject({ param: 'password' });
      }
    }

    expect(await store.getUser(id, deps.now())).toMatchObject({ username: 'somebody' });
  });
});

describe('an account that its owner deletes', () => {
  const management = freshManagement();

  it('is in the audit log without its name, also as the one who did it', async () => {
    const { deps, store } = management;
    const actor = await management.createUser('zebedee');
    const user = await store.getUser(actor.id, deps.now());
    if (user === undefined) throw new Error('the account is there');

    await removeUser(deps, user, actor);

    const [entry] = (await management.audited()).slice(-1);
    expect(entry).toMatchObject({ action: 'user.delete', actorId: actor.id });
    expect(JSON.stringify(entry)).not.toContain('zebedee');
  });

  it('leaves no name in what was audited while it was deleted', async () => {
    const { deps, store } = management;
    const actor = await management.createUser('zebedee');
    const user = await store.getUser(actor.id, deps.now());
    if (user === undefined) throw new Error('the account is there');
    const during = {
      ...store,
      deleteUser: async (id: number) => {
        await updateUser(deps, id, { displayName: 'Zebedee' }, OPERATOR);
        return store.deleteUser(id);
      },
    };

    await removeUser({ ...deps, store: during }, user, OPERATOR);

    const entries = await management.audited();
    expect(entries.map(({ action }) => action)).toEqual(['user.update', 'user.delete']);
    expect(JSON.stringify(entries)).not.toMatch(/zebedee/i);
  });
});

describe('one’s own account', () => {
  const management = freshManagement();

  it('is sent back with its address without a password, and the address stays confirmed', async () => {
    const { deps, store } = management;
    const email = 'ann@example.com';
    const { id } = await createUser(deps, { username: 'ann', email }, OPERATOR);
    const user = await store.getUser(id, deps.now());
    if (user === undefined) throw new Error('the account is there');

    const edit = { email, displayName: 'Ann' };
    const changed = await updateSelf(deps, user, edit, actorOf(user, undefined));

    expect(changed).toMatchObject({ user: { email, displayName: 'Ann' }, unconfirmed: undefined });
  });
});

describe('who may change an account', () => {
  const management = freshManagement();

  it.each([
    { quota: { add: 1 } },
    { budget: 5 },
    { budgetPeriod: 'week' },
    { budgetTimeZone: 'UTC' },
    { labels: 'team=search' },
    { role: 1 },
    { enabled: false },
  ] as const)('is not an admin whose own it is: %j', async (edit) => {
    const { deps, store } = management;
    const admin = await management.createUser('admin', 10);
    const before = await store.getUser(admin.id, deps.now());

    await expect(updateUser(deps, admin.id, edit, admin)).rejects.toMatchObject({
      code: 'permission_denied',
    });

    expect(await store.getUser(admin.id, deps.now())).toEqual(before);
  });

  it('is no admin whom the account has caught up with meanwhile', async () => {
    const { deps, store } = management;
    const admin = await management.createUser('admin', 10);
    const target = await management.createUser('target');
    // Root makes the account an admin between the admin's look at it and the write.
    const during = {
      ...deps,
      store: {
        ...store,
        getUser: async (id: number, nowMs: number) => {
          const user = await store.getUser(id, nowMs);
          await store.updateUser(id, { role: 10 }, nowMs);
          return user;
        },
      },
    };

    await expect(updateUser(during, target.id, { enabled: false }, admin)).rejects.toMatchObject({
      code: 'conflict',
    });

    expect(await store.getUser(target.id, deps.now())).toMatchObject({ role: 10, enabled: true });
  });

  it('is not even the operator, who would disable root or take its role', async () => {
    const { deps, store } = management;
    const root = await management.createUser('boss', 100);

    for (const edit of [{ enabled: false }, { role: 10 }] as const) {
      await expect(updateUser(deps, root.id, edit, OPERATOR)).rejects.toMatchObject({
        message: expect.stringMatching(/^The root account cannot be disabled/),
      });
    }

    expect(await store.getUser(root.id, deps.now())).toMatchObject({ enabled: true, role: 100 });
  });

  it.each([
    [{ enabled: true, displayName: 'A' }, 1],
    [{ enabled: false }, 0],
    [{ password: 'the password from now on' }, 0],
  ] as const)('leaves its logins, or ends them: %j', async (edit, left) => {
    const { deps, store } = management;
    const { id: userId } = await management.createUser('target');
    const endsAtMs = deps.now() + 1_000;
    const times = { createdAtMs: deps.now(), expiresAtMs: endsAtMs, endsAtMs };
    await store.createSession({ idHash: 'hash', userId, kind: 'session', ...times });

    await updateUser(deps, userId, edit, OPERATOR);

    expect(await store.listSessions(userId, deps.now())).toHaveLength(left);
  });

  it('is audited with the balance before and after', async () => {
    const { deps } = management;
    const root = await management.createUser('boss', 100);
    const target = await management.createUser('target');

    await updateUser(deps, target.id, { quota: { add: 500 } }, root);

    const [entry] = (await management.audited()).slice(-1);
    expect(entry?.changes).toEqual([
      expect.objectContaining({ member: 'quota', before: 1_000_000, after: 1_000_500 }),
    ]);
  });

  it.each([1, 5, 10] as const)('keeps names like root’s from accounts of role %i', async (role) => {
    const { deps } = management;
    const root = await management.createUser('boss', 100);

    await expect(
      createUser(deps, { username: 'r00t', password: 'a password of a test', role }, root),
    ).rejects.toMatchObject({ code: 'invalid_request', param: 'username' });
  });
});

describe('adminNames', () => {
  const management = freshManagement();

  it('has those whose accounts are in use, the highest first', async () => {
    const { deps, store } = management;
    await management.createUser('boss', 100);
    await management.createUser('admin', 10);
    const gone = await management.createUser('gone', 10);
    await store.updateUser(gone.id, { enabled: false }, deps.now());
    await management.createUser('somebody');

    expect(await adminNames(deps)).toEqual(['boss', 'admin']);
  });
});
