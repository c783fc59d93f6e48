import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { closedGate } from '../support/closed-gate.js';
import { eventually } from '../support/redis-server.js';
import {
  onlyChannel,
  rankLikeCohere,
  startUpstream,
  type TestUpstream,
} from '../support/upstream.js';
import { startFleet, type Fleet, type Reply } from './fleet.js';
import { rerankBody } from './upstreams.js';

const PRICE = 7;
const GRACE_MS = 1_000;
/** Of requests whose reservations are to expire while the test waits. */
const DEADLINE_MS = 5_000;
const MINUTE_MS = 60_000;

let upstream: TestUpstream;
let fleet: Fleet;

beforeAll(async () => {
  upstream = await startUpstream();
  fleet = await startFleet({
    gateway: { reservation_grace_ms: GRACE_MS },
    prices: { default: { per_request: PRICE } },
    channels: [onlyChannel(upstream.url)],
  });
}, 120_000);

afterAll(async () => {
  await fleet.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.answer(rankLikeCohere);
});

/** Sends requests at once, to both gateways in turn. */
function burst(key: string, count: number): Promise<Reply>[] {
  return Array.from({ length: count }, (_, index) =>
    (index % 2 === 0 ? fleet.gateways[0] : fleet.gateways[1]).post(key, rerankBody('m')),
  );
}

