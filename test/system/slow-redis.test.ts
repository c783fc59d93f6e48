import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startSlowLink, type SlowLink } from '../support/slow-link.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';
import { rerankBody } from './upstreams.js';

const STALENESS_MS = 3_000;
const DRAIN_MS = 1_000;
/** Longer than any test takes. */
const ENDLESS_MS = 120_000;
/** Far from that, and what a busy machine may add to a deadline or a drain. */
const BOUND_MS = 30_000;

let redis: RedisServer;
let link: SlowLink;
let upstream: TestUpstream;
let gateway: TestGateway | undefined;

beforeEach(async () => {
  [redis, upstream] = await Promise.all([startRedis(), startUpstream()]);
  link = await startSlowLink(redis.port);
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await link.close();
  await Promise.all([redis.stop(), upstream.close()]);
});

async function start(deadlineMs: number) {
  const started = await startGateway(
    {
      store: { command_timeout_ms: ENDLESS_MS },
      gateway: { staleness_ms: STALENESS_MS, deadline_ms: deadlineMs },
      channels: [onlyChannel(upstream.url, { tag: 'eu' })],
    },
    { REDIS_URL: `redis://127.0.0.1:${link.port}` },
  );
  gateway = started;
  const { key } = await started.createKey();
  // From here on the server knows the scripts.
  await started.post(key, rerankBody('m'));
  return { app: started.app, ask: () => started.post(key, rerankBody('m')) };
}

describe('a Redis that is far away', () => {
  // The longer way takes more than the pause between two checks of the channels: they follow each other.
  it.each([180, 1_100])(
    'is waited for no longer than its round trips take: %i ms',
    async (roundTripMs) => {
      const { app, ask } = await start(ENDLESS_MS);
      const probe = new Redis(link.port, '127.0.0.1', { enableReadyCheck: false });
      await probe.ping();
      /** How long something takes, in round trips: as slow as the machine is, both are. */
      const roundTripsOf = async <T>(work: Promise<T>) => {
        let roundTrips = 0;
        for (const done = work.then(() => 'done'); ; roundTrips += 1) {
          if ((await Promise.race([done, probe.ping()])) === 'done') break;
        }
        return { result: await work, roundTrips };
      };
      link.roundTrip(roundTripMs);
      await app.gateway.channels.refresh();

      const refresh = await roundTripsOf(app.gateway.channels.refresh());
      const request = await roundTripsOf(ask());
      probe.disconnect();

      expect(refresh.roundTrips).toBeLessThanOrEqual(2);
      expect(request.result.status).toBe(200);
      // The key is looked up, the request admitted; a check of the channels may be waited for in between.
      expect(request.roundTrips).toBeLessThanOrEqual(4);
    },
    60_000,
  );

  it('does not keep a request beyond its deadline, nor a stop beyond its drain', async () => {
    const { app, ask } = await start(1_500);
    link.hold();
    const startedMs = performance.now();

    const { status } = await ask();
    const answeredMs = performance.now();
    await app.close(DRAIN_MS);
    const stoppedMs = performance.now();

    expect([503, 504]).toContain(status);
    expect(answeredMs - startedMs).toBeLessThan(BOUND_MS);
    expect(stoppedMs - answeredMs).toBeLessThan(BOUND_MS);
  }, 180_000);
});
