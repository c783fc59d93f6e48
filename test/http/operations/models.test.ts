import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount } from '../../support/accounts.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    callers: { aliases: { 'rerank-english-v3.0': 'local', other: 'nothing' } },
    prices: { models: { local: { per_request: 10 }, off: { per_million_tokens: 25_000 } } },
    channels: [
      { name: 'a', provider: 'local', models: ['local', 'unpriced'] },
      { name: 'secret name', provider: 'local', models: ['off'], enabled: false },
    ],
  });
});
afterAll(() => gateway.close());

describe('the models that callers may name', () => {
  it('are shown to everybody who is logged in, with prices and other names, and without channels', async () => {
    const { token } = await createAccount(gateway.store);

    const reply = await callApi(gateway.url, 'GET', '/api/model', { token });

    expect(reply.body.data).toEqual([
      {
        ...{ id: 'local', live: true, aliases: ['rerank-english-v3.0'] },
        price: { per: 'request', units: 10 },
      },
      {
        ...{ id: 'off', live: false, aliases: [] },
        price: { per: 'million_tokens', units: 25_000 },
      },
      { id: 'unpriced', live: true, aliases: [], price: { per: 'search_unit', units: 1_000 } },
    ]);
  });
});
