import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { closedGate, type Gate } from '../support/closed-gate.js';
import { eventually } from '../support/redis-server.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';
import { makeHome, runCliHere, startProcess, type GatewayProcess, type Home } from './fleet.js';
import { rerankBody } from './upstreams.js';
import { until } from '../support/until.js';

const MAX_IN_FLIGHT = 5;
const HEADERS_TIMEOUT_MS = 1_000;
const BODY_TIMEOUT_MS = 1_000;
/** How often the server looks for slow clients, and a machine that has other things to do. */
const MARGIN_MS = 5_000;
const DRIP_MS = 100;

let upstream: TestUpstream;
let gate: Gate;
let home: Home;
let gateway: GatewayProcess;
let key = '';

beforeAll(async () => {
  upstream = await startUpstream();
  home = await makeHome({
    server: {
      max_in_flight: MAX_IN_FLIGHT,
      in_flight_share: 1,
      // The largest body there may be, and nothing beside it.
      max_in_flight_bytes: 32 * 1_048_576,
      headers_timeout_ms: HEADERS_TIMEOUT_MS,
      body_timeout_ms: BODY_TIMEOUT_MS,
    },
    channels: [onlyChannel(upstream.url)],
  });
  gateway = await startProcess(home);
  ({ key } = (await runCliHere(home, ['keys', 'create', '--unlimited'])) as { key: string });
}, 60_000);

afterAll(async () => {
  gateway.kill('SIGTERM');
  await gateway.exited;
  await upstream.close();
  await home.remove();
});

beforeEach(() => {
  gate = closedGate();
  upstream.answer(gate.answer);
});

/** Sends `start`, and a byte more every now and then, until the server ends it; resolves to what it said and when. */
async function drip(start: string): Promise<{ readonly text: string; readonly tookMs: number }> {
  const socket = connect(gateway.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const startedMs = Date.now();
  socket.write(start);
  const timer = setInterval(() => socket.write('a'), DRIP_MS);
  await once(socket, 'close');
  clearInterval(timer);
  return { text, tookMs: Date.now() - startedMs };
}

function errorOf(reply: string): { readonly status: number; readonly code: string } {
  const [head = '', body = ''] = reply.split('\r\n\r\n');
  const { error } = JSON.parse(body) as { error: { code: string } };
  return { status: Number(head.split(' ')[1]), code: error.code };
}

describe('a client that takes its time', () => {
  it('is cut off when its headers do not end', async () => {
    const { text, tookMs } = await drip('POST /v1/rerank HTTP/1.1\r\nhost: x\r\nx-slow: ');

    expect(errorOf(text)).toEqual({ status: 408, code: 'request_timeout' });
    expect(tookMs).toBeGreaterThanOrEqual(HEADERS_TIMEOUT_MS);
    expect(tookMs).toBeLessThan(HEADERS_TIMEOUT_MS + MARGIN_MS);
  });

  it('is cut off when its body does not end, and no longer holds a place', async () => {
    const head =
      `POST /v1/rerank HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
      'content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"query":"';

    const ends = await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, () => drip(head)));

    for (const { text, tookMs } of ends) {
      expect(errorOf(text)).toEqual({ status: 408, code: 'request_timeout' });
      expect(tookMs).toBeLessThan(HEADERS_TIMEOUT_MS + BODY_TIMEOUT_MS + MARGIN_MS);
    }
    expect(await gateway.metric('rerank_requests_in_flight')).toBe(0);
    gate.open();
    expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
  });
});

describe('more requests than the gateway takes', () => {
  it('are refused at once while the others go on', async () => {
    const held = Array.from({ length: MAX_IN_FLIGHT }, () => gateway.post(key, rerankBody('m')));
    await eventually('all places are taken', () => Promise.resolve(gate.waiting === MAX_IN_FLIGHT));

    // Their answers come while nothing upstream has been answered.
    const refused = await Promise.all(
      Array.from({ length: 20 }, () => gateway.post(key, rerankBody('m'))),
    );
    const inFlight = await gateway.metric('rerank_requests_in_flight');
    gate.open();
    const served = await Promise.all(held);

    for (const { status, body, retryAfter } of refused) {
      expect([status, body.error.code, retryAfter]).toEqual([503, 'overloaded', '1']);
    }
    expect(inFlight).toBe(MAX_IN_FLIGHT);
    expect(served.map(({ status }) => status)).toEqual(held.map(() => 200));
    expect(await gateway.metric('rerank_requests_in_flight')).toBe(0);
  });
});

describe('a client that does not take its reply', () => {
  it('takes up room for bytes, and no place, until it goes', async () => {
    gate.open();
    const ranked = () => gateway.metric('rerank_documents_total');
    const before = await ranked();
    const large = {
      ...rerankBody('m'),
      documents: Array.from({ length: 3 }, () => `${'x'.repeat(999)} `.repeat(8_000)),
      return_documents: true,
    };
    const socket = send(JSON.stringify(large)).pause();
    await eventually('the reply waits', async () => (await ranked()) === before + 3);

    expect(await gateway.metric('rerank_requests_in_flight')).toBe(0);
    expect((await gateway.post(key, rerankBody('m'))).status).toBe(200);
    expect((await gateway.post(key, large)).body.error.code).toBe('overloaded');
    socket.destroy();
    await eventually(
      'there is room again',
      async () => (await gateway.post(key, large)).status === 200,
    );
  });
});

describe('a client that sends requests behind each other and goes', () => {
  it.each(['destroy', 'end'] as const)('leaves nothing behind after %s', async (leave) => {
    const body = JSON.stringify(rerankBody('m'));
    const socket = send(body, body, body);
    await until('all are upstream', () => Promise.resolve(gate.waiting === 3));

    socket[leave]();
    if (leave === 'end') socket.destroySoon();

    await until('all are called back', () => Promise.resolve(gate.waiting === 0));
    await until(
      'their places are free',
      async () => (await gateway.metric('rerank_requests_in_flight')) === 0,
    );
  });
});

/** Sends rerank requests with these bodies, one behind the other on one connection. */
function send(...bodies: readonly string[]): Socket {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  for (const body of bodies) {
    socket.write(
      `POST /v1/rerank HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }
  return socket;
}
