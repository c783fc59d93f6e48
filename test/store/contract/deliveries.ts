import { describe, expect, test } from '@jest/globals';
import type { Delivery } from '../../../src/store/store.js';
import { freshStore, T0, type OpenHarness } from './harness.js';

const MINUTE = 60_000;
const MOST = 100;
const SENT = { state: 'sent', tries: 0, error: '', dueAtMs: 0 } as const;

function delivery(name: string, given: Partial<Delivery> = {}): Delivery {
  return {
    ...{ id: name, messageId: `msg_${name}`, type: 'channel.disabled', target: 'on-call' },
    ...{ summary: 'Channel ü is disabled.', body: '{"é":1}', atMs: T0 },
    ...given,
  };
}

export function describeDeliveries(open: OpenHarness): void {
  describe('deliveries', () => {
    const given = freshStore(open);

    test('gives each to one of many callers, and again when its time is over', async () => {
      await given.store.addDeliveries([delivery('a'), delivery('b')], T0, MOST);

      const other = await given.reopen();
      const taken = await Promise.all(
        [given.store, other, given.store, other].map((store) =>
          store.takeDeliveries(T0 + 1, MINUTE, 10),
        ),
      );

      expect(taken.flat().map(({ id }) => id)).toEqual(['a', 'b']);
      expect(taken.flat()[0]).toEqual({
        ...delivery('a'),
        ...{ state: 'waiting', tries: 0, error: '' },
        ...{ dueAtMs: T0 + 1 + MINUTE, changedMs: T0 },
      });
      expect(await given.store.takeDeliveries(T0 + MINUTE, MINUTE, 10)).toEqual([]);
      expect(await given.store.takeDeliveries(T0 + 1 + MINUTE, MINUTE, 1)).toMatchObject([
        { id: 'a' },
      ]);
    });

    test('gives first what was due first', async () => {
      await given.store.addDeliveries([delivery('b')], T0, MOST);
      await given.store.addDeliveries([delivery('a')], T0 + 1, MOST);

      const [first] = await given.store.takeDeliveries(T0 + 2, MINUTE, 1);

      expect(first?.id).toBe('b');
    });

    test('adds a delivery once, however often it is added', async () => {
      const adding = await Promise.all(
        Array.from({ length: 10 }, () => given.store.addDeliveries([delivery('a')], T0, MOST)),
      );

      expect(adding.filter((result) => result === 'added')).toHaveLength(1);
      expect(await given.store.listDeliveries({ offset: 0, limit: 10 })).toMatchObject({
        total: 1,
      });
    });

    test('adds what a condition calls for once each time that its value changes', async () => {
      const report = (id: string, value: string) =>
        given.store.addDeliveries([delivery(id)], T0, MOST, { key: 'node x', value });

      const first = await Promise.all(Array.from({ length: 10 }, (_, at) => report(`${at}`, '80')));
      const more = [await report('same', '80'), await report('more', '100')];
      const ends = [await report('end', ''), await report('again', ''), await report('new', '80')];

      expect(first.filter((result) => result === 'added')).toHaveLength(1);
      expect([more, ends]).toEqual([
        ['known', 'added'],
        ['added', 'known', 'added'],
      ]);
      const { items } = await given.store.listDeliveries({ offset: 0, limit: 10 });
      expect(items.map(({ id }) => id).filter((id) => id.length > 1)).toEqual([
        'new',
        'more',
        'end',
      ]);
    });

    test('knows the conditions that have not ended, with or without deliveries', async () => {
      await given.store.addDeliveries([], T0, MOST, { key: 'a', value: '1' });
      await given.store.addDeliveries([], T0, MOST, { key: 'b', value: '7 days' });
      await given.store.addDeliveries([], T0, MOST, { key: 'a', value: '' });

      const again = await given.reopen();

      expect([...(await again.alertConditions())]).toEqual([['b', '7 days']]);
    });

    test('refuses more than may wait, and then leaves the condition as it was', async () => {
      const condition = { key: 'a', value: '1' };
      await given.store.addDeliveries([delivery('a')], T0, 1);

      expect(await given.store.addDeliveries([delivery('b')], T0, 1, condition)).toBe('full');

      expect((await given.store.alertConditions()).size).toBe(0);
      expect(await given.store.addDeliveries([], T0, 1, { key: 'b', value: '1' })).toBe('added');
      await given.store.endDelivery('a', SENT, T0, 10);
      expect(await given.store.addDeliveries([delivery('b')], T0, 1, condition)).toBe('added');
    });

    test('takes one that failed when it is due again, and none that was sent or given up', async () => {
      const failed = { state: 'waiting', tries: 1, error: 'status 500' } as const;
      await given.store.addDeliveries(
        ['a', 'b', 'c'].map((id) => delivery(id)),
        T0,
        MOST,
      );
      await given.store.takeDeliveries(T0, MINUTE, 10);

      // How many are kept does not matter to those that wait.
      await given.store.endDelivery('a', { ...failed, dueAtMs: T0 + 5_000 }, T0, 0);
      await given.store.endDelivery('b', SENT, T0, 10);
      await given.store.endDelivery('c', { ...failed, state: 'dead', dueAtMs: 0 }, T0 + 7, 10);

      expect(await given.store.takeDeliveries(T0 + 4_999, MINUTE, 10)).toEqual([]);
      const later = await given.store.takeDeliveries(T0 + 2 * MINUTE, MINUTE, 10);
      expect(later).toMatchObject([{ id: 'a', tries: 1, error: 'status 500' }]);
      const dead = await given.store.listDeliveries({ state: 'dead', offset: 0, limit: 10 });
      expect(dead).toMatchObject({ total: 1, items: [{ id: 'c', changedMs: T0 + 7 }] });
    });

    test('sends one again on request, as if it had not been tried', async () => {
      await given.store.addDeliveries([delivery('a')], T0, MOST);
      const outcome = { state: 'dead', tries: 9, error: 'gone', dueAtMs: 0 } as const;
      await given.store.endDelivery('a', outcome, T0, 10);

      const again = await given.store.redeliver('a', T0 + 5);

      const waiting = { id: 'a', state: 'waiting', tries: 0, error: '', dueAtMs: T0 + 5 };
      expect(again).toMatchObject(waiting);
      expect(await given.store.redeliver('unknown', T0)).toBeUndefined();
      expect(await given.store.takeDeliveries(T0 + 5, MINUTE, 10)).toMatchObject([{ id: 'a' }]);
    });

    test('lists them newest first, and keeps so many that were sent', async () => {
      for (let count = 1; count <= 4; count += 1) {
        await given.store.addDeliveries([delivery(`d${count}`, { atMs: T0 + count })], T0, MOST);
      }
      // Two nodes may have sent the last one.
      for (const id of ['d1', 'd2', 'd3', 'd3']) await given.store.endDelivery(id, SENT, T0, 2);

      const listed = await given.store.listDeliveries({ offset: 0, limit: 2 });
      const sent = await given.store.listDeliveries({ state: 'sent', offset: 1, limit: 5 });

      expect(listed.total).toBe(3);
      expect(listed.items.map(({ id }) => id)).toEqual(['d4', 'd3']);
      expect(sent).toMatchObject({ total: 2, items: [{ id: 'd2' }] });
    });
  });
}
