import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { cohereChannel } from '../support/upstream.js';

const ask = { model: 'moon', query: 'moon', documents: ['moon'] };
const REPLY = JSON.stringify({ results: [{ index: 0, relevance_score: 0.5 }] });
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const OK = `${HEAD}content-length: ${REPLY.length}\r\n\r\n${REPLY}`;

const open = opened();

const onRequest =
  (then: (socket: Socket) => void) =>
  (socket: Socket): void =>
    void socket.once('data', () => then(socket));

/** Ways in which a connection breaks; none says whether the request was served. */
const BREAKS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['closed at accept', (socket) => void socket.destroy()],
  ['closed after the request', onRequest((socket) => void socket.destroy())],
  ['reset after the request', onRequest((socket) => void socket.resetAndDestroy())],
  ['cut in the head of the reply', onRequest((socket) => void socket.end(HEAD))],
  [
    'cut in the reply',
    onRequest((socket) => void socket.end(`${HEAD}content-length: 999\r\n\r\n${REPLY}`)),
  ],
  [
    'cut in a chunked reply',
    onRequest((socket) => void socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n`)),
  ],
];

/** A server that treats its connections as `each` says, counted from 1. */
async function serverWith(each: (socket: Socket, count: number) => void): Promise<string> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    each(socket, count);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function gatewayWith(url: string, channel: object): Promise<TestGateway> {
  const gateway = await startGateway({ channels: [cohereChannel('a', url, { ...channel })] });
  open.push(gateway);
  return gateway;
}

describe.each(BREAKS)('the first connection to the only channel, %s,', (_what, breaks) => {
  it.each([
    ['ranks after all, where nobody is billed', { provider: 'vllm' }, 200],
    ['ranks after all, where a second call may be paid for', { retry_unsafe: true }, 200],
    ['is a 502, where a second call would be paid for', {}, 502],
    ['is a 502, where somebody else may bill', { provider: 'litellm' }, 502],
  ])('%s', async (_how, channel, expected) => {
    let connections = 0;
    const url = await serverWith((socket, count) => {
      connections = count;
      if (count === 1) breaks(socket);
      else socket.on('data', () => void socket.write(OK));
    });
    const gateway = await gatewayWith(url, channel);
    const { key } = await gateway.createKey();

    const { status } = await gateway.post(key, ask);

    expect([status, connections]).toEqual([expected, expected === 200 ? 2 : 1]);
  });
});
