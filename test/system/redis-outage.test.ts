import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { closedGate, type Gate } from '../support/closed-gate.js';
import { eventually } from '../support/redis-server.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';
import { startFleet, type Fleet, type Reply } from './fleet.js';
import { rerankBody } from './upstreams.js';

const PRICE = 3;
const QUOTA = 3_000;
const DEADLINE_MS = 60_000;
/** Of those who come while the store is away. */
const PATIENCE_MS = 15_000;
const GRACE_MS = 2_000;
const COMMAND_TIMEOUT_MS = 1_000;
/** How long a caller may wait for the 503: one command that is not answered, and a machine that has other things to do. */
const REFUSAL_MS = 10_000;

let upstream: TestUpstream;
let gate: Gate;
let fleet: Fleet;
let id = 0;
let key = '';

beforeEach(async () => {
  gate = closedGate();
  upstream = await startUpstream();
  fleet = await startFleet({
    store: { command_timeout_ms: COMMAND_TIMEOUT_MS },
    gateway: {
      deadline_ms: DEADLINE_MS,
      reservation_grace_ms: GRACE_MS,
      attempt_timeout_ms: 50_000,
    },
    prices: { default: { per_request: PRICE } },
    channels: [onlyChannel(upstream.url)],
  });
  ({ id, key } = await fleet.createKey('--quota', String(QUOTA)));
  for (const gateway of fleet.gateways) {
    expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
  }
  upstream.answer(gate.answer);
}, 120_000);

afterEach(async () => {
  await fleet.close();
  await upstream.close();
});

/** Asks until it is told that the store is away; then each further answer must say so, in time. */
async function refusals(count: number): Promise<void> {
  const ask = async (index: number): Promise<Reply> => {
    const askedMs = Date.now();
    const gateway = index % 2 === 0 ? fleet.gateways[0] : fleet.gateways[1];
    const reply = await gateway.post(key, rerankBody('m'), {
      'x-request-timeout-ms': String(PATIENCE_MS),
    });
    expect(Date.now() - askedMs).toBeLessThan(REFUSAL_MS);
    return reply;
  };
  const replies = await Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
  for (const { status, body, retryAfter } of replies) {
    expect([status, body.error.code]).toEqual([503, 'store_unavailable']);
    expect(Number(retryAfter)).toBeGreaterThan(0);
  }
}

/** Resolves when both gateways serve again, without anybody having touched them. */
async function recovery(): Promise<number> {
  let served = 0;
  for (const gateway of fleet.gateways) {
    await eventually('a gateway serves again', async () => {
      const { status, body } = await gateway.post(key, rerankBody('m'));
      if (status === 200) served += 1;
      else expect([status, body.error.code]).toEqual([503, 'store_unavailable']);
      return status === 200;
    });
    await eventually('its settlements are done', async () => {
      return (await gateway.metric('rerank_settlements_pending')) === 0;
    });
  }
  return served;
}

async function heldRequests(): Promise<Promise<Reply>[]> {
  const held = [0, 1, 0, 1, 0, 1].map((index) =>
    (index === 0 ? fleet.gateways[0] : fleet.gateways[1]).post(key, rerankBody('m')),
  );
  await eventually('six are upstream', () => Promise.resolve(gate.waiting === 6));
  return held;
}

describe('a Redis that is away while requests run', () => {
  it('is reported to callers at once, comes back by itself and has every settlement, after a hang', async () => {
    const held = await heldRequests();

    process.kill(fleet.redis.pid, 'SIGSTOP');
    try {
      await refusals(6);
      gate.open();
      for (const reply of held) expect((await reply).status).toBe(200);
      await refusals(2);
    } finally {
      process.kill(fleet.redis.pid, 'SIGCONT');
    }
    const later = await recovery();

    // What had been asked of it while it hung it may have reserved: that comes back when the reservation expires.
    const used = PRICE * (2 + held.length + later);
    expect(await fleet.keyRecord(id)).toMatchObject({ used_quota: used });
    const giveUpAt = Date.now() + PATIENCE_MS + GRACE_MS;
    await eventually(
      'nothing stays reserved',
      async () => {
        const { status } = await fleet.gateways[0].post(key, rerankBody('m'));
        if (status !== 200) return false;
        const { remain_quota: remaining, used_quota: spent } = await fleet.keyRecord(id);
        return remaining + spent === QUOTA || Date.now() > giveUpAt;
      },
      PATIENCE_MS + GRACE_MS + 20_000,
    );
    const { remain_quota: remaining, used_quota: spent } = await fleet.keyRecord(id);
    expect(remaining + spent).toBe(QUOTA);
  }, 240_000);

  it('is reported to callers at once, comes back by itself and has every settlement, after a crash', async () => {
    const held = await heldRequests();

    await fleet.redis.kill();
    await refusals(6);
    gate.open();
    for (const reply of held) expect((await reply).status).toBe(200);
    await refusals(2);
    await fleet.redis.restart();
    const later = await recovery();

    const used = PRICE * (2 + held.length + later);
    expect(await fleet.keyRecord(id)).toMatchObject({
      used_quota: used,
      remain_quota: QUOTA - used,
    });
  }, 240_000);
});
