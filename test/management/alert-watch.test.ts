import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { bucketOf, writeSpendKey } from '../../src/core/rollups.js';
import { Secret } from '../../src/core/secret.js';
import { count, newTally } from '../../src/core/tally.js';
import { OPEN_POLICY } from '../../src/core/token.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { watchAlerts, type AlertWatchDeps } from '../../src/management/alert-watch.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { StoreUnavailableError, type Credential, type Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { eventAlerts } from '../../src/telemetry/event-alerts.js';
import { StoreAlerts } from '../../src/telemetry/store-alerts.js';
import {
  admitRequest,
  createToken,
  createUser,
  newChannel,
  settlement,
  T0,
  unique,
} from '../store/contract/harness.js';
import { report } from '../support/nodes.js';
import { PATIENT, startRedis } from '../support/redis-server.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const VAULT = createVault(new Secret('a key for the tests of alerts'));
/** An hour into a day of UTC. */
const START = Math.floor(T0 / DAY_MS) * DAY_MS + HOUR_MS;
const DAILY = { budgetPeriod: 'day', budgetTimeZone: 'UTC' } as const;

const STORES = {
  async 'the embedded store'() {
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    const store = openSqliteStore({ file: join(folder, 'gateway.db'), vault: VAULT });
    const close = async (): Promise<void> => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return Promise.resolve({ store, close });
  },
  async Redis() {
    const server = await startRedis();
    const store = await openRedisStore({
      ...{ url: server.url, vault: VAULT, clock: 'caller', ...PATIENT },
    });
    const close = async (): Promise<void> => {
      await store.close();
      await server.stop();
    };
    return { store, close };
  },
} satisfies Record<string, () => Promise<{ store: Store; close: () => Promise<void> }>>;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** Two gateways that watch one store, and a clock that the test moves on. */
async function watched(open: () => Promise<{ store: Store; close: () => Promise<void> }>) {
  const { store, close } = await open();
  cleanUps.push(close);
  await store.begin();
  let nowMs = START;
  let serial = 0;
  const fleet = { backupMs: undefined as number | Error | undefined };
  const deps: AlertWatchDeps = {
    ...{ store, now: () => nowMs, statsDays: 400 },
    rules: () => ({ endingDays: [7, 1], backupMaxMs: 2 * DAY_MS }),
    lastBackupMs: () =>
      fleet.backupMs instanceof Error
        ? Promise.reject(fleet.backupMs)
        : Promise.resolve(fleet.backupMs),
    deliver: ({ type, summary }, condition) => {
      sent.push({ said: `${type} ${condition.value}`.trim(), summary, condition });
    },
  };
  let sent: { said: string; summary: string; condition: { key: string; value: string } }[] = [];
  const look = async (): Promise<string[]> => {
    nowMs += 30_000;
    sent = [];
    const looks = await Promise.allSettled([watchAlerts(deps), watchAlerts(deps)]);
    const failed = looks.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    );
    expect(failed).toEqual(fleet.backupMs instanceof Error ? [fleet.backupMs] : []);
    for (const { condition } of sent) await store.addDeliveries([], nowMs, 1, condition);
    return sent.map(({ said }) => said);
  };
  return {
    ...{ store, fleet, now: () => nowMs, nowS: () => nowMs / 1_000 },
    summary: () => sent[0]?.summary,
    pass: (ms: number): void => void (nowMs += ms),
    /** What two gateways report together; looking again reports nothing. */
    told: async (): Promise<string[]> => {
      const said = await look();
      expect(await look()).toEqual([]);
      return said;
    },
    spend: async (key: Credential, units: number): Promise<void> => {
      const asked = admitRequest(key, { amount: units, nowMs });
      const { kind } = await store.admit(asked);
      if (kind !== 'admitted') throw new Error(`not admitted: ${kind}`);
      await store.settle(settlement(asked, { cost: units }));
      const tally = newTally();
      count(tally, { requests: 1, quota: units }, 5);
      const { id: tokenId, userId: owner } = key.token;
      const about = { tokenId, model: 'm', channelId: 1, provider: 'p', tag: undefined };
      const row = writeSpendKey(about);
      const expiresMs = nowMs + 9 * DAY_MS;
      const addition = { rollup: 'spend_hour', owner, key: row, otherKey: row, expiresMs } as const;
      serial += 1;
      await store.addStats({
        ...{ writer: 'a node', serial, nowMs, maxRows: 100 },
        additions: [{ ...addition, atMs: bucketOf('spend_hour', nowMs), tally }],
      });
    },
  };
}
type Watched = Awaited<ReturnType<typeof watched>>;

