import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Queue } from '../../../src/gateway/policies/queue.js';
import type { Job, Outcome } from '../../../src/gateway/rank.js';
import { createScope, type OwnedScope } from '../../../src/gateway/scope.js';
import { job, offer, ranking } from '../../support/offers.js';

const CHANNEL = offer(1);
const GOOD: Outcome = { kind: 'ranked', ranking: ranking(CHANNEL) };
const FULL: Outcome = { kind: 'none', why: { kind: 'busy', soonestMs: 0, retryAfterMs: 0 } };
const RESTING: Outcome = {
  kind: 'none',
  why: { kind: 'busy', soonestMs: 5_000, retryAfterMs: 5_000 },
};

const UNSERVED: Outcome = { kind: 'none', why: { kind: 'switched_off' } };

const scopes: OwnedScope[] = [];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});

afterEach(() => {
  for (const scope of scopes.splice(0)) scope.release();
  jest.useRealTimers();
});

/** Turns the clock by so much, in which everything due happens. */
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** How long the clock has to be turned until something is settled. */
async function waitOf(promise: Promise<unknown>): Promise<number> {
  const startedMs = Date.now();
  const settled = promise.then(
    () => true,
    () => true,
  );
  const isPending = () => Promise.race([settled.then(() => false), turns().then(() => true)]);
  while (await isPending()) await pass(1);
  return Date.now() - startedMs;
}

