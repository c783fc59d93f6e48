import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startSlowLink, type SlowLink } from '../support/slow-link.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';
import { rerankBody } from './upstreams.js';

const STALENESS_MS = 1_000;
const COMMAND_TIMEOUT_MS = 1_000;
const DEADLINE_MS = 1_500;
const DRAIN_MS = 1_000;
/** What a gateway has for the last settlements when the drain is over. */
const LAST_WORDS_MS = 1_000;
/** What the machine that runs the tests may add. */
const SLACK_MS = 3_000;

let redis: RedisServer;
let link: SlowLink;
let upstream: TestUpstream;
let gateway: TestGateway | undefined;
let key = '';

beforeEach(async () => {
  [redis, upstream] = await Promise.all([startRedis(), startUpstream()]);
  link = await startSlowLink(redis.port);
  gateway = await startGateway(
    {
      store: { command_timeout_ms: COMMAND_TIMEOUT_MS },
      gateway: { staleness_ms: STALENESS_MS, deadline_ms: DEADLINE_MS },
      channels: [onlyChannel(upstream.url, { tag: 'eu' })],
    },
    { REDIS_URL: `redis://127.0.0.1:${link.port}` },
  );
  ({ key } = await gateway.createKey());
  // From here on the server knows the scripts.
  await gateway.post(key, rerankBody('m'));
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await link.close();
  await Promise.all([redis.stop(), upstream.close()]);
});

function started(): TestGateway {
  if (gateway === undefined) throw new Error('the gateway is there only while a test runs');
  return gateway;
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, tookMs: performance.now() - startedMs };
}

/** Long enough that checks of the channels have begun to follow each other. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2 * STALENESS_MS));
}

describe('a Redis that is far away', () => {
  it.each([180, 400])(
    'is waited for no longer than its round trips take: %i ms',
    async (roundTripMs) => {
      const { app } = started();
      link.roundTrip(roundTripMs);
      await aWhile();

      const refresh = await timed(() => app.gateway.channels.refresh());
      const request = await timed(() => started().post(key, rerankBody('m')));

      expect(refresh.tookMs).toBeLessThan(2 * roundTripMs + SLACK_MS);
      expect(request.result.status).toBe(200);
      // The key is looked up, the request admitted; a check of the channels may be waited for in between.
      expect(request.tookMs).toBeLessThan(4 * roundTripMs + SLACK_MS);
    },
    30_000,
  );

  it('does not keep a request beyond its deadline, nor a stop beyond its drain', async () => {
    link.roundTrip(1_400);
    await aWhile();

    const request = await timed(() => started().post(key, rerankBody('m')));
    const stop = await timed(() => started().app.close(DRAIN_MS));

    expect([503, 504]).toContain(request.result.status);
    expect(request.tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    expect(stop.tookMs).toBeLessThan(DRAIN_MS + LAST_WORDS_MS + SLACK_MS);
  }, 30_000);
});