/** What is done to a store, step by step, and what people are told after each. */
const STORIES: readonly (readonly [
  string,
  (of: Watched) => Promise<readonly (readonly [() => unknown, readonly string[]])[]>,
])[] = [
  [
    'the budget of a key',
    async ({ store, spend, pass }) => {
      const policy = { ...OPEN_POLICY, ...DAILY, budget: 1_000 };
      const key = await createToken(store, { policy, unlimitedQuota: true });
      return [
        [() => spend(key, 790), []],
        [() => spend(key, 10), ['budget.reached 80']],
        [() => spend(key, 200), ['budget.reached 100']],
        [() => pass(DAY_MS), ['budget.ended']],
      ];
    },
  ],
  [
    'the budget of a key, while more than a thousand others spend less',
    async ({ store, spend, now }) => {
      const policy = { ...OPEN_POLICY, ...DAILY, budget: 1_000 };
      const key = await createToken(store, { policy, unlimitedQuota: true });
      const others = Array.from({ length: 1_001 }, (_, index) => {
        const tally = newTally();
        count(tally, { requests: 1, quota: 1 }, 5);
        const about = { tokenId: 1_000 + index, model: 'm', channelId: 1, provider: 'p' };
        const row = writeSpendKey({ ...about, tag: undefined });
        return {
          ...{ rollup: 'spend_hour' as const, atMs: bucketOf('spend_hour', now()) },
          ...{ owner: 1, key: row, otherKey: row, expiresMs: now() + DAY_MS, tally },
        };
      });
      const batch = { writer: 'others', serial: 1, nowMs: now(), maxRows: 2_000 };
      await store.addStats({ ...batch, additions: others });
      return [[() => spend(key, 850), ['budget.reached 80']]];
    },
  ],
  [
    'the budget of an account',
    async ({ store, spend, pass }) => {
      const userId = await createUser(store, { ...DAILY, budget: 1_000 });
      const key = await createToken(store, { userId, unlimitedQuota: true });
      return [
        [() => spend(key, 850), ['budget.reached 80']],
        [() => spend(key, 150), ['budget.reached 100']],
        [() => pass(DAY_MS), ['budget.ended']],
      ];
    },
  ],
  [
    'the quota of a key',
    async ({ store, spend, now }) => {
      const key = await createToken(store, { remainQuota: 1_000 });
      return [
        [() => spend(key, 700), []],
        [() => spend(key, 100), ['quota.reached 80']],
        [() => spend(key, 200), ['quota.reached 100']],
        [() => store.updateToken(key.token.id, { quota: { set: 5_000 } }, now()), ['quota.ended']],
      ];
    },
  ],
  [
    'the quota of a key that gets a little back, and is not used for a while',
    async ({ store, spend, now, pass }) => {
      const key = await createToken(store, { remainQuota: 1_000 });
      return [
        [() => spend(key, 850), ['quota.reached 80']],
        // As little comes back from a reservation too.
        [() => store.updateToken(key.token.id, { quota: { add: 10 } }, now()), []],
        [() => pass(3 * 3_600_000), []],
      ];
    },
  ],
  [
    'the quota of an account',
    async ({ store, spend }) => {
      const key = await createToken(store, { userQuota: 1_000, unlimitedQuota: true });
      return [
        [() => spend(key, 700), []],
        [() => spend(key, 100), ['quota.reached 80']],
        [() => spend(key, 200), ['quota.reached 100']],
      ];
    },
  ],
  [
    'a key about to end',
    async ({ store, pass, nowS }) => {
      await createToken(store, { expiredTime: Math.floor(nowS()) + 8 * 86_400 });
      return [
        [() => undefined, []],
        [() => pass(2 * DAY_MS), ['key.ending 7']],
        [() => pass(5.5 * DAY_MS), ['key.ending 1']],
        [() => pass(DAY_MS), ['key.ended']],
      ];
    },
  ],
  [
    'codes about to end, once for a batch, as soon as the first of them',
    async ({ store, pass, now, nowS }) => {
      const expiredTime = Math.floor(nowS()) + 8 * 86_400;
      const batch = { name: 'trial', batchId: 'b', quota: 5, createdBy: 1, expiredTime };
      const codes = [0, 0, 80_000].map((later) => ({
        ...{ codeHash: unique('hash'), codeHint: 'c…', ...batch },
        expiredTime: expiredTime + later,
      }));
      await store.createCodes(codes, now());
      return [
        [() => undefined, []],
        [() => pass(2 * DAY_MS), ['code.ending 7']],
        [() => pass(5.5 * DAY_MS), ['code.ending 1']],
        [() => pass(DAY_MS), []],
        [() => pass(DAY_MS), ['code.ended']],
      ];
    },
  ],
  [
    'a gateway that is silent, and reports again',
    async ({ store, pass, now }) => {
      const speak = async (): Promise<void> => {
        await report(store, 'a', 0, now(), 5 * 60_000);
        const about = { nodeId: 'a', name: 'gateway-a', release: '1', pid: 1, startedMs: START };
        const load = { inFlight: 0, maxInFlight: 1, pendingSettlements: 0, faults: 0 };
        await store.describeNode({ ...about, ...load, channels: [], atMs: now() }, DAY_MS);
      };
      await Promise.resolve();
      return [
        [speak, []],
        [() => pass(10 * 60_000), ['node.silent silent']],
        [speak, ['node.ended']],
      ];
    },
  ],
  [
    'a circuit that is open, until the gateway whose it is has gone',
    async ({ store, pass, now }) => {
      const tell = (state: 'open' | 'half_open' | 'cooling') => async (): Promise<void> => {
        const circuit = { id: 1, name: 'sick', state, untilMs: 0, why: 'timeout' } as const;
        await report(store, 'a', 0, now(), 5 * 60_000);
        const about = { nodeId: 'a', name: 'gateway-a', release: '1', pid: 1, startedMs: START };
        const load = { inFlight: 0, maxInFlight: 1, pendingSettlements: 0, faults: 0 };
        await store.describeNode({ ...about, ...load, channels: [circuit], atMs: now() }, DAY_MS);
        await store.addDeliveries([], now(), 1, { key: 'circuit:1:sick', value: 'open' });
      };
      await Promise.resolve();
      return [
        [tell('open'), []],
        [tell('half_open'), []],
        [tell('cooling'), ['channel.circuit_closed']],
        [tell('open'), []],
        [() => pass(10 * 60_000), ['node.silent silent', 'channel.circuit_closed']],
      ];
    },
  ],
  [
    'a channel that was taken out of service, until it is back',
    async ({ store, now }) => {
      const outage = { reason: 'no_credit', message: '', sinceMs: START } as const;
      const made = await store.createChannel(newChannel({ status: 3, outage }));
      if (made.kind !== 'updated') throw new Error('no channel');
      const { id, name } = made.channel;
      const key = `disabled:${id}:${name}`;
      return [
        [() => store.addDeliveries([], now(), 1, { key, value: 'no_credit' }), []],
        [() => store.updateChannel(id, { status: 1, outage: undefined }), ['channel.returned']],
      ];
    },
  ],
  [
    'a backup that is too old',
    async ({ fleet, pass, now }) => {
      await Promise.resolve();
      return [
        [() => pass(30 * DAY_MS), []],
        [() => (fleet.backupMs = now()), []],
        [() => pass(2 * DAY_MS), ['backup.old old']],
        [() => (fleet.backupMs = now()), ['backup.ended']],
      ];
    },
  ],
  [
    'everything else while the backups cannot be read',
    async ({ store, fleet, spend, now }) => {
      const policy = { ...OPEN_POLICY, ...DAILY, budget: 1_000 };
      const key = await createToken(store, { policy, unlimitedQuota: true });
      return [
        [() => (fleet.backupMs = now() - 3 * DAY_MS), ['backup.old old']],
        [() => (fleet.backupMs = new Error('the folder is gone')), []],
        [() => spend(key, 800), ['budget.reached 80']],
        [() => (fleet.backupMs = now()), ['backup.ended']],
      ];
    },
  ],
];

