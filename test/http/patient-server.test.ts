import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  closePort,
  mustBeTaken,
  PatientServer,
  readOnForAWhile,
} from '../../src/http/connections.js';
import { until } from '../support/until.js';

it('another protocol on the port hears at once of the end, and is closed after the grace of idle connections', async () => {
  const calls: string[] = [];
  const server = new PatientServer({}, (_req, res) => res.end(), {
    announceEnd: () => calls.push('announced'),
    close: () => calls.push('closed'),
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  // Only the end concerns the other protocol.
  server.closeIdleConnections();
  expect(calls).toEqual([]);
  const idle = connect(port, '127.0.0.1');
  await once(server, 'connection');

  const drained = server.drain(20_000);
  expect(calls).toEqual(['announced']);
  await until('the other protocol is closed', () => calls.includes('closed'));
  idle.destroy();
  await drained;

  expect(calls.slice(0, 2)).toEqual(['announced', 'closed']);
});

describe('a server of connections that another process accepts', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

  /** The port where they are accepted, and the server that they are passed to. */
  async function handedOver(options: ServerOptions, serve: RequestListener) {
    const server = new PatientServer(options, serve);
    server.serveHandedOver();
    const accepting = createServer((socket) => server.takeOver(socket));
    accepting.listen(0, '127.0.0.1');
    await once(accepting, 'listening');
    const { port } = accepting.address() as AddressInfo;
    const clients: Socket[] = [];
    return {
      server,
      open: async (): Promise<{ readonly socket: Socket; readonly text: () => string }> => {
        const accepted = once(server, 'connection');
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        clients.push(socket);
        let text = '';
        socket.on('error', () => undefined).setEncoding('utf8');
        socket.on('data', (piece: string) => (text += piece));
        await accepted;
        return { socket, text: () => text };
      },
      end: () => {
        for (const client of clients) client.destroy();
        accepting.close();
        // As Node does once a server that listened is closed.
        server.close(() => undefined);
      },
    };
  }

  it('may break before their turn comes', async () => {
    const { server, open, end } = await handedOver({}, (_req, res) => res.end('well'));
    server.prependOnceListener('connection', (socket) => socket.destroy(new Error('reset')));

    await open();
    const other = await open();
    other.socket.write(REQUEST);

    await until('another one is served', () => other.text().includes('well'));
    end();
  });

  it('ends only when all of them have gone, and at once if there are none', async () => {
    const { server, open, end } = await handedOver({}, (_req, res) => res.write('and so on'));
    const [one, other] = [await open(), await open()];
    for (const { socket } of [one, other]) socket.write(REQUEST);
    await until('both are being answered', () => [one, other].every(({ text }) => text() !== ''));
    let isOver = false;

    const drained = server.drain(600_000).then(() => (isOver = true));
    one.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isOver).toBe(false);
    other.socket.destroy();
    await drained;

    const { server: unused, end: endUnused } = await handedOver({}, (_req, res) => res.end());
    await unused.drain(600_000);
    end();
    endUnused();
  });

  it.each([
    ['a second, however long it may take to drain', 600_000, 5_000],
    ['a tenth of a short drain', 2_000, 900],
  ])('closes idle ones within %s', async (_how, drainMs, mostMs) => {
    const { server, open, end } = await handedOver({ keepAliveTimeout: 600_000 }, (_req, res) =>
      res.end(),
    );
    const idle = await open();
    idle.socket.write(REQUEST);
    await until('it is answered', () => idle.text() !== '');
    const beganMs = performance.now();

    await server.drain(drainMs);

    expect(performance.now() - beganMs).toBeLessThan(mostMs);
    end();
  });

  it('answers a CONNECT whose caller has ended its side', async () => {
    const { server, open, end } = await handedOver({}, (_req, res) => res.end());
    server.on('connect', (_req, socket: Socket) => {
      socket.on('end', () => setTimeout(() => socket.end('late'), 50)).resume();
    });
    const caller = await open();

    caller.socket.end('CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n');
    await until('the answer', () => caller.text() === 'late');

    end();
  });

  it('gives up on requests that do not arrive in time', async () => {
    const options = { headersTimeout: 100, connectionsCheckingInterval: 50 };
    const { open, end } = await handedOver(options, (_req, res) => res.end());
    const slow = await open();

    slow.socket.write('GET / HT');
    await until('it is refused', () => slow.text().startsWith('HTTP/1.1 408'));

    end();
  });
});

it('a server that has drained keeps no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const server = new PatientServer({}, (_req, res) => res.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const idle = connect(port, '127.0.0.1');
  await once(server, 'connection');
  const before = timers();

  const drained = server.drain(200);
  await once(idle.resume(), 'close');
  await drained;

  expect(timers()).toBeLessThanOrEqual(before);
});

