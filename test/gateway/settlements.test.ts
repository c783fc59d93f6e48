import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { Settlements } from '../../src/gateway/settlements.js';
import { LAPSED_MS, StoreUnavailableError, type Settlement } from '../../src/store/store.js';

const T0 = Date.parse('2026-11-01T12:00:00Z');
const EXPIRES_MS = T0 + 60_000;

const settlement: Settlement = {
  tokenId: 1,
  userId: 1,
  reservationId: 'rr_1',
  amount: 10,
  cost: 7,
  served: true,
  nowMs: T0,
};

/** What the store says to one try, and when. */
interface Answer {
  readonly charged: number | undefined | 'none' | 'not asked';
  readonly atMs?: number;
}

/** Settles with a store that answers so, one answer for each try; resolves to what was observed. */
function settle(...answers: readonly Answer[]): Promise<readonly GatewayEvent[]> {
  return settleAt(settlement.cost, ...answers);
}

async function settleAt(
  cost: number,
  ...answers: readonly Answer[]
): Promise<readonly GatewayEvent[]> {
  const events: GatewayEvent[] = [];
  let nowMs = T0;
  let tries = 0;
  const settlements = new Settlements({
    store: {
      settle() {
        const { charged, atMs = T0 } = answers[tries] ?? { charged: 'none' };
        tries += 1;
        nowMs = atMs;
        if (typeof charged !== 'string') return Promise.resolve(charged);
        const didNothing = charged === 'not asked';
        return Promise.reject(
          new StoreUnavailableError('The store is not available.', { didNothing }),
        );
      },
    },
    observe: (event) => events.push(event),
    now: () => nowMs,
  });
  void settlements.add({ ...settlement, cost }, EXPIRES_MS);
  await settlements.drained();
  expect(tries).toBe(answers.length);
  expect(settlements.size).toBe(0);
  return events;
}

afterEach(() => {
  jest.useRealTimers();
});

describe('a settlement', () => {
  it('that succeeds is not reported, at once or when it is tried again', async () => {
    expect(await settle({ charged: 7 })).toEqual([]);
    expect(await settle({ charged: 'none' }, { charged: 7 })).toEqual([]);
  });

  it('whose answer was lost is not reported when it turns out to be done', async () => {
    expect(await settle({ charged: 'none' }, { charged: undefined })).toEqual([]);
    const late = { charged: undefined, atMs: EXPIRES_MS + LAPSED_MS - 1 };
    expect(await settle({ charged: 'none' }, late)).toEqual([]);
  });

  it('whose answer was lost leaves open what was charged when it is gone', async () => {
    let tries = 0;
    const settlements = new Settlements({
      store: {
        settle: () => {
          tries += 1;
          return tries === 1
            ? Promise.reject(new StoreUnavailableError('no answer'))
            : Promise.resolve(undefined);
        },
      },
      observe: () => undefined,
      now: () => T0,
    });
    const charged = settlements.add(settlement, EXPIRES_MS);
    await settlements.drained();

    expect(await charged).toBeUndefined();
  });

  it('that never reached the store before is reported if its reservation is gone', async () => {
    expect(await settle({ charged: 'not asked' }, { charged: undefined })).toMatchObject([
      { kind: 'fault', what: '7 units were not charged', unsettled: 7 },
    ]);
  });

  it('is waited for until all that are under way have ended', async () => {
    const ends: ((charged: number) => void)[] = [];
    const settlements = new Settlements({
      store: { settle: () => new Promise<number>((resolve) => ends.push(resolve)) },
      observe: () => undefined,
      now: () => T0,
    });
    let isDrained = false;
    void settlements.add(settlement, EXPIRES_MS);
    void settlements.add(settlement, EXPIRES_MS);
    const drained = settlements.drained().then(() => (isDrained = true));

    ends[0]?.(7);
    await new Promise((resolve) => setImmediate(resolve));
    expect([isDrained, settlements.size]).toEqual([false, 1]);
    ends[1]?.(7);
    await drained;

    expect(settlements.size).toBe(0);
  });

  it('that costs nothing is not reported when it comes too late', async () => {
    expect(await settleAt(0, { charged: undefined })).toEqual([]);
  });

  it('that comes too late is reported as not charged', async () => {
    expect(await settle({ charged: undefined })).toMatchObject([
      {
        kind: 'fault',
        what: '7 units were not charged',
        error: {
          message:
            'the reservation is gone: its account was deleted, it expired more than ten minutes ago, or the store has lost it',
        },
        requestId: 'rr_1',
      },
    ]);
  });

  it('is reported as open when an earlier try or the end of the reservation may be why it is gone', async () => {
    const late = { charged: undefined, atMs: EXPIRES_MS + LAPSED_MS };

    expect(await settle({ charged: 'none' }, late)).toMatchObject([
      {
        kind: 'fault',
        what: '7 units may not have been charged: an earlier try had no answer',
        requestId: 'rr_1',
      },
    ]);
  });

  it('is retried beyond the life of its reservation: nobody gives it back while the store is away', async () => {
    const away = { charged: 'not asked', atMs: EXPIRES_MS + 3_600_000 } as const;

    expect(await settle(away, { charged: 7, atMs: away.atMs })).toEqual([]);
  });

  it.each([
    [2, []],
    [1, ['ended']],
  ])('is given up once its reservation has ended if more than %i wait', async (most, givenUp) => {
    jest.useFakeTimers({ now: T0 });
    const given: unknown[] = [];
    const away = new StoreUnavailableError('away', { didNothing: true });
    const settlements = new Settlements(
      {
        store: { settle: () => Promise.reject(away) },
        observe: (event) => given.push('requestId' in event && event.requestId),
        now: Date.now,
      },
      most,
    );

    void settlements.add({ ...settlement, reservationId: 'ended' }, T0 + 1_000);
    void settlements.add(settlement, EXPIRES_MS);
    await jest.advanceTimersByTimeAsync(5_000);

    expect(given).toEqual(givenUp);
  });

  it('is given up when the process ends before the store is back', async () => {
    const events: GatewayEvent[] = [];
    const away = new StoreUnavailableError('The store is not available.', { didNothing: true });
    let tries = 0;
    const settlements = new Settlements({
      store: {
        settle: () => {
          tries += 1;
          return tries === 1 ? Promise.reject(away) : Promise.resolve(7);
        },
      },
      observe: (event) => events.push(event),
      now: () => T0,
    });

    const charged = settlements.add(settlement, EXPIRES_MS);
    // The next try would come 100 ms later.
    await settlements.drained(T0 + 100);

    expect(await charged).toBeUndefined();
    expect(events).toMatchObject([{ kind: 'fault', what: 'settlement of 7 units given up' }]);
  });

  it('is tried at once when the store is back', async () => {
    jest.useFakeTimers();
    let isBack = false;
    let tries = 0;
    const settlements = new Settlements({
      store: {
        settle: () => {
          tries += 1;
          return isBack
            ? Promise.resolve(7)
            : Promise.reject(new StoreUnavailableError('away', { didNothing: true }));
        },
      },
      observe: () => undefined,
      now: () => T0,
    });
    const charged = settlements.add(settlement, EXPIRES_MS);
    while (tries < 4) await jest.advanceTimersByTimeAsync(10);
    // The next try would come 800 ms after the last one.
    isBack = true;

    settlements.storeIsBack();
    // The clock stands still.
    expect(await charged).toBe(7);
  });
});

