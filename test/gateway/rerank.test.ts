import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import type { TokenPolicy } from '../../src/core/token.js';
import { DefaultModelChanged, rerank, type RerankCall } from '../../src/gateway/rerank.js';
import { createScope } from '../../src/gateway/scope.js';
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
    prices: { default: { per_request: PRICE } },
    models: { broken: { fallbacks: ['sure'] }, shared: { coalesce: true } },
    traffic: { breaker_failures: 0 },
    channels: [
      { name: 'inside', provider: 'local', models: ['sure', 'moon'], tag: 'sky' },
      onlyChannel(upstream.url, { models: ['broken', 'alone', 'shared'] }),
    ],
    callers: { aliases: { luna: 'moon' } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** A call of a new key with this policy, and what became known of it on the way. */
async function callOf(
  model: string,
  policy: Partial<TokenPolicy> = {},
  given: Partial<RerankCall> = {},
) {
  const { key, id } = await gateway.createKey({ policy, remainQuota: 1_000 });
  const keyHash = createHash('sha256').update(key).digest('hex');
  const credential = await gateway.app.gateway.credentials.findFresh(keyHash);
  if (credential === undefined) throw new Error('the key was made');
  const documents = textDocuments(['no moons', 'the most moons']);
  const scope = createScope(Date.now(), 20_000);
  const trace = new Trace();
  const call: RerankCall = {
    id: randomUUID(),
    requestId: 'request',
    caller: { keyHash, credential, addressAllowed: () => true },
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
  const ranked = rerank(gateway.app.gateway, call).finally(() => scope.release());
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
