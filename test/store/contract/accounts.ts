import { describe, expect, test } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import type { Store } from '../../../src/store/store.js';
import { createVault } from '../../../src/store/vault.js';
import { createUser, freshStore, newChannel, sha256, T0, type OpenHarness } from './harness.js';

const DAY = 86_400_000;

export function describeAccounts(open: OpenHarness): void {
  describe('places of a user', () => {
    const given = freshStore(open);

    test('are known until their time is up, for that user alone, on every connection', async () => {
      const userId = await createUser(given.store);
      const other = await createUser(given.store);

      await given.store.rememberPlace(userId, 'home', T0, DAY);

      const again = await given.reopen();
      expect(await again.knowsPlace(userId, 'home', T0 + DAY - 1)).toBe(true);
      expect(await again.knowsPlace(userId, 'home', T0 + DAY)).toBe(false);
      expect(await again.knowsPlace(userId, 'elsewhere', T0)).toBe(false);
      expect(await again.knowsPlace(other, 'home', T0)).toBe(false);
    });

    test('are the newest 32', async () => {
      const userId = await createUser(given.store);
      for (let place = 0; place < 33; place += 1) {
        await given.store.rememberPlace(userId, `place ${place}`, T0 + place, DAY);
      }

      const known = await Promise.all(
        [0, 1, 32].map((place) => given.store.knowsPlace(userId, `place ${place}`, T0 + 40)),
      );

      expect(known).toEqual([false, true, true]);
    });

    test('go with their user', async () => {
      const userId = await createUser(given.store);
      await given.store.rememberPlace(userId, 'home', T0, DAY);
      await given.store.putAddressCode(userId, 'ann@example.com', sha256('code'), T0, DAY);

      await given.store.deleteUser(userId);

      expect(await given.store.knowsPlace(userId, 'home', T0)).toBe(false);
      expect(await given.store.takeAddressCode(userId, sha256('code'), T0)).toBeUndefined();
    });
  });

  describe('the code for an address', () => {
    const given = freshStore(open);

    test('is taken once, also when many try at the same time', async () => {
      const userId = await createUser(given.store);
      await given.store.putAddressCode(userId, 'ann@example.com', sha256('code'), T0, DAY);
      const other = await given.reopen();

      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).takeAddressCode(userId, sha256('code'), T0),
        ),
      );

      expect(taken.filter((email) => email !== undefined)).toEqual(['ann@example.com']);
    });

    test('survives wrong tries, ends with its time, and is replaced by the next', async () => {
      const { store } = given;
      const userId = await createUser(store);
      await store.putAddressCode(userId, 'old@example.com', sha256('old'), T0, DAY);
      await store.putAddressCode(userId, 'new@example.com', sha256('new'), T0, DAY);

      expect(await store.takeAddressCode(userId, sha256('old'), T0)).toBeUndefined();
      for (let wrong = 0; wrong < 20; wrong += 1) {
        await store.takeAddressCode(userId, sha256('wrong'), T0);
      }

      expect(await store.takeAddressCode(userId, sha256('new'), T0)).toBe('new@example.com');
      await store.putAddressCode(userId, 'late@example.com', sha256('late'), T0, DAY);
      expect(await store.takeAddressCode(userId, sha256('late'), T0 + DAY)).toBeUndefined();
    });
  });

  describe('the mark of the encryption key', () => {
    const given = freshStore(open);

    test('is that of the first to claim it', async () => {
      const other = await given.reopen();
      const before = await given.store.encryptionMark();

      const seen = await Promise.all(
        ['a', 'b', 'c', 'd'].map((claim, index) =>
          (index % 2 === 0 ? given.store : other).encryptionMark(claim),
        ),
      );

      expect(before).toBeUndefined();
      expect(new Set(seen).size).toBe(1);
      expect(await other.encryptionMark()).toBe(seen[0]);
    });

    test('moves with the credentials, which both keys open until then and the new one after', async () => {
      const secret = (id: string) => ({ id, secret: new Secret(`the secret of ${id}`) });
      const [old, both, next] = await Promise.all([
        given.reopen(createVault([secret('old')])),
        given.reopen(createVault([secret('next'), secret('old')])),
        given.reopen(createVault([secret('next')])),
      ]);
      const credentials = { apiKey: new Secret('upstream key') };
      await old.createChannel(newChannel({ credentials }));
      const opened = async (store: Store) => {
        const { channels, locked } = await store.loadChannels();
        return [channels[0]?.credentials.apiKey?.reveal(), locked.size];
      };
      const before = await Promise.all([old, both, next].map(opened));

      const resealed = await both.resealCredentials('the mark of next');

      expect(before).toEqual([
        ['upstream key', 0],
        ['upstream key', 0],
        [undefined, 1],
      ]);
      expect(resealed).toEqual({ sealed: 1, locked: 0 });
      expect(await Promise.all([old, both, next].map(opened))).toEqual([
        [undefined, 1],
        ['upstream key', 0],
        ['upstream key', 0],
      ]);
      expect(await next.encryptionMark()).toBe('the mark of next');
    });

    test('is known of gateways that start: each sees those before it, for a while', async () => {
      const { store } = given;
      const other = await given.reopen();
      const note = (nodeId: string) => ({ nodeId, name: `host ${nodeId}`, marks: [nodeId, 'x'] });
      const seen = await Promise.all(
        ['a', 'b', 'c', 'd'].map((id, index) =>
          (index % 2 === 0 ? store : other).noteKeys(note(id), T0, 1_000),
        ),
      );

      expect(seen.map(({ length }) => length).sort()).toEqual([0, 1, 2, 3]);
      const ids = async (nodeId: string, nowMs: number) =>
        (await other.noteKeys(note(nodeId), nowMs, 2_000)).map((each) => each.nodeId).sort();
      expect(await ids('a', T0)).toEqual(['b', 'c', 'd']);
      await store.dropKeys('b');
      expect(await ids('e', T0 + 999)).toEqual(['a', 'c', 'd']);
      expect(await store.noteKeys(note('f'), T0 + 1_000, 1_000)).toEqual(
        expect.arrayContaining([note('a'), note('e')]),
      );
      expect(await ids('g', T0 + 2_500)).toEqual(['e']);
    });

    test('moves when the credentials are resealed, which leaves them as they were', async () => {
      const { store } = given;
      await store.encryptionMark('a');
      const version = await store.channelsVersion();

      const resealed = await store.resealCredentials('b');

      expect(resealed).toEqual({ sealed: 0, locked: 0 });
      expect(await store.encryptionMark('a')).toBe('b');
      expect(await store.channelsVersion()).toBe(version);
    });
  });
}