describe('a settlement that the store does not answer', () => {
  /** A store that is away until the test says otherwise, and the times at which it was asked. */
  function away() {
    jest.useFakeTimers({ now: T0 });
    const state = { isBack: false };
    const triedMs: number[] = [];
    const settlements = new Settlements({
      store: {
        settle: () => {
          triedMs.push(Date.now() - T0);
          return state.isBack
            ? Promise.resolve(7)
            : Promise.reject(new StoreUnavailableError('away', { didNothing: true }));
        },
      },
      observe: () => undefined,
      now: Date.now,
    });
    return { state, triedMs, settlements };
  }

  it('is tried again after pauses that double, of five seconds at most', async () => {
    const { state, triedMs, settlements } = away();
    const charged = settlements.add(settlement, EXPIRES_MS);
    await jest.advanceTimersByTimeAsync(17_000);
    const pauses = triedMs.slice(1).map((atMs, index) => atMs - (triedMs[index] ?? 0));
    state.isBack = true;
    settlements.storeIsBack();
    await charged;

    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it('is tried at once when all are to be settled', async () => {
    const { state, settlements } = away();
    const charged = settlements.add(settlement, EXPIRES_MS);
    await jest.advanceTimersByTimeAsync(7_000);
    state.isBack = true;

    // The clock stands still.
    await settlements.drained();

    expect(await charged).toBe(7);
  });

  it('is reported as open if one of its tries may have done it, whatever became of the next', async () => {
    const late = { charged: undefined, atMs: EXPIRES_MS + LAPSED_MS };

    expect(await settle({ charged: 'none' }, { charged: 'not asked' }, late)).toMatchObject([
      { kind: 'fault', what: '7 units may not have been charged: an earlier try had no answer' },
    ]);
  });
});

describe('an admission whose answer was lost', () => {
  const request = { ...settlement, version: 1, keyHash: 'hash', expiresAtMs: EXPIRES_MS };

  it('is ended at no cost, and looked for again if it was not there yet', async () => {
    const seen: Settlement[] = [];
    const settlements = new Settlements({
      store: {
        settle: (asked) => {
          seen.push(asked);
          return Promise.resolve(seen.length === 1 ? undefined : 0);
        },
      },
      observe: () => undefined,
      now: () => T0,
    });

    settlements.abandon(request);
    expect(settlements.size).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toHaveLength(1);
    settlements.storeIsBack();
    await settlements.drained();

    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ reservationId: 'rr_1', amount: 10, cost: 0, served: false });
  });

  it('is not looked for again by a process that must end sooner', async () => {
    let tries = 0;
    const settlements = new Settlements({
      store: {
        settle: () => {
          tries += 1;
          return Promise.resolve(undefined);
        },
      },
      observe: () => undefined,
      now: () => T0,
    });
    const drained = settlements.drained(T0 + 1_000);

    settlements.abandon(request);
    await Promise.all([drained, settlements.drained(T0 + 1_000)]);

    expect(tries).toBe(1);
  });
});
