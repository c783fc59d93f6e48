import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { systemCode } from '../../src/core/errors.js';
import { closedGate, type Gate } from '../support/closed-gate.js';
import { runs } from '../support/long.js';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { onlyChannel, startUpstream, type TestUpstream } from '../support/upstream.js';
import {
  makeHome,
  PROGRAM,
  runCliHere,
  startProcess,
  type GatewayProcess,
  type Home,
  type KeyRecord,
} from './fleet.js';
import { rerankBody } from './upstreams.js';

const PRICE = 5;
const QUOTA = 100;
const DRAIN_MS = 3_000;

let redis: RedisServer;
let upstream: TestUpstream;
let gate: Gate;
let home: Home;
/** As home, for tests in which nothing may be cut off, however long the machine stalls. */
let patientHome: Home;
let id = 0;
let key = '';
let gateway: GatewayProcess | undefined;

beforeAll(async () => {
  redis = await startRedis();
  upstream = await startUpstream();
  home = await homeOf(DRAIN_MS);
  patientHome = await homeOf(60_000);
});

function homeOf(drainMs: number): Promise<Home> {
  return makeHome(
    {
      server: { drain_ms: drainMs },
      prices: { default: { per_request: PRICE } },
      channels: [onlyChannel(upstream.url)],
    },
    // Both seal what they keep in one Redis.
    { REDIS_URL: redis.url, ENCRYPTION_KEY: 'a'.repeat(64) },
  );
}

afterAll(async () => {
  await redis.stop();
  await upstream.close();
  await home.remove();
  await patientHome.remove();
});

beforeEach(closeGate);

afterEach(async () => {
  gateway?.kill('SIGKILL');
  await gateway?.exited;
  gateway = undefined;
});

function closeGate(): void {
  gate = closedGate();
  upstream.answer(gate.answer);
}

async function start(
  program: readonly string[] = PROGRAM,
  itsHome = home,
): Promise<GatewayProcess> {
  gateway = await startProcess(itsHome, program);
  ({ id, key } = (await runCliHere(itsHome, ['keys', 'create', '--quota', String(QUOTA)])) as {
    id: number;
    key: string;
  });
  return gateway;
}

async function keyRecord(): Promise<KeyRecord> {
  return (await runCliHere(home, ['keys', 'show', String(id)])) as KeyRecord;
}

function refusesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', () => resolve(true));
  });
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';

/** Connects and asks for the health; resolves to how that ended. */
function knock(port: number, patienceMs = 60_000): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(patienceMs, () => socket.destroy(new Error('silence')));
    socket.write(HEALTH.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
    socket.on('data', (text) => (answer += String(text)));
    socket.on('error', (error) => resolve(systemCode(error) ?? error.message));
    socket.on('close', () => resolve(answer.includes('"ok"') ? 'answered' : 'cut off'));
  });
}

/** The workers that have begun to serve, oldest first. */
function servingPids({ log }: GatewayProcess): number[] {
  return log
    .filter((line) => line.includes('"serving"'))
    .map((line) => (JSON.parse(line) as { pid: number }).pid);
}

describe('a gateway in which something is not caught', () => {
  /** Throws in the processes of the gateway when they get the signal. */
  const THROWING = [
    'env',
    `NODE_OPTIONS=--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('not_caught'))})`,
  ];

  it('says so, ends what it has begun, settles, and exits with a code other than 0', async () => {
    const running = await start([...THROWING, ...PROGRAM]);
    const held = running.post(key, rerankBody('m'));
    await eventually('it is upstream', () => Promise.resolve(gate.waiting === 1));

    running.kill('SIGUSR2');
    await eventually('it listens no more', () => refusesConnections(running.port));
    gate.open();

    expect((await held).status).toBe(200);
    expect(await running.exited).toEqual({ code: 70, signal: null });
    expect(running.log.find((line) => line.includes('not_caught'))).toContain('"level":"fatal"');
    expect(await keyRecord()).toMatchObject({ used_quota: PRICE, remain_quota: QUOTA - PRICE });
  });

  it('puts another worker in the place of the one that ends, and ends with all when it is the one that supervises them', async () => {
    const running = await start([...THROWING, 'WORKERS=2', ...PROGRAM]);
    gate.open();
    await eventually('both serve', () => Promise.resolve(servingPids(running).length === 2));

    process.kill(servingPids(running)[0] ?? 0, 'SIGUSR2');
    await eventually('a third serves', () => Promise.resolve(servingPids(running).length === 3));

    const died = running.log.find((line) => line.includes('worker died'));
    expect(JSON.parse(died ?? '')).toMatchObject({ pid: servingPids(running)[0], code: 70 });
    expect((await running.post(key, rerankBody('m'))).status).toBe(200);

    running.kill('SIGUSR2');

    expect(await running.exited).toEqual({ code: 70, signal: null });
  });
});

