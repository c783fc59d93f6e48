import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    callers: { aliases: { 'rerank-english-v3.0': 'local', other: 'nothing' } },
    models: { shared: { split: false } },
    prices: { models: { local: { per_request: 10 }, off: { per_million_tokens: 25_000 } } },
    channels: [
      { name: 'a', provider: 'local', models: ['local', 'unpriced'] },
      { name: 'tagged', provider: 'local', models: ['unpriced'], tag: 'blue' },
      { name: 'secret name', provider: 'local', models: ['off'], enabled: false },
      { name: 'b', provider: 'voyage', models: ['shared'], api_key: 'the-key-of-b' },
      { name: 'c', provider: 'cohere', models: ['shared', 'rerank-v3.5'], api_key: 'the-key-of-c' },
    ],
  });
});
afterAll(() => gateway.close());

describe('the models that callers may name', () => {
  it('are live for a key if a channel that it is bound to serves them', async () => {
    const [{ token, user }, stranger] = [
      await createAccount(gateway.store),
      await createAccount(gateway.store),
    ];
    const { id } = await gateway.createKey({ userId: user.id, policy: { tags: ['blue'] } });
    const models = (who: string) =>
      callApi<readonly { id: string; live: boolean }[]>(
        ...([gateway.url, 'GET', `/api/model?token_id=${id}`, { token: who }] as const),
      );

    const { body } = await models(token);
    const { status } = await models(stranger.token);

    expect(body.data.filter(({ live }) => live).map((model) => model.id)).toEqual(['unpriced']);
    expect(status).toBe(404);
  });

  it('are shown to everybody who is logged in, with prices and other names, and without channels', async () => {
    const { token } = await createAccount(gateway.store);

    const reply = await callApi(gateway.url, 'GET', '/api/model', { token });

    expect(reply.body.data).toMatchObject([
      {
        ...{ id: 'local', live: true, aliases: ['rerank-english-v3.0'] },
        price: { per: 'request', units: 10 },
      },
      {
        ...{ id: 'off', live: false, aliases: [] },
        price: { per: 'million_tokens', units: 25_000 },
      },
      { id: 'rerank-v3.5', live: true },
      { id: 'shared', live: true },
      { id: 'unpriced', live: true, aliases: [], price: { per: 'search_unit', units: 1_000 } },
    ]);
    const limits = Object.fromEntries(
      (reply.body.data as { id: string; limits: object }[]).map((model) => [
        model.id,
        model.limits,
      ]),
    );
    // Voyage takes 1,000 documents, and Cohere more; longer lists are split unless the settings say otherwise.
    expect(limits.shared).toMatchObject({ documents: 10_000, images: false });
    expect(limits['rerank-v3.5']).toMatchObject({ documents: null });
    expect(limits.off).toMatchObject({ documents: null, request_tokens: null, images: false });
  });
});

it('price changes are told to everybody who is logged in, from the start of the gateway that has them', async () => {
  const { token } = await createAccount(gateway.store);
  const changes = async (query = ''): Promise<unknown> =>
    (await callApi(gateway.url, 'GET', `/api/price/change${query}`, { token })).body.data;
  // What a gateway has when it starts is where the history begins.
  expect(await gateway.store.listPrices()).toHaveLength(1);
  expect(await changes()).toEqual([]);

  const atMs = Date.now() + 60_000;
  const { prices } = gateway.app.gateway;
  const models = { ...prices.models, local: { per: 'request', units: 20 } as const };
  await gateway.store.keepPrices({ atMs, prices: { ...prices, models } }, 10);

  const changed_at = Math.floor(atMs / 1_000);
  const change = {
    model: 'local',
    before: { per: 'request', units: 10 },
    after: { per: 'request', units: 20 },
  };
  expect(await changes()).toEqual([{ changed_at, prices: [change] }]);
  expect(await changes(`?start_timestamp=${changed_at}&end_timestamp=${changed_at}`)).toEqual([
    { changed_at, prices: [change] },
  ]);
  expect(await changes(`?end_timestamp=${changed_at - 1}`)).toEqual([]);
});
