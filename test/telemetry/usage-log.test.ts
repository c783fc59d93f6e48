import { describe, expect, it } from '@jest/globals';
import type { FaultEvent, RequestEvent } from '../../src/gateway/events.js';
import { StoreUnavailableError, type UsageEntry } from '../../src/store/store.js';
import { UsageLog } from '../../src/telemetry/usage-log.js';
import { attemptEvent, requestEvent } from '../support/events.js';
import { startGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { sendJson, startUpstream } from '../support/upstream.js';

const NOW = 1_800_000_000_000;

const event = (fields: Partial<RequestEvent> = {}) =>
  requestEvent({ requestId: 'r', atMs: NOW, model: 'm', documents: 5, quota: 1_000, ...fields });

/** A log over a store that answers as told, and what it got. */
function usageLog(append: (attempt: number) => Promise<void> = () => Promise.resolve()) {
  const batches: (readonly UsageEntry[])[] = [];
  const faults: FaultEvent[] = [];
  let attempts = 0;
  const log = new UsageLog({
    store: {
      async appendUsage(entries) {
        attempts += 1;
        await append(attempts);
        batches.push(entries);
      },
    },
    observe: (happened) => {
      if (happened.kind === 'fault') faults.push(happened);
    },
    now: () => NOW,
    maxEntries: 1_000,
    ...{ node: 'node-a', writer: 'w' },
  });
  return { log, batches, faults };
}

describe('the usage log', () => {
  it('has an entry for every admitted request, and for those alone', async () => {
    const { log, batches } = usageLog();

    log.read([event({ requestId: 'served' })]);
    log.read([event({ requestId: 'failed', outcome: 'upstream_error', status: 502, quota: 0 })]);
    log.read([event({ requestId: 'refused', admitted: false, status: 403 })]);
    await log.close(NOW);

    expect(batches.flat().map(({ requestId, outcome }) => [requestId, outcome])).toEqual([
      ['served', 'ok'],
      ['failed', 'upstream_error'],
    ]);
  });

  it('has every attempt of a request that took more than one, and none if the first succeeded', async () => {
    const { log, batches } = usageLog();
    const failed = attemptEvent({
      requestId: 'b',
      outcome: 'timeout',
      status: undefined,
      message: 'late',
    });

    log.read([attemptEvent({ requestId: 'a' }), failed]);
    log.read([
      event({ requestId: 'a' }),
      attemptEvent({ requestId: 'b', channelId: 4, tag: 'eu' }),
    ]);
    log.read([event({ requestId: 'b', attempts: 2 }), event({ requestId: 'b' })]);
    await log.close(NOW);

    const [plain, moved, later] = batches.flat();
    expect(plain?.detail).toBeUndefined();
    expect(moved?.detail).toEqual({
      status: 200,
      upstreamMs: 20,
      node: 'node-a',
      tried: [
        { channelId: 3, provider: 'cohere', outcome: 'timeout', message: 'late', durationMs: 20 },
        {
          channelId: 4,
          provider: 'cohere',
          tag: 'eu',
          outcome: 'ok',
          status: 200,
          message: '',
          durationMs: 20,
        },
      ],
    });
    expect(later?.detail).toBeUndefined();
  });

  it('has the attempts of later requests too, however many attempts outlast their own', async () => {
    const { log, batches } = usageLog();
    const failed = (requestId: string) => attemptEvent({ requestId, outcome: 'timeout' });

    log.read(Array.from({ length: 10_000 }, (_, at) => failed(`gone ${at}`)));
    log.read([failed('later')]);
    const ended = ['gone 0', 'gone 1', 'later'];
    log.read(ended.map((requestId) => event({ requestId, outcome: 'upstream_timeout' })));
    await log.close(NOW);

    // As many are remembered: the oldest went.
    expect(batches.flat().map(({ detail }) => detail?.tried.length)).toEqual([0, 1, 1]);
  });

  it('says of a request that it came from the console', async () => {
    const { log, batches } = usageLog();

    log.read([event({ source: 'console' }), event()]);
    await log.close(NOW);

    expect(batches.flat().map(({ detail }) => detail?.source)).toEqual(['console', undefined]);
  });

  it('is written in batches of 200, in order', async () => {
    const { log, batches } = usageLog();

    for (let count = 0; count < 450; count += 1) log.read([event({ requestId: String(count) })]);
    await log.close(NOW);

    expect(batches.map(({ length }) => length)).toEqual([200, 200, 50]);
    expect(batches.flat().map(({ requestId }) => Number(requestId))).toEqual(
      Array.from({ length: 450 }, (_, index) => index),
    );
  });

  it('waits for a store that is away, and loses nothing', async () => {
    const { log, batches, faults } = usageLog((attempt) =>
      attempt < 3 ? Promise.reject(new StoreUnavailableError('away')) : Promise.resolve(),
    );

    for (let count = 0; count < 200; count += 1) log.read([event()]);
    await log.close(NOW + 60_000);

    expect(batches.flat()).toHaveLength(200);
    expect(faults).toEqual([]);
  });

  it('does not grow without bound meanwhile, and says once how much was lost', async () => {
    let comeBack = (): void => undefined;
    const back = new Promise<void>((resolve) => (comeBack = resolve));
    const { log, batches, faults } = usageLog(() => back);

    for (let count = 0; count < 20_005; count += 1) log.read([event()]);
    const { size } = log;
    comeBack();
    await log.close(NOW + 60_000);

    expect(size).toBe(20_000);
    expect(batches.flat()).toHaveLength(20_000);
    expect(faults.map(({ what }) => what)).toEqual(['5 entries of the usage log were lost']);
  });

  it('gives up at shutdown when the store does not come back in time', async () => {
    const { log, faults } = usageLog(() => Promise.reject(new StoreUnavailableError('away')));

    for (let count = 0; count < 300; count += 1) log.read([event()]);
    await log.close(NOW);

    expect(log.size).toBe(0);
    expect(faults.map(({ what }) => what)).toEqual(['300 entries of the usage log were lost']);
  });

  it('goes on with the next batch when one cannot be written at all', async () => {
    const { log, batches, faults } = usageLog((attempt) =>
      attempt === 1 ? Promise.reject(new Error('no such table')) : Promise.resolve(),
    );

    for (let count = 0; count < 201; count += 1) log.read([event({ requestId: String(count) })]);
    await log.close(NOW);

    expect(batches.flat().map(({ requestId }) => requestId)).toEqual(['200']);
    expect(faults).toMatchObject([
      {
        what: '200 entries of the usage log were lost',
        error: expect.objectContaining({ message: 'no such table' }),
      },
    ]);
  });
});

it('every other request has one line in the log, with its pattern and nothing of what was asked', async () => {
  const gateway = await startGateway({});
  try {
    const before = gateway.log.length;
    const headers = { 'x-request-id': 'seen-in-the-log' };
    await fetch(`${gateway.url}/api/user/4711?secret=1`, { headers });
    await fetch(`${gateway.url}/nothing/here`, { headers });
    await fetch(`${gateway.url}/healthz`, { headers });

    await gateway.app.close(1_000);

    const lines = gateway.log
      .slice(before)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ requestId }) => requestId === 'seen-in-the-log');
    expect(lines).toMatchObject([
      { level: 'info', msg: 'request', method: 'GET', route: '/api/user/:id', status: 401 },
      { level: 'info', msg: 'request', method: 'GET', route: 'none', status: 404 },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/4711|secret=1|nothing/);
  } finally {
    await gateway.close();
  }
});

it('a request that costs more than its key has left is reported with what was charged', async () => {
  const upstream = await startUpstream((_request, res) =>
    sendJson(res, {
      results: [{ index: 0, relevance_score: 0.5 }],
      usage: { total_tokens: 100 },
    }),
  );
  const gateway = await startGateway({
    prices: { default: { per_million_tokens: 1_000_000 } },
    channels: [
      {
        name: 'only',
        provider: 'jina',
        base_url: upstream.url,
        credentials: { apiKey: 'k' },
        models: ['m'],
      },
    ],
  });
  try {
    const { key, id } = await gateway.createKey({ remainQuota: 5 });

    const { status } = await gateway.post(key, { model: 'm', query: 'q', documents: ['d'] });
    const told = (): unknown =>
      gateway.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find(({ route }) => route === '/v1/rerank');
    await eventually('the request is in the log', () => Promise.resolve(told() !== undefined));

    expect(status).toBe(200);
    expect(told()).toMatchObject({ outcome: 'ok', inputTokens: 100, quota: 5 });
    expect(await gateway.store.getToken(id, Date.now())).toMatchObject({
      remainQuota: 0,
      usedQuota: 5,
    });
  } finally {
    await gateway.close();
    await upstream.close();
  }
});
