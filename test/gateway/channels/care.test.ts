import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProbeReport } from '../../../src/core/probe.js';
import { ChannelCare } from '../../../src/gateway/channels/care.js';
import type { DutyStore } from '../../../src/store/store.js';
import { deferred } from '../../support/deferred.js';
import { offer } from '../../support/offers.js';
import { opened } from '../../support/opened.js';
import { CHANNEL_DEFAULTS } from '../../../src/core/channel-members.js';
import { Secret } from '../../../src/core/secret.js';
import { listChannels } from '../../../src/management/channel-views.js';
import { updateChannel } from '../../../src/management/channels.js';
import type { AuditEntry } from '../../../src/store/store.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { cohereChannel, rankLikeCohere, sendJson, startUpstream } from '../../support/upstream.js';

const open = opened();
let redis: RedisServer;
let prefixes = 0;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
type Answer = Parameters<typeof startUpstream>[0];

const upstreamWith = open.upstream;

/** Where several gateways find each other: one Redis, or one file. */
function storeEnv(kind: 'redis' | 'embedded'): Readonly<Record<string, string>> {
  if (kind === 'redis') {
    prefixes += 1;
    return {
      REDIS_URL: redis.url,
      REDIS_PREFIX: `care${prefixes}:`,
      ENCRYPTION_KEY: 'k'.repeat(32),
    };
  }
  const folder = mkdtempSync(join(tmpdir(), 'rerank-care-'));
  open.push({
    close: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
  return { DATA_DIR: folder, ENCRYPTION_KEY: 'k'.repeat(32) };
}

async function gatewayWith(
  channels: readonly object[],
  traffic: Record<string, unknown> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      channels,
      traffic: { disable_failures: 3, return_after_ms: 150, return_longest_ms: 300, ...traffic },
    },
    env,
  );
  open.push(gateway);
  return gateway;
}

const refuse: Answer = (_request, res) => sendJson(res, { message: 'invalid api token' }, 401);
const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };

const statusOf = async ({ store }: TestGateway, name: string): Promise<number | undefined> =>
  (await store.loadChannels()).channels.find((each) => each.name === name)?.status;

const auditOf = async ({ store }: TestGateway): Promise<readonly AuditEntry[]> =>
  (await store.listAudit({ offset: 0, limit: 100 })).items;

const deps = ({ store }: TestGateway) => ({
  store,
  now: Date.now,
  randomBytes: (count: number) => new Uint8Array(count),
  allowPrivateUpstreams: true,
  allowMetadataUpstreams: false,
});
const OPERATOR = { id: 1, name: 'olga', role: 100, address: undefined } as const;

/** Asks until the channel is disabled; every caller gets a ranking meanwhile. */
async function disable(gateway: TestGateway, key: string, name: string): Promise<void> {
  await until(`${name} is disabled`, async () => {
    const { status } = await gateway.post(key, ask);
    expect(status).toBe(200);
    return (await statusOf(gateway, name)) === 3;
  });
}

