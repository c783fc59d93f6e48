import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Settlements } from '../../src/gateway/settlements.js';
import { openRedisStore } from '../../src/store/redis/redis-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { RefusedLog } from '../../src/telemetry/refused-log.js';
import { Rollups } from '../../src/telemetry/rollups.js';
import { UsageLog } from '../../src/telemetry/usage-log.js';
import { requestEvent } from '../support/events.js';
import { PATIENT, startRedis, type RedisServer } from '../support/redis-server.js';
import { startSlowLink, type SlowLink } from '../support/slow-link.js';
import { until } from '../support/until.js';
import {
  admitRequest,
  createToken,
  createUser,
  settlement,
  sha256,
  T0,
  unique,
  VAULT,
} from './contract/harness.js';

/** Long enough for an answer of a busy machine; what is silent for so long has lost it. */
const COMMAND_TIMEOUT_MS = 400;
const BOUND = 5;
const HOUR_MS = 3_600_000;

let redis: RedisServer;
let link: SlowLink;
const cleanUps: (() => Promise<void>)[] = [];

beforeEach(async () => {
  redis = await startRedis();
  link = await startSlowLink(redis.port);
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await link.close();
  await redis.stop();
});

/** The same data over the link that loses answers, and beside it. */
async function givenStores(): Promise<{ readonly lossy: Store; readonly sure: Store }> {
  const prefix = `${unique('lost')}:`;
  const common = { prefix, vault: VAULT, clock: 'caller' } as const;
  const [lossy, sure] = await Promise.all([
    openRedisStore({
      ...common,
      url: `redis://127.0.0.1:${link.port}`,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
    }),
    openRedisStore({ ...common, ...PATIENT, url: redis.url }),
  ]);
  cleanUps.push(
    () => lossy.close(),
    () => sure.close(),
  );
  return { lossy, sure };
}

const writing = (store: Store) => ({
  ...{ store, observe: () => undefined, now: Date.now },
  ...{ node: 'a', writer: unique('writer') },
});

/** Sends a write again as a person or a client would, until it has an answer. */
async function insist<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // Without a connection, a command fails at once.
      await nextTurn();
    }
  }
}

async function back(store: Store): Promise<void> {
  await until('the connection is back', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
}

interface Trial {
  /** What is there before answers are lost. */
  readonly prepare?: (sure: Store) => Promise<void>;
  /** Writes once; what senders send again is sent again. */
  readonly write: (lossy: Store) => Promise<unknown>;
  /** What is there afterwards. */
  readonly read: (sure: Store) => Promise<unknown>;
}

const request = (requestId: string) => requestEvent({ requestId, atMs: T0, quota: 7 });
const ids = (page: { readonly items: readonly { readonly requestId: string }[] }): string[] =>
  page.items.map(({ requestId }) => requestId);
const ALL = { offset: 0, limit: 100 };
const CODE = { name: 'c', batchId: '', quota: 500, codeHash: sha256('c'), codeHint: 'c' };

const TRIALS: Readonly<Record<string, () => Trial>> = {
  'the usage log': () => ({
    async write(store) {
      const log = new UsageLog({ ...writing(store), maxEntries: BOUND });
      log.read(['a', 'b', 'c', 'd'].map(request));
      await log.close(Infinity);
      log.read(['e', 'f', 'g'].map(request));
      await log.close(Infinity);
    },
    read: async (store) => ids(await store.listUsage(ALL)),
  }),
  'the log of refused requests': () => ({
    async write(store) {
      const log = new RefusedLog({ ...writing(store), maxEntries: 100 });
      log.read(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((requestId) =>
          requestEvent({
            ...{ requestId, atMs: T0, admitted: false },
            ...{ outcome: 'rate_limited', status: 429 },
          }),
        ),
      );
      await log.close(Infinity);
    },
    read: async (store) => ids(await store.listRefused(ALL)),
  }),
  statistics: () => ({
    async write(store) {
      const rollups = new Rollups({ ...writing(store), keepDays: 400 });
      rollups.read([request('a'), request('b')]);
      await rollups.close(Infinity);
    },
    async read(store) {
      const rows: unknown[] = [];
      const query = { rollup: 'spend_hour', fromMs: T0 - (T0 % HOUR_MS), toMs: T0 } as const;
      await store.readStats(query, ({ tally }) => rows.push(tally.sums));
      return rows;
    },
  }),
  'a settlement': () => {
    let asked: ReturnType<typeof admitRequest> | undefined;
    return {
      async prepare(store) {
        asked = admitRequest(await createToken(store, { remainQuota: 100, userQuota: 100 }), {
          amount: 10,
        });
        await store.admit(asked);
      },
      async write(store) {
        if (asked === undefined) throw new Error('nothing was admitted');
        const settlements = new Settlements(writing(store));
        void settlements.add(settlement(asked, { cost: 4 }), asked.expiresAtMs);
        await settlements.drained();
      },
      async read(store) {
        const user = await store.getUser(asked?.userId ?? 0, T0);
        const token = await store.getToken(asked?.tokenId ?? 0, T0);
        return [user?.quota, user?.usedQuota, user?.requestCount, token?.remainQuota];
      },
    };
  },
  'a code that is redeemed': () => {
    let userId = 0;
    return {
      async prepare(store) {
        userId = await createUser(store, { quota: 0 });
        await store.createCodes([{ ...CODE, createdBy: 0, expiredTime: 0 }], T0);
      },
      write: (store) => insist(() => store.redeem(CODE.codeHash, userId, T0)),
      async read(store) {
        const code = await store.getCode(1);
        return [(await store.getUser(userId, T0))?.quota, code?.status, code?.usedUserId];
      },
    };
  },
  'a code that is changed': () => ({
    async prepare(store) {
      await store.createCodes([{ ...CODE, createdBy: 0, expiredTime: 0 }], T0);
    },
    write: (store) => insist(() => store.updateCode(1, { quota: 9, enabled: false })),
    read: (store) => store.getCode(1),
  }),
};

describe.each(Object.keys(TRIALS))('%s', (name) => {
  /** Resolves to whether an answer was lost, and to what is there afterwards. */
  async function loseOne(nth: number, how: 'cut' | 'silent') {
    const { prepare, write, read } = (TRIALS[name] as () => Trial)();
    const { lossy, sure } = await givenStores();
    await prepare?.(sure);
    await back(lossy);
    link.lose(nth, how);
    await write(lossy);
    const { hasLost } = link;
    link.lose(Infinity, how);
    return { hasLost, found: await read(sure) };
  }

  test.each(['cut', 'silent'] as const)(
    'counts once, whichever answer is lost (%s)',
    async (how) => {
      const { found: expected } = await loseOne(Infinity, how);

      for (let nth = 1; ; nth += 1) {
        const { hasLost, found } = await loseOne(nth, how);
        expect([nth, found]).toEqual([nth, expected]);
        if (!hasLost) {
          expect(nth).toBeGreaterThan(1);
          return;
        }
      }
    },
    60_000,
  );
});
