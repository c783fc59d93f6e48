import { describe, expect, it } from '@jest/globals';
import { audit } from './audit.js';
import {
  NAMELESS,
  type AttemptSeen,
  type CallSeen,
  type KeySeen,
  type Observations,
  type ProcessSeen,
} from './observations.js';
import { mistakeIn, scoreOf } from './ranking.js';

const PRICE = 5;

const CALL: CallSeen = {
  id: 'chaos-1',
  content: 'c1',
  keyId: 1,
  process: 'gateway 1',
  model: 'plain',
  mostCost: PRICE,
  mostAttempts: 3,
  budgetMs: 3_000,
  sentMs: 10_000,
  endedMs: 10_100,
  end: { kind: 'answered', status: 200, mistake: undefined, cost: PRICE },
};

const ATTEMPT: AttemptSeen = {
  content: 'c1',
  channel: 'one',
  tag: 'blue',
  atMs: 10_020,
  answeredMs: 10_080,
};

const PROCESS: ProcessSeen = {
  name: 'gateway 1',
  killsMs: [],
  terminatedMs: undefined,
  frozen: [],
  exit: undefined,
  alarms: [],
};

const KEY: KeySeen = {
  id: 1,
  granted: 100,
  mayBeGranted: [],
  remain: 100 - PRICE,
  used: PRICE,
  maxConcurrency: 0,
  busy: 0,
};

/** A run in which one call was made, and everything was well, but for what is given. */
function seen(different: Partial<Observations> = {}): Observations {
  return {
    rules: { slackMs: 500, settleMs: 1_000 },
    calls: [CALL],
    attempts: [ATTEMPT],
    off: [],
    processes: [PROCESS],
    keys: [KEY],
    owners: [{ id: 2, granted: 1_000, remain: 995, used: PRICE, keys: [1], reservations: 0 }],
    storeTroubles: [],
    storeLosses: [],
    stalls: [],
    unserved: [],
    ...different,
  };
}

function cut(different: Partial<CallSeen> = {}): CallSeen {
  return { ...CALL, end: { kind: 'cut', how: 'socket hang up' }, ...different };
}

function found(different: Partial<Observations>): string[] {
  return audit(seen(different)).map(({ rule, what }) => `${rule}: ${what}`);
}

