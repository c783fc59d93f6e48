import { createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, jest } from '@jest/globals';
import { JsonFragment } from '../../../src/bytes/index.js';
import { ReplyRoom } from '../../../src/gateway/transport/bytes-in-flight.js';
import { createScope } from '../../../src/gateway/scope.js';
import type { UpstreamRequest } from '../../../src/gateway/transport/transport.js';
import { Upstream, type UpstreamOptions } from '../../../src/gateway/transport/upstream.js';
import { opened } from '../../support/opened.js';
import { deferred } from '../../support/deferred.js';
import { until } from '../../support/until.js';
import { startUpstream, type TestUpstream } from '../../support/upstream.js';

const open = opened();
function upstreamWith(options: Partial<UpstreamOptions> = {}): Upstream {
  const upstream = new Upstream({ maxReplyBytes: 1_000, ...options });
  open.push(upstream);
  return upstream;
}

async function server(body: string): Promise<TestUpstream> {
  const started = await startUpstream((_request, res) => void res.writeHead(200).end(body));
  open.push(started);
  return started;
}

/** A server that is handed each connection with the first bytes of each request on it. */
async function rawServer(answer: (socket: Socket, count: number) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let count = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', () => {
      count += 1;
      answer(socket, count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A connection is free again a turn after its reply. */
const freeAgain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const post = (origin: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  origin,
  path: '/',
  method: 'POST',
  headers: [],
  body: '{}',
  timeoutMs: 20_000,
  stillWanted: () => true,
  ...more,
});

describe('Upstream', () => {
  it('does not write a request that is no longer wanted once it is connected', async () => {
    const target = await server('ok');

    const sending = upstreamWith().send(post(target.url, { stillWanted: () => false }));

    await expect(sending).rejects.toMatchObject({ fault: 'withdrawn' });
    expect(target.seen).toHaveLength(0);
  });

  it('writes a body that is not joined as if it were, on a new connection and on one that was kept', async () => {
    const target = await server('ok');
    const upstream = upstreamWith();
    const bodies = ['für', '中文'].map((query, at) =>
      JsonFragment.enclosed(
        `{"query":"${query}","documents":`,
        Buffer.from(`["${String(at).repeat(60_000)}"]`),
        ',"note":"ü"}',
      ),
    );

    for (const body of bodies) {
      await upstream.send(post(target.url, { body }));
      await freeAgain();
    }

    expect(target.seen.map(({ body }) => body)).toEqual(bodies.map(String));
    expect(target.seen.map(({ headers }) => headers['content-length'])).toEqual(
      bodies.map(({ size }) => String(size)),
    );
  });

  it('says when an upstream has all of a request, however long its reply takes', async () => {
    const taken = deferred();
    const body = Buffer.alloc(8_000_000, ' ');
    const target = await startUpstream(async (_request, res) => {
      await taken.promise;
      res.writeHead(200).end('ok');
    });
    open.push(target);

    const onSent = (): void => taken.resolve();
    const reply = await upstreamWith().send(post(target.url, { body, onSent }));

    expect(reply.text).toBe('ok');
  });

  it.each([
    ['a body', { body: '{}' }],
    ['none', { method: 'GET', body: undefined }],
  ] as const)('says it of the right one of several requests with %s', async (_what, more) => {
    const target = await server('ok');
    const stuck = await rawServer((socket) => void socket.pause());
    const upstream = upstreamWith();
    const told: string[] = [];
    const scope = createScope(Date.now(), 60_000);
    const body = Buffer.alloc(32_000_000, ' ');
    const onSent = (): void => void told.push('stuck');
    const waiting = upstream.send(post(stuck, { body, onSent, timeoutMs: 60_000 }), scope);
    const ended = expect(waiting).rejects.toMatchObject({ fault: 'cancelled' });

    const sent = ['one', 'two'].map((name) =>
      upstream.send(post(target.url, { ...more, onSent: () => void told.push(name) })),
    );
    await Promise.all(sent);

    expect(told.sort()).toEqual(['one', 'two']);
    scope.end('client_gone');
    await ended;
  });

  it('reads a reply that is cut anywhere, while others are read', async () => {
    const reply = (name: string): string =>
      `HTTP/1.1 200 OK\r\nx-name: ${name}\r\ncontent-length: 500\r\n\r\n${name.repeat(500)}`;
    const names = ['a', 'b', 'c'];
    const sockets: Socket[] = [];
    const url = await rawServer((socket) => {
      sockets.push(socket.setNoDelay(true));
      if (sockets.length < names.length) return;
      void (async () => {
        for (let at = 0; at < reply('a').length; at += 7) {
          for (const [index, one] of sockets.entries()) {
            one.write(reply(names[index] ?? '').slice(at, at + 7));
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
    });
    const upstream = upstreamWith();

    const replies = await Promise.all(
      names.map(() => upstream.send(post(url, { timeoutMs: 20_000 }))),
    );

    const read = replies.map(({ headers, text }) => [headers['x-name'], text]);
    expect(read.sort()).toEqual(names.map((name) => [name, name.repeat(500)]));
  });

  it.each([
    ['a server that closes them after 2 s', 'timeout=2', 2],
    ['a server that keeps them for a minute', 'timeout=60', 1],
  ])('keeps its connections to %s only as long as is safe', async (_what, keepAlive, most) => {
    const sockets = new Set<Socket>();
    const origin = await rawServer((socket) => {
      sockets.add(socket);
      socket.write(`HTTP/1.1 200 OK\r\nkeep-alive: ${keepAlive}\r\ncontent-length: 2\r\n\r\n{}`);
    });
    const upstream = upstreamWith();

    for (let count = 0; count < 2; count += 1) {
      await upstream.send(post(origin));
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(sockets.size).toBe(most);
  });

  it('stops reading a reply that is larger than allowed', async () => {
    const target = await server('x'.repeat(2_000));

    await expect(upstreamWith().send(post(target.url))).rejects.toMatchObject({
      fault: 'unreadable',
    });
  });

  it('closes the connection of a reply that it does not read to its end', async () => {
    const closed = deferred();
    const url = await rawServer((socket) => {
      socket.on('close', () => closed.resolve());
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(2_000)}`);
    });

    await expect(upstreamWith().send(post(url))).rejects.toMatchObject({ fault: 'unreadable' });
    await closed.promise;
  });

  it('sets no timeout for head and body other than that of the request', async () => {
    const slowMs = 2_000;
    const late = await rawServer((socket) => {
      setTimeout(() => socket.write(OK), slowMs);
    });
    const halting = await rawServer((socket) => {
      socket.write(OK.slice(0, -1));
      setTimeout(() => socket.write(OK.slice(-1)), slowMs);
    });
    const upstream = upstreamWith();

    const replies = await Promise.all(
      [late, halting].map((url) => upstream.send(post(url, { timeoutMs: 20_000 }))),
    );

    expect(replies.map(({ text }) => text)).toEqual(['ok', 'ok']);
  });

  it.each(['keep-alive', 'close'])(
    'takes a chunked reply that ends too soon for a connection that broke: %s',
    async (connection) => {
      const head = `HTTP/1.1 200 OK\r\nconnection: ${connection}\r\ntransfer-encoding: chunked`;
      const cut = await rawServer((socket) => void socket.end(`${head}\r\n\r\n5\r\nhello\r\n`));

      await expect(upstreamWith().send(post(cut))).rejects.toMatchObject({ fault: 'reset' });
    },
  );

  it.each([
    ['of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['with a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'],
    ['with a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ])('takes no answer %s for a connection that broke', async (_what, text) => {
    const url = await rawServer((socket) => void socket.write(text));

    await expect(upstreamWith().send(post(url))).rejects.toMatchObject({ fault: 'unreadable' });
  });

  it('asks for a token under the whole address', async () => {
    const target = await server('ok');
    const url = `${target.url}/token?a=b&c`;
    const request = { method: 'GET', url, headers: {}, body: undefined } as const;

    await upstreamWith().fetchToken(request, new AbortController().signal);

    expect(target.seen[0]?.path).toBe('/token?a=b&c');
  });

  it('takes no more of a reply than all may have, whatever one asks for', async () => {
    const target = await startUpstream((_request, res) => void res.end(' '.repeat(1_001)));
    open.push(target);
    const maxReplyBytes = 1_001;

    await expect(upstreamWith().send(post(target.url, { maxReplyBytes }))).rejects.toMatchObject({
      fault: 'unreadable',
    });
    expect(
      await upstreamWith({ maxReplyBytes }).send(post(target.url, { maxReplyBytes })),
    ).toMatchObject({ status: 200 });
  });

  it('asks for no token that is no longer wanted', async () => {
    const target = await server('ok');
    const request = { method: 'POST', url: `${target.url}/token`, headers: {}, body: 'x' } as const;
    const upstream = upstreamWith();

    await expect(upstream.fetchToken(request, AbortSignal.abort())).rejects.toMatchObject({
      fault: 'withdrawn',
    });
    expect(target.seen).toHaveLength(0);
    const { signal } = new AbortController();
    expect(await upstream.fetchToken(request, signal)).toMatchObject({ text: 'ok' });
  });

  it('takes less of a token endpoint than of others', async () => {
    const target = await startUpstream((_request, res) => void res.end(' '.repeat(300_000)));
    open.push(target);
    const request = { method: 'POST', url: target.url, headers: {}, body: 'x' } as const;
    const upstream = upstreamWith({ maxReplyBytes: 1_000_000 });
    const asking = upstream.fetchToken(request, new AbortController().signal);

    await expect(asking).rejects.toMatchObject({ fault: 'unreadable' });
    expect(await upstream.send(post(target.url))).toMatchObject({ status: 200 });
  });

  it('tells a connection that cannot be made from one that breaks', async () => {
    await expect(upstreamWith().send(post('http://127.0.0.1:1'))).rejects.toMatchObject({
      fault: 'connect',
      resend: undefined,
    });
    const breaking = await rawServer((socket) => void socket.resetAndDestroy());
    await expect(upstreamWith().send(post(breaking))).rejects.toMatchObject({
      fault: 'reset',
      resend: undefined,
    });
  });

  it('stops a request whose scope ends after the connection of an earlier attempt failed late', async () => {
    const sockets: Socket[] = [];
    const bothConnected = deferred();
    // Accepts connections and never speaks TLS: a connection that is being made, for as long as the test wants.
    const silent = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      if (sockets.length === 2) bothConnected.resolve();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    open.push({
      close: () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          silent.close(() => resolve());
        }),
    });
    const { port } = silent.address() as AddressInfo;
    const hanging = await startUpstream(() => undefined);
    open.push(hanging);
    const upstream = upstreamWith();
    const scope = createScope(Date.now(), 60_000);
    const first = upstream.send(post(`https://127.0.0.1:${port}`, { timeoutMs: 1 }), scope);
    await expect(first).rejects.toMatchObject({ fault: 'timeout' });
    const next = upstream.send(post(hanging.url, { timeoutMs: 60_000 }), scope);
    const witness = upstream.send(post(`https://127.0.0.1:${port}`));
    await bothConnected.promise;

    for (const socket of sockets) socket.destroy();
    await expect(witness).rejects.toMatchObject({ fault: 'connect' });
    scope.end('client_gone');

    await expect(next).rejects.toMatchObject({ fault: 'cancelled' });
    scope.release();
  });

  it('drops an origin that is not kept, once its calls have ended', async () => {
    const answer = deferred();
    const sockets = new Set<unknown>();
    const target = await startUpstream(async (_request, res) => {
      sockets.add(res.socket);
      await answer.promise;
      res.writeHead(200).end('ok');
    });
    open.push(target);
    const upstream = upstreamWith();
    const sending = upstream.send(post(target.url));
    await target.reached(1);

    upstream.keepOnly(new Set());
    answer.resolve();

    expect(await sending).toMatchObject({ text: 'ok' });
    expect(await upstream.send(post(target.url))).toMatchObject({ text: 'ok' });
    expect(sockets.size).toBe(2);
  });

  it('keeps the connections to the origins that are kept', async () => {
    const sockets = new Set<unknown>();
    const target = await startUpstream((_request, res) => {
      sockets.add(res.socket);
      res.writeHead(200).end('ok');
    });
    open.push(target);
    const upstream = upstreamWith();
    await upstream.send(post(target.url));
    await freeAgain();

    upstream.keepOnly(new Set([target.url]));
    await upstream.send(post(target.url));

    expect(sockets.size).toBe(1);
  });

  it('does not wait at its end for what was dropped', async () => {
    const target = await startUpstream(() => undefined);
    open.push(target);
    const upstream = upstreamWith();
    const sending = upstream.send(post(target.url));
    await target.reached(1);
    upstream.keepOnly(new Set());

    await Promise.all([
      expect(sending).rejects.toMatchObject({ fault: 'reset' }),
      upstream.close(),
    ]);
  });
});

describe('an address that must not be called', () => {
  const judgeAddress = (address: string): string | undefined =>
    address === '127.0.0.1' || address === '::1' ? 'is not allowed here' : undefined;

  it('is refused behind a name and as a number, before a connection is made', async () => {
    const target = await server('ok');
    const port = new URL(target.url).port;

    for (const host of ['localhost', '127.0.0.1', '2130706433', '0x7f.1', '[::1]']) {
      await expect(
        upstreamWith({ judgeAddress }).send(post(new URL(`http://${host}:${port}`).origin)),
      ).rejects.toMatchObject({
        fault: 'forbidden',
        message: expect.stringMatching(/is not allowed here$/),
      });
    }

    expect(target.seen).toHaveLength(0);
    const allowing = upstreamWith({ judgeAddress: () => undefined });
    expect(await allowing.send(post(`http://localhost:${port}`))).toMatchObject({ text: 'ok' });
  });

  it('is refused to token endpoints too', async () => {
    const target = await server('{}');

    const asking = upstreamWith({ judgeAddress }).fetchToken(
      { method: 'POST', url: target.url, headers: {}, body: '' },
      new AbortController().signal,
    );

    await expect(asking).rejects.toMatchObject({ fault: 'forbidden' });
    expect(target.seen).toHaveLength(0);
  });

  it('is not judged where the name does not resolve: that is a failed connection', async () => {
    const sending = upstreamWith({ judgeAddress }).send(post('http://nowhere.invalid'));

    await expect(sending).rejects.toMatchObject({ fault: 'connect' });
  });
});

describe('a compressed reply', () => {
  const TEXT = '{"results":[]}';

  async function replyOf(body: Buffer, encoding: string): Promise<string> {
    const target = await startUpstream(
      (_request, res) => void res.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    open.push(target);
    return (await upstreamWith().send(post(target.url))).text;
  }

  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['gzip, gzip', gzipSync(gzipSync(TEXT))],
    ['deflate, identity, br', brotliCompressSync(deflateSync(TEXT))],
    ['identity', Buffer.from(TEXT)],
    ['gzip', Buffer.alloc(0)],
  ])('is read: %s', async (encoding, body) => {
    expect(await replyOf(body, encoding)).toBe(body.length === 0 ? '' : TEXT);
  });

  it.each([
    ['lzw', gzipSync(TEXT)],
    ['gzip', Buffer.from(TEXT)],
    ['gzip', gzipSync(TEXT).subarray(0, -4)],
    ['gzip, gzip, gzip, gzip', gzipSync(TEXT)],
    ['gzip', gzipSync('x'.repeat(2_000))],
  ])('is a fault where it cannot be read: %s', async (encoding, body) => {
    await expect(replyOf(body, encoding)).rejects.toMatchObject({ fault: 'unreadable' });
  });

  it('is read when two header lines name its encodings', async () => {
    const target = await startUpstream((_request, res) => {
      res.setHeader('content-encoding', ['gzip', 'br']);
      res.end(brotliCompressSync(gzipSync(TEXT)));
    });
    open.push(target);

    expect((await upstreamWith().send(post(target.url))).text).toBe(TEXT);
  });

  it('that never yields a byte is not read for ever', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000000\r\n\r\n';
    const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);
    const url = await rawServer((socket) => {
      socket.write(head);
      socket.write(gzipSync('').subarray(0, 10));
      socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => emptyBlock)));
    });

    await expect(upstreamWith().send(post(url, { timeoutMs: 20_000 }))).rejects.toMatchObject({
      fault: 'unreadable',
    });
  });

  it('is abandoned with its attempt, however much is left of it', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(512 * 1024 * 1024)));
    const target = await startUpstream(
      (_request, res) => void res.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb),
    );
    open.push(target);
    const startedMs = performance.now();

    const sending = upstreamWith({ maxReplyBytes: 2 ** 30 }).send(
      post(target.url, { timeoutMs: 50 }),
    );

    await expect(sending).rejects.toMatchObject({ fault: 'timeout' });
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

describe('the room for replies', () => {
  const BODY = 'x'.repeat(400);

  /** Sends the head and all but the last byte of a reply; `finish` sends that. */
  async function unfinished(): Promise<{ url: string; finish: () => void }> {
    const last = deferred();
    const url = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(1)}`);
      void last.promise.then(() => socket.write('x'));
    });
    return { url, finish: () => last.resolve() };
  }

  it('is shared, and no upstream gets more than half of it', async () => {
    const upstream = upstreamWith({ maxReplyBytesInFlight: 1_000 });
    const [one, two] = [await unfinished(), await unfinished()];
    const taken = jest.spyOn(ReplyRoom.prototype, 'take');
    const first = upstream.send(post(one.url));
    const second = upstream.send(post(two.url));
    // Each byte is counted twice: among all, and among those of its upstream.
    const counted = (): number => taken.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);
    await until('both have arrived', () => counted() === 4 * (BODY.length - 1));
    taken.mockRestore();

    await expect(upstream.send(post(one.url))).rejects.toMatchObject({ fault: 'no_room' });
    const third = await server(BODY);
    await expect(upstream.send(post(third.url))).rejects.toMatchObject({ fault: 'no_room' });

    one.finish();
    two.finish();
    expect([(await first).text, (await second).text]).toEqual([BODY, BODY]);
    expect(await upstream.send(post(third.url))).toMatchObject({ text: BODY });
  });
});

describe('the room for replies that have ended', () => {
  it('is freed to the byte, however they ended', async () => {
    const upstream = upstreamWith({ maxReplyBytes: 600, maxReplyBytesInFlight: 1_000 });
    let size = 0;
    const target = await startUpstream((_request, res) => {
      res.writeHead(200).end('x'.repeat(size));
    });
    open.push(target);
    const ask = (bytes: number) => {
      size = bytes;
      return upstream.send(post(target.url));
    };

    for (let count = 0; count < 5; count += 1) {
      await ask(100);
      await expect(ask(700)).rejects.toMatchObject({ fault: 'unreadable' });
      await expect(ask(550)).rejects.toMatchObject({ fault: 'no_room' });
    }

    expect((await ask(500)).text).toHaveLength(500);
    await expect(ask(501)).rejects.toMatchObject({ fault: 'no_room' });
  });
});

describe('an interim reply', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n';
  const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';

  it.each([
    ['100 Continue', [CONTINUE + OK]],
    ['several', [CONTINUE + PROCESSING + HINTS + CONTINUE + OK]],
    ['ahead of its time', [CONTINUE, HINTS, OK]],
    ['byte by byte', Array.from(CONTINUE + HINTS + OK)],
    ['of a status that has no name', [`HTTP/1.1 199 \r\n\r\n${OK}`]],
    ['of an old server', [`HTTP/1.0 100 Continue\r\n\r\n${OK}`]],
  ])('is passed over: %s', async (_what, pieces) => {
    const url = await rawServer((socket) => {
      void (async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
    });
    const upstream = upstreamWith();

    // Twice: the second request is written to a connection that was kept.
    expect(await upstream.send(post(url))).toMatchObject({ status: 200, text: 'ok' });
    await freeAgain();
    expect(await upstream.send(post(url))).toMatchObject({ status: 200, text: 'ok' });
  });

  it('that never ends is not read for ever', async () => {
    const url = await rawServer((socket) => {
      socket.write(CONTINUE.repeat(4_000));
    });

    await expect(upstreamWith().send(post(url))).rejects.toMatchObject({ fault: 'reset' });
  });

  it('is not confused with a body that looks like one', async () => {
    const body = CONTINUE + CONTINUE;
    const target = await server(body);

    expect(await upstreamWith().send(post(target.url))).toMatchObject({ text: body });
  });
});

describe('a kept connection that breaks', () => {
  it('may have served a request that was sent in full', async () => {
    const url = await rawServer((socket, count) => {
      if (count === 1) socket.write(OK);
      else socket.destroy();
    });
    const upstream = upstreamWith();
    await upstream.send(post(url));
    await freeAgain();

    await expect(upstream.send(post(url))).rejects.toMatchObject({
      fault: 'reset',
      resend: 'unsafe',
    });
  });

  it('cannot have served a request that was not', async () => {
    const url = await rawServer((socket, count) => {
      if (count === 1) socket.write(OK);
      else socket.pause().resetAndDestroy();
    });
    const upstream = upstreamWith();
    await upstream.send(post(url));
    await freeAgain();

    const body = Buffer.alloc(32 * 1024 * 1024);
    await expect(upstream.send(post(url, { body }))).rejects.toMatchObject({
      fault: 'reset',
      resend: 'safe',
    });
  });

  it('answers for itself once a reply has begun', async () => {
    const url = await rawServer((socket, count) => {
      if (count === 1) socket.write(OK);
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no', () => socket.destroy());
    });
    const upstream = upstreamWith();
    await upstream.send(post(url));
    await freeAgain();

    await expect(upstream.send(post(url))).rejects.toMatchObject({
      fault: 'reset',
      resend: undefined,
    });
  });
});
