import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

/** More than the buffers of a connection hold. */
const DOCUMENTS = Array.from({ length: 3 }, () => 'x'.repeat(8_000_000));
const LONG_MS = 60_000;

let upstream: TestUpstream;
let gateway: TestGateway;
let key = '';
/** The server's end of each connection, in the order in which they came. */
let sockets: Socket[];
let isClosed: boolean;

beforeEach(async () => {
  upstream = await startUpstream(({ body }, res) => {
    const { documents } = JSON.parse(body) as { documents: string[] };
    sendJson(res, { results: documents.map((_text, index) => ({ index, relevance_score: 0.5 })) });
  });
  gateway = await startGateway({
    channels: [
      {
        name: 'only',
        provider: 'cohere',
        base_url: upstream.url,
        credentials: { apiKey: 'k' },
        models: ['m'],
      },
    ],
  });
  ({ key } = await gateway.createKey());
  sockets = [];
  isClosed = false;
  gateway.app.server.on('connection', (socket: Socket) => sockets.push(socket));
});

afterEach(async () => {
  if (!isClosed) await gateway.close();
  await upstream.close();
});

/** A connection, and all that came on it so far. */
async function open(): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const { port } = gateway.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { socket, text: () => Buffer.concat(chunks).toString('latin1') };
}

function rerank(documents: readonly string[]): string {
  const body = JSON.stringify({ model: 'm', query: 'q', documents, return_documents: true });
  return (
    `POST /v1/rerank HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

async function askWithoutReading(): Promise<{ socket: Socket; text: () => string }> {
  const reader = await open();
  reader.socket.pause().write(rerank(DOCUMENTS));
  await eventually('the reply waits to be taken', () =>
    Promise.resolve((sockets.at(-1)?.writableLength ?? 0) > 0),
  );
  return reader;
}

async function close(drainMs: number): Promise<void> {
  isClosed = true;
  await gateway.app.close(drainMs);
}

describe('a gateway that stops', () => {
  it('closes idle connections at once, and lets a slow reader take the whole of its reply', async () => {
    const idle = await open();
    idle.socket.write(HEALTH);
    await once(idle.socket, 'data');
    const slow = await askWithoutReading();

    const closing = close(LONG_MS);
    await once(idle.socket, 'close');
    slow.socket.resume();
    await once(slow.socket, 'close');
    await closing;

    const [head = '', body = ''] = slow.text().split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(body.length).toBe(Number(/content-length: (\d+)/i.exec(head)?.[1]));
  });

  it('waits for nobody longer than the drain', async () => {
    const slow = await askWithoutReading();

    await close(100);

    expect(sockets.at(-1)?.destroyed).toBe(true);
    slow.socket.destroy();
  });
});
