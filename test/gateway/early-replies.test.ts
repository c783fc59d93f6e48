import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { UpstreamRequest } from '../../src/gateway/transport/transport.js';
import { Upstream } from '../../src/gateway/transport/upstream.js';
import { opened } from '../support/opened.js';

const open = opened();

/** A server that is handed each connection when it is made. */
async function serverOf(serve: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => socket.destroy()));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** More than the system takes for a connection that nobody reads. */
const LARGE = Buffer.alloc(32_000_000, ' ');

/** Sends to the server, and returns what came. */
function caller(origin: string) {
  const upstream = new Upstream({ maxReplyBytes: 1_000 });
  open.push(upstream);
  return async (body: UpstreamRequest['body']) => {
    const { status, text } = await upstream.send({
      origin,
      path: '/',
      method: 'POST',
      headers: [],
      body,
      timeoutMs: 20_000,
      stillWanted: () => true,
    });
    return { status, text };
  };
}

/** A connection is free again a turn after its reply. */
const freeAgain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const answered = { status: 200, text: 'ok' };

describe('an upstream that answers before it has read all of a request', () => {
  it.each([
    ['with a length', 'HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nearly'],
    [
      'in chunks',
      'HTTP/1.1 413 Too Large\r\ntransfer-encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n',
    ],
    ['without a body', 'HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n'],
    ['twice', 'HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nearly' + OK],
  ])(
    'and reads no more is asked on another connection the next time: %s',
    async (_how, reply) => {
      const accepted: Socket[] = [];
      const origin = await serverOf((socket) => {
        const isFirst = accepted.push(socket) === 1;
        socket.once('data', () => {
          if (isFirst) socket.pause().write(reply);
          else socket.write(OK);
        });
      });
      const send = caller(origin);

      const text = reply.includes('early') ? 'early' : '';
      expect(await send(LARGE)).toEqual({ status: 413, text });
      await freeAgain();

      expect(await send('{}')).toEqual(answered);
      const [first] = accepted;
      const closed = new Promise((resolve) => first?.once('close', resolve));
      first?.resume();
      await closed;
    },
    60_000,
  );

  it('and reads on is asked on the same one', async () => {
    let connections = 0;
    const origin = await serverOf((socket) => {
      connections += 1;
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => {
        if (bytes === 0) socket.write(OK.slice(0, -1));
        bytes += chunk.length;
        if (!chunk.toString('latin1').endsWith('}')) return;
        socket.write('k');
        bytes = 0;
      });
    });
    const send = caller(origin);

    expect(await send(Buffer.concat([LARGE, Buffer.from('}')]))).toEqual(answered);
    await freeAgain();
    expect(await send('{}')).toEqual(answered);
    expect(connections).toBe(1);
  }, 60_000);

  it.each([
    ['with a length', 'content-length: 5\r\n'],
    ['with a length, and said to be the last', 'connection: close\r\ncontent-length: 5\r\n'],
    ['without a length', 'connection: close\r\n'],
  ])(
    'and resets its connection is heard: %s',
    async (_how, headers) => {
      const reply = `HTTP/1.1 413 Too Large\r\n${headers}\r\nearly`;
      const origin = await serverOf((socket) => {
        socket.once('data', () => {
          // What has not been read makes the system reset it.
          socket.pause().write(reply, () => socket.destroy());
        });
      });
      const send = caller(origin);

      for (const body of [LARGE, LARGE, LARGE.subarray(0, 3_000_000), LARGE.subarray(0, 300_000)]) {
        const sending = Array.from({ length: 4 }, () => send(body));
        for (const one of await Promise.all(sending)) {
          expect(one).toMatchObject({ status: 413, text: 'early' });
        }
      }
    },
    60_000,
  );
});

describe('a kept connection that is reset as it is about to be used', () => {
  it.each([2, 300_000, 8_000_000])('has not been sent any of %i bytes', async (bytes) => {
    const accepted: Socket[] = [];
    const origin = await serverOf((socket) => {
      accepted.push(socket.on('data', () => void socket.write(OK)));
    });
    const send = caller(origin);
    await send('{}');
    await freeAgain();

    accepted[0]?.resetAndDestroy();

    const failure = { fault: 'reset', resend: 'safe' };
    await expect(send(Buffer.alloc(bytes))).rejects.toMatchObject(failure);
    expect(await send('{}')).toEqual(answered);
  });
});
