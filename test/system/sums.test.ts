import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi } from '../support/accounts.js';
import { runs } from '../support/long.js';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.js';
import {
  cohereChannel,
  rankLikeCohere,
  sendJson,
  startUpstream,
  type TestUpstream,
} from '../support/upstream.js';
import { makeHome, startProcess, type GatewayProcess, type Home } from './fleet.js';
import { rerankBody } from './upstreams.js';

const PRICE = 7;
const QUOTA = 1_000_000;
const KEY_NAME = 'of a test';
const DEADLINE_MS = 2_500;
const GRACE_MS = 1_500;
const CALLERS = 6;
const TRAFFIC_MS = runs(700, 1_500);
/** Between two requests of a caller: what races in a long run as fast as it can need not do so in each. */
const PAUSE_MS = runs(15, 0);
/** Seven questions each time. */
const LOOK_EVERY_MS = 200;
/** Until every node has written its statistics and its log, and what was reserved by those that are gone has expired. */
const SETTLED_MS = 60_000;
const GROUPS = [
  ...['by=user', 'by=token', 'by=model', 'by=channel', 'by=tag', 'by=provider', 'by=hour'],
  ...['by=user&then=model', 'by=channel&then=token'],
];

interface Sums {
  readonly requests: number;
  readonly failed: number;
  readonly documents: number;
  readonly tokens: number;
  readonly search_units: number;
  readonly quota: number;
}

interface Record {
  readonly id: number;
  readonly name: string;
  readonly used_quota: number;
  readonly remain_quota: number;
}

const cleanUps: (() => unknown)[] = [];
async function cleanUpAll(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}

class Installation {
  gateways: GatewayProcess[] = [];
  readonly keys: string[] = [];
  /** How many requests each gateway has answered with a ranking. */
  readonly answered = new Map<GatewayProcess, number>();
  readonly redis: RedisServer | undefined;
  readonly #home: Home;
  #cookie = '';
  #calling: Promise<void>[] = [];
  #isCalling = false;

  constructor(home: Home, redis: RedisServer | undefined) {
    this.#home = home;
    this.redis = redis;
  }

  async start(): Promise<void> {
    const gateway = await startProcess(this.#home);
    this.gateways.push(gateway);
    cleanUps.push(async () => {
      gateway.kill('SIGKILL');
      await gateway.exited;
    });
  }

  /** Ends the oldest gateway. */
  async end(signal: NodeJS.Signals): Promise<GatewayProcess> {
    const [first] = this.gateways.splice(0, 1);
    if (first === undefined) throw new Error('there is no gateway');
    first.kill(signal);
    await first.exited;
    return first;
  }

  /** Ends all gateways, and starts one. */
  async restart(): Promise<void> {
    const ending = this.gateways.splice(0);
    for (const gateway of ending) gateway.kill('SIGTERM');
    await Promise.all(ending.map(({ exited }) => exited));
    await this.start();
  }

  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const url = this.gateways.at(-1)?.url ?? '';
    if (this.#cookie === '') {
      const login = { username: 'root', password: 'a password for tests' };
      const { headers } = await callApi(url, 'POST', '/api/user/login', { body: login });
      this.#cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    }
    const reply = await callApi<T>(url, method, path, { cookie: this.#cookie, body });
    expect(reply.body).toMatchObject({ success: true });
    return reply.body.data;
  }

  /** Keys of two accounts. */
  async makeKeys(): Promise<void> {
    const ada = await this.api<Record>('POST', '/api/user', {
      ...{ username: 'ada', password: 'correct horse battery', quota: QUOTA },
    });
    for (const owner of [{}, { user_id: ada.id }, { user_id: ada.id }]) {
      const body = { name: KEY_NAME, remain_quota: QUOTA, rate_limit: 0, ...owner };
      this.keys.push((await this.api<{ key: string }>('POST', '/api/token', body)).key);
    }
  }

  call(): void {
    this.#isCalling = true;
    this.#calling = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let turn = caller; this.#isCalling; turn += 1) {
        const gateway = this.gateways[turn % this.gateways.length];
        const key = this.keys[turn % this.keys.length] ?? '';
        const model = ['m', 'n', 'bad'][turn % 5] ?? 'm';
        const status = await gateway?.post(key, rerankBody(model)).then(
          (reply) => reply.status,
          () => undefined,
        );
        await wait(status === undefined ? 20 : PAUSE_MS);
        if (gateway !== undefined && status === 200) {
          this.answered.set(gateway, (this.answered.get(gateway) ?? 0) + 1);
        }
      }
    });
  }

