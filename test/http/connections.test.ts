import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deferred, type Deferred } from '../support/deferred.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { onlyChannel, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';
import { until } from '../support/until.js';

/** More than the buffers of a connection hold. */
const DOCUMENTS = Array.from({ length: 3 }, () => 'x'.repeat(8_000_000));
const LONG_MS = 60_000;
/** How long idle connections are kept at the end. */
const GRACE_MS = 1_000;
/** As Node tells of a request that takes too long to arrive. */
const LATE = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

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
    channels: [onlyChannel(upstream.url)],
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

/** Lets the upstream answer only when the gate is opened. */
function holdAnswers(): Deferred {
  const gate = deferred();
  upstream.answer(async (_request, res) => {
    await gate.promise;
    sendJson(res, { results: [{ index: 0, relevance_score: 0.5 }] });
  });
  return gate;
}

function rerank(documents: readonly string[], bearer = key): string {
  const body = JSON.stringify({ model: 'm', query: 'q', documents, return_documents: true });
  return (
    `POST /v1/rerank HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bearer}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

/** Sends on a connection what it is given, each behind the reply to the one before; the statuses. */
async function inTurn(client: Awaited<ReturnType<typeof open>>, requests: readonly string[]) {
  for (const [index, request] of requests.entries()) {
    client.socket.write(request);
    await eventually('a reply', () =>
      Promise.resolve(repliesIn(client.text()).length === index + 1),
    );
  }
  return repliesIn(client.text()).map(({ status }) => status);
}

/** The replies that came, one behind the other. */
function repliesIn(text: string): { readonly status: number; readonly body: string }[] {
  const replies: { status: number; body: string }[] = [];
  for (let rest = text; rest !== '';) {
    const start = rest.indexOf('\r\n\r\n') + '\r\n\r\n'.length;
    const length = Number(/content-length: (\d+)/i.exec(rest)?.[1]);
    replies.push({
      status: Number(rest.split(' ', 2)[1]),
      body: rest.slice(start, start + length),
    });
    rest = rest.slice(start + length);
  }
  return replies;
}

function errorCode(reply: { readonly body: string } | undefined): string {
  return (JSON.parse(reply?.body ?? '') as { error: { code: string } }).error.code;
}

const NO_HTTP = 'what is this?\r\n\r\n';
const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

async function askWithoutReading(): Promise<{ socket: Socket; text: () => string }> {
  const reader = await open();
  reader.socket.pause().write(rerank(DOCUMENTS));
  await eventually('the reply waits to be taken', () =>
    Promise.resolve((sockets.at(-1)?.writableLength ?? 0) > 0),
  );
  return reader;
}

/** Lets nothing else run, as work would, and leaves the processor to others. */
function busyFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function close(drainMs: number): Promise<void> {
  isClosed = true;
  await gateway.close(drainMs);
}

describe('a connection', () => {
  it('is served by the key that each request brings', async () => {
    const other = await gateway.createKey({ policy: { models: ['another'] } });
    const client = await open();

    const statuses = await inTurn(client, [
      rerank(['a']),
      rerank(['a'], other.key),
      rerank(['a']),
      rerank(['a'], 'sk-unknown'),
      rerank(['a'], other.key),
    ]);

    expect(statuses).toEqual([200, 403, 200, 401, 403]);
    client.socket.destroy();
  });

  it('is not served any more when its key is gone', async () => {
    const gone = await gateway.createKey();
    const client = await open();
    expect(await inTurn(client, [rerank(['a'], gone.key)])).toEqual([200]);

    await gateway.store.deleteToken(gone.id, undefined);

    for (let count = 2; count <= 3; count += 1) {
      client.socket.write(rerank(['a'], gone.key));
      await eventually('a reply', () => Promise.resolve(repliesIn(client.text()).length === count));
    }
    expect(repliesIn(client.text()).map(({ status }) => status)).toEqual([200, 401, 401]);
    client.socket.destroy();
  });
});

describe('a gateway that stops', () => {
  it('closes idle connections soon, and lets a slow reader take the whole of its reply', async () => {
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

  it('answers what comes on an idle connection meanwhile, as its last reply', async () => {
    const [idle, fresh] = [await open(), await open()];
    idle.socket.write(HEALTH);
    await once(idle.socket, 'data');

    const closing = close(LONG_MS);
    await eventually('it listens no more', () => Promise.resolve(!gateway.app.server.listening));
    idle.socket.write(HEALTH);
    fresh.socket.write(rerank(['a']));
    await Promise.all([once(idle.socket, 'close'), once(fresh.socket, 'close')]);
    await closing;

    expect(repliesIn(idle.text()).map(({ status }) => status)).toEqual([200, 200]);
    expect(idle.text().match(/^connection: close\r$/gim)).toHaveLength(1);
    expect(fresh.text()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  });

  it('accepts everybody who has connected by then, however slow it is', async () => {
    let isSlow = true;
    const slowTurn = (): void => {
      busyFor(20);
      if (isSlow) setImmediate(slowTurn);
    };
    slowTurn();
    const { port } = gateway.app.server.address() as AddressInfo;
    const answers = Array.from({ length: 30 }, async () => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      socket.write(HEALTH);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text;
    });
    const ended = Promise.all(answers);
    await nextTurn();

    // Half of it at most is for those who still come, and is used up as there is no quiet turn.
    await Promise.all([close(12_000), ended]).finally(() => (isSlow = false));

    for (const text of await ended) expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('reads what came on an idle connection while it was held up, before it closes it', async () => {
    const idle = await open();
    idle.socket.write(HEALTH);
    await once(idle.socket, 'data');

    const closing = close(LONG_MS);
    await eventually('it listens no more', () => Promise.resolve(!gateway.app.server.listening));
    // Of a turn, timers come first.
    await nextTurn();
    idle.socket.write(HEALTH);
    busyFor(GRACE_MS + 100);
    await once(idle.socket, 'close');
    await closing;

    expect(repliesIn(idle.text()).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('says in the replies under way that they are the last on their connections', async () => {
    const gate = holdAnswers();
    const caller = await open();
    caller.socket.write(rerank(['a']));
    await upstream.reached(1);

    const closing = close(LONG_MS);
    gate.resolve();
    await once(caller.socket, 'close');
    await closing;

    expect(caller.text()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  });

  it('waits for nobody beyond the drain', async () => {
    const slow = await askWithoutReading();

    await close(100);

    expect(sockets.at(-1)?.destroyed).toBe(true);
    slow.socket.destroy();
  });
});

describe('CONNECT', () => {
  const connectTo = (target: string) => `CONNECT ${target} HTTP/1.1\r\nhost: x\r\n\r\n`;

  it.each([
    ['/v1/rerank', 405, 'POST'],
    ['/v1/models', 405, 'GET, HEAD'],
    ['/docs', 405, 'GET, HEAD'],
    ['/api/user/login', 405, 'POST'],
    ['/nothing', 404, undefined],
    ['example.com:443', 404, undefined],
    ['[::1]:443', 404, undefined],
    ['http://x/v1/rerank', 405, 'POST'],
  ])('to %s is answered %i, and the connection is closed', async (target, status, allowed) => {
    const client = await open();

    client.socket.write(`${connectTo(target)}what goes through a tunnel`);
    await once(client.socket, 'close');

    const [refusal, ...more] = repliesIn(client.text());
    expect([refusal?.status, more]).toEqual([status, []]);
    expect(refusal?.body).toContain(status === 405 ? '"method_not_allowed"' : '"not_found"');
    expect(/^allow: (.*)\r$/im.exec(client.text())?.[1]).toBe(allowed);
    expect(client.text()).toMatch(/^connection: close\r$/im);
    await eventually('the line of the log', () =>
      Promise.resolve(gateway.log.some((line) => line.includes('CONNECT'))),
    );
  });

  it('is answered behind the requests before it', async () => {
    const gate = holdAnswers();
    const client = await open();

    client.socket.write(rerank(['a']) + rerank(['b']) + connectTo('/v1/rerank'));
    await upstream.reached(2);
    gate.resolve();
    await once(client.socket, 'close');

    expect(repliesIn(client.text()).map(({ status }) => status)).toEqual([200, 200, 405]);
  });

  it('is not answered behind the last reply of its connection', async () => {
    const gate = holdAnswers();
    const client = await open();

    const last = rerank(['a']).replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
    client.socket.write(last + connectTo('/v1/rerank'));
    await upstream.reached(1);
    gate.resolve();
    await once(client.socket, 'close');

    expect(repliesIn(client.text()).map(({ status }) => status)).toEqual([200]);
  });

  it('of a caller that is gone, or never closes its own side, holds nothing', async () => {
    const gate = holdAnswers();
    const gone = await open();
    gone.socket.write(rerank(['a']) + connectTo('/v1/rerank'));
    await upstream.reached(1);
    gone.socket.resetAndDestroy();
    const { port } = gateway.app.server.address() as AddressInfo;
    const silent = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    silent.write(connectTo('/v1/rerank'));

    await until('both are closed', () =>
      Promise.resolve(sockets.length === 2 && sockets.every((socket) => socket.destroyed)),
    );
    gate.resolve();
    silent.destroy();
  });
});

describe('an address in the place of a path', () => {
  it.each([
    ['http://x:99999999/healthz?a', 200],
    ['http://[::/healthz', 200],
    ['http://', 404],
    ['http://?a', 404],
    ['ftp://x/healthz', 404],
    ['*', 404],
  ])('is served by the path in it: %s', async (target, status) => {
    const client = await open();

    client.socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    await once(client.socket, 'close');

    const [reply] = repliesIn(client.text());
    expect(reply?.status).toBe(status);
    expect(reply?.body).toContain(status === 200 ? '"ok"' : '"not_found"');
  });
});

describe('what is no HTTP', () => {
  it('is answered like every other error on a connection that has served before', async () => {
    const client = await open();
    client.socket.write(HEALTH);
    await once(client.socket, 'data');

    client.socket.write(NO_HTTP);
    await once(client.socket, 'close');

    const [, refusal] = repliesIn(client.text());
    expect([refusal?.status, errorCode(refusal)]).toEqual([400, 'invalid_request']);
  });

  it('is answered behind the requests before it, which are served as if it had not come', async () => {
    const gate = holdAnswers();
    const client = await open();

    client.socket.write(rerank(['a']) + rerank(['b']) + NO_HTTP);
    await upstream.reached(2);
    client.socket.write(NO_HTTP);
    gate.resolve();
    await once(client.socket, 'close');

    const replies = repliesIn(client.text());
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(replies[1]?.body).toContain('"text":"b"');
    expect(errorCode(replies[2])).toBe('invalid_request');
  });

  it('is dropped if what was late has come before its turn', async () => {
    const gate = holdAnswers();
    const client = await open();
    client.socket.write(rerank(['a']));
    await upstream.reached(1);

    gateway.app.server.emit('clientError', LATE, sockets[0]);
    client.socket.write(rerank(['b']));
    await upstream.reached(2);
    gate.resolve();
    await eventually('both are answered', () =>
      Promise.resolve(client.text().includes('"text":"b"')),
    );
    client.socket.write(HEALTH.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
    await once(client.socket, 'close');

    expect(repliesIn(client.text()).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.each([
    ['in its body', 20],
    ['in its headers', 120],
  ])(
    'is told that it came too late, and is not served when the rest comes (%s)',
    async (_where, missing) => {
      const client = await open();
      const request = rerank(['a']);
      const begun = request.slice(0, -missing);
      client.socket.write(begun);
      await eventually('the beginning has come', () =>
        Promise.resolve(sockets[0]?.bytesRead === begun.length),
      );

      gateway.app.server.emit('clientError', LATE, sockets[0]);
      await once(client.socket, 'data');
      client.socket.write(request.slice(-missing));
      await once(client.socket, 'close');
      // Waits for all that is under way.
      await gateway.close();
      isClosed = true;

      const [refusal, ...more] = repliesIn(client.text());
      expect([refusal?.status, errorCode(refusal), more]).toEqual([408, 'request_timeout', []]);
      expect(upstream.seen).toEqual([]);
    },
  );

  it('does not spoil a reply that is being taken', async () => {
    const slow = await askWithoutReading();

    slow.socket.write(NO_HTTP);
    slow.socket.resume();
    await once(slow.socket, 'close');

    const replies = repliesIn(slow.text());
    expect(replies.map(({ status }) => status)).toEqual([200, 400]);
    expect(replies[0]?.body.endsWith('}')).toBe(true);
  });

  it('is not answered again if its request was answered before it ended', async () => {
    const client = await open();
    client.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n');
    await once(client.socket, 'data');

    client.socket.end();
    await once(client.socket, 'close');

    expect(repliesIn(client.text()).map(({ status }) => status)).toEqual([200]);
  });
});