describe.each(['redis', 'embedded'] as const)('over the %s store, a channel', (kind) => {
  it('whose credentials are refused is disabled for all nodes, and returns when they are not', async () => {
    const env = storeEnv(kind);
    const sick = await upstreamWith(refuse);
    const well = await upstreamWith();
    const channels = [
      cohereChannel('sick', sick.url, { priority: 1 }),
      cohereChannel('well', well.url),
    ];
    const first = await gatewayWith(channels, {}, env);
    const second = await gatewayWith(channels, {}, env);
    const { key } = await first.createKey();

    await disable(first, key, 'sick');
    await until('the other node knows', () => {
      return [...second.app.gateway.channels.current.byId.values()].some(({ live }) => !live);
    });
    const probesBefore = sick.seen.length;
    expect((await second.post(key, ask)).status).toBe(200);
    expect(sick.seen.slice(probesBefore).every(({ body }) => body.includes('France'))).toBe(true);

    const disabled = (await auditOf(first)).find(({ action }) => action === 'channel.disable');
    expect(disabled).toMatchObject({
      actor: 'gateway',
      actorId: undefined,
      detail: { name: 'sick', because: 'credentials_refused', message: 'invalid api token' },
    });

    const shown = async () =>
      (await listChannels(deps(second))).find(({ name }) => name === 'sick');
    expect(await shown()).toMatchObject({
      state: {
        live: false,
        because: 'auto_disabled',
        reason: 'the provider refuses its credentials: invalid api token',
      },
    });
    await until('its next try is known', async () => {
      return ((await shown())?.sighted.nextTryMs ?? 0) > ((await shown())?.sighted.sinceMs ?? 0);
    });

    sick.answer(rankLikeCohere);
    await until('it has returned', async () => (await statusOf(first, 'sick')) === 1);
    await until('both nodes send to it again', async () => {
      const seen = sick.seen.length;
      await first.post(key, ask);
      await second.post(key, ask);
      return sick.seen.length >= seen + 2;
    });
    const actions = (await auditOf(first)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'channel.disable')).toHaveLength(1);
    expect(actions.filter((action) => action === 'channel.return')).toHaveLength(1);
  }, 60_000);

  it('is tried by one node for all, at growing intervals', async () => {
    const env = storeEnv(kind);
    const sick = await upstreamWith(refuse);
    const well = await upstreamWith();
    const channels = [
      cohereChannel('sick', sick.url, { priority: 1 }),
      cohereChannel('well', well.url),
    ];
    const waits = { return_after_ms: 200, return_longest_ms: 100_000 };
    const nodes = [
      await gatewayWith(channels, waits, env),
      await gatewayWith(channels, waits, env),
      await gatewayWith(channels, waits, env),
    ] as const;
    const { key } = await nodes[0].createKey();
    await disable(nodes[0], key, 'sick');
    const before = sick.seen.length;
    const sinceMs = Date.now();

    await sick.reached(before + 3);

    // 200, 400 and 800 ms, less a tenth; three nodes that tried each for itself would be there after the first.
    expect(Date.now() - sinceMs).toBeGreaterThan(1_000);
  }, 60_000);
});

describe('a probe that is due', () => {
  const route = offer(1, { healthCheckS: 1 }).route;

  it.each([
    ['of a channel that is switched off meanwhile', (care: ChannelCare) => care.update([]), true],
    ['while the node is no longer sure of what is on', () => undefined, false],
  ])('%s is not sent, and says nothing of the channel', async (_what, change, isFresh) => {
    const duty = deferred();
    const asked: boolean[] = [];
    const ended: string[] = [];
    const checked: unknown[] = [];
    let nowMs = 0;
    const works: Promise<void>[] = [];
    const care = new ChannelCare({
      store: {
        takeDuty: () => duty.promise.then(() => ({ isMine: true, dueAtMs: 0, note: '' })),
        endDuty: (_name, note) => {
          ended.push(note);
          return Promise.resolve();
        },
        readDuty: () => Promise.resolve(undefined),
        dropDuty: () => Promise.resolve(),
      } satisfies DutyStore,
      health: { checked: (...told) => checked.push(told), forget: () => undefined },
      probe: (_channel, _model, _turn, mayBegin) => {
        asked.push(mayBegin?.() ?? true);
        return Promise.resolve({ problem: { code: 'unreachable', message: '' } } as ProbeReport);
      },
      freshness: { isFresh: () => isFresh, ensureFresh: () => Promise.resolve() },
      run: (_what_, work) => works.push(work()),
      now: () => nowMs,
      random: () => 1,
      returns: { firstMs: 1_000, longestMs: 1_000 },
      recheckMs: 1_000,
      onWell: () => Promise.resolve(),
    });
    care.update([route]);
    nowMs = 10_000;
    await until('it is due', () => works.length > 0);

    change(care);
    duty.resolve();
    await Promise.all(works);
    care.stop();

    expect(asked).toEqual([false]);
    // The note stays as it was.
    expect(ended).toEqual(['']);
    expect(checked).toEqual([]);
  });
});

