import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { Client } from 'undici';
import { ConnectionPool } from '../../../src/gateway/transport/connection-pool.js';
import { opened } from '../../support/opened.js';
import { until } from '../../support/until.js';

const open = opened();

/** A pool of an upstream whose requests wait until they are answered, with the connections that they came on. */
async function pool(now?: () => number) {
  const waiting: ServerResponse[] = [];
  const ports: (number | undefined)[] = [];
  const sockets: (Socket | null)[] = [];
  const upstream = await open.upstream((_request, res) => {
    ports.push(res.socket?.remotePort);
    sockets.push(res.socket);
    waiting.push(res);
  });
  const connections = poolOf(upstream.url, now);
  const socketOf = (request: number): Socket => {
    const socket = sockets[request];
    if (socket == null) throw new Error('it had a connection');
    return socket;
  };
  return {
    connections,
    ports,
    arrived: (count: number) => until(`${count} requests`, () => ports.length === count),
    answer: () => {
      for (const res of waiting.splice(0)) res.end('ok');
    },
    /** Sends a reply to no request on the connection of one; resolves when the pool has noticed. */
    unasked: async (request: number): Promise<void> => {
      const closed = once(socketOf(request), 'close');
      socketOf(request).write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno');
      await closed;
      await nextTurn();
    },
    /** Ends the connection of a request, as a server does with one that is idle; resolves when the pool has noticed. */
    endOf: async (request: number): Promise<void> => {
      const closed = once(socketOf(request), 'close');
      socketOf(request).end();
      await closed;
      await nextTurn();
    },
  };
}

function poolOf(url: string, now?: () => number): ConnectionPool {
  const connections = new ConnectionPool(url, {}, now);
  open.push({ close: () => connections.destroy() });
  return connections;
}

