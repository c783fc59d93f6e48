import { describe, expect, it } from '@jest/globals';
import { placed } from '../../../src/gateway/policies/placed.js';
import { job, offer, ranked } from '../../support/offers.js';

function setUp(free: number) {
  const places = { free, asked: 0 };
  const layer = placed({
    takeNow: () => {
      if (places.free === 0) return false;
      places.free -= 1;
      return true;
    },
    take: () => {
      places.asked += 1;
      return Promise.resolve(false);
    },
    leave: () => (places.free += 1),
  });
  return { places, layer };
}

describe('a call of a channel that may have so many in flight', () => {
  it('takes a place, and leaves it however it ends', async () => {
    const { places, layer } = setUp(1);
    const bounded = offer(1, { maxConcurrency: 1 });
    const seen: number[] = [];

    await layer((from) => {
      seen.push(places.free);
      return Promise.resolve(ranked(from));
    })(bounded, job());
    const failing = layer(() => Promise.reject(new Error('the caller left')))(bounded, job());

    await expect(failing).rejects.toThrow('the caller left');
    expect(seen).toEqual([0]);
    expect(places.free).toBe(1);
  });

  it('is not sent if none is free', async () => {
    const { places, layer } = setUp(0);
    const attempt = layer(() => Promise.reject(new Error('sent')));

    expect(await attempt(offer(1, { maxConcurrency: 1 }), job())).toEqual({ kind: 'withdrawn' });
    expect(places).toEqual({ free: 0, asked: 1 });
  });

  it('needs none if there is no limit', async () => {
    const { places, layer } = setUp(0);

    const outcome = await layer((from) => Promise.resolve(ranked(from)))(offer(1), job());

    expect(outcome.kind).toBe('ranked');
    expect(places.asked).toBe(0);
  });
});