describe('what an operator does to a channel that is refused', () => {
  it('switched off by hand, it stays off', async () => {
    const sick = await upstreamWith(refuse);
    const well = await upstreamWith();
    const gateway = await gatewayWith([
      cohereChannel('sick', sick.url, { priority: 1 }),
      cohereChannel('well', well.url),
    ]);
    const { key } = await gateway.createKey();
    await disable(gateway, key, 'sick');
    const id = (await gateway.store.loadChannels()).channels.find(
      ({ name }) => name === 'sick',
    )?.id;

    await updateChannel(deps(gateway), id ?? 0, { status: 2 }, OPERATOR);
    sick.answer(rankLikeCohere);
    const seen = sick.seen.length;
    await new Promise((resolve) => setTimeout(resolve, 700));

    expect(await statusOf(gateway, 'sick')).toBe(2);
    expect(sick.seen.length).toBeLessThanOrEqual(seen + 1);
    const [kept] = (await gateway.store.loadChannels()).channels.filter(
      ({ name }) => name === 'sick',
    );
    expect(kept?.outage).toBeUndefined();
  });

  it('with its tag switched off, it is not even tried', async () => {
    const sick = await upstreamWith(refuse);
    const well = await upstreamWith();
    const gateway = await gatewayWith(
      [
        cohereChannel('sick', sick.url, { priority: 1, tag: 'eu' }),
        cohereChannel('well', well.url),
      ],
      { return_after_ms: 500 },
    );
    const { key } = await gateway.createKey();
    await disable(gateway, key, 'sick');

    await gateway.store.setTagSwitch({
      ...{ tag: 'eu', disabled: true, reason: undefined, changedTime: 0, changedBy: undefined },
    });
    const seen = sick.seen.length;
    await new Promise((resolve) => setTimeout(resolve, 1_200));

    expect(sick.seen).toHaveLength(seen);
  });

  it('with a new key, it is tried at once', async () => {
    const sick = await upstreamWith((request, res) =>
      request.headers.authorization === 'Bearer new'
        ? rankLikeCohere(request, res)
        : refuse(request, res),
    );
    const gateway = await gatewayWith([], { return_after_ms: 3_600_000 }, storeEnv('embedded'));
    const created = await gateway.store.createChannel({
      ...CHANNEL_DEFAULTS,
      ...{ name: 'sick', provider: 'cohere', baseUrl: sick.url, tag: undefined, status: 1 },
      ...{ credentials: { apiKey: new Secret('old') }, models: { moon: 'moon' }, settings: {} },
    });
    const id = created.kind === 'updated' ? created.channel.id : 0;
    await gateway.app.gateway.channels.refresh();
    const { key } = await gateway.createKey();
    await until('it is disabled', async () => {
      await gateway.post(key, ask);
      return (await statusOf(gateway, 'sick')) === 3;
    });

    await updateChannel(
      deps(gateway),
      id,
      { credentials: { apiKey: new Secret('new') } },
      OPERATOR,
    );

    await until('it has returned', async () => (await statusOf(gateway, 'sick')) === 1);
  });
});

describe('failures that are not certain', () => {
  it.each([
    ['a model that is not there', 404, { message: 'model not found' }],
    ['faults of the server', 500, { message: 'authentication backend down' }],
    ['a rate limit', 429, { message: 'slow down' }],
  ])('%s disable nothing', async (_what, status, body) => {
    const sick = await upstreamWith((_request, res) => sendJson(res, body, status));
    const well = await upstreamWith();
    const gateway = await gatewayWith(
      [cohereChannel('sick', sick.url, { priority: 1 }), cohereChannel('well', well.url)],
      { breaker_failures: 0 },
    );
    const { key } = await gateway.createKey();

    for (let count = 0; count < 6; count += 1) await gateway.post(key, ask);

    expect(await statusOf(gateway, 'sick')).toBe(1);
  });
});

describe('a health check', () => {
  it('is made by one node for all, takes a dead channel out on every node, and brings it back', async () => {
    const env = storeEnv('redis');
    const sick = await upstreamWith();
    const channels = [cohereChannel('sick', sick.url, { health_check_s: 1 })];
    const traffic = { breaker_open_ms: 60_000 };
    const startMs = Date.now();
    const first = await gatewayWith(channels, traffic, env);
    const second = await gatewayWith(channels, traffic, env);
    const circuit = (gateway: TestGateway): string =>
      gateway.log.filter((line) => line.includes('circuit')).at(-1) ?? '';

    await sick.reached(2);
    // Two nodes that checked each for itself would be there after the first second.
    expect(Date.now() - startMs).toBeGreaterThan(1_500);

    sick.answer((_request, res) => sendJson(res, { message: 'down' }, 500));
    await until('both nodes leave it alone', () =>
      [first, second].every((gateway) => circuit(gateway).includes('"state":"open"')),
    );
    await until('everybody can see it', async () => {
      const [shown] = await listChannels(deps(first));
      return shown?.sighted.pauses.length === 2;
    });
    const [shown] = await listChannels(deps(second));
    expect(shown?.sighted.pauses[0]).toMatchObject({ state: 'open', reason: 'transient' });
    sick.answer(rankLikeCohere);
    await until('both nodes have it back', () =>
      [first, second].every((gateway) => circuit(gateway).includes('"state":"closed"')),
    );

    expect(sick.seen.every(({ body }) => body.includes('France'))).toBe(true);
  }, 60_000);
});
