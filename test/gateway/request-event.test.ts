import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import { requestEvent, type Answered } from '../../src/gateway/request-event.js';
import { Trace } from '../../src/gateway/trace.js';

const ADDRESS = '192.0.2.7';

function answered(fields: Partial<Answered> = {}): Answered {
  return {
    ...{ requestId: 'req-1', startedMs: 1_000, durationMs: 21, route: '/v1/rerank', status: 200 },
    ...{
      failure: undefined,
      userId: 1,
      token: { id: 2, name: 'key' },
      model: 'moon',
      documents: 3,
    },
    address: () => ADDRESS,
    ...fields,
  };
}

function admittedTrace(): Trace {
  return Object.assign(new Trace(), { admitted: true, quota: 7, model: 'moon' });
}

describe('the event of a request', () => {
  it('names the account of the key, the model that was routed, and what the ranking costs', async () => {
    const event = await requestEvent(admittedTrace(), answered({ model: 'alias-of-moon' }));

    expect(event).toMatchObject({
      ...{ kind: 'request', outcome: 'ok', status: 200, userId: 1, tokenId: 2, tokenName: 'key' },
      ...{ model: 'moon', knownModel: true, documents: 3, quota: 7, durationMs: 21 },
    });
    expect(event).not.toHaveProperty('message');
    expect(event).not.toHaveProperty('address');
  });

  it('charges what the store could take if that is less than the ranking costs', async () => {
    const trace = Object.assign(admittedTrace(), { charged: Promise.resolve(4) });

    expect(await requestEvent(trace, answered())).toHaveProperty('quota', 4);
  });

  it('charges what the ranking costs if nobody knows what the store took', async () => {
    const trace = Object.assign(admittedTrace(), { charged: Promise.resolve(undefined) });

    expect(await requestEvent(trace, answered())).toHaveProperty('quota', 7);
  });

  it('says of a model that was never routed what the caller named', async () => {
    const event = await requestEvent(new Trace(), answered({ model: 'no-such-model' }));

    expect(event).toMatchObject({ model: 'no-such-model', knownModel: false });
  });

  it.each([
    ['says what the caller of an admitted request was told', true, {}],
    ['says where a request that was refused came from', false, { address: ADDRESS }],
  ])('%s', async (_, admitted, more) => {
    const trace = Object.assign(new Trace(), { admitted });
    const failure = new GatewayError('rate_limited', 'Too many.');

    const event = await requestEvent(trace, answered({ failure, status: 429 }));

    expect(event).toMatchObject({ outcome: 'rate_limited', status: 429, message: 'Too many.' });
    expect('address' in event ? { address: event.address } : {}).toEqual(more);
  });

  it('asks nothing about the address of an explanation, which is neither admitted nor refused', async () => {
    expect(await requestEvent(new Trace(), answered())).not.toHaveProperty('address');
  });

  it('distinguishes the console from callers of the API', async () => {
    expect(await requestEvent(new Trace(), answered({ source: 'console' }))).toHaveProperty(
      'source',
      'console',
    );
  });
});
