import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { runs } from '../support/long.js';
import { eventually } from '../support/redis-server.js';
import { rankLikeCohere, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';
import { startFleet, type Fleet } from './fleet.js';
import { rerankBody } from './upstreams.js';

/** What both gateways have to confirm a switch. */
const STALENESS_MS = 3_000;
const CALLERS = 8;
/** Between two requests of a caller, most of whom wait for an upstream all the same. */
const PAUSE_MS = runs(10, 0);
const MORE = runs(150, 300);

let tagged: TestUpstream;
let failing: TestUpstream;
let fleet: Fleet;
let redis: Redis;
let key = '';

beforeAll(async () => {
  tagged = await startUpstream((request, res) => {
    setTimeout(() => void rankLikeCohere(request, res), 10);
  });
  failing = await startUpstream((_request, res) => {
    // Late enough that switches are thrown while requests wait here, to go on to the tagged channels.
    setTimeout(() => sendJson(res, { message: 'broken' }, 500), 20);
  });
  const channel = { provider: 'cohere', api_key: 'upstream-key' };
  fleet = await startFleet({
    gateway: { staleness_ms: STALENESS_MS },
    // The failing channel is to be asked first each time, so that each request is retried.
    traffic: { breaker_failures: 0 },
    channels: [
      { ...channel, name: 'failing', base_url: failing.url, models: ['retried'], priority: 10 },
      { ...channel, name: 'one', base_url: tagged.url, models: ['direct', 'retried'], tag: 'blue' },
      { ...channel, name: 'two', base_url: tagged.url, models: ['direct', 'retried'], tag: 'blue' },
    ],
  });
  redis = new Redis(fleet.redis.url);
  ({ key } = await fleet.createKey());
}, 120_000);

afterAll(async () => {
  redis.disconnect();
  await fleet.close();
  await Promise.all([tagged.close(), failing.close()]);
});

let load: Load;

beforeEach(async () => {
  load = startLoad();
  await eventually('both models are served', () =>
    Promise.resolve(load.served.direct > 20 && load.served.retried > 10),
  );
});

afterEach(async () => {
  await load.stop();
  await fleet.cli('tags', 'enable', 'blue');
});

describe('a tag that is switched off while a load runs on two gateways', () => {
  it('gets not one new request upstream from the return of the command on', async () => {
    const { in_force: inForce } = await disable();

    const atReturn = await arrived();
    await load.more(MORE);

    expect(inForce).toBe('confirmed');
    expect(tagged.seen.length).toBe(atReturn);
    expect(load.since()).toEqual({ direct: new Set([503]), retried: new Set([502]) });
  }, 60_000);

  it('serves as before from the return of the command that switches it on again', async () => {
    await disable();
    const off = await arrived();
    await fleet.cli('tags', 'enable', 'blue');
    load.mark();
    await load.more(100);

    expect(tagged.seen.length).toBeGreaterThan(off);
    expect(load.since().direct).toEqual(new Set([200]));
  }, 60_000);

  it('keeps its word when the message about it is lost', async () => {
    // A connection that is broken comes back and may not subscribe: only the version check is left.
    await redis.call('ACL', 'SETUSER', 'default', '-subscribe');
    try {
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await disable();

      const atReturn = await arrived();
      await load.more(MORE);

      expect(tagged.seen.length).toBe(atReturn);
      expect(load.since().direct).toEqual(new Set([503]));
    } finally {
      await redis.call('ACL', 'SETUSER', 'default', '+subscribe');
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }
  }, 60_000);

  it('keeps its word for a gateway that was stopped meanwhile', async () => {
    const [frozen] = fleet.gateways;
    frozen.kill('SIGSTOP');
    let atReturn: number;
    try {
      await disable();
      atReturn = await arrived();
    } finally {
      frozen.kill('SIGCONT');
    }
    await load.more(MORE);

    // A process can be stopped between its last look at the switch and the write that follows: that one request leaves.
    expect(tagged.seen.length).toBeLessThanOrEqual(atReturn + 1);
  }, 60_000);
});

async function disable(): Promise<{ readonly in_force: string }> {
  const reply = await fleet.cli('tags', 'disable', 'blue', '--reason', 'incident');
  expect(reply).toMatchObject({ channel_count: 2, was_live_count: 2, live_count: 0 });
  load.mark();
  return reply as { in_force: string };
}

/** How many requests had arrived by now: those that lie in the buffers of this process are read first. */
async function arrived(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return tagged.seen.length;
}

type Model = 'direct' | 'retried';

interface Load {
  readonly served: Record<Model, number>;
  /** Forgets the answers to what was sent before. */
  mark(): void;
  /** The statuses of what was sent since the mark. */
  since(): Record<Model, Set<number>>;
  /**
   * Resolves when so many more were answered, some of each model among them that were sent since the mark: a retried request
   * waits between its attempts, so hundreds of direct ones may be answered before it.
   */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Callers that ask both gateways for both models, one request after the other, until they are stopped. */
function startLoad(): Load {
  const served = { direct: 0, retried: 0 };
  let statuses: Record<Model, number[]> = { direct: [], retried: [] };
  let generation = 0;
  let answered = 0;
  let stopped = false;
  const caller = async (index: number): Promise<void> => {
    const gateway = index % 2 === 0 ? fleet.gateways[0] : fleet.gateways[1];
    const model = index % 4 < 2 ? 'direct' : 'retried';
    while (!stopped) {
      await wait(PAUSE_MS);
      const sentIn = generation;
      const { status } = await gateway.post(key, rerankBody(model));
      answered += 1;
      if (status === 200) served[model] += 1;
      if (sentIn === generation) statuses[model].push(status);
    }
  };
  const callers = Array.from({ length: CALLERS }, (_, index) => caller(index));
  return {
    served,
    mark() {
      generation += 1;
      statuses = { direct: [], retried: [] };
    },
    since: () => ({ direct: new Set(statuses.direct), retried: new Set(statuses.retried) }),
    async more(count) {
      const until = answered + count;
      await eventually(`${count} more are answered, of both models`, () => {
        const ofEach = Math.min(statuses.direct.length, statuses.retried.length);
        return Promise.resolve(answered >= until && ofEach >= CALLERS);
      });
    },
    async stop() {
      stopped = true;
      await Promise.all(callers);
    },
  };
}
