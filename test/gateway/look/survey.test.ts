import { describe, expect, it } from '@jest/globals';
import { fc } from '../../support/property.js';
import type { Availability } from '../../../src/gateway/channels/state.js';
import type { Offer } from '../../../src/gateway/rank.js';
import { surveyOf } from '../../../src/gateway/look/survey.js';
import { allOf, candidates, depsOf, T0, type Given } from '../../support/candidates.js';
import { job, offer } from '../../support/offers.js';

describe('a survey of the candidates', () => {
  const offers = [
    offer(1, { weight: 5 }),
    offer(2, { weight: 0 }),
    offer(3, { weight: 2 }),
    offer(4, { weight: 3, tag: 'other' }),
    offer(5, { weight: 1 }),
    offer(6, { weight: 2, priority: 1, status: 2 }),
    offer(7, { weight: 2, settings: { maxDocuments: 2 } }),
    offer(8, { priority: -1 }),
  ];
  const given: Given = {
    availability: ({ id }) => (id === 5 ? { kind: 'until', atMs: T0 + 900 } : { kind: 'ready' }),
    load: ({ id }) => 10 - id,
    expectedMs: ({ id }) => (id === 3 ? 5 : 9),
  };
  const asked = job({ admits: (route) => route.channel.tag !== 'other' });

  it('says what keeps each of the others out', () => {
    const { passedOver } = surveyOf(depsOf(offers, given), asked);

    expect(passedOver.map(({ offer: { id }, obstacle }) => [id, obstacle])).toEqual([
      [4, { kind: 'tag' }],
      [5, { kind: 'busy', availability: { kind: 'until', atMs: T0 + 900 } }],
      [6, { kind: 'switched_off' }],
      [7, { kind: 'misfit', misfit: { limit: 'documents', most: 2 } }],
    ]);
  });

  it.each(['weighted', 'least_busy', 'fastest', 'cheapest', 'sticky'] as const)(
    'has exactly those that are handed out, as often as it says: %s',
    (select) => {
      const rounds = 3_000;
      const counts = new Map<number, number>();
      const handedOut = new Set<string>();
      const { prospects } = surveyOf(depsOf(offers, { ...given, select }), asked);

      for (let round = 0; round < rounds; round += 1) {
        const from = candidates(offers, { ...given, select, random: Math.random }, asked);
        const order = allOf(from);
        const [first = 0] = order;
        handedOut.add(order.toSorted().join());
        counts.set(first, (counts.get(first) ?? 0) + 1);
      }

      const told = prospects.map(({ offer: { id } }) => id);
      expect([...handedOut]).toEqual([told.toSorted().join()]);
      for (const { offer: one, chance } of prospects) {
        // The only one of its priority, and never first.
        if (one.id === 8) expect([told.at(-1), chance]).toEqual([8, 1]);
        else expect((counts.get(one.id) ?? 0) / rounds).toBeCloseTo(chance, 1);
      }
    },
  );

  it('is in the order in which they are tried, if each has a priority of its own', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        (priorities, chances, isOut) => {
          const tiers = priorities.map((priority, at) => offer(at + 1, { priority }));
          const availability = ({ id }: Offer): Availability =>
            isOut[id - 1] === true ? { kind: 'full' } : { kind: 'ready' };
          const random = (): number => Number(chances.next().value);

          const { prospects } = surveyOf(depsOf(tiers, { availability }), job());

          expect(prospects.map(({ offer: { id } }) => id)).toEqual(
            allOf(candidates(tiers, { availability, random })),
          );
        },
      ),
    );
  });
});
