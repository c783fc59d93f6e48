import { once } from 'node:events';
import { connect, Socket, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import express from 'express';
import { Pacing } from '../../src/http/pacing.js';
import { createHttpServer } from '../../src/http/server.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

function setUp() {
  const done: string[] = [];
  const pacing = new Pacing(() => {
    done.push('hold');
    return () => done.push('release');
  });
  const socket = new Socket();
  const begin = (names: readonly string[], of = socket): void => {
    for (const name of names) pacing.begin(of, () => done.push(name));
  };
  return { done, pacing, socket, begin };
}

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await turn();
}

const named = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('the turns of a connection', () => {
  it('have sixteen requests each, in order, and nothing more is read meanwhile', async () => {
    const { done, begin } = setUp();
    const names = named('r', 40);

    begin(names);
    expect(done).toEqual([...names.slice(0, 16), 'hold']);
    await turns(7);
    // Others have had seven turns by then.
    expect(done).toHaveLength(17);
    await turn();
    expect(done.slice(17)).toEqual(names.slice(16, 32));
    begin(['late']);
    await turns(8);

    expect(done.slice(33)).toEqual([...names.slice(32), 'late', 'release']);
  });

  it('are its own', () => {
    const { done, begin } = setUp();

    begin(named('r', 20));
    begin(['other'], new Socket());

    expect(done.at(-1)).toBe('other');
  });

  it('have so many pieces, too', async () => {
    const { done, pacing, socket } = setUp();

    for (let count = 0; count < 63; count += 1) pacing.count(socket);
    expect(done).toEqual([]);
    for (let count = 0; count < 100; count += 1) pacing.count(socket);
    expect(done).toEqual(['hold']);
    await turns(7);
    // Others have had seven turns by then.
    expect(done).toEqual(['hold']);
    await turn();
    expect(done).toEqual(['hold', 'release']);
    pacing.count(socket);
    await turn();

    expect(done).toHaveLength(2);
  });

  it('are followed by twice their time if they bring small pieces of bodies', async () => {
    const { done, pacing, socket } = setUp();

    for (let count = 0; count < 64; count += 1) pacing.countSmall(socket);
    const heldMs = performance.now();
    while (performance.now() - heldMs < 20);
    await until('it is read again', () => done.includes('release'));

    expect(performance.now() - heldMs).toBeGreaterThanOrEqual(3 * 20 - 1);
  });

  it('are each followed by twice their own time, not by that of all', async () => {
    const { done, pacing, socket } = setUp();
    const rests: number[] = [];
    let nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const wait = globalThis.setTimeout;
    const rest = (next: (...args: unknown[]) => void, ms: number, ...args: unknown[]): unknown => {
      // What another suite has left behind.
      if (args[0] !== socket) return wait(next, ms, ...args);
      rests.push(ms);
      nowMs += ms;
      return setImmediate(next, ...args);
    };
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(rest as unknown as typeof setTimeout);

    for (let request = 0; request < 64; request += 1) {
      pacing.begin(socket, () => {
        nowMs += 1;
        for (let piece = 0; piece < 4; piece += 1) pacing.countSmall(socket);
      });
    }
    while (!done.includes('release')) await turn();
    jest.restoreAllMocks();

    expect(rests).toEqual([32, 32, 32]);
  });

  it('are not begun after it is stopped, however few they were', async () => {
    const { done, begin, pacing, socket } = setUp();

    begin(['first']);
    pacing.stop(socket);
    begin(['late']);
    await turn();

    expect(done).toEqual(['first', 'hold']);
  });

  it('end when it is stopped', async () => {
    const { done, begin, pacing, socket } = setUp();

    begin(named('r', 20));
    pacing.stop(socket);
    await turn();
    begin(['late']);
    await turn();

    expect(done).toEqual([...named('r', 16), 'hold']);
  });
});

