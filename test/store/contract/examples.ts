import { describe, expect, test } from '@jest/globals';
import type { NewExample } from '../../../src/store/store.js';
import { createUser, freshStore, T0, T0_SECONDS, unique, type OpenHarness } from './harness.js';

const MANY = 100;

function newExample(userId: number, given: Partial<NewExample> = {}): NewExample {
  return { userId, name: 'planets', shared: false, content: '{"query":"ü"}', ...given };
}

export function describeExamples(open: OpenHarness): void {
  describe('examples of the playground', () => {
    const given = freshStore(open);

    test('are kept as they were, and listed to their account', async () => {
      const { store } = given;
      const [userId, other] = [await createUser(store), await createUser(store)];

      const first = await store.addExample(newExample(userId), MANY, T0);
      const second = await store.addExample(newExample(userId, { name: unique('e') }), MANY, T0);
      const again = await given.reopen();

      expect(first).toEqual({
        ...{ id: expect.any(Number), userId, name: 'planets', shared: false },
        createdTime: T0_SECONDS,
      });
      expect(await again.listExamples(userId)).toEqual([second, first]);
      expect((await again.listExamples(other)).map(({ id }) => id)).not.toContain(idOf(first));
      expect(await again.getExample(idOf(first))).toEqual({
        example: first,
        content: '{"query":"ü"}',
      });
      expect(await again.getExample(999_999)).toBeUndefined();
    });

    test('are listed once to everybody if they are shared', async () => {
      const { store } = given;
      const [userId, other] = [await createUser(store), await createUser(store)];

      const example = await store.addExample(newExample(userId, { shared: true }), MANY, T0);

      for (const reader of [userId, other]) {
        const seen = (await store.listExamples(reader)).filter(({ id }) => id === idOf(example));
        expect(seen).toEqual([example]);
      }
    });

    test('are no more than an account may have, also when many are saved at once', async () => {
      const userId = await createUser(given.store);
      const other = await given.reopen();

      const saved = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? given.store : other).addExample(newExample(userId), 5, T0),
        ),
      );

      expect(saved.filter((one) => one === 'too_many')).toHaveLength(7);
      const own = (await other.listExamples(userId)).filter((one) => one.userId === userId);
      expect(own).toHaveLength(5);
    });

    test('go with what deletes them: they themselves, or their account', async () => {
      const { store } = given;
      const userId = await createUser(store);
      const [first, second] = [
        await store.addExample(newExample(userId), MANY, T0),
        await store.addExample(newExample(userId, { shared: true }), MANY, T0),
      ];

      expect(await store.deleteExample(idOf(first))).toBe(true);
      expect(await store.deleteExample(idOf(first))).toBe(false);
      expect((await store.listExamples(userId)).map(({ id }) => id)).not.toContain(idOf(first));
      await store.deleteUser(userId);
      expect(await store.getExample(idOf(second))).toBeUndefined();
      const reader = await createUser(store);
      expect((await store.listExamples(reader)).map(({ id }) => id)).not.toContain(idOf(second));
    });
  });
}

function idOf(example: { readonly id: number } | 'too_many'): number {
  return example === 'too_many' ? 0 : example.id;
}