describe.each(Object.entries(STORES))('alerts on %s', (_, open) => {
  it.each(STORIES)('tell of %s, once for all gateways', async (_what, story) => {
    const fleet = await watched(open);
    for (const [step, expected] of await story(fleet)) {
      await step();
      expect(await fleet.told()).toEqual(expected);
    }
  });
});

it('a settlement that was given up is told once in ten minutes', () => {
  const sent: string[] = [];
  let nowMs = START;
  const read = eventAlerts(
    { deliver: ({ id, type }) => void sent.push(`${type} ${id}`) },
    () => nowMs,
  );
  const fault: GatewayEvent = {
    kind: 'fault',
    what: 'settling',
    error: new Error('x'),
    unsettled: 9,
  };
  read([fault, fault]);
  nowMs += 600_000;
  read([fault, { kind: 'fault', what: 'another thing', error: new Error('y') }]);

  // Of two messages with one id, targets get the first.
  expect(sent).toHaveLength(3);
  expect(new Set(sent).size).toBe(2);
  expect(sent[0]).toMatch(/^settlement\.given_up msg_settlement_/);
});

it('a channel that is tried again is not yet told to answer', () => {
  const sent: string[] = [];
  const read = eventAlerts({ deliver: ({ type }) => void sent.push(type) }, () => START);
  const about = {
    kind: 'breaker',
    channelId: 1,
    channel: 'a',
    reason: '',
    sinceMs: START,
  } as const;

  read((['open', 'half_open', 'closed'] as const).map((state) => ({ ...about, state, forMs: 0 })));

  expect(sent).toEqual(['channel.circuit_opened', 'channel.circuit_closed']);
});

