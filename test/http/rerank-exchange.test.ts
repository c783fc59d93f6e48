import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NO_BYTES, Owned } from '../../src/bytes/memory.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** Holds every promise that is made until it is stopped, as the engine does with those that have grown old. */
function holdPromises(): { readonly held: Promise<unknown>[]; stop(): void } {
  const held: Promise<unknown>[] = [];
  const hook = createHook({
    init: (_id, type, _by, resource) => {
      if (type === 'PROMISE') held.push(resource as Promise<unknown>);
    },
  }).enable();
  return { held, stop: () => hook.disable() };
}

describe('an exchange', () => {
  let gateway: TestGateway;
  let key: string;

  beforeAll(async () => {
    gateway = await startGateway({
      channels: [{ name: 'c', provider: 'local', models: ['moon'] }],
    });
    ({ key } = await gateway.createKey());
    // From now on the key is known, and a request waits for nothing but its body.
    await gateway.post(key, '');
  });
  afterAll(() => gateway.close());

  /** A connection, and the head of a request on it. */
  async function called(...headers: readonly string[]) {
    const { port } = gateway.app.server.address() as AddressInfo;
    const caller = connect(port, '127.0.0.1');
    await once(caller, 'connect');
    const own = ['POST /v1/rerank HTTP/1.1', 'Host: gateway', `Authorization: Bearer ${key}`];
    return { caller, head: `${[...own, ...headers].join('\r\n')}\r\n\r\n` };
  }

  it('whose body comes after its deadline was late itself, and no provider', async () => {
    const { caller, head } = await called('Content-Length: 2', 'X-Request-Timeout-Ms: 1');
    caller.write(head);
    await until('it waits for its body', () => gateway.app.inFlight() === 1);
    // Its deadline was set before, so it is over first.
    await new Promise((resolve) => setTimeout(resolve, 20));

    caller.write('{}');
    const [reply] = (await once(caller, 'data')) as [Buffer];
    caller.destroy();

    expect(reply.toString()).toContain('HTTP/1.1 408');
    expect(reply.toString()).toContain('request_timeout');
  });

  it.each([
    ['200', '{"model":"moon","query":"q","documents":["a","b"]}'],
    ['400', '{"model":"moon"'],
  ])('leaves nothing of its body to what waited for it: %s', async (status, body) => {
    const { caller, head } = await called(`Content-Length: ${body.length}`);

    const promises = holdPromises();
    caller.write(head);
    await until('it waits for its body', () => gateway.app.inFlight() === 1);
    promises.stop();
    caller.write(body);
    const [reply] = (await once(caller, 'data')) as [Buffer];
    caller.destroy();

    expect(reply.toString()).toContain(`HTTP/1.1 ${status}`);
    const outcomes = await Promise.all(promises.held);
    const bodies = outcomes.filter((outcome) => outcome instanceof Owned);
    expect(bodies.map(({ bytes }) => bytes)).toEqual([NO_BYTES]);
  });
});
