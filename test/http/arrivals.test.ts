import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Arrivals } from '../../src/http/arrivals.js';
import { PatientServer } from '../../src/http/connections.js';
import { until } from '../support/until.js';

afterEach(() => {
  jest.restoreAllMocks();
});

describe('connections that arrive', () => {
  /** Connections by number, and in which order and together with which others they were begun. */
  function arriving() {
    const states = new Map<number, string>();
    const begun: number[][] = [];
    let turn = 0;
    let last = -1;
    const arrivals = new Arrivals((socket) => {
      if (last !== turn) begun.push([]);
      last = turn;
      begun.at(-1)?.push(socket as unknown as number);
    });
    const arrive = (count: number): void => {
      const socket = Object.assign(Object(count) as number, {
        pause: () => states.set(count, 'paused'),
        resume: () => states.set(count, 'resumed'),
      });
      arrivals.add(socket as unknown as Socket);
    };
    const pass = async (): Promise<void> => {
      await nextTurn();
      turn += 1;
    };
    return { arrive, pass, begun: () => begun.map((group) => group.map(Number)), states };
  }

  it('one a turn are begun together, in their order, once a turn brings none', async () => {
    // No matter how long this machine takes for each turn.
    jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const { arrive, pass, begun, states } = arriving();
    for (let count = 1; count <= 5; count += 1) {
      arrive(count);
      await pass();
    }
    expect(begun()).toEqual([]);
    expect([...states.values()]).toEqual(Array.from({ length: 5 }, () => 'paused'));

    await pass();
    await pass();

    expect(begun()).toEqual([[1, 2, 3, 4, 5]]);
    expect([...states.values()]).toEqual(Array.from({ length: 5 }, () => 'resumed'));
  });

  it('alone are begun two turns later, however many have come before', async () => {
    const { arrive, pass, begun } = arriving();
    for (const count of [1, 2]) {
      arrive(count);
      for (let turns = 0; turns < 3; turns += 1) await pass();
    }

    expect(begun()).toEqual([[1], [2]]);
  });

  it('without end are begun after a moment', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const { arrive, pass, begun } = arriving();
    for (let count = 1; count <= 20; count += 1) {
      clock.mockReturnValue(1_000 + count * 5);
      arrive(count);
      await pass();
    }

    expect(begun()[0]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(begun().flat().length).toBeGreaterThan(10);
  });
});

describe('a server to which many connect at once', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

  it('accepts all of them before it serves the first', async () => {
    // No matter how long this machine takes for all of them.
    jest.spyOn(performance, 'now').mockReturnValue(1_000);
    let accepted = 0;
    let seen: number | undefined;
    const server = new PatientServer({}, (_req, res) => {
      seen ??= accepted;
      res.end();
    });
    server.on('connection', () => (accepted += 1));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    let answered = 0;

    // The system takes them all while this process is busy.
    const clients = Array.from({ length: 100 }, () => {
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write(REQUEST);
      return client.once('data', () => (answered += 1));
    });
    await until('all are answered', () => answered === 100);

    expect(seen).toBe(100);
    for (const client of clients) client.destroy();
    await server.drain(20_000);
  });

  it('ends although some are gone before they are served', async () => {
    const server = new PatientServer({}, (_req, res) => res.end());
    server.on('connection', (socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(server, 'connection');
    await server.drain(600_000);

    client.destroy();
    expect(server.listening).toBe(false);
  });
});