/** A channel with so many places behind a queue; each call that has one holds it until `end`. */
function setUp(places: number, { maxWaiting = 100, mostMs = 10_000, usualMs = 0 } = {}) {
  let free = places;
  const ends: (() => void)[] = [];
  const began: number[] = [];
  const queue = new Queue({ maxWaiting, now: Date.now, usualMs: () => usualMs });
  const rank = queue.layer(mostMs)((given) => {
    if (free === 0) return Promise.resolve(FULL);
    free -= 1;
    began.push(given.keyId);
    return new Promise((resolve) => ends.push(() => resolve(GOOD)));
  });
  return {
    ...{ queue, rank, began },
    /** Ends the call that has a place for longest. */
    end: async (): Promise<void> => {
      ends.shift()?.();
      free += 1;
      queue.freed(CHANNEL);
      await turns();
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function of(keyId: number, deadlineMs = 60_000): Job & { readonly scope: OwnedScope } {
  const scope = createScope(Date.now(), deadlineMs);
  scopes.push(scope);
  return { ...job({ keyId, scope }), scope };
}

describe('a queue in front of busy channels', () => {
  it('delays nobody while a place is free', async () => {
    const { rank, end, queue } = setUp(1);
    const served = rank(of(1));

    await end();

    expect(await served).toBe(GOOD);
    expect(queue.waiting).toBe(0);
  });

  it('serves keys in turn, so that one with few requests is not behind those of one with many', async () => {
    const { rank, end, began, queue } = setUp(1);
    const all = [1, 1, 1, 1, 1, 2].map((keyId) => rank(of(keyId)));
    await turns();
    expect(queue.waiting).toBe(5);

    while (began.length < all.length) await end();
    await end();

    expect(began).toEqual([1, 1, 2, 1, 1, 1]);
    expect(await Promise.all(all)).toEqual(all.map(() => GOOD));
    expect(queue.waiting).toBe(0);
  });

  it('lets nobody overtake those who wait', async () => {
    const { rank, end, began } = setUp(1);
    const first = rank(of(1));
    const second = rank(of(2));
    await turns();
    await end();
    const third = rank(of(3));
    await end();
    await end();

    await Promise.all([first, second, third]);
    expect(began).toEqual([1, 2, 3]);
  });

  it('refuses whoever has waited long enough, with when to come back', async () => {
    const { rank, queue } = setUp(0, { mostMs: 20 });
    const refused = rank(of(1));

    expect(await waitOf(refused)).toBe(20);
    expect(await refused).toEqual(FULL);
    expect(queue.waiting).toBe(0);
  });

  it('leaves half of the time until the deadline for the answer', async () => {
    const { rank } = setUp(0);
    const refused = rank(of(1, 200));

    expect(await waitOf(refused)).toBe(100);
    expect(await refused).toEqual(FULL);
  });

  it('refuses at once whoever cannot be served in time, by how fast places became free', async () => {
    const { rank, end, queue } = setUp(1, { mostMs: 600 });
    const waiting = Array.from({ length: 6 }, () => rank(of(1)));
    await turns();
    for (let count = 0; count < 2; count += 1) {
      await pass(100);
      await end();
    }
    const late = rank(of(1));

    expect(await waitOf(late)).toBe(0);
    expect(await late).toMatchObject({ kind: 'none', why: { kind: 'busy' } });
    expect(queue.waiting).toBeGreaterThan(0);
    // One with nothing in the line is soon served, and waits.
    const other = rank(of(2));
    for (let count = 0; count < 8; count += 1) await end();
    expect(await other).toBe(GOOD);
    await Promise.all(waiting);
  });

  it('refuses on arrival whoever it cannot serve, though places become free many at a time', async () => {
    const [places, workMs, mostMs] = [10, 100, 500];
    const { rank, end, began } = setUp(places, { mostMs, usualMs: workMs / places });
    const waits: Promise<void>[] = [];
    let [early, late, small] = [0, 0, 0];
    // Twice as many as there are places for, a twentieth of them of a small key.
    for (let count = 0; count < 1_000; count += 1) {
      const fromMs = Date.now();
      const keyId = count % 20 === 0 ? 2 : 1;
      const heard = rank(of(keyId)).then((outcome) => {
        if (outcome.kind === 'ranked') small += keyId - 1;
        else if (Date.now() - fromMs > 5) late += 1;
        else early += 1;
      });
      waits.push(heard);
      await pass(5);
      if ((count + 1) % 20 === 0) for (let place = 0; place < places; place += 1) await end();
    }
    for (let round = 0; round < 20; round += 1) {
      await pass(workMs / 4);
      await end();
      await end();
      await end();
    }
    await pass(mostMs);
    await Promise.all(waits);

    expect(late).toBeLessThan((late + early) / 100);
    expect(early).toBeGreaterThan(400);
    expect(began.length).toBeGreaterThanOrEqual(500);
    expect(small).toBe(50);
  });

  it('refuses on arrival by what answers usually take, before anybody was served from the line', async () => {
    const { rank, end, queue } = setUp(1, { mostMs: 1_000, usualMs: 200 });
    const waiting = Array.from({ length: 3 }, () => rank(of(1)));

    const late = rank(of(1));

    expect(await waitOf(late)).toBe(0);
    expect(await late).toMatchObject({ why: { kind: 'busy', retryAfterMs: 600 } });
    expect(queue.waiting).toBe(2);
    for (let count = 0; count < 3; count += 1) await end();
    await Promise.all(waiting);
  });

  it('says beforehand who would have no time left behind those who wait', async () => {
    const mostMs = 600;
    const { rank, end, queue } = setUp(1, { mostMs });
    const { model } = of(1);
    const told = (keyId: number): boolean =>
      queue.refusal(model, keyId, Date.now() + 60_000, mostMs) !== undefined;
    expect(told(1)).toBe(false);
    const waiting = Array.from({ length: 6 }, () => rank(of(1)));
    await turns();
    expect(told(1)).toBe(false);
    for (let count = 0; count < 2; count += 1) {
      await pass(100);
      await end();
    }

    expect([told(1), told(2)]).toEqual([true, false]);
    expect(queue.refusal(model, 2, Date.now() + 10, mostMs)).toMatchObject({ kind: 'busy' });
    for (let count = 0; count < 8; count += 1) await end();
    await Promise.all(waiting);
    expect(told(1)).toBe(false);
  });

  it('does not wait for channels that rest for longer', async () => {
    const queue = new Queue({ maxWaiting: 100, now: Date.now, usualMs: () => 0 });
    let asked = 0;
    const rank = queue.layer(1_000)(() => {
      asked += 1;
      return Promise.resolve(RESTING);
    });
    const refused = rank(of(1));

    expect(await waitOf(refused)).toBe(0);
    expect(await refused).toEqual(RESTING);
    expect(asked).toBe(1);
  });

  it('does not wait if waiting would not help', async () => {
    const queue = new Queue({ maxWaiting: 100, now: Date.now, usualMs: () => 0 });
    const rank = queue.layer(1_000)(() => Promise.resolve(UNSERVED));
    const refused = rank(of(1));

    expect(await waitOf(refused)).toBe(0);
    expect(await refused).toBe(UNSERVED);
  });

  it('learns nothing from a time in which nobody waited', async () => {
    const { rank, end, queue } = setUp(1, { mostMs: 300 });
    const before = [rank(of(1)), rank(of(1))];
    await turns();
    for (let count = 0; count < 2; count += 1) {
      await pass(10);
      await end();
    }
    await Promise.all(before);
    await pass(60_000);

    const after = [rank(of(1)), rank(of(1))];
    await turns();
    await pass(10);
    await end();
    after.push(rank(of(1)), rank(of(1)));
    await turns();

    expect(queue.waiting).toBe(2);
    for (let count = 0; count < 3; count += 1) await end();
    expect(await Promise.all(after)).toEqual(after.map(() => GOOD));
  });

  it('takes the place in a full line from whoever has the most there', async () => {
    const { rank, queue } = setUp(0, { maxWaiting: 3, mostMs: 500 });
    const large = [1, 1, 1].map((keyId) => rank(of(keyId)));
    await turns();

    const small = rank(of(2));

    expect(await waitOf(Promise.race([...large, small]))).toBe(0);
    expect(await large[2]).toEqual(FULL);
    expect(queue.waiting).toBe(3);
    expect(await rank(of(1))).toEqual(FULL);
    await pass(500);
    expect(await Promise.all([...large, small])).toEqual([FULL, FULL, FULL, FULL]);
  });

  it('forgets a caller who leaves', async () => {
    const { rank, queue } = setUp(0);
    const leaving = of(1);
    const refused = rank(leaving);
    await turns();

    leaving.scope.end('client_gone');

    await expect(refused).rejects.toMatchObject({ code: 'client_closed_request' });
    expect(queue.waiting).toBe(0);
  });

  it('looks again by itself, for changes that nobody announces', async () => {
    const queue = new Queue({ maxWaiting: 100, now: Date.now, usualMs: () => 0 });
    let isOn = false;
    const rank = queue.layer(5_000)(() => Promise.resolve(isOn ? GOOD : FULL));
    const served = rank(of(1));
    await turns();

    isOn = true;

    expect(await waitOf(served)).toBeLessThanOrEqual(50);
    expect(await served).toBe(GOOD);
  });
});