  async stopCalling(): Promise<void> {
    this.#isCalling = false;
    await Promise.all(this.#calling);
  }

  /** The total of a breakdown, after its rows were found to add up to it. */
  async total(by: string): Promise<Sums> {
    const now = Math.floor(Date.now() / 1_000);
    const span = `start_timestamp=${now - 24 * 3_600}&end_timestamp=${now + 3_600}`;
    const { rows, total } = await this.api<{ rows: Sums[]; total: Sums }>(
      'GET',
      `/api/stats/breakdown?${span}&${by}`,
    );
    for (const name of Object.keys(total) as (keyof Sums)[]) {
      expect([by, name, sumOf(rows, (row) => row[name])]).toEqual([by, name, total[name]]);
    }
    return total;
  }

  /** What was spent by four accounts of it. */
  async spent() {
    const byRollups = await this.total('by=user');
    const keys = await this.api<{ items: Record[] }>('GET', '/api/token?page_size=100');
    const users = await this.api<{ items: Record[] }>('GET', '/api/user?page_size=100');
    // By outcome, sums come from the entries themselves.
    const [ok, failed] = await Promise.all([
      this.api<Sums>('GET', '/api/log/stat?outcome=ok'),
      this.api<Sums>('GET', '/api/log/stat?outcome=failed'),
    ]);
    return {
      byRollups,
      byKeys: sumOf(keys.items, ({ used_quota: used }) => used),
      byUsers: sumOf(users.items, ({ used_quota: used }) => used),
      byLog: { requests: ok.requests + failed.requests, quota: ok.quota + failed.quota },
      byStat: await this.api<Sums>('GET', '/api/log/stat'),
      left: keys.items
        .filter(({ name }) => name === KEY_NAME)
        .map(({ remain_quota: remaining, used_quota: used }) => remaining + used),
    };
  }

  /** What was spent once all of it is settled and written, or what stands there instead when that takes too long. */
  async settled() {
    for (const untilMs = Date.now() + SETTLED_MS; ;) {
      const spent = await this.spent();
      const { byRollups, byKeys, byLog, left } = spent;
      const isSettled = left.every((each) => each === QUOTA) && byRollups.quota === byKeys;
      // Those that failed cost nothing: both numbers tell that all are there.
      const isWritten = byLog.requests === byRollups.requests && byLog.quota === byKeys;
      if ((isSettled && isWritten) || Date.now() > untilMs) return spent;
      await wait(LOOK_EVERY_MS);
    }
  }
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

async function installation(store: string): Promise<Installation> {
  const upstream = await startUpstream((request, res) => {
    const { model } = JSON.parse(request.body) as { model: string };
    if (model === 'bad') sendJson(res, { message: 'broken' }, 500);
    else void rankLikeCohere(request, res);
  });
  cleanUps.push(() => upstream.close());
  return started(store, upstream);
}

async function started(store: string, upstream: TestUpstream): Promise<Installation> {
  const redis = store === 'Redis' ? await startRedis() : undefined;
  if (redis !== undefined) cleanUps.push(() => redis.stop());
  const home = await makeHome(
    {
      gateway: { deadline_ms: DEADLINE_MS, reservation_grace_ms: GRACE_MS },
      prices: { default: { per_request: PRICE } },
      traffic: { breaker_failures: 0 },
      channels: [
        cohereChannel('one', upstream.url, { models: ['m', 'bad'], tag: 'hosted' }),
        cohereChannel('two', upstream.url, { models: ['m', 'n'] }),
      ],
    },
    redis === undefined ? {} : { REDIS_URL: redis.url },
  );
  cleanUps.push(() => home.remove());
  const system = new Installation(home, redis);
  await system.start();
  if (redis !== undefined) await system.start();
  await system.makeKeys();
  return system;
}

describe.each(['Redis', 'the embedded store'])('what was spent, on %s', (store) => {
  let system: Installation;
  beforeAll(async () => {
    system = await installation(store);
  }, 180_000);
  afterAll(cleanUpAll);

  it('is the same by rows, totals, keys, accounts and log, after races, an outage and a restart', async () => {
    system.call();
    await wait(TRAFFIC_MS);
    if (system.redis !== undefined) {
      await system.redis.kill();
      await wait(TRAFFIC_MS);
      await system.redis.restart();
    }
    await system.end('SIGTERM');
    await system.start();
    await wait(TRAFFIC_MS);
    await system.stopCalling();

    const { byRollups, byKeys, byUsers, byLog, byStat, left } = await system.settled();
    expect(left).toEqual(left.map(() => QUOTA));
    for (const by of GROUPS) expect(await system.total(by)).toEqual(byRollups);
    expect(byUsers).toBe(byKeys);
    expect(byLog).toMatchObject({ requests: byRollups.requests, quota: byKeys });
    expect(byStat).toMatchObject({ requests: byRollups.requests, quota: byKeys });
    const answered = sumOf([...system.answered.values()], (count) => count);
    expect(answered).toBeGreaterThan(0);
    expect(byKeys).toBeGreaterThanOrEqual(PRICE * answered);
  }, 180_000);

  it('is what keys and accounts say after a crash, of which statistics and log may lack the last seconds', async () => {
    // Of what came before, nothing is outstanding.
    system.answered.clear();
    system.call();
    await wait(2 * TRAFFIC_MS);
    const crashed = await system.end('SIGKILL');
    await wait(TRAFFIC_MS);
    await system.stopCalling();
    // Those that are left write what they know at the latest when they end.
    await system.restart();

    await eventually(
      'nothing stays reserved',
      async () => {
        await wait(LOOK_EVERY_MS);
        return (await system.spent()).left.every((each) => each === QUOTA);
      },
      SETTLED_MS,
    );
    const { byRollups, byKeys, byUsers, byLog } = await system.spent();
    expect(byUsers).toBe(byKeys);
    const ofCrashed = PRICE * ((system.answered.get(crashed) ?? 0) + CALLERS);
    for (const counted of [byRollups.quota, byLog.quota]) {
      expect(counted).toBeLessThanOrEqual(byKeys);
      expect(counted).toBeGreaterThanOrEqual(byKeys - ofCrashed);
    }
  }, 180_000);
});
