import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { rankLikeCohere, startUpstream, type TestUpstream } from '../support/upstream.js';
import { startFleet, type Fleet, type Reply } from './fleet.js';
import { rerankBody } from './upstreams.js';

const PRICE = 7;
const CALLS = 10;
const PLACES = 4;
/** Nobody is refused who would wait for half of it, however slowly a busy machine lets them through. */
const QUEUE_MS = 100_000;
const POOL = ['key-of-account-aaaa', 'key-of-account-bbbb'];

let narrow: TestUpstream;
let frugal: TestUpstream;
let wide: TestUpstream;
let pooled: TestUpstream;
let bounded: TestUpstream;
let fleet: Fleet;
/** Calls in flight, and the most that were at once, of all accounts and of each. */
const inFlight = new Map<string, number>();
const most = new Map<string, number>();
/** How many calls are in flight at once before the first one is answered. */
let places = 0;

beforeAll(async () => {
  [narrow, frugal, wide] = [await startUpstream(), await startUpstream(), await startUpstream()];
  pooled = await startUpstream();
  bounded = await startUpstream(async (request, res) => {
    const account = String(request.headers.authorization);
    for (const counted of ['all', account]) {
      inFlight.set(counted, (inFlight.get(counted) ?? 0) + 1);
      most.set(counted, Math.max(most.get(counted) ?? 0, inFlight.get(counted) ?? 0));
    }
    // As many as there may be are waited for, and those that must not come have a while to come in.
    await until('all places are taken', () => (most.get('all') ?? 0) >= places, QUEUE_MS);
    await wait(20);
    for (const counted of ['all', account]) inFlight.set(counted, (inFlight.get(counted) ?? 0) - 1);
    void rankLikeCohere(request, res);
  });
  const channel = (name: string, { url }: TestUpstream, more: Record<string, unknown>) => ({
    ...{ name, provider: 'cohere', base_url: url, api_key: 'upstream-key' },
    ...more,
  });
  fleet = await startFleet({
    prices: { default: { per_request: PRICE } },
    gateway: { deadline_ms: QUEUE_MS },
    models: { places: { queue_ms: QUEUE_MS }, 'key places': { queue_ms: QUEUE_MS } },
    channels: [
      channel('narrow', narrow, { models: ['rates'], priority: 1, requests_per_minute: CALLS }),
      channel('frugal', frugal, { models: ['money'], priority: 1, budget: CALLS * PRICE }),
      {
        ...{ name: 'pooled', provider: 'cohere', base_url: pooled.url, api_keys: POOL },
        ...{ models: ['pool'], priority: 1, key_requests_per_minute: CALLS },
      },
      channel('bounded', bounded, { models: ['places'], max_concurrency: PLACES }),
      {
        ...{ name: 'bounded keys', provider: 'cohere', base_url: bounded.url, api_keys: POOL },
        ...{ models: ['key places'], key_max_concurrency: 1 },
      },
      channel('wide', wide, { models: ['rates', 'money', 'pool'] }),
    ],
  });
}, 120_000);

afterAll(async () => {
  await fleet.close();
  await Promise.all([narrow.close(), frugal.close(), wide.close(), pooled.close()]);
  await bounded.close();
});

/** Sends requests at once, to both gateways in turn. */
function burst(key: string, model: string, count: number): Promise<Reply[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      (index % 2 === 0 ? fleet.gateways[0] : fleet.gateways[1]).post(key, rerankBody(model)),
    ),
  );
}

interface ShownChannel {
  readonly effective: { readonly paused: readonly { readonly reason: string }[] };
}

async function pausesOf(channel: string): Promise<string[]> {
  const shown = (await fleet.cli('channels', 'show', channel)) as ShownChannel;
  return shown.effective.paused.map(({ reason }) => reason);
}

describe('a channel with a limit on two gateways', () => {
  it('gets the calls a minute that its account takes, and others the rest', async () => {
    const { key } = await fleet.createKey();

    const replies = await burst(key, 'rates', 4 * CALLS);

    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(narrow.seen.length).toBeGreaterThanOrEqual(CALLS);
    // A minute may have ended in between, and counts for less from then on.
    expect(narrow.seen.length).toBeLessThan(2 * CALLS);
    await eventually('the list says why', async () => {
      await burst(key, 'rates', 2 * CALLS);
      return (await pausesOf('narrow')).includes('requests_per_minute');
    });
  }, 60_000);

  it('gets with each of its keys the calls a minute that this account takes', async () => {
    const { key } = await fleet.createKey();

    const replies = await burst(key, 'pool', 6 * CALLS);
    const callsOf = (account: string): number =>
      pooled.seen.filter(({ headers }) => headers.authorization?.endsWith(account)).length;

    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    // What one gateway has left of its share, the other gets with its next requests.
    await eventually('each key has made its calls', async () => {
      await burst(key, 'pool', 2);
      return POOL.every((account) => callsOf(account) >= CALLS);
    });
    for (const account of POOL) expect(callsOf(account)).toBeLessThan(2 * CALLS);
    await eventually('the list says why', async () => {
      await burst(key, 'pool', 2 * CALLS);
      return (await pausesOf('pooled')).includes('key_requests_per_minute');
    });
  }, 60_000);

  it(
    'has no more calls in flight than it may, and serves both gateways all the same',
    async () => {
      const { key } = await fleet.createKey();
      most.clear();
      places = PLACES;

      const replies = await burst(key, 'places', 20 * PLACES);

      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      expect(most.get('all')).toBe(PLACES);
    },
    QUEUE_MS,
  );

  it(
    'has no more calls in flight with each of its keys than that may',
    async () => {
      const { key } = await fleet.createKey();
      most.clear();
      places = POOL.length;

      const replies = await burst(key, 'key places', 40);

      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      for (const account of POOL) expect(most.get(`Bearer ${account}`)).toBe(1);
    },
    QUEUE_MS,
  );

  it('gets what its budget pays for, to the unit, and an explanation says so', async () => {
    const { key } = await fleet.createKey('--may-explain', 'true');

    const replies = await burst(key, 'money', 4 * CALLS);

    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(frugal.seen).toHaveLength(CALLS);
    for (const gateway of fleet.gateways) {
      const ask = (): Promise<Reply> =>
        gateway.post(key, rerankBody('money'), { 'x-rerank-explain': '1' });
      await eventually('each gateway passes it over', async () =>
        JSON.stringify((await ask()).body).includes('"over_budget"'),
      );
    }
    await eventually('the list says why', async () =>
      (await pausesOf('frugal')).includes('budget'),
    );
  }, 60_000);
});
