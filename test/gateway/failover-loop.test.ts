import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { RetryBudget } from '../../src/core/hedge.js';
import { attemptShareMs } from '../../src/core/retry.js';
import { ask, failover, type FailoverDeps } from '../../src/gateway/failover.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Offer } from '../../src/gateway/rank.js';
import { createScope, type OwnedScope } from '../../src/gateway/scope.js';
import { failed, job, offer, ranked } from '../support/offers.js';

/** The decisions of failover with outcomes that the test gives; failover.test.ts has real upstreams. */

const MOST = 3;
const PASSING = failed('transient', { status: 503 });

const scopes: OwnedScope[] = [];
afterEach(() => {
  for (const scope of scopes.splice(0)) scope.release();
});

function ownScope(): OwnedScope {
  const scope = createScope(Date.now(), 60_000);
  scopes.push(scope);
  return scope;
}

function candidatesOf(offers: readonly Offer[], comesAgain = false): Candidates {
  let left = [...offers];
  return {
    next: () => left.shift(),
    heard: () => undefined,
    hasMore: () => left.length > 0,
    patienceMs: () => undefined,
    twinOf: () => undefined,
    again: () => {
      if (comesAgain) left = [...offers];
    },
    whyNone: () => ({ kind: 'switched_off' }),
  };
}

/** Failover over channels that answer as `outcomes` says, one after the other. */
function setUp(
  outcomes: readonly (AttemptOutcome | ((job: Job) => AttemptOutcome))[],
  given: Partial<FailoverDeps> & { readonly offers?: number; readonly comesAgain?: boolean } = {},
) {
  const { offers = outcomes.length, comesAgain = false, ...deps } = given;
  const asked: number[] = [];
  const waits: number[] = [];
  const rank = failover(
    {
      freshness: { isFresh: () => true, ensureFresh: () => Promise.resolve() },
      maxAttempts: MOST,
      candidatesOf: () =>
        candidatesOf(
          Array.from({ length: offers }, (_, at) => offer(at + 1)),
          comesAgain,
        ),
      retries: new RetryBudget(1),
      now: Date.now,
      random: () => 0.5,
      wait: (ms) => {
        waits.push(ms);
        return Promise.resolve();
      },
      ...deps,
    },
    (from, given) => {
      const outcome = outcomes[asked.length] ?? failed('transient');
      asked.push(from.id);
      return Promise.resolve(typeof outcome === 'function' ? outcome(given) : outcome);
    },
  );
  return { rank, asked, waits };
}

