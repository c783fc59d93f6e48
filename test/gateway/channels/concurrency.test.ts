import { expect, it } from '@jest/globals';
import { placesOf, placesOfKey } from '../../../src/gateway/channels/concurrency.js';
import { offer } from '../../support/offers.js';

it('a channel and each of its keys have places of their own, as many as the channel says', () => {
  const [one, other] = [1, 2].map(
    (id) => offer(id, { maxConcurrency: 9, keyMaxConcurrency: 4 }).route.channel,
  );
  if (one === undefined || other === undefined) throw new Error('there are two');

  const bounds = [one, other].flatMap((of) => [
    placesOf(of),
    placesOfKey(of, 'a'),
    placesOfKey(of, 'b'),
  ]);

  expect(bounds.map(({ most }) => most)).toEqual([9, 4, 4, 9, 4, 4]);
  expect(new Set(bounds.map(({ counter }) => counter)).size).toBe(6);
});

it('a channel without limits has no bound', () => {
  const { channel } = offer(1).route;

  expect([placesOf(channel).most, placesOfKey(channel, 'a').most]).toEqual([0, 0]);
});
