import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createConnector } from '../../../src/gateway/transport/connector.js';
import { flowOf } from '../../../src/gateway/transport/nodes-inside.js';
import type { UpstreamRequest } from '../../../src/gateway/transport/transport.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import { opened } from '../../support/opened.js';
import { until } from '../../support/until.js';

const open = opened();

/** A server that writes the same to each connection as soon as something comes, and ends it. */
async function endingServer(reply: Buffer): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('data', () => socket.end(reply));
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
  return (server.address() as AddressInfo).port;
}

async function connection(port: number): Promise<Socket> {
  const options = { hostname: '127.0.0.1', protocol: 'http:', port: String(port) };
  return new Promise((resolve, reject) => {
    createConnector(() => undefined)(options, (...[error, socket]) => {
      if (error === null) resolve(socket);
      else reject(error);
    });
  });
}

describe('a connection that is held', () => {
  it('brings neither bytes nor its end until reading goes on', async () => {
    const socket = await connection(await endingServer(Buffer.from('all of it')));
    open.push({ close: () => Promise.resolve(void socket.destroy()) });
    let text = '';
    let hasEnded = false;
    socket
      .on('readable', () => {
        for (let chunk; (chunk = socket.read() as Buffer | null) !== null;) text += String(chunk);
      })
      .on('end', () => (hasEnded = true));
    const flow = flowOf(socket);
    flow?.pause();
    socket.write('begin');
    await until('all has come, and the end', () => socket.readableLength === 9);
    await nextTurn();
    expect({ isHeld: flow?.isHeld, text, hasEnded }).toEqual({
      isHeld: true,
      text: '',
      hasEnded: false,
    });

    flow?.resume();
    await until('the connection has ended', () => hasEnded);
    expect({ isHeld: flow?.isHeld, text }).toEqual({ isHeld: false, text: 'all of it' });
  }, 30_000);

  it('brings what has come before it breaks', async () => {
    const server = createServer((accepted) => {
      accepted.on('error', () => accepted.destroy()).write('all of it');
      accepted.once('data', () => accepted.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: () => Promise.resolve(void server.close()) });
    const socket = await connection((server.address() as AddressInfo).port);
    let text = '';
    socket.on('readable', () => {
      for (let chunk; (chunk = socket.read() as Buffer | null) !== null;) text += String(chunk);
    });
    const broken = new Promise((resolve) => socket.on('error', resolve));
    flowOf(socket)?.pause();
    await until('all has come', () => socket.readableLength === 9);

    socket.write('break');

    expect(await broken).toMatchObject({ code: 'ECONNRESET', syscall: 'read' });
    expect(text).toBe('all of it');
  }, 30_000);
});

describe('a kept connection', () => {
  it('is free again behind a compressed reply whose last piece had to wait', async () => {
    const plain = randomBytes(30_000).toString('hex');
    const zipped = gzipSync(plain);
    let connections = 0;
    const server = createHttpServer((req, res) => {
      const headers = { 'content-encoding': 'gzip', 'content-length': zipped.length };
      req.resume().on('end', () => res.writeHead(200, headers).end(zipped));
    }).on('connection', () => (connections += 1));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({
      close: () => {
        server.close().closeAllConnections();
        return Promise.resolve();
      },
    });
    const upstream = new Upstream({ maxReplyBytes: 1_048_576 });
    open.push(upstream);

    const texts: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const reply = await upstream.send({
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        path: '/',
        method: 'POST',
        headers: [],
        body: '{}',
        timeoutMs: 20_000,
        stillWanted: () => true,
      });
      texts.push(reply.text);
    }

    expect(texts).toEqual([plain, plain, plain]);
    expect(connections).toBe(1);
  }, 60_000);
});

describe('large replies of connections that are ended right behind them', () => {
  const BYTES = 3 * 1_048_576;
  const AT_ONCE = 16;
  const plain = randomBytes(BYTES / 2).toString('hex');
  const zipped = gzipSync(plain, { level: 1 });
  const encoded = 'content-encoding: gzip\r\n';
  it.each([
    ['without a length', 'connection: close\r\n', plain],
    [
      'with a length, and said to be the last',
      `connection: close\r\ncontent-length: ${BYTES}\r\n`,
      plain,
    ],
    ['with a length', `content-length: ${BYTES}\r\n`, plain],
    ['compressed, without a length', `connection: close\r\n${encoded}`, zipped],
    ['compressed, with a length', `content-length: ${zipped.length}\r\n${encoded}`, zipped],
  ])(
    'are read whole where they wait for others: %s',
    async (_name, headers, body) => {
      const head = Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n`);
      const port = await endingServer(Buffer.concat([head, Buffer.from(body)]));
      const upstream = new Upstream({
        maxReplyBytes: 2 * BYTES,
        maxReplyBytesInFlight: 1_000 * BYTES,
      });
      open.push(upstream);
      const request: UpstreamRequest = {
        origin: `http://127.0.0.1:${port}`,
        path: '/',
        method: 'POST',
        headers: [],
        body: '{}',
        timeoutMs: 20_000,
        stillWanted: () => true,
      };
      for (let round = 0; round < 3; round += 1) {
        const replies = await Promise.all(
          Array.from({ length: AT_ONCE }, () => upstream.send(request, undefined)),
        );
        expect(replies.map(({ bytes }) => bytes?.equals(Buffer.from(plain)))).toEqual(
          Array.from({ length: AT_ONCE }, () => true),
        );
      }
    },
    60_000,
  );
});