describe('failover', () => {
  it('makes as many attempts as allowed, of which those that were withdrawn are none', async () => {
    const { rank, asked } = setUp([
      ...[PASSING, { kind: 'withdrawn' } as const, { kind: 'withdrawn' } as const],
      ...[PASSING, PASSING, ranked(offer(6))],
    ]);

    expect(await rank(job())).toMatchObject({ kind: 'none' });

    expect(asked).toEqual([1, 2, 3, 4, 5]);
  });

  it('ends at once with a failure that is the caller’s', async () => {
    const { rank, asked } = setUp([failed('caller'), ranked(offer(2))]);

    expect(await rank(job())).toMatchObject({ kind: 'none', why: { kind: 'refused' } });

    expect(asked).toEqual([1]);
  });

  it.each([
    ['one that is refused', 1, 'ranked'],
    ['two that are refused', 2, 'none'],
  ])('with %s goes on: %#', async (_, refusals, kind) => {
    const { rank } = setUp([
      ...Array.from({ length: refusals }, () => failed('rejected')),
      ranked(offer(9)),
    ]);

    expect(await rank(job())).toMatchObject({ kind });
  });

  it('sends nothing before it knows the channels well enough', async () => {
    let isFresh = false;
    const order: string[] = [];
    const { rank } = setUp(
      [
        () => {
          order.push('asked');
          return ranked(offer(1));
        },
      ],
      {
        freshness: {
          isFresh: () => isFresh,
          ensureFresh: () => {
            order.push('fresh');
            isFresh = true;
            return Promise.resolve();
          },
        },
      },
    );

    await rank(job());

    expect(order).toEqual(['fresh', 'asked']);
  });

  it.each(['knowing the channels', 'asking again'])(
    'does not wait for %s once its request has ended',
    async (what) => {
      const scope = ownScope();
      const never = () => {
        scope.end('client_gone');
        return new Promise<void>(() => undefined);
      };
      const { rank } =
        what === 'asking again'
          ? setUp([PASSING], { wait: never })
          : setUp([], { freshness: { isFresh: () => false, ensureFresh: never } });

      await expect(rank(job({ scope }))).rejects.toMatchObject({ code: 'client_closed_request' });
    },
  );

  it.each([
    [1, MOST],
    [2, MOST],
    [2, 1],
  ])(
    'asks nobody else once its request has ended: %d channels, %d attempts',
    async (offers, maxAttempts) => {
      const scope = ownScope();
      const { rank, asked } = setUp(
        [
          () => {
            scope.end('deadline');
            return failed('transient');
          },
        ],
        { offers, maxAttempts },
      );

      await expect(rank(job({ scope }))).rejects.toMatchObject({ code: 'upstream_timeout' });

      expect(asked).toEqual([1]);
    },
  );

  it('asks one that was given up early at once, and pauses for what it says then', async () => {
    const early = failed('timeout', { isEarly: true });
    const { rank, waits } = setUp([early, PASSING, PASSING], { offers: 1, comesAgain: true });

    await rank(job());

    expect(waits).toEqual([0, expect.any(Number)]);
    expect(waits[1]).toBeGreaterThan(0);

    const before = setUp([early, PASSING, ranked(offer(1))], { offers: 2, comesAgain: true });
    await before.rank(job());
    expect([before.asked, before.waits]).toEqual([[1, 2, 1], [0]]);
  });

  it('asks a channel once more after a pause, and pauses once for each failure', async () => {
    const again = setUp([PASSING, ranked(offer(1))], { offers: 1, comesAgain: true });
    expect(await again.rank(job())).toMatchObject({ kind: 'ranked' });
    expect([again.asked, again.waits]).toEqual([[1, 1], [50]]);

    const gone = setUp([PASSING], { offers: 1 });
    expect(await gone.rank(job())).toMatchObject({ kind: 'none' });
    expect(gone.waits).toHaveLength(1);
  });

  it('asks again only as often as a share of the requests pays for', async () => {
    const retries = new RetryBudget(0.5, 1);
    const pauses: number[] = [];
    for (let request = 0; request < 3; request += 1) {
      const { rank, waits } = setUp([PASSING], { offers: 1, retries });
      await rank(job());
      pauses.push(waits.length);
    }

    expect(pauses).toEqual([1, 0, 1]);
  });

  it('spends nothing of that share where nothing would be asked again', async () => {
    const retries = new RetryBudget(1);
    const spend = jest.spyOn(retries, 'spend');

    await setUp([failed('invalid')], { retries }).rank(job());

    expect(spend).not.toHaveBeenCalled();
  });
});

describe('the time of an attempt', () => {
  const NOW = 1_000_000;
  const LEFT_MS = 10_000;
  const SHARE_MS = attemptShareMs(LEFT_MS);

  async function mostOf(channelMs: number | undefined, attemptMs: number, others: number) {
    const scope = createScope(NOW, LEFT_MS);
    scopes.push(scope);
    let most: number | undefined;
    const attempt: Attempt = (from, { mostMs }) => {
      most = mostMs;
      return Promise.resolve(ranked(from));
    };
    const from = offer(1, channelMs === undefined ? {} : { timeoutMs: channelMs });
    const rest = candidatesOf(Array.from({ length: others }, (_, at) => offer(at + 2)));
    const deps = { now: () => NOW, attemptTimeoutMs: attemptMs };
    await ask(deps, attempt, from, { ...job(), scope, mostMs: 77 }, rest);
    return most;
  }

  it.each([
    ['leaves some for another channel', undefined, LEFT_MS, 1, SHARE_MS],
    ['is not cut if no other channel is left', undefined, LEFT_MS, 0, 77],
    ['is not cut if it is short anyway', undefined, SHARE_MS, 1, 77],
    ['is that of the channel if it has its own, long', LEFT_MS, 1, 1, SHARE_MS],
    ['is that of the channel if it has its own, short', 1, LEFT_MS, 1, 77],
  ])('%s', async (_, channelMs, attemptMs, others, expected) => {
    expect(await mostOf(channelMs, attemptMs, others)).toBe(expected);
  });

  it.each([LEFT_MS, 1])(
    'that is longer than usual is shorter than it has anyway: %d ms',
    async (ms) => {
      const scope = createScope(NOW, LEFT_MS);
      scopes.push(scope);
      const limits: number[] = [];
      const patienceMs = (_offer: Offer, limitMs: number): undefined => void limits.push(limitMs);
      const deps = { now: () => NOW, attemptTimeoutMs: ms };

      await ask(
        deps,
        (from) => Promise.resolve(ranked(from)),
        offer(1),
        { ...job(), scope },
        { ...candidatesOf([offer(2)]), patienceMs },
      );

      expect(limits).toEqual([Math.min(ms, SHARE_MS)]);
    },
  );
});
