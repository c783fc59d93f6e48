import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { RetryBudget } from '../../../src/core/hedge.js';
import { KeyRing } from '../../../src/core/key-ring.js';
import { Secret } from '../../../src/core/secret.js';
import { coalesced } from '../../../src/gateway/policies/coalesce.js';
import { hedged } from '../../../src/gateway/policies/hedge.js';
import { keyed } from '../../../src/gateway/policies/keyed.js';
import { leased } from '../../../src/gateway/policies/leased.js';
import { limited } from '../../../src/gateway/policies/limited.js';
import { placed } from '../../../src/gateway/policies/placed.js';
import { Probing } from '../../../src/gateway/policies/probing.js';
import { Queue } from '../../../src/gateway/policies/queue.js';
import {
  WITHDRAWN,
  type Attempt,
  type AttemptOutcome,
  type Candidates,
  type Job,
  type Rank,
  type Turn,
} from '../../../src/gateway/rank.js';
import { createScope, endError, type OwnedScope, type Scope } from '../../../src/gateway/scope.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

/** However a call ends, a policy around it holds nothing afterwards: no place, no key, no listener, no timer. */

const OFFER = offer(1, {
  provider: 'cohere',
  credentials: { apiKey: new Secret('key-of-account-aaaa\nkey-of-account-bbbb') },
  maxConcurrency: 1,
  keyMaxConcurrency: 1,
  requestsPerMinute: 1,
});

/** What is taken and not given back, of everything that a policy of this test takes. */
class Holdings {
  taken = 0;
  isUsedUp = false;

  take<T>(value: T): T {
    this.taken += 1;
    return value;
  }
  giveBack = (): void => {
    this.taken -= 1;
  };
  /** Places as a node has them, of which the first call asks the store. */
  readonly places = {
    takeNow: () => false,
    take: (_: unknown, scope: Scope) => {
      scope.throwIfEnded();
      return Promise.resolve(!this.isUsedUp && this.take(true));
    },
    leave: this.giveBack,
  };
}

type Call = (job: Job) => Promise<AttemptOutcome>;
type Policy = (held: Holdings, call: Call) => (job: Job) => Promise<unknown>;

const ASK = { now: Date.now, attemptTimeoutMs: 1_000 };

/** Two channels, of which a turn asks the first one first. */
function inTurn(turn: Turn): (job: Job) => Promise<unknown> {
  return (asked) => {
    const others = [offer(2)];
    const candidates: Candidates = {
      next: () => others.shift(),
      heard: () => undefined,
      hasMore: () => others.length > 0,
      patienceMs: () => undefined,
      twinOf: () => undefined,
      again: () => undefined,
      whyNone: () => ({ kind: 'switched_off' }),
    };
    return turn(OFFER, asked, candidates);
  };
}

const ownScope = (deadlineMs: number): OwnedScope =>
  createScope(Date.now(), deadlineMs - Date.now());
const ranks =
  (call: Call): Rank =>
  async (asked) => {
    const outcome = await call(asked);
    return outcome.kind === 'ranked' ? outcome : { kind: 'none', why: { kind: 'switched_off' } };
  };
const attempts =
  (call: Call): Attempt =>
  (_, asked) =>
    call(asked);