describe('a connection that brings much at once', () => {
  let gateway: TestGateway | undefined;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway?.close();
    gateway = undefined;
  });

  const open = async (): Promise<{ gateway: TestGateway; socket: Socket; text: () => string }> => {
    gateway ??= await startGateway({ channels: [{ name: 'a', provider: 'local', models: ['m'] }] });
    const { port } = gateway.app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    await once(socket, 'connect');
    return { gateway, socket, text: () => text };
  };
  const replies = (text: string): number => text.split('HTTP/1.1 ').length - 1;

  it('is answered in full, and others meanwhile', async () => {
    const [many, other] = [await open(), await open()];
    const count = 4_000;

    many.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count));
    other.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('the other is answered', () => replies(other.text()) === 1);
    const before = replies(many.text());
    await until('all are answered', () => replies(many.text()) === count);

    expect(before).toBeLessThan(count / 4);
  });

  it('is answered in full though its caller has ended its side', async () => {
    const { socket, text } = await open();

    socket.end('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(4_000));
    await once(socket, 'close');

    expect(replies(text())).toBe(4_000);
  });

  it('is answered in full though its caller reads late', async () => {
    const large = Buffer.alloc(1_000_000, ' ');
    let begun = 0;
    const app = express().use((_req, res) => {
      begun += 1;
      setImmediate(() => res.end(large));
    });
    const patience = { headersTimeoutMs: 60_000, bodyTimeoutMs: 0, keepAliveTimeoutMs: 60_000 };
    const server = createHttpServer(app, { http2: false, ...patience });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    const heads: string[] = [];

    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(300));
    await until('some have begun', () => begun >= 16);
    await turns(1_000);
    const early = begun;
    socket.on('data', (chunk: Buffer) => {
      heads.push(...(chunk.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? []));
    });
    await until('all are answered', () => begun === 300 && heads.length >= 290);
    socket.destroy();
    server.close();

    // Replies that nobody takes keep the rest from being read.
    expect(early).toBeLessThan(100);
    expect(new Set(heads)).toEqual(new Set(['HTTP/1.1 200']));
  });

  it('has sixteen requests begun in a turn, though each is answered at once', async () => {
    let turns = 0;
    const begun: number[] = [];
    const next = (): void => void (turns += 1);
    const app = express().use((_req, res) => {
      if (begun.at(-1) !== turns) begun.push(turns);
      setImmediate(next);
      res.end();
    });
    const patience = { headersTimeoutMs: 60_000, bodyTimeoutMs: 0, keepAliveTimeoutMs: 60_000 };
    const server = createHttpServer(app, { http2: false, ...patience });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));

    // Behind a head with more than 32 headers, and behind a body, Node has time to end a reply before it reads on.
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(40)}\r\n`.repeat(160));
    await until('all are answered', () => replies(text) === 160);
    socket.destroy();
    server.close();

    // The first one begins before it is known that others follow.
    expect(begun.length).toBeGreaterThanOrEqual(160 / 17);
  });

  it.each<[string, (at: number) => string]>([
    ['heads', (at) => `GET /${at} HTTP/1.1\r\nHost: a\r\n\r\n`],
    [
      'bodies of a length',
      (at) => `POST /${at} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`,
    ],
    [
      'bodies in chunks',
      (at) =>
        `POST /${at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n`,
    ],
  ])('has few of many %s parsed in a turn, and all answered in order', async (_, each) => {
    const count = 3_000;
    const answers: string[] = [];
    const app = express().use((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += String(chunk)));
      req.on('end', () => {
        answers.push(`${req.url}${body}`);
        res.end();
      });
    });
    const patience = { headersTimeoutMs: 60_000, bodyTimeoutMs: 0, keepAliveTimeoutMs: 60_000 };
    const server = createHttpServer(app, { http2: true, ...patience });
    let [parsed, most, isOver] = [0, 0, false];
    server.on('request', () => (most = Math.max(most, (parsed += 1))));
    const next = (): void => {
      parsed = 0;
      if (!isOver) setImmediate(next);
    };
    next();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    const all = Array.from({ length: count }, (_each, at) => each(at));

    socket.write(`${all.join('')}NO HTTP\r\n\r\n`);
    await once(socket, 'close');
    isOver = true;
    server.close();

    const body = all[0]?.startsWith('POST') === true ? 'abc' : '';
    expect(answers).toEqual(all.map((_each, at) => `/${at}${body}`));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      ...all.map(() => 'HTTP/1.1 200'),
      'HTTP/1.1 400',
    ]);
    // Sixteen begin, one waits, and the head of one more is where the parser can stop.
    expect(most).toBeLessThan(25);
  });

  it('may bring a body in pieces of a byte', async () => {
    const { gateway, socket, text } = await open();
    const { key } = await gateway.createKey();
    const body = JSON.stringify({ model: 'm', query: 'moon '.repeat(2_000), documents: ['moon'] });

    socket.write(
      'POST /v1/rerank HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
        `Authorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(body.replaceAll(/./g, '1\r\n$&\r\n') + '0\r\n\r\n');
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('both are answered', () => replies(text()) === 2);

    expect(text()).toContain('relevance_score');
  });
});