function byCode(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const name = status === 200 ? 'ok' : body.error.code;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('one key on two gateways', () => {
  it('spends its budget to the unit, whoever is asked, and says when it renews', async () => {
    const { id, key } = await fleet.createKey('--budget', String(10 * PRICE));

    const replies = await Promise.all(burst(key, 40));

    expect(byCode(replies)).toEqual({ ok: 10, token_budget_exhausted: 30 });
    const refused = replies.find(({ status }) => status === 403);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    await eventually('all is settled', async () => (await pendingSettlements()) === 0);
    expect(await fleet.cli('keys', 'show', String(id))).toMatchObject({
      budget: 10 * PRICE,
      budget_period: 'month',
      budget_spent: 10 * PRICE,
    });
  });

  it('serves and charges exactly what its quota pays for', async () => {
    const { id, key } = await fleet.createKey('--quota', String(10 * PRICE));
    const before = upstream.seen.length;

    const replies = await Promise.all(burst(key, 100));

    expect(byCode(replies)).toEqual({ ok: 10, token_quota_exhausted: 90 });
    expect(upstream.seen.length - before).toBe(10);
    await eventually('all is settled', async () => (await pendingSettlements()) === 0);
    expect(await fleet.keyRecord(id)).toMatchObject({ remain_quota: 0, used_quota: 10 * PRICE });
  });

  it('lets no more requests run at once than the key may have, and gives the places back', async () => {
    const { key } = await fleet.createKey('--max-concurrency', '4');
    const gate = closedGate();
    upstream.answer(gate.answer);
    const before = upstream.seen.length;

    const pending = burst(key, 100);
    let refused = 0;
    for (const reply of pending) void reply.then(({ status }) => status === 429 && (refused += 1));
    await eventually('four run and the others are refused', () =>
      Promise.resolve(refused === 96 && gate.waiting === 4),
    );
    gate.open();
    const replies = await Promise.all(pending);
    await eventually('all is settled', async () => (await pendingSettlements()) === 0);
    const next = await Promise.all(burst(key, 4));

    expect(byCode(replies)).toEqual({ ok: 4, too_many_concurrent_requests: 96 });
    expect(
      replies.filter(({ status }) => status === 429).map(({ retryAfter }) => retryAfter),
    ).toEqual(Array.from({ length: 96 }, () => '1'));
    expect(byCode(next)).toEqual({ ok: 4 });
    expect(upstream.seen.length - before).toBe(8);
  });

  it('counts one rate over both, and says when to come back', async () => {
    const minute = (): number => Math.floor(Date.now() / MINUTE_MS);
    let before: number;
    let begun: number;
    let replies: readonly Reply[];
    do {
      const { key } = await fleet.createKey('--rate-limit', '10');
      [before, begun] = [upstream.seen.length, minute()];
      replies = await Promise.all(burst(key, 100));
      // At the turn of a minute, what came before it counts for less.
    } while (minute() !== begun);

    expect(byCode(replies)).toEqual({ ok: 10, rate_limited: 90 });
    expect(upstream.seen.length - before).toBe(10);
    for (const { status, headers, retryAfter } of replies) {
      expect(headers.get('ratelimit-limit')).toBe('10');
      if (status !== 429) continue;
      expect(headers.get('ratelimit-remaining')).toBe('0');
      expect(Number(retryAfter)).toBeGreaterThan(0);
      // Right after the turn of a minute the last one still weighs, and the wait is a little longer than a minute.
      expect(Number(retryAfter)).toBeLessThanOrEqual(66);
    }
  });
});

// Last of this file: it kills one of the two gateways.
describe('a gateway that is killed in the middle of requests', () => {
  it('gives quota and places back when its reservations expire, and not before', async () => {
    const [doomed, survivor] = fleet.gateways;
    const paid = await fleet.createKey('--quota', String(7 * PRICE));
    const narrow = await fleet.createKey('--max-concurrency', '3');
    const gate = closedGate();
    upstream.answer(gate.answer);
    const startedMs = Date.now();
    const hasty = { 'x-request-timeout-ms': String(DEADLINE_MS) };
    const lost = [
      ...Array.from({ length: 5 }, () => doomed.post(paid.key, rerankBody('m'), hasty)),
      ...Array.from({ length: 3 }, () => doomed.post(narrow.key, rerankBody('m'), hasty)),
    ].map((reply) => reply.then(({ status }) => status).catch(() => 'lost'));
    const kept = [survivor, survivor].map((gateway) => gateway.post(paid.key, rerankBody('m')));
    await eventually('all ten are upstream', () => Promise.resolve(gate.waiting === 10));

    doomed.kill('SIGKILL');
    await doomed.exited;
    gate.open();

    expect(await Promise.all(lost)).toEqual(Array.from({ length: 8 }, () => 'lost'));
    expect(byCode(await Promise.all(kept))).toEqual({ ok: 2 });
    const comeback = async (key: string, refusal: string): Promise<number> => {
      for (;;) {
        const { status, body } = await survivor.post(key, rerankBody('m'));
        if (status === 200) return Date.now();
        expect(body.error.code).toBe(refusal);
        await wait(50);
      }
    };
    const backMs = await Promise.all([
      comeback(paid.key, 'token_quota_exhausted'),
      comeback(narrow.key, 'too_many_concurrent_requests'),
    ]);
    // Each reservation expires so long after its own request began.
    for (let back = 1; back < 5; back += 1) {
      backMs.push(await comeback(paid.key, 'token_quota_exhausted'));
    }
    const rest = await Promise.all([1, 2].map(() => survivor.post(paid.key, rerankBody('m'))));

    for (const atMs of backMs) {
      expect(atMs - startedMs).toBeGreaterThanOrEqual(DEADLINE_MS + GRACE_MS);
      expect(atMs - startedMs).toBeLessThan(DEADLINE_MS + GRACE_MS + 20_000);
    }
    expect(byCode(rest)).toEqual({ token_quota_exhausted: 2 });
    await eventually('all is settled', async () => (await survivor.metric(PENDING)) === 0);
    expect(await fleet.keyRecord(paid.id)).toMatchObject({
      remain_quota: 0,
      used_quota: 7 * PRICE,
    });
  }, 60_000);
});

const PENDING = 'rerank_settlements_pending';

async function pendingSettlements(): Promise<number> {
  const counts = await Promise.all(fleet.gateways.map((gateway) => gateway.metric(PENDING)));
  return counts.reduce((sum, count) => sum + count, 0);
}