const POLICIES: Readonly<Record<string, Policy>> = {
  placed: (held, call) => {
    const attempt = placed(held.places)(attempts(call));
    return (asked) => attempt(OFFER, asked);
  },
  limited: (held, call) => {
    const take = () => Promise.resolve(held.isUsedUp ? undefined : held.take(held.giveBack));
    const attempt = limited({ take })(attempts(call));
    return (asked) => attempt(OFFER, asked);
  },
  leased: (held, call) => {
    const attempt = leased({ begin: () => held.take(held.giveBack) }, Date.now, () => undefined);
    return (asked) => attempt(attempts(call))(OFFER, asked);
  },
  keyed: (held, call) => {
    const ring = new KeyRing(2, { most: 1, refusedMs: 1, longestMs: 1 });
    const takeWithKey = () =>
      Promise.resolve(
        held.isUsedUp
          ? ({ kind: 'used_up', limit: 'key_requests_per_minute', untilMs: 9e15 } as const)
          : ({ kind: 'taken', end: held.take(held.giveBack) } as const),
      );
    const attempt = keyed({
      health: {
        ringOf: () => held.take(ring),
        keyEnded: (_route, key, _outcome, nowMs) => {
          held.giveBack();
          ring.done(key, { kind: 'works' }, nowMs);
          return false;
        },
        keyRests: (_route, key, reason, untilMs, nowMs) => {
          held.giveBack();
          ring.done(key, { kind: 'rests', reason, untilMs }, nowMs);
        },
      },
      ...{ limits: { takeWithKey }, places: held.places, now: Date.now },
    })(attempts(call));
    return async (asked) => {
      const outcome = await attempt(OFFER, asked);
      // A ring whose keys all rest gives none, which is nothing to give back.
      if (held.isUsedUp) held.giveBack();
      return outcome;
    };
  },
  hedged: (_held, call) =>
    inTurn(
      hedged(
        {
          ...ASK,
          slowAfterMs: () => 5,
          onOvertaken: () => undefined,
          budget: new RetryBudget(1, 1),
        },
        attempts(call),
      ),
    ),
  probing: (_held, call) => {
    const probing = new Probing({
      ...{ ...ASK, isProbe: ({ id }) => id === OFFER.id, createScope: ownScope },
    });
    return inTurn(probing.layer(attempts(call))((_, asked) => call(asked)));
  },
  queue: (held, call) => {
    const queue = new Queue({ maxWaiting: 9, now: Date.now, usualMs: () => 0 });
    let isFirst = true;
    return queue.layer(10_000)((asked) => {
      if (!isFirst && !held.isUsedUp) return ranks(call)(asked);
      isFirst = false;
      const why = { kind: 'busy', soonestMs: 0, retryAfterMs: 1_000 } as const;
      return Promise.resolve({ kind: 'none', why });
    });
  },
  coalesced: (_held, call) => coalesced(ownScope)(ranks(call)),
};

const LASTING = (asked: Job): Promise<never> =>
  new Promise((_, reject) => {
    const off = asked.scope.onEnd(() => {
      off();
      reject(endError(asked.scope.ended ?? 'lost'));
    });
  });

/** How a call may end; those that throw are the caller's to see. */
const ENDINGS: Readonly<Record<string, { readonly call: Call; readonly throws?: boolean }>> = {
  'is ranked': { call: () => Promise.resolve(ranked(OFFER)) },
  fails: { call: () => Promise.resolve(failed('transient')) },
  'is withdrawn': { call: () => Promise.resolve(WITHDRAWN) },
  rejects: { call: () => Promise.reject(new Error('broken')), throws: true },
  'is left by its caller': { call: LASTING, throws: true },
  'finds the limit used up': { call: () => Promise.resolve(ranked(OFFER)) },
};

/** A scope that counts who still listens to it, or has a child of it. */
function watchedScope() {
  const inner = createScope(Date.now(), 60_000);
  const holders = new Set<object>();
  const watch = (scope: OwnedScope, onRelease: () => void): OwnedScope => ({
    deadlineMs: scope.deadlineMs,
    get ended() {
      return scope.ended;
    },
    end: (reason) => scope.end(reason),
    throwIfEnded: () => scope.throwIfEnded(),
    onEnd: (stop) => {
      const holder = {};
      const off = scope.onEnd(stop);
      holders.add(holder);
      return () => {
        holders.delete(holder);
        off();
      };
    },
    child: () => {
      const holder = {};
      holders.add(holder);
      return watch(scope.child(), () => holders.delete(holder));
    },
    release: () => {
      onRelease();
      scope.release();
    },
  });
  return { scope: watch(inner, () => undefined), holders };
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

it.each(
  Object.keys(POLICIES).flatMap((policy) =>
    Object.keys(ENDINGS).map((ending) => [policy, ending] as const),
  ),
)('%s: once a call %s, nothing is held', async (name, ending) => {
  const policy = POLICIES[name];
  const how = ENDINGS[ending];
  if (policy === undefined || how === undefined) throw new Error('both are in the tables');
  const held = new Holdings();
  held.isUsedUp = ending === 'finds the limit used up';
  const { scope, holders } = watchedScope();

  const ended = policy(
    held,
    how.call,
  )(job({ scope })).then(
    () => 'answered',
    () => 'thrown',
  );
  // A slow one is hedged, and whoever waits in a line gets its turn.
  await jest.advanceTimersByTimeAsync(100);
  if (how.call === LASTING) scope.end('client_gone');
  // Longer than any request lasts: what goes on without a caller has ended as well.
  await jest.advanceTimersByTimeAsync(120_000);

  expect(await ended).toBe(how.throws === true ? 'thrown' : 'answered');
  expect(holders.size).toBe(0);
  scope.release();
  expect(held.taken).toBe(0);
  expect(jest.getTimerCount()).toBe(0);
});
