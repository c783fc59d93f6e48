import { describe, expect, jest, test } from '@jest/globals';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Redis } from 'ioredis';
import { connectRedis } from '../../src/store/redis/connection.js';
import { parseRedisUrl } from '../../src/store/redis/url.js';
import { startRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const OPEN = { username: undefined, password: undefined, db: 0, tls: false };

describe('the Redis URL', () => {
  test.each([
    ['redis://localhost', { host: 'localhost', port: 6379 }, OPEN],
    ['redis://10.0.0.1:7000/2', { host: '10.0.0.1', port: 7000 }, { ...OPEN, db: 2 }],
    [
      'rediss://ada:p%40ss@cache.example.org',
      { host: 'cache.example.org', port: 6379 },
      { username: 'ada', password: 'p@ss', db: 0, tls: true },
    ],
    ['redis://:secret@[::1]:6380', { host: '::1', port: 6380 }, { ...OPEN, password: 'secret' }],
  ])('reads %s as one server', (url, node, login) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'single', node, login });
  });

  test.each(['redis://a:7000,b:7001,c', 'redis://a:7000,redis://b:7001, redis://c:6379'])(
    'reads %s as the nodes of a Cluster',
    (url) => {
      expect(parseRedisUrl(url)).toEqual({
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
          { host: 'c', port: 6379 },
        ],
        login: OPEN,
      });
    },
  );

  test('reads a Cluster that is entered through one address', () => {
    expect(parseRedisUrl('rediss+cluster://:secret@entry.example.org:6379')).toEqual({
      kind: 'cluster',
      nodes: [{ host: 'entry.example.org', port: 6379 }],
      login: { ...OPEN, password: 'secret', tls: true },
    });
  });

  test('reads Sentinels, the name of the master and the database', () => {
    expect(parseRedisUrl('redis+sentinel://:secret@s1:26380,s2/my-master/4')).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 's1', port: 26_380 },
        { host: 's2', port: 26_379 },
      ],
      master: 'my-master',
      login: { ...OPEN, password: 'secret', db: 4 },
    });
  });

  test.each([
    ['http://localhost', /must begin with/],
    ['redis+sentinel://s1,s2', /name the master/],
    ['redis+sentinel://s1/%secret', /write a percent sign/],
    ['redis://a,b/3', /not name a database other than 0/],
    ['redis+cluster://a/3', /not name a database other than 0/],
    ['redis://localhost/zero', /end with a database number/],
    ['redis://host:port:secret', /cannot be read/],
    ['redis://:se,cret@host', /cannot be read.*%2C/],
    ['redis://%zz:secret@host', /write a percent sign/],
    ['redis://:%secret@host', /write a percent sign/],
    ['redis://', /cannot be read/],
    ['redis:///1', /cannot be read/],
    ['redis://a:7000,', /cannot be read/],
  ])('refuses %s', (url, message) => {
    expect(() => parseRedisUrl(url)).toThrow(message);
    expect(() => parseRedisUrl(url)).not.toThrow(/secret/);
  });
});

/** Asks a server twice, and tells by its flag when that has answered: what was asked before is answered then too. */
const ASKER = `
const { workerData: { port, flag } } = require('node:worker_threads');
const socket = require('node:net').connect(port, '127.0.0.1', () => socket.write('PING\\r\\n'));
let answers = 0;
socket.on('data', () => {
  answers += 1;
  if (answers === 1) return socket.write('PING\\r\\n');
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
  socket.destroy();
});
`;
const TIMEOUT_MS = 1_000;
const PATIENT_MS = 30_000;

