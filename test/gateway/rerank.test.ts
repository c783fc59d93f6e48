import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GatewayError } from '../../src/core/errors.js';
import { textDocuments } from '../../src/core/text-documents.js';
import type { TokenPolicy } from '../../src/core/token.js';
import type { ChannelTable } from '../../src/gateway/channels/table.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import type { Job, Plan } from '../../src/gateway/rank.js';
import {
  DefaultModelChanged,
  rerank,
  type GatewayDeps,
  type RerankCall,
} from '../../src/gateway/rerank.js';
import { createScope } from '../../src/gateway/scope.js';
import { startTraces } from '../../src/gateway/trace-context.js';
import { Trace } from '../../src/gateway/trace.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { onlyChannel, startUpstream, type Answer, type TestUpstream } from '../support/upstream.js';

const PRICE = 7;
const fails: Answer = (_request, res) => void res.writeHead(500).end();

let upstream: TestUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream(fails);
  gateway = await startGateway({
    prices: { default: { per_request: PRICE }, models: { free: { per_request: 0 } } },
    models: { broken: { fallbacks: ['sure'] }, shared: { coalesce: true } },
    traffic: { breaker_failures: 0 },
    channels: [
      { name: 'inside', provider: 'local', models: ['sure', 'moon', 'free'], tag: 'sky' },
      onlyChannel(upstream.url, { models: ['broken', 'alone', 'shared'] }),
    ],
    callers: { aliases: { luna: 'moon' } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** The gateway's parts, with these in the place of some. */
function depsWith(changes: Partial<GatewayDeps>): GatewayDeps {
  return { ...gateway.app.gateway, ...changes };
}

/** The same with another plan for some models, and what is done in place of asking the store for the channels. */
function planned(
  plans: Readonly<Record<string, Partial<Plan>>>,
  refresh?: () => void,
): GatewayDeps {
  const { channels } = gateway.app.gateway;
  const all = new Map(channels.current.plans);
  for (const [model, changes] of Object.entries(plans)) {
    const plan = all.get(model);
    if (plan !== undefined) all.set(model, { ...plan, ...changes });
  }
  const table: Pick<ChannelTable, 'current' | 'ensureFresh'> = {
    get current() {
      return { ...channels.current, plans: all };
    },
    ensureFresh: () => {
      refresh?.();
      return channels.ensureFresh();
    },
  };
  return depsWith({ channels: table as ChannelTable });
}

/**
 * A call of a new key with this policy, and what became known of it on the way. `known` is what this node remembers otherwise of the
 * policy.
 */
async function callOf(
  model: string,
  policy: Partial<TokenPolicy> = {},
  given: Partial<RerankCall> = {},
  deps: GatewayDeps = gateway.app.gateway,
  known: Partial<TokenPolicy> = {},
) {
  const { key, id } = await gateway.createKey({ policy, remainQuota: 1_000 });
  const keyHash = createHash('sha256').update(key).digest('hex');
  const credential = await gateway.app.gateway.credentials.findFresh(keyHash);
  if (credential === undefined) throw new Error('the key was made');
  const { token } = credential;
  const remembered = { ...credential, token: { ...token, policy: { ...token.policy, ...known } } };
  const documents = textDocuments(['no moons', 'the most moons']);
  const scope = createScope(Date.now(), 20_000);
  const { trace = new Trace() } = given;
  const call: RerankCall = {
    id: randomUUID(),
    requestId: 'request',
    caller: { keyHash, credential: remembered, addressAllowed: () => true },
    request: {
      model,
      query: 'most moons',
      documents,
      topN: 2,
      returnDocuments: false,
      options: {},
    },
    modelBy: () => model,
    tag: undefined,
    scope,
    trace,
    ...given,
  };
  const ranked = rerank(deps, call).finally(() => scope.release());
  const left = async () => (await gateway.store.getToken(id, Date.now()))?.remainQuota;
  return { ranked, trace, left };
}

async function requestsServed(): Promise<number | undefined> {
  await gateway.app.gateway.settlements.drained();
  return (await gateway.store.getUser(gateway.userId, Date.now()))?.requestCount;
}

describe('a request', () => {
  it('is admitted, ranked, and charged what its model costs', async () => {
    const servedBefore = (await requestsServed()) ?? 0;
    const { ranked, trace, left } = await callOf('moon');

    const { rows, usage, model, isDegraded, isCached } = await ranked;

    expect(rows.map(({ index }) => index)).toEqual([1, 0]);
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect([model, isDegraded, isCached]).toEqual([undefined, false, false]);
    // What was reserved is all that it costs, so nobody waits to hear what is charged.
    expect(trace).toMatchObject({
      model: 'moon',
      admitted: true,
      quota: PRICE,
      charged: undefined,
    });
    expect([await requestsServed(), await left()]).toEqual([servedBefore + 1, 1_000 - PRICE]);
  });

  it('is counted though it costs nothing', async () => {
    const servedBefore = (await requestsServed()) ?? 0;
    const { ranked, left } = await callOf('free');

    await ranked;

    expect([await requestsServed(), await left()]).toEqual([servedBefore + 1, 1_000]);
  });

  it('tells how long its settlement took, if its trace is recorded', async () => {
    let nowMs = Date.now();
    const events: GatewayEvent[] = [];
    const trace = new Trace(startTraces(1, () => 0)(undefined));
    const deps = depsWith({ now: () => (nowMs += 1), observe: (event) => events.push(event) });
    const { ranked } = await callOf('moon', {}, { trace }, deps);

    await ranked;
    await gateway.app.gateway.settlements.drained();
    await new Promise((resolve) => setImmediate(resolve));

    expect(events.filter(({ kind }) => kind === 'settled')).toMatchObject([
      { trace: trace.context, durationMs: 1, charged: PRICE },
    ]);
  });

  it.each<[string, string, Partial<TokenPolicy>, boolean]>([
    ['refused before the store is asked', 'overloaded', {}, false],
    ['refused for its key', 'model_not_allowed', { models: ['sure'] }, false],
    ['ranked, if its key has other models', 'ranked', { fallbacks: ['sure'] }, false],
    ['ranked, on trial', 'ranked', {}, true],
  ])('for which those that wait leave no time is %s', async (_what, expected, policy, isTrial) => {
    const deps = planned({
      moon: { refusal: () => ({ kind: 'busy', soonestMs: 0, retryAfterMs: 3_000 }) },
    });
    const channelId = deps.channels.current.plans.get('moon')?.offers[0]?.id ?? 0;
    const trial = isTrial ? { channelId, ignoresSwitches: false } : undefined;
    const { ranked, trace } = await callOf('moon', policy, { trial }, deps);

    const outcome = await ranked.then(
      () => 'ranked',
      (error: unknown) => (error as GatewayError).code,
    );

    expect([outcome, trace.admitted]).toEqual([expected, expected === 'ranked']);
  });

  it('shares rankings with those of its account under the same tags alone', async () => {
    const owners: string[] = [];
    const { rank } = gateway.app.gateway.channels.current.plans.get('moon') ?? {};
    const deps = planned({
      moon: {
        rank: (job: Job) => {
          owners.push(job.owner);
          if (rank === undefined) throw new Error('the model is served');
          return rank(job);
        },
      },
    });
    const ask = async (policy: Partial<TokenPolicy>, tag?: string) =>
      (await callOf('moon', policy, { tag }, deps)).ranked;

    await ask({});
    await ask({});
    await ask({}, 'sky');
    await ask({ tags: ['sky'] });

    expect([owners[0] === owners[1], new Set(owners).size]).toEqual([true, 3]);
  });

  it('for a model that nobody serves asks for the channels as they are now', async () => {
    let asked = 0;
    const deps = planned({}, () => (asked += 1));

    await expect((await callOf('nothing', {}, {}, deps)).ranked).rejects.toMatchObject({
      code: 'model_not_found',
    });
    expect(asked).toBe(1);
  });

  it('is served under an alias that its key has had since', async () => {
    const { ranked, trace } = await callOf(
      'mond',
      { aliases: { mond: 'moon' } },
      {},
      gateway.app.gateway,
      { aliases: {} },
    );

    await ranked;
    expect(trace.model).toBe('moon');
  });

  it('is served under an alias by the model that this stands for', async () => {
    const { ranked, trace } = await callOf('luna');

    await ranked;
    expect(trace.model).toBe('moon');
  });

  it('names the model that answered in place of its own', async () => {
    const { ranked } = await callOf('broken');

    expect(await ranked).toMatchObject({ model: 'sure', isDegraded: true });
  });

  it('follows the chain of its key, and not that of the model', async () => {
    const { ranked } = await callOf('broken', { fallbacks: ['moon'] });

    expect(await ranked).toMatchObject({ model: 'moon' });
  });

  it('that nobody ranks fails, and gets back what was reserved', async () => {
    const servedBefore = await requestsServed();
    const { ranked, trace, left } = await callOf('alone');

    await expect(ranked).rejects.toMatchObject({ code: 'upstream_error' });
    expect(trace).toMatchObject({ admitted: true, quota: 0 });
    expect([await requestsServed(), await left()]).toEqual([servedBefore, 1_000]);
  });

  it.each<[string, string, Partial<TokenPolicy>, Partial<RerankCall>]>([
    ['model_not_found', 'nothing', {}, {}],
    ['model_not_found', 'moon', {}, { tag: 'sea' }],
    ['model_not_allowed', 'moon', { models: ['sure'] }, {}],
    ['model_not_allowed', 'nothing', { models: ['sure'] }, {}],
    ['model_not_found', 'moon', {}, { trial: { channelId: 999, ignoresSwitches: false } }],
  ])(
    'is refused with %s before anything is reserved: %s, %j',
    async (code, model, policy, given) => {
      const { ranked, trace, left } = await callOf(model, policy, given);

      await expect(ranked).rejects.toMatchObject({ code });
      expect(trace.admitted).toBe(false);
      expect(await left()).toBe(1_000);
    },
  );

  it('is not admitted if its key has another default model by now', async () => {
    const { ranked, trace } = await callOf('moon', {}, { modelBy: () => 'sure' });

    await expect(ranked).rejects.toBeInstanceOf(DefaultModelChanged);
    expect(trace.admitted).toBe(false);
  });
});
