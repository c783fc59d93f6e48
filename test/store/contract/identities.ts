import { describe, expect, test } from '@jest/globals';
import { createUser, freshStore, sha256, T0, unique, type OpenHarness } from './harness.js';

const HOUR = 3_600_000;

export function describeIdentities(open: OpenHarness): void {
  describe('identities', () => {
    const given = freshStore(open);
    const newName = (): string => sha256(unique('name'));

    test('stand for the first account that they are linked with, on every connection', async () => {
      const [ann, bob] = [await createUser(given.store), await createUser(given.store)];
      const name = newName();

      expect(await given.store.findIdentity(name, T0)).toBeUndefined();
      expect(await given.store.linkIdentity(name, ann, T0)).toBe(ann);

      const again = await given.reopen();
      expect(await again.linkIdentity(name, bob, T0)).toBe(ann);
      expect(await again.findIdentity(name, T0)).toBe(ann);
    });

    test('are linked with one account, however many ask at the same time', async () => {
      const users = await Promise.all([1, 2, 3, 4].map(() => createUser(given.store)));
      const name = newName();

      const linked = await Promise.all(
        users.map((user) => given.store.linkIdentity(name, user, T0)),
      );

      expect(new Set(linked).size).toBe(1);
      expect(await given.store.findIdentity(name, T0)).toBe(linked[0]);
    });

    test('go with their account, and may then stand for another one', async () => {
      const [gone, next] = [await createUser(given.store), await createUser(given.store)];
      const name = newName();
      await given.store.linkIdentity(name, gone, T0);

      await given.store.deleteUser(gone);

      expect(await given.store.findIdentity(name, T0)).toBeUndefined();
      expect(await given.store.linkIdentity(name, next, T0)).toBe(next);
    });

    test('may be for a while: then each link replaces the one before', async () => {
      const [ann, bob] = [await createUser(given.store), await createUser(given.store)];
      const name = newName();

      await given.store.linkIdentity(name, ann, T0, HOUR);
      expect(await given.store.linkIdentity(name, bob, T0, HOUR)).toBe(bob);

      expect(await given.store.findIdentity(name, T0)).toBe(bob);
    });
  });

  describe('forgetting an account in the audit log', () => {
    const given = freshStore(open);

    test('renames what it did, and empties what was done to it, and nothing else', async () => {
      const entry = { atMs: T0, action: 'x', address: undefined };
      const changes = [{ member: 'email', before: null, after: 'ann@example.com' }];
      const write = (more: object) =>
        given.store.appendAudit(
          { ...entry, actorId: 1, actor: 'root', target: 'user:2', detail: {}, ...more },
          100,
        );
      await write({ actorId: 17, actor: 'ann', target: 'token:5', detail: { name: 'a key' } });
      await write({ target: 'user:17', name: 'ann', detail: { username: 'ann' }, changes });
      await write({ actorId: 17, actor: 'ann', target: 'user:17', name: 'ann' });
      await write({ target: 'user:170', name: 'annabel', detail: { username: 'annabel' } });

      await given.store.forgetInAudit(17, 'deleted user 17');

      const { items } = await given.store.listAudit({ offset: 0, limit: 10 });
      const kept = [...items].reverse().map(({ id: _, ...rest }) => rest);
      const name = 'deleted user 17';
      expect(kept).toEqual([
        { ...entry, actorId: 17, actor: name, target: 'token:5', detail: { name: 'a key' } },
        { ...entry, actorId: 1, actor: 'root', target: 'user:17', name, detail: {} },
        { ...entry, actorId: 17, actor: name, target: 'user:17', name, detail: {} },
        {
          ...{ ...entry, actorId: 1, actor: 'root', target: 'user:170', name: 'annabel' },
          detail: { username: 'annabel' },
        },
      ]);
    });
  });
}