/** The status of a request's reply; rejects with why there is none. */
function ask(
  connections: ConnectionPool,
  headers: string[] = [],
  isWanted = true,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    connections.dispatch(
      { path: '/', method: 'POST', headers, body: '{}' },
      {
        onRequestStart: (controller) => {
          if (!isWanted) controller.abort(new Error('not wanted'));
        },
        onResponseStart: (_controller, given) => {
          status = given;
        },
        onResponseEnd: () => resolve(status),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

/** A connection is free again a turn after its reply. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ConnectionPool', () => {
  it('sends requests at the same time over connections of their own, and others over the same', async () => {
    const { connections, ports, arrived, answer } = await pool();
    const three = [ask(connections), ask(connections), ask(connections)];
    await arrived(3);
    answer();
    expect(await Promise.all(three)).toEqual([200, 200, 200]);
    expect(new Set(ports).size).toBe(3);
    await nextTurn();

    for (const count of [4, 5, 6]) {
      const one = ask(connections);
      await arrived(count);
      answer();
      expect(await one).toBe(200);
      await nextTurn();
    }

    expect(new Set(ports.slice(3)).size).toBe(1);
    expect(ports.slice(0, 3)).toContain(ports[3]);
  });

  /** The port of one more request, which is answered. */
  async function portOfNext({
    connections,
    ports,
    arrived,
    answer,
  }: Awaited<ReturnType<typeof pool>>) {
    const count = ports.length + 1;
    const asked = ask(connections);
    await arrived(count);
    answer();
    await asked;
    await nextTurn();
    return ports[count - 1];
  }

  it('uses none for a while that has been idle for half as long as one that the server closed', async () => {
    let nowMs = 0;
    const made = await pool(() => nowMs);
    const two = [ask(made.connections), ask(made.connections)];
    await made.arrived(2);
    made.answer();
    await Promise.all(two);
    await nextTurn();
    nowMs = 1_000;
    await made.endOf(0);

    const third = await portOfNext(made);
    nowMs += 499;
    const fourth = await portOfNext(made);
    nowMs += 500;
    const fifth = await portOfNext(made);

    expect(made.ports.slice(0, 2)).not.toContain(third);
    expect(fourth).toBe(third);
    expect(fifth).not.toBe(third);
    for (let at = 0; at < 5; at += 1) await portOfNext(made);
    nowMs += 500;
    expect(await portOfNext(made)).toBe(made.ports.at(-2));
  });

  it('uses none for as long as the one that was closed soonest says, if several were', async () => {
    let nowMs = 0;
    const made = await pool(() => nowMs);
    const two = [ask(made.connections), ask(made.connections)];
    await made.arrived(2);
    made.answer();
    await Promise.all(two);
    await nextTurn();
    nowMs = 100;
    await made.endOf(0);
    nowMs = 1_000;
    await made.endOf(1);

    const third = await portOfNext(made);
    nowMs += 60;

    expect(await portOfNext(made)).not.toBe(third);
  });

  it('uses none again, however soon, after the server has closed one within milliseconds of its reply', async () => {
    let nowMs = 0;
    const made = await pool(() => nowMs);
    await portOfNext(made);
    nowMs = 10;
    await made.endOf(0);

    const second = await portOfNext(made);
    nowMs += 1;

    expect(await portOfNext(made)).not.toBe(second);
  });

  it('uses none again, however soon, after the server has sent a second reply on one', async () => {
    let nowMs = 0;
    const made = await pool(() => nowMs);
    await portOfNext(made);
    nowMs = 10;
    await made.unasked(0);

    const second = await portOfNext(made);
    nowMs += 1;

    expect(await portOfNext(made)).not.toBe(second);
  });

  it('uses each once where the server closes each after its reply', async () => {
    const made = await pool(() => 0);
    for (let at = 0; at < 5; at += 1) {
      await portOfNext(made);
      await made.endOf(at);
    }
    for (let at = 0; at < 5; at += 1) await portOfNext(made);

    expect(new Set(made.ports).size).toBe(10);
  });

  it('has nothing left to close of one that it has closed for being unused', async () => {
    const closes = jest.spyOn(Client.prototype, 'close');
    let nowMs = 0;
    const made = await pool(() => nowMs);
    const ten = Array.from({ length: 10 }, () => ask(made.connections));
    await made.arrived(10);
    made.answer();
    await Promise.all(ten);
    await nextTurn();
    nowMs = 1_000;
    await made.endOf(0);
    // The first to be asked is the one that was closed: it is made again.
    for (nowMs = 2_000; nowMs <= 3_000; nowMs += 1_000) await portOfNext(made);
    const [oldest, ...others] = new Set(closes.mock.contexts);
    closes.mockClear();

    await made.connections.close();

    const closed = new Set(closes.mock.contexts);
    closes.mockRestore();
    expect([oldest !== undefined, others.length]).toEqual([true, 0]);
    expect([closed.size, closed.has(oldest)]).toEqual([10, false]);
  });

  it('lets none wait behind another after one that was not sent', async () => {
    const { connections, ports, arrived, answer } = await pool();
    const first = ask(connections);
    await arrived(1);
    answer();
    await first;
    await nextTurn();
    await expect(ask(connections, [], false)).rejects.toThrow('not wanted');

    const three = [ask(connections), ask(connections), ask(connections)];
    await arrived(4);
    answer();

    expect(await Promise.all(three)).toEqual([200, 200, 200]);
    expect(new Set(ports.slice(1)).size).toBe(3);
  });

  it('goes on after a request that cannot be sent', async () => {
    const { connections, arrived, answer } = await pool();
    await expect(ask(connections, ['x-name', 'two\nlines'])).rejects.toThrow(
      'invalid x-name header',
    );

    const next = ask(connections);
    await arrived(1);
    answer();

    expect(await next).toBe(200);
  });

  it('goes on after connections that broke or were refused', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        if (does === 'break') socket.resetAndDestroy();
        if (does === 'answer') socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
    });
    let does: 'break' | 'answer' | 'hang' = 'break';
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connections = poolOf(`http://127.0.0.1:${port}`);
    await expect(ask(connections)).rejects.toMatchObject({ code: 'ECONNRESET' });
    server.close();
    await once(server, 'close');
    await expect(ask(connections)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(ask(connections)).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    does = 'answer';
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: () => Promise.resolve(void server.close()) });

    expect(await ask(connections)).toBe(200);
    expect(await Promise.all([ask(connections), ask(connections)])).toEqual([200, 200]);

    // None is left behind.
    does = 'hang';
    const hanging = [ask(connections), ask(connections)].map((asked) =>
      expect(asked).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' }),
    );
    await connections.destroy();
    await Promise.all(hanging);
  });

  it('closes when its requests are over, and takes no more', async () => {
    const { connections, arrived, answer } = await pool();
    const last = ask(connections);
    await arrived(1);

    const closed = connections.close();
    await expect(ask(connections)).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    answer();

    expect(await last).toBe(200);
    await closed;
    await expect(ask(connections)).rejects.toThrow();
  });

  it('fails its requests when it is destroyed, and takes no more', async () => {
    const { connections, ports, arrived } = await pool();
    const last = ask(connections);
    await arrived(1);

    const failed = expect(last).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    await connections.destroy();
    await failed;

    await expect(ask(connections)).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    expect(ports).toHaveLength(1);
  });
});