describe('what has connected before the end', () => {
  /** Tells of a connection in some turns of the event loop, until `isOver`. */
  async function accepting(isTurn: (turn: number) => boolean, drainMs: number) {
    const server = createServer();
    let isOver = false;
    const waited = closePort(server, drainMs).then(() => (isOver = true));
    let accepted = 0;
    let turn = 0;
    while (!(isOver as boolean) && turn < 5_000) {
      if (isTurn(turn)) {
        accepted += 1;
        server.emit('connection');
      }
      turn += 1;
      await nextTurn();
    }
    await waited;
    return { accepted, left: server.listenerCount('connection') };
  }

  it('is accepted until three turns bring nobody', async () => {
    const { accepted, left } = await accepting((turn) => turn % 2 === 0 && turn < 60, 600_000);

    expect([accepted, left]).toEqual([30, 0]);
  });

  it('is as many as a port keeps waiting', async () => {
    const { accepted } = await accepting(() => true, 600_000);

    expect(accepted).toBeGreaterThanOrEqual(4_096);
    expect(accepted).toBeLessThan(4_104);
  });

  /** Connects four times once `shared[0]` is 1, sets it to 2 when they are connected, and reports how each ends. */
  const CALLERS = `
    const { parentPort, workerData: { port, shared } } = require('node:worker_threads');
    const { connect } = require('node:net');
    parentPort.postMessage('ready');
    Atomics.wait(shared, 0, 0);
    for (let caller = 0; caller < 4; caller += 1) {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('connect', () => {
        Atomics.store(shared, 0, 2);
        Atomics.notify(shared, 0);
      });
      socket.on('data', (piece) => (text += piece));
      socket.on('error', ({ code }) => (text = code));
      socket.on('close', () => parentPort.postMessage(text));
    }`;

  it('is accepted too if it came during a long turn that looked like the last', async () => {
    const server = createServer((socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const callers = new Worker(CALLERS, { eval: true, workerData: { port, shared } });
    await once(callers, 'message');
    const ends: string[] = [];
    callers.on('message', (end: string) => ends.push(end));

    const lastTurn = nextTurn().then(nextTurn).then(nextTurn);
    const closed = closePort(server, 600_000);
    await lastTurn;
    Atomics.store(shared, 0, 1);
    Atomics.notify(shared, 0);
    while (Atomics.load(shared, 0) < 2) Atomics.wait(shared, 0, 1, 100);
    await (
      await closed
    ).ended;
    await until('all have ended', () => ends.length === 4);

    expect(ends).toContain('hello');
    expect(ends).not.toContain('ECONNRESET');
    await callers.terminate();
  });

  it('is waited for no longer than half of the drain', async () => {
    const { accepted } = await accepting(() => true, 0);

    expect(accepted).toBeLessThan(10);
  });
});

describe('connections with little time', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const socketOf = () => {
    const destroyed = { times: 0 };
    return { destroyed, socket: { destroy: () => (destroyed.times += 1) } };
  };

  it('are closed a minute after a reply is ready that nobody takes', () => {
    const { destroyed, socket } = socketOf();
    const res = Object.assign(new EventEmitter(), { socket });

    mustBeTaken(res as unknown as ServerResponse);
    jest.advanceTimersByTime(59_999);
    expect(destroyed.times).toBe(0);
    jest.advanceTimersByTime(1);
    expect(destroyed.times).toBe(1);
  });

  it('have that minute from when earlier replies are taken, and not once theirs is', () => {
    const { destroyed, socket } = socketOf();
    const res = Object.assign(new EventEmitter(), { socket: null as typeof socket | null });

    mustBeTaken(res as unknown as ServerResponse);
    jest.advanceTimersByTime(600_000);
    res.socket = socket;
    res.emit('socket');
    jest.advanceTimersByTime(59_999);
    expect([destroyed.times, jest.getTimerCount()]).toEqual([0, 1]);
    res.emit('close');

    expect(jest.getTimerCount()).toBe(0);
  });

  it('are not waited for when their stream of HTTP/2 has gone before the reply was ready', () => {
    const res = Object.assign(new EventEmitter(), { socket: undefined });

    mustBeTaken(res as unknown as ServerResponse);

    expect(jest.getTimerCount()).toBe(0);
  });

  it('are read for ten seconds after a refusal, if their request is still coming', () => {
    const { destroyed, socket } = socketOf();
    const resumed = { times: 0 };
    const request = (complete: boolean) => {
      const req = new EventEmitter();
      return Object.assign(req, {
        complete,
        socket,
        resume: () => {
          resumed.times += 1;
          return req;
        },
      });
    };
    const [coming, gone, whole] = [request(false), request(false), request(true)];

    for (const req of [coming, gone, whole]) readOnForAWhile(req as unknown as IncomingMessage);
    gone.emit('close');

    expect([resumed.times, jest.getTimerCount()]).toEqual([2, 1]);
    jest.advanceTimersByTime(9_999);
    expect(destroyed.times).toBe(0);
    jest.advanceTimersByTime(1);
    expect(destroyed.times).toBe(1);
  });
});