describe('an audit of what was seen', () => {
  it('finds nothing where everything was well', () => {
    expect(audit(seen())).toEqual([]);
  });

  it.each<[string, Partial<Observations>, string]>([
    [
      'a connection that nobody cut',
      { calls: [cut()] },
      'answered once: a connection was cut by no kill',
    ],
    [
      'a connection that broke long after a kill',
      { calls: [cut()], processes: [{ ...PROCESS, killsMs: [7_999] }] },
      'answered once: a connection was cut by no kill',
    ],
    [
      'a request that a gateway had taken, and left alone as it ended',
      { calls: [cut()], processes: [{ ...PROCESS, terminatedMs: 10_050 }] },
      'answered once: a connection was cut by no kill',
    ],
    [
      'a request that a gateway had taken, and left alone before it was made again',
      {
        calls: [cut(), { ...CALL, process: 'gateway 2', sentMs: 10_110, endedMs: 10_200 }],
        attempts: [ATTEMPT, { ...ATTEMPT, atMs: 10_120 }],
        processes: [
          { ...PROCESS, terminatedMs: 10_050 },
          { ...PROCESS, name: 'gateway 2' },
        ],
      },
      'answered once: a connection was cut by no kill',
    ],
    [
      'silence',
      { calls: [{ ...CALL, end: { kind: 'silence' } }] },
      'answered once: no answer ever came',
    ],
    [
      'a wrong ranking',
      {
        calls: [{ ...CALL, end: { kind: 'answered', status: 200, mistake: 'a row', cost: PRICE } }],
      },
      'right ranking: a row',
    ],
    [
      'an answer after the deadline',
      { calls: [{ ...CALL, endedMs: 13_600 }] },
      'deadline: answered 600 ms after its deadline',
    ],
    [
      'more attempts than a request may make',
      { attempts: [ATTEMPT, ATTEMPT, ATTEMPT, ATTEMPT] },
      'limits: 4 attempts for 1 calls',
    ],
    [
      'what nobody had asked',
      { attempts: [ATTEMPT, { ...ATTEMPT, content: 'c2' }] },
      'limits: an upstream was asked what nobody had asked',
    ],
    [
      'a health check of a tag that was off',
      {
        attempts: [{ ...ATTEMPT, content: NAMELESS }],
        off: [{ kind: 'tag', name: 'blue', askedMs: 8_900, fromMs: 10_000, toMs: 11_000 }],
      },
      'switched off: 1 attempts on tag blue, which was off',
    ],
    [
      'an attempt on a tag that was off',
      { off: [{ kind: 'tag', name: 'blue', askedMs: 8_900, fromMs: 10_000, toMs: 11_000 }] },
      'switched off: 1 attempts on tag blue, which was off',
    ],
    [
      'an attempt on a channel that was off',
      { off: [{ kind: 'channel', name: 'one', askedMs: 8_900, fromMs: 10_000, toMs: 11_000 }] },
      'switched off: 1 attempts on channel one, which was off',
    ],
    [
      'a key that served though it was disabled',
      { off: [{ kind: 'key', name: '1', askedMs: 8_900, fromMs: 9_000, toMs: 11_000 }] },
      'switched off: key 1 was disabled, and served',
    ],
    [
      'a settlement that was dropped',
      { keys: [{ ...KEY, remain: 100, used: 0 }], owners: [] },
      'money: key 1 was charged 0, and owed 5 to 5',
    ],
    [
      'a call that was charged twice',
      { keys: [{ ...KEY, remain: 90, used: 10 }], owners: [] },
      'money: key 1 was charged 10, and owed 5 to 5',
    ],
    [
      'units that are nowhere',
      { keys: [{ ...KEY, remain: 90 }] },
      'money: key 1 was given 100 and has 90 left of it after 5 were spent',
    ],
    [
      'an account whose sums differ from its keys',
      { owners: [{ id: 2, granted: 1_000, remain: 990, used: 10, keys: [1], reservations: 0 }] },
      'money: user 2 spent 10, and the keys 5',
    ],
    [
      'a reservation that nobody ends',
      { owners: [{ id: 2, granted: 1_000, remain: 995, used: 5, keys: [1], reservations: 1 }] },
      'money: 1 reservations of user 2 are left',
    ],
    ['a place that is held', { keys: [{ ...KEY, busy: 1 }] }, 'money: 1 places of key 1 are held'],
    [
      'two at once on a key that may have one',
      {
        calls: [CALL, { ...CALL, content: 'c2' }],
        attempts: [ATTEMPT, { ...ATTEMPT, content: 'c2', atMs: 10_060 }],
        keys: [{ ...KEY, remain: 90, used: 10, maxConcurrency: 1 }],
        owners: [],
      },
      'limits: 2 requests of key 1 at once, which may have 1',
    ],
    [
      'a process that ends by itself',
      { processes: [{ ...PROCESS, exit: { atMs: 11_000, code: 1 } }] },
      'processes: gateway 1 ended by itself',
    ],
    [
      'a switch that was made well before a failover',
      {
        off: [{ kind: 'tag', name: 'blue', askedMs: 8_900, fromMs: 9_000, toMs: 11_000 }],
        storeLosses: [{ fromMs: 10_500, toMs: 10_600 }],
      },
      'switched off: 1 attempts on tag blue, which was off',
    ],
    [
      'an answer that is late by more than the process was stopped, counted once',
      {
        calls: [{ ...CALL, endedMs: 14_700 }],
        processes: [
          {
            ...PROCESS,
            frozen: [
              { fromMs: 11_000, toMs: 12_000 },
              { fromMs: 11_500, toMs: 12_100 },
            ],
          },
        ],
      },
      'deadline: answered 600 ms after its deadline',
    ],
    [
      'an alarm where the store has lost nothing',
      {
        processes: [{ ...PROCESS, alarms: ['5 units were not charged: the reservation is gone'] }],
      },
      'processes: gateway 1 raised an alarm',
    ],
    [
      'a model that does not come back',
      { unserved: ['plain on gateway 1'] },
      'recovery: plain on gateway 1 is not served again',
    ],
  ])('finds %s', (_what, different, violation) => {
    expect(found(different)).toContain(violation);
  });

  it.each<[string, Partial<Observations>]>([
    [
      'a connection that a kill cut, and the charge that nobody can know of',
      { calls: [cut()], processes: [{ ...PROCESS, killsMs: [10_050] }] },
    ],
    [
      'a connection that broke once a process had its turn to end after a kill',
      { calls: [cut()], processes: [{ ...PROCESS, killsMs: [8_000] }] },
    ],
    [
      'a connection that closed unheard as a gateway ended, and the same request made elsewhere',
      {
        calls: [cut(), { ...CALL, process: 'gateway 2', sentMs: 10_110, endedMs: 10_200 }],
        attempts: [{ ...ATTEMPT, atMs: 10_120 }],
        processes: [
          { ...PROCESS, terminatedMs: 10_050 },
          { ...PROCESS, name: 'gateway 2' },
        ],
      },
    ],
    [
      'a settlement that a kill came before',
      {
        processes: [{ ...PROCESS, killsMs: [10_500] }],
        keys: [{ ...KEY, remain: 100, used: 0 }],
        owners: [],
      },
    ],
    [
      'a change of quota whose answer was lost',
      { keys: [{ ...KEY, remain: 125, mayBeGranted: [30, 7] }], owners: [] },
    ],
    [
      'the one request that a stopped process was writing, when it goes on',
      {
        off: [{ kind: 'tag', name: 'blue', askedMs: 8_900, fromMs: 10_000, toMs: 11_000 }],
        processes: [{ ...PROCESS, frozen: [{ fromMs: 9_000, toMs: 10_019 }] }],
      },
    ],
    [
      'the time for which a process was stopped, on top of a deadline',
      {
        calls: [{ ...CALL, endedMs: 14_000 }],
        processes: [{ ...PROCESS, frozen: [{ fromMs: 11_000, toMs: 12_000 }] }],
      },
    ],
    [
      'a switch that a failover may have undone',
      {
        off: [{ kind: 'tag', name: 'blue', askedMs: 8_900, fromMs: 9_000, toMs: 11_000 }],
        storeLosses: [{ fromMs: 9_500, toMs: 9_600 }],
      },
    ],
    [
      'a settlement that finds no reservation after a failover',
      {
        processes: [{ ...PROCESS, alarms: ['5 units were not charged: the reservation is gone'] }],
        storeLosses: [{ fromMs: 1_000, toMs: 1_100 }],
      },
    ],
    ['a health check', { attempts: [ATTEMPT, { ...ATTEMPT, content: NAMELESS }] }],
  ])('excuses %s', (_what, different) => {
    expect(found(different)).toEqual([]);
  });
});

describe('a ranking', () => {
  const asked = { query: 'q', documents: ['a', 'b', 'c', 'a'], topN: 4, echo: true };
  const right = asked.documents
    .map((document, index) => ({ index, score: scoreOf('q', document), document }))
    .sort((one, other) => other.score - one.score);

  it('is right with equal scores in either order', () => {
    const other = [...right].sort((one, two) => two.score - one.score || two.index - one.index);

    expect(mistakeIn(asked, right)).toBeUndefined();
    expect(mistakeIn(asked, other)).toBeUndefined();
  });

  it.each<[string, (typeof right)[number][]]>([
    ['too few rows', right.slice(1)],
    ['rows that are not best first', [...right].reverse()],
    ['a row twice', right.map(() => right[0] ?? { index: 0, score: 0, document: '' })],
    ['a score of another', right.map((row, at) => (at === 0 ? { ...row, score: 0 } : row))],
    ['a document of another', right.map((row, at) => (at === 0 ? { ...row, document: 'z' } : row))],
  ])('is wrong with %s', (_what, rows) => {
    expect(mistakeIn(asked, rows)).toEqual(expect.any(String));
  });
});