it('ends when all is done, whatever a receiver of traces does', async () => {
  const receiver = await startUpstream((_request, res) => void res.writeHead(200).write('{'));
  const itsHome = await makeHome(
    {
      server: { drain_ms: 1_000 },
      prices: { default: { per_request: PRICE } },
      telemetry: { otlp_url: receiver.url, trace_ratio: 1 },
      channels: [onlyChannel(upstream.url)],
    },
    // The exporter waits for longer than this test may take.
    { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' },
  );
  try {
    const running = await start(PROGRAM, itsHome);
    gate.open();
    expect((await running.post(key, rerankBody('m'))).status).toBe(200);
    await receiver.reached(1);

    running.kill('SIGTERM');

    expect(await running.exited).toEqual({ code: 0, signal: null });
  } finally {
    await receiver.close();
    await itsHome.remove();
  }
});

it('abandons nobody whose worker is killed or stopped, and leaves alone one that is only slow', async () => {
  // Held up without work: two busy processors would be those that other tests wait for.
  const slow =
    "process.on('SIGUSR2',()=>{setInterval((a=new(Int32Array)(new(SharedArrayBuffer)(4)))=>Atomics.wait(a,0,0,150),1)})";
  const running = await start([
    ...['env', 'WORKERS=2', `NODE_OPTIONS=--import=data:text/javascript,${slow}`],
    ...PROGRAM,
  ]);
  const serving = (count: number): Promise<void> =>
    eventually(`${count} have begun to serve`, () =>
      Promise.resolve(servingPids(running).length === count),
    );

  await serving(2);
  const killed = servingPids(running);
  for (const pid of killed) process.kill(pid, 'SIGSTOP');
  const visitors = Array.from({ length: 12 }, () => knock(running.port));
  // The kernel has connected them; the primary, which has nothing else to do, accepts them in a moment.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  const ends = await Promise.all(visitors);

  // One had been sent to each worker, and ended with it.
  expect(ends.filter((end) => end === 'answered').length).toBeGreaterThanOrEqual(10);
  expect(ends).not.toContain('silence');

  await serving(4);
  const [stopped = 0, other = 0] = servingPids(running).slice(-2);
  process.kill(stopped, 'SIGSTOP');
  const endsOfStopped = await Promise.all(Array.from({ length: 12 }, () => knock(running.port)));
  await serving(5);

  // One had been sent to it, and ended with it.
  expect(endsOfStopped.filter((end) => end === 'answered').length).toBeGreaterThanOrEqual(11);
  expect(endsOfStopped).not.toContain('silence');
  expect(await knock(running.port)).toBe('answered');

  const toldBefore = running.log.length;
  for (const pid of [other, servingPids(running).at(-1) ?? 0]) process.kill(pid, 'SIGUSR2');
  // Together they take longer than a worker may be silent.
  const endsOfSlow = await Promise.all(
    Array.from({ length: 100 }, () => knock(running.port, 120_000)),
  );

  expect(new Set(endsOfSlow)).toEqual(new Set(['answered']));
  expect(running.log.slice(toldBefore).filter((line) => line.includes('does not respond'))).toEqual(
    [],
  );
});

/** The second adds npm to the first: a long run has both. */
const WAYS: readonly (readonly [string, readonly string[]])[] = [
  ['through npm start', ['npm', 'start', '--silent']],
  ['itself', PROGRAM],
];

describe('a gateway that is asked to stop', () => {
  it.each(WAYS.slice(0, runs(1, 2)))(
    'ends what it has begun, refuses what is new, settles and exits with 0: %s',
    async (_how, program) => {
      const running = await start(program);
      const held = [running.post(key, rerankBody('m')), running.post(key, rerankBody('m'))];
      await eventually('both are upstream', () => Promise.resolve(gate.waiting === 2));

      // Twice, as it comes from a terminal that npm has handed it on to as well.
      running.kill('SIGTERM');
      running.kill('SIGTERM');
      await eventually('it listens no more', () => refusesConnections(running.port));
      gate.open();
      const replies = await Promise.all(held);

      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(await running.exited).toEqual({ code: 0, signal: null });
      expect(await keyRecord()).toMatchObject({
        used_quota: 2 * PRICE,
        remain_quota: QUOTA - 2 * PRICE,
      });
    },
    120_000,
  );

  it('ends, refuses and settles in the same way with several workers, and abandons nobody whom it has accepted', async () => {
    /** How callers fare who come one after the other, ten at a time, until the port is closed. */
    const close = async (): Promise<Set<string>> => {
      closeGate();
      const running = await start(['env', 'WORKERS=2', ...PROGRAM], patientHome);
      const kept = connect(running.port, '127.0.0.1').setEncoding('utf8');
      let heard = '';
      kept.on('data', (text: string) => (heard += text));
      kept.write(HEALTH);
      await eventually('the first answer', () => Promise.resolve(heard.includes('"ok"')));
      // Connections go to the workers in turn.
      const held = [running.post(key, rerankBody('m')), running.post(key, rerankBody('m'))];
      await eventually('both are upstream', () => Promise.resolve(gate.waiting === 2));
      const ends: string[] = [];
      const knocking = Array.from({ length: 10 }, async () => {
        while (ends.at(-1) !== 'ECONNREFUSED') ends.push(await knock(running.port));
      });

      await eventually('some are answered', () => Promise.resolve(ends.length >= 20));
      running.kill('SIGTERM');
      running.kill('SIGTERM');
      await Promise.all(knocking);
      heard = '';
      const closed = once(kept, 'close');
      kept.write(HEALTH);
      await closed;
      gate.open();

      expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
      expect(await running.exited).toEqual({ code: 0, signal: null });
      expect(await keyRecord()).toMatchObject({
        used_quota: 2 * PRICE,
        remain_quota: QUOTA - 2 * PRICE,
      });
      expect(heard).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
      return new Set(ends);
    };

    // The kernel resets a connection that it makes between the last look of the process and the end of the port, which is
    // no time unless the process is held up just then. That does not happen three times running.
    let ends = await close();
    for (let again = 0; again < 2 && ends.has('ECONNRESET'); again += 1) ends = await close();
    expect(ends).toEqual(new Set(['answered', 'ECONNREFUSED']));
  });

  it('cuts off what does not end, gives its quota back, and exits with 0 after the drain', async () => {
    const running = await start();
    const held = running.post(key, rerankBody('m')).then(
      () => 'answered',
      () => 'cut off',
    );
    await eventually('it is upstream', () => Promise.resolve(gate.waiting === 1));

    const askedMs = Date.now();
    running.kill('SIGTERM');
    const exit = await running.exited;
    const tookMs = Date.now() - askedMs;

    expect(exit).toEqual({ code: 0, signal: null });
    expect(await held).toBe('cut off');
    expect(tookMs).toBeGreaterThanOrEqual(DRAIN_MS - 50);
    expect(tookMs).toBeLessThan(DRAIN_MS + 5_000);
    expect(await keyRecord()).toMatchObject({ used_quota: 0, remain_quota: QUOTA });
  });

  it('does not wait for a store that is away longer than the drain', async () => {
    const running = await start();
    const held = running.post(key, rerankBody('m'));
    await eventually('it is upstream', () => Promise.resolve(gate.waiting === 1));

    process.kill(redis.pid, 'SIGSTOP');
    try {
      gate.open();
      expect((await held).status).toBe(200);
      const askedMs = Date.now();
      running.kill('SIGTERM');

      expect(await running.exited).toEqual({ code: 0, signal: null });
      expect(Date.now() - askedMs).toBeLessThan(DRAIN_MS + 10_000);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });
});

it('more callers than Node lets wait are taken by the system while the gateway gets no time; the image finds it healthy until it ends', async () => {
  const running = await start();
  const { port, pid } = running;
  const kept = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  const count = Math.min(700, kept);
  process.kill(pid, 'SIGSTOP');
  let connected = 0;

  const callers = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1')
      .on('connect', () => (connected += 1))
      .on('error', () => undefined),
  );

  await until('all are connected', () => connected === count);
  for (const caller of callers) caller.destroy();
  process.kill(pid, 'SIGCONT');

  const command = /\n\s+CMD (wget .*)/.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '';
  const env = { PATH: process.env.PATH, PORT: String(port) };
  const check = (): Promise<unknown> => promisify(execFile)('sh', ['-c', command], { env });
  await expect(check()).resolves.toBeDefined();
  running.kill('SIGTERM');
  await running.exited;
  await expect(check()).rejects.toMatchObject({ code: 1 });
});
