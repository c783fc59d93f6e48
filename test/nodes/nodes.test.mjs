/* global Buffer, fetch, process, setImmediate, setTimeout */
/**
 * What the server and the calls to upstreams rely on inside Node, and the plain ways instead. `main.mjs` runs it on each version
 * of Node that is supported.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer as createNetServer, Socket } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { freeAtOnce, keepSession, nodesInside, PLAIN } from '../../src/http/nodes-inside.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { writesBelow } from '../../src/gateway/transport/nodes-inside.ts';
import { Upstream } from '../../src/gateway/transport/upstream.ts';

const OPTIONS = {
  http2: true,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  keepAliveTimeoutMs: 5_000,
};
const GET = (path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

/** A server with a path that answers at once and one that waits; what it was asked. */
async function serving(inside) {
  const app = express();
  const seen = [];
  app.get('/now', (req, res) => {
    seen.push({ req, res });
    res.json({ path: req.path });
  });
  app.get('/later', (req, res) => seen.push({ req, res }));
  const server = createHttpServer(app, OPTIONS, inside);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, seen, port: server.address().port };
}

/** Sends text on a connection; resolves to all that comes until its end. */
async function talk(port, text, onConnect = () => undefined) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let heard = '';
  socket.on('data', (piece) => (heard += piece));
  socket.write(text);
  await onConnect(socket);
  if (!socket.closed) await once(socket, 'close');
  return heard;
}

async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('everything inside Node is where it is expected', () => {
  const inside = nodesInside();

  for (const name of Object.keys(PLAIN)) assert.notEqual(inside[name], PLAIN[name], name);
  assert.ok(writesBelow(new Socket()));
});

test('what a session of HTTP/2 has outside the heap is kept until a turn after its connection', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  // Nobody answers: the settings of the session are never acknowledged.
  const server = createNetServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gone = async () => {
    const socket = connect(server.address().port, '127.0.0.1');
    await once(socket, 'connect');
    const session = connectHttp2('http://x', { createConnection: () => socket });
    session.on('error', () => undefined);
    assert.equal(keepSession(session, socket), true);
    // Its settings leave in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 10));
    socket.destroy();
    await once(socket, 'close');
    return new WeakRef(session);
  };
  const session = await gone();
  server.close();

  for (let turn = 0; turn < 10 && session.deref() !== undefined; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
  }
  assert.equal(session.deref(), undefined);
});

test('a buffer is freed at once', () => {
  const buffer = Buffer.allocUnsafeSlow(8_000_000);
  const held = process.memoryUsage().arrayBuffers;
  freeAtOnce(buffer);

  assert.equal(buffer.length, 0);
  assert.ok(held - process.memoryUsage().arrayBuffers >= 7_900_000);
});

for (const [name, inside] of [
  ['with the inside of Node', nodesInside()],
  ['in the plain ways', PLAIN],
]) {
  test(`requests are served ${name}, and answered before a mistake`, async () => {
    const { server, seen, port } = await serving(inside);

    assert.deepEqual(await (await fetch(`http://127.0.0.1:${port}/now`)).json(), { path: '/now' });
    const heard = await talk(port, `${GET('/now')}NO HTTP\r\n\r\n`);
    assert.match(heard, /^HTTP\/1\.1 200 OK[^]*"\/now"[^]*HTTP\/1\.1 400 invalid_request/);
    assert.equal(seen.length, 2);
    await server.drain(2_000);
  });
}

test('requests of both protocols are born with the prototypes of Express', async () => {
  const { server, seen, port } = await serving(nodesInside());
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':path': '/now' }).setEncoding('utf8');
  let text = '';
  for await (const piece of stream) text += piece;
  session.close();
  await fetch(`http://127.0.0.1:${port}/now`);

  assert.equal(text, '{"path":"/now"}');
  for (const { req, res } of seen) {
    // Express sets what it finds there already.
    for (const object of [req, res]) {
      assert.equal(Object.getPrototypeOf(object), object.constructor.prototype);
    }
    assert.equal(typeof res.json, 'function');
  }
  assert.deepEqual(
    seen.map(({ req }) => req.httpVersionMajor),
    [2, 1],
  );
  await server.drain(2_000);
});

test('a reply under way says at the end of the server that it is the last', async () => {
  const { server, seen, port } = await serving(nodesInside());
  const heard = await talk(port, GET('/later'), async () => {
    await until(() => seen.length === 1);
    const drained = server.drain(5_000);
    seen[0].res.json('at last');
    await drained;
  });

  assert.match(heard, /\r\nConnection: close\r\n[^]*"at last"$/);
});

test('a server of connections that another process accepts gives up on slow ones', async () => {
  const app = express();
  const server = createHttpServer(app, { ...OPTIONS, headersTimeoutMs: 100 }, nodesInside());
  server.serveHandedOver();
  const accepting = createNetServer((socket) => server.takeOver(socket)).listen(0, '127.0.0.1');
  await once(accepting, 'listening');

  const heard = await talk(accepting.address().port, 'GET / HTTP/1.1\r\n');
  assert.match(heard, /^HTTP\/1\.1 408 request_timeout/);
  accepting.close();
  await server.drain(1_000);
});

test('a call skips interim replies, and its body need not be joined', async () => {
  const upstream = createServer(async (req, res) => {
    let body = '';
    for await (const piece of req) body += piece;
    res.writeContinue();
    res.writeProcessing();
    res.end(body);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const calls = new Upstream({ maxReplyBytes: 1_000_000 });
  const { JsonFragment } = await import('../../src/bytes/index.ts');
  const documents = Buffer.from(JSON.stringify(['one', 'two'.repeat(10_000)]));
  const body = JsonFragment.enclosed('{"documents":', documents, '}');
  let times = 0;
  for (let call = 0; call < 2; call += 1) {
    const reply = await calls.send(request(upstream, body, () => (times += 1)));
    assert.equal(reply.status, 200);
    assert.equal(reply.text, `{"documents":${documents}}`);
  }
  assert.equal(times, 2, 'it is told when all of a request has left');
  await calls.close();
  upstream.close();
});

test('an answer to half a request is read, though the rest cannot be written', async () => {
  const upstream = createNetServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause().end('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
      setTimeout(() => socket.destroy(), 50);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const calls = new Upstream({ maxReplyBytes: 1_000_000 });
  const reply = await calls.send(request(upstream, Buffer.alloc(20_000_000, ' ')));

  assert.equal(reply.status, 413);
  await calls.close();
  upstream.close();
});

function request(upstream, body, onSent) {
  return {
    origin: `http://127.0.0.1:${upstream.address().port}`,
    path: '/',
    method: 'POST',
    headers: [],
    body,
    timeoutMs: 20_000,
    stillWanted: () => true,
    onSent,
  };
}
