import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '../support/deferred.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { rankLikeCohere, startUpstream, type TestUpstream } from '../support/upstream.js';

const MEGABYTE = 1_000_000;
/** More than the buffers of both ends of a connection hold. */
const MANY_BYTES = 24 * MEGABYTE;
const ONE_MINUTE = 60_000;
const TEN_SECONDS = 10_000;
/** Thousands of answers are written before one has to wait. */
const PATIENCE_MS = 60_000;

/** All that is timed by `setTimeout` waits for the test; everything else goes on by itself. */
const HELD = {
  doNotFake: [
    ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] as const),
    ...(['clearImmediate', 'setInterval', 'clearInterval'] as const),
  ],
};

let upstream: TestUpstream;
let gateway: TestGateway;
let key = '';
/** The ends of each connection, in the order in which they were made. */
const callers: Socket[] = [];
const accepted: Socket[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    server: { max_in_flight_bytes: 96 * MEGABYTE, in_flight_share: 0.5 },
    channels: [
      { name: 'local', provider: 'local', models: ['local'] },
      { name: 'away', provider: 'cohere', base_url: upstream.url, api_key: 'k', models: ['away'] },
    ],
  });
  gateway.app.server.on('connection', (socket: Socket) => accepted.push(socket));
  ({ key } = await gateway.createKey());
});
afterEach(() => {
  jest.useRealTimers();
  for (const socket of [...callers.splice(0), ...accepted.splice(0)]) socket.destroy();
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** A caller that sends this and reads nothing. */
function ask(text: string): Socket {
  const { port } = gateway.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write(text);
  callers.push(socket);
  return socket;
}

function rerank(model: string, bytes: number): string {
  const documents = [`Io ${'a'.repeat(bytes)}`, 'Europa'];
  const body = JSON.stringify({ model, query: 'Io', documents, return_documents: true });
  return (
    `POST /v1/rerank HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Resolves when a reply waits to be taken on each connection. */
function waitingReplies(): Promise<void> {
  return until(
    'the replies wait to be taken',
    () =>
      accepted.length === callers.length &&
      accepted.every(({ writableLength }) => writableLength > 0),
    PATIENCE_MS,
  );
}

/** How much a caller gets that begins to read only now, up to the end of its connection. */
async function readAll(socket: Socket): Promise<number> {
  let bytes = 0;
  // It may be reset while it still writes; `once` would reject then.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('data', (piece: Buffer) => (bytes += piece.length)).resume();
  await closed;
  return bytes;
}

describe('a caller that does not read its reply', () => {
  it.each([
    ['a ranking', () => rerank('local', MANY_BYTES)],
    ['whatever else there is', () => 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(500)],
    ['refusals', () => rerank('汉'.repeat(256), 0).repeat(5_000)],
  ])(
    'loses its connection after a minute: %s',
    async (_what, text) => {
      jest.useFakeTimers(HELD);
      const caller = ask(text());
      await waitingReplies();

      jest.advanceTimersByTime(ONE_MINUTE - 1);
      expect(accepted[0]?.destroyed).toBe(false);
      jest.advanceTimersByTime(2);

      expect(accepted[0]?.destroyed).toBe(true);
      expect(await readAll(caller)).toBeGreaterThan(0);
    },
    90_000,
  );

  it('also loses it if the reply was ready before its turn', async () => {
    jest.useFakeTimers(HELD);
    const gate = deferred();
    upstream.answer(async (request, res) => {
      await gate.promise;
      await rankLikeCohere(request, res);
    });
    ask(rerank('away', 1) + rerank('local', MANY_BYTES));
    await upstream.reached(1);
    await until('the second is ranked', () =>
      gateway.log.some((line) => line.includes('"model":"local"')),
    );
    gate.resolve();
    await waitingReplies();

    jest.advanceTimersByTime(ONE_MINUTE + 1);

    expect(accepted[0]?.destroyed).toBe(true);
  });

  it('has that minute from when its reply is ready, however long that took', async () => {
    jest.useFakeTimers(HELD);
    const gate = deferred();
    const held = jest.spyOn(gateway.app.gateway.channels, 'ensureFresh');
    held.mockReturnValueOnce(gate.promise);
    const caller = ask(
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
    await until('it is asked for', () => held.mock.calls.length === 1);

    jest.advanceTimersByTime(10 * ONE_MINUTE);
    expect(accepted[0]?.destroyed).toBe(false);
    gate.resolve();
    held.mockRestore();
    caller.resume();

    expect(String((await once(caller, 'data')) as [Buffer])).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('gets no more than its share of what replies may take', async () => {
    ask(rerank('local', MANY_BYTES));
    await waitingReplies();
    const refused = await gateway.post(key, {
      model: 'local',
      query: 'Io',
      documents: ['a'.repeat(MANY_BYTES)],
    });
    accepted[0]?.destroy();
    await until('what it held is free', async () => {
      const { status } = await gateway.post(key, {
        model: 'local',
        query: 'Io',
        documents: ['a'.repeat(MANY_BYTES)],
      });
      return status === 200;
    });

    expect(refused.body.error.message).toMatch(/^This caller has as many/);
  });
});

describe('a caller that is refused and goes on sending', () => {
  it.each(['/v1/rerank', '/api/user/login', '/api/token/', '/nothing'])(
    'loses its connection after ten seconds: %s',
    async (path) => {
      jest.useFakeTimers(HELD);
      const caller = ask(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 700\r\n\r\n{`,
      );
      caller.resume();
      const [answer] = (await once(caller, 'data')) as [Buffer];

      jest.advanceTimersByTime(TEN_SECONDS - 1);
      caller.write('"');
      expect(accepted[0]?.destroyed).toBe(false);
      jest.advanceTimersByTime(2);

      expect(answer.toString()).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(accepted[0]?.destroyed).toBe(true);
    },
  );
});
