import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

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
  function called(...headers: readonly string[]) {
    return calledAt(gateway, key, ...headers);
  }

  async function calledAt(at: TestGateway, withKey: string, ...headers: readonly string[]) {
    const { port } = at.app.server.address() as AddressInfo;
    const caller = connect(port, '127.0.0.1');
    await once(caller, 'connect');
    const own = ['POST /v1/rerank HTTP/1.1', 'Host: gateway', `Authorization: Bearer ${withKey}`];
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

  it('has no more time than the gateway gives, whatever it asks for', async () => {
    const hasty = await startGateway({ gateway: { attempt_timeout_ms: 20, deadline_ms: 20 } });
    const made = await hasty.createKey();
    const ask = ['Content-Length: 2', 'X-Request-Timeout-Ms: 60000'];
    const { caller, head } = await calledAt(hasty, made.key, ...ask);
    caller.write(head);
    await new Promise((resolve) => setTimeout(resolve, 40));
    caller.write('{}');
    const [reply] = (await once(caller, 'data')) as [Buffer];
    caller.destroy();
    await hasty.close();

    expect(reply.toString()).toMatch(/^HTTP\/1.1 (408|504)/);
  });

  it('of a key that is switched off is refused before its body has come', async () => {
    const { key: off } = await gateway.createKey({ enabled: false });
    const { caller, head } = await called('Content-Length: 2');

    caller.write(head.replace(key, off));
    const [reply] = (await once(caller, 'data')) as [Buffer];
    caller.destroy();

    expect(reply.toString()).toContain('HTTP/1.1 401');
  });
});