it('a pause is told with the time at which it ends, counted from now', () => {
  const told: unknown[] = [];
  const read = eventAlerts({ deliver: ({ data }) => void told.push(data) }, () => START);
  const about = { kind: 'breaker', channelId: 1, channel: 'a', reason: 'timeout' } as const;

  read([{ ...about, state: 'open', sinceMs: START - 60_000, forMs: 5_000 }]);

  expect(told).toMatchObject([{ since: START / 1_000 - 60, until: START / 1_000 + 5 }]);
});

/** What is told of a store by a look at it for each of its answers: how long it takes, or that there is none. */
async function toldOf(answers: readonly (number | 'none')[], isTaken = true): Promise<string[]> {
  const told: string[] = [];
  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const rest = [...answers];
  const alerts = new StoreAlerts({
    ...{ node: 'a', mark: 'f00', now: () => START },
    store: {
      ping: () => {
        const answer = rest.shift() ?? 'none';
        if (answer === 'none') return Promise.reject(new StoreUnavailableError('away'));
        nowMs += answer;
        return Promise.resolve();
      },
    },
    sender: {
      targets: [
        {
          name: 'hook',
          takes: () => true,
          bodyOf: () => '',
          send: () =>
            Promise.resolve(
              isTaken ? { kind: 'sent' } : { kind: 'failed', why: 'away, too', retryAfterMs: 0 },
            ),
        },
      ],
      deliver: ({ type }) => void told.push(type),
    },
  });
  while (rest.length > 0) await alerts.look();
  clock.mockRestore();
  return told;
}

it.each<[string, (number | 'none')[], boolean, string[]]>([
  ['is slow three times in a row', [501, 501, 501, 501], true, ['store.slow']],
  ['is slow now and then', [501, 501, 500, 501, 501, 500, 501], true, []],
  ['is in time again', [501, 501, 501, 1, 1, 501, 1, 1, 1], true, ['store.slow', 'store.in_time']],
  ['was down and somebody knows', ['none', 'none', 'none', 1], true, ['store.up']],
  ['was down and nobody was told', ['none', 'none', 'none', 1], false, []],
])('of a store that %s', async (_, answers, isTaken, expected) => {
  expect(await toldOf(answers, isTaken)).toEqual(expected);
});

it('a store that is down is told under one id by all gateways, and under one that it is back', async () => {
  const sent: string[] = [];
  let isUp = false;
  const gateways = ['a', 'b'].map(
    (node) =>
      new StoreAlerts({
        ...{ node, mark: 'f00', now: () => START },
        store: {
          ping: () =>
            isUp ? Promise.resolve() : Promise.reject(new StoreUnavailableError('away')),
        },
        sender: {
          targets: [
            {
              name: 'hook',
              takes: () => true,
              bodyOf: () => '',
              send: (_body, id) => {
                sent.push(id);
                return Promise.resolve({ kind: 'sent' });
              },
            },
          ],
          deliver: ({ id }) => void sent.push(id),
        },
      }),
  );
  const look = async (times: number): Promise<void> => {
    for (let looks = 0; looks < times; looks += 1) for (const one of gateways) await one.look();
  };
  await look(2);
  expect(sent).toEqual([]);
  await look(1);
  expect(sent).toHaveLength(2);
  await look(2);
  isUp = true;
  for (const one of gateways) await one.look();

  const down = `msg_store_down_f00_${START / 600_000}`;
  expect(sent).toEqual([down, down, down.replace('down', 'up'), down.replace('down', 'up')]);
});