describe('a connection', () => {
  test('is dropped, and made again, when an answer comes that nobody waits for', async () => {
    const redis = await startRedis();
    let isDoubled = false;
    let connections = 0;
    const link = createServer((near) => {
      connections += 1;
      const far = connect(redis.port, '127.0.0.1');
      near.on('error', () => undefined).on('close', () => far.destroy());
      near.on('data', (bytes) => far.write(bytes));
      far
        .on('error', () => undefined)
        .on('data', (bytes) => {
          const isNil = /^(?:_|\$-1)\r\n$/.test(bytes.toString());
          near.write(isNil && isDoubled ? Buffer.concat([bytes, bytes]) : bytes);
        });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => link.once('listening', resolve));
    const { port } = link.address() as AddressInfo;
    const options = { commandTimeoutMs: PATIENT_MS, connectTimeoutMs: PATIENT_MS };
    const connection = await connectRedis(`redis://127.0.0.1:${port}`, options);
    try {
      const before = connections;
      isDoubled = true;
      expect(await connection.answer(connection.client.get('nothing'))).toBeNull();
      isDoubled = false;

      await until('there is another connection', async () => {
        const answer = await connection.client.ping().catch(() => undefined);
        return connections > before && answer === 'PONG';
      });
    } finally {
      await connection.close();
      link.close();
      await redis.stop();
    }
  });

  test('takes an answer that came in time while the process was too busy to read it', async () => {
    const redis = await startRedis();
    const options = { commandTimeoutMs: TIMEOUT_MS, connectTimeoutMs: PATIENT_MS };
    const connection = await connectRedis(redis.url, options);
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(ASKER, { eval: true, workerData: { port: redis.port, flag } });
    try {
      const answer = connection.answer(connection.client.ping());
      const untilMs = performance.now() + 1.5 * TIMEOUT_MS;
      // The command leaves at the end of the turn.
      await setImmediate();

      const heard = Atomics.wait(flag, 0, 0, PATIENT_MS);
      while (performance.now() < untilMs);

      expect(heard).not.toBe('timed-out');
      await expect(answer).resolves.toBe('PONG');
    } finally {
      await worker.terminate();
      await connection.close();
      await redis.stop();
    }
  });
});

test('says that the login is refused once the password has changed', async () => {
  const redis = await startRedis({ password: 'old' });
  const options = { commandTimeoutMs: 1_000, connectTimeoutMs: PATIENT_MS };
  const connection = await connectRedis(redis.url, options);
  const { client } = connection;
  const said = async (): Promise<string> => {
    try {
      return await connection.answer(client.ping());
    } catch (error) {
      return error instanceof Error ? error.message : 'no error';
    }
  };
  const operator = new Redis(redis.url, { retryStrategy: null });
  try {
    await operator.config('SET', 'requirepass', 'new');
    await operator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

    await until('the login is refused', async () => {
      return (await said()) === 'Redis refuses the login: check user and password in REDIS_URL.';
    });
    await operator.config('SET', 'requirepass', 'old');
    await until('the connection is back', () => client.status === 'ready');
    await expect(connection.answer(client.ping())).resolves.toBe('PONG');
    await redis.kill();
    await until('Redis is away', async () => (await said()) === 'Redis cannot be reached.');
  } finally {
    operator.disconnect();
    await connection.close();
    await redis.stop();
  }
});

test('leaves no timer behind that would keep a process alive', async () => {
  const redis = await startRedis();
  const timers = jest.spyOn(globalThis, 'setTimeout');
  try {
    const options = { commandTimeoutMs: 1_000, connectTimeoutMs: 20_000 };
    const connection = await connectRedis(redis.url, options);
    timers.mockClear();

    await connection.close();

    const left = timers.mock.results
      .map(({ value }, index) => ({
        timer: value as NodeJS.Timeout,
        ms: timers.mock.calls[index]?.[1],
      }))
      .filter(
        ({ timer, ms = 0 }) =>
          timer.hasRef() && !('_destroyed' in timer && timer._destroyed) && ms > 100,
      );
    expect(left.map(({ ms }) => ms)).toEqual([]);
  } finally {
    timers.mockRestore();
    await redis.stop();
  }
});
