import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closedGate } from '../support/closed-gate.js';
import { runs } from '../support/long.js';
import { startRedis } from '../support/redis-server.js';
import { opened } from '../support/opened.js';
import { until } from '../support/until.js';
import { onlyChannel, rankLikeCohere } from '../support/upstream.js';
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

const open = opened();
let gateway: GatewayProcess | undefined;
afterEach(async () => {
  gateway?.kill('SIGKILL');
  await gateway?.exited;
});

interface Line {
  readonly msg: string;
  readonly pid?: number;
  readonly why?: string;
  readonly applied?: readonly string[];
  readonly needRestart?: readonly string[];
}

const linesOf = (log: readonly string[], msg: string): Line[] =>
  log.filter((line) => line.includes(`"msg":"${msg}"`)).map((line) => JSON.parse(line) as Line);

/** The workers that have begun to serve. */
const workersIn = (log: readonly string[]): number[] =>
  linesOf(log, 'serving').map(({ pid }) => pid ?? 0);

/** The workers, those too that have only begun to start. */
function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
}

async function rewrite(home: Home, settings: object): Promise<void> {
  await writeFile(home.env.CONFIG ?? '', JSON.stringify(settings));
}

/** The other pairs differ from these in nothing that a reload looks at: a long run has them. */
const TABLE = (
  [
    ['one process, embedded store', 1, false],
    ['two workers, Redis', 2, true],
    ['two workers, embedded store', 2, false],
    ['one process, Redis', 1, true],
  ] as const
).slice(0, runs(2, 4));

describe.each(TABLE)('SIGHUP, %s', (_how, workers, onRedis) => {
  it('changes channels, prices and rules without disturbing requests, and nothing if there is a mistake', async () => {
    const former = await open.upstream();
    const next = await open.upstream();
    const gate = closedGate();
    former.answer(gate.answer);
    const redis = onRedis ? await startRedis() : undefined;
    const env = {
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      WORKERS: `${workers}`,
    };
    // One request is held until everything else is done.
    const patient = { deadline_ms: 180_000, attempt_timeout_ms: 180_000 };
    const settings = {
      gateway: patient,
      prices: { default: { per_request: 5 } },
      channels: [onlyChannel(former.url)],
    };
    const home = await makeHome(settings, env);
    open.push({ close: () => home.remove() });
    if (redis !== undefined) open.push({ close: () => redis.stop() });
    const running = await startProcess(home, PROGRAM);
    gateway = running;
    const { id, key } = (await runCliHere(home, ['keys', 'create', '--quota', '1000'])) as {
      id: number;
      key: string;
    };
    const spent = async (): Promise<number> =>
      ((await runCliHere(home, ['keys', 'show', `${id}`])) as { used_quota: number }).used_quota;
    const held = running.post(key, rerankBody('m'));
    await until('it is upstream', () => gate.waiting === 1);

    // Two mistakes, and a change that would be right.
    await rewrite(home, {
      prices: { default: { per_request: -1 } },
      gateway: { ...patient, max_attempts: 'many' },
      channels: [onlyChannel(next.url)],
    });
    running.kill('SIGHUP');
    const unchanged = 'settings not reloaded: nothing has changed';
    await until('it says so', () => linesOf(running.log, unchanged).length === 1);
    const [line] = linesOf(running.log, unchanged);
    expect(line?.why).toMatch(/prices\.default\.per_request/);
    expect(line?.why).toMatch(/gateway\.max_attempts/);
    expect(linesOf(running.log, 'settings reloaded')).toEqual([]);

    await rewrite(home, {
      prices: { default: { per_request: 7 } },
      models: { default: { cache_ttl_ms: 0 }, m: { hedge: false } },
      server: { keep_alive_timeout_ms: 60_000 },
      gateway: { ...patient, max_attempts: 1 },
      channels: [onlyChannel(next.url)],
    });
    running.kill('SIGHUP');
    await until('all have reloaded', () => {
      return linesOf(running.log, 'settings reloaded').length === workers;
    });
    for (const { applied, needRestart } of linesOf(running.log, 'settings reloaded')) {
      expect(applied).toEqual(
        expect.arrayContaining(['channels', 'gateway.max_attempts', 'prices.default']),
      );
      expect(needRestart).toEqual(['server.keep_alive_timeout_ms']);
    }
    for (let count = 1; count <= 4; count += 1) {
      expect((await running.post(key, rerankBody('m'))).status).toBe(200);
    }
    expect(next.seen).toHaveLength(4);

    former.answer(rankLikeCohere);
    gate.open();
    expect((await held).status).toBe(200);
    await until('all is settled', async () => (await spent()) > 4 * 7);
    expect(former.seen).toHaveLength(1);

    running.kill('SIGTERM');
    expect(await running.exited).toEqual({ code: 0, signal: null });
  }, 240_000);
});

describe('rerank-gateway reload', () => {
  it('says what has changed, and a worker that dies after a bad edit comes back with the settings in force', async () => {
    const upstream = await open.upstream();
    const settings = {
      prices: { default: { per_request: 5 } },
      channels: [onlyChannel(upstream.url)],
    };
    const home = await makeHome(settings, { WORKERS: '2' });
    open.push({ close: () => home.remove() });
    const running = await startProcess(home, PROGRAM);
    gateway = running;
    const { id, key } = (await runCliHere(home, ['keys', 'create', '--quota', '1000'])) as {
      id: number;
      key: string;
    };
    const price = { default: { per_request: 7 } };
    await rewrite(home, { ...settings, prices: price, server: { keep_alive_timeout_ms: 60_000 } });
    expect(await runCliHere(home, ['reload'])).toEqual([
      {
        pid: running.pid,
        applied: ['prices.default'],
        need_restart: ['server.keep_alive_timeout_ms'],
        why: null,
      },
    ]);

    await rewrite(home, { ...settings, prices: price, gateway: { attempt_timeout_ms: 100 } });
    expect(await runCliHere(home, ['reload'])).toMatchObject([
      { applied: ['gateway.attempt_timeout_ms'], need_restart: [], why: null },
    ]);
    upstream.answer(closedGate().answer);
    expect((await running.post(key, rerankBody('m'))).status).toBe(504);
    upstream.answer(rankLikeCohere);

    await rewrite(home, { ...settings, prices: { default: { per_request: -1 } } });
    await expect(runCliHere(home, ['reload'])).rejects.toThrow(
      `Process ${running.pid} keeps its settings: `,
    );
    const pids = workersIn(running.log);
    expect(pids).toHaveLength(2);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until('both are replaced', () => workersIn(running.log).length === 4);
    expect((await running.post(key, rerankBody('m'))).status).toBe(200);
    await until('the price in force is paid', async () => {
      const { used_quota: used } = (await runCliHere(home, ['keys', 'show', `${id}`])) as {
        used_quota: number;
      };
      return used === 7;
    });
    expect(running.log.join('\n')).not.toContain('cannot start');
  }, 240_000);

  it('does not wait for a worker that starts, which ends with the new settings too', async () => {
    const upstream = await open.upstream();
    const settings = {
      prices: { default: { per_request: 5 } },
      channels: [onlyChannel(upstream.url)],
    };
    const home = await makeHome(settings, { WORKERS: '3' });
    open.push({ close: () => home.remove() });
    const running = await startProcess(home, PROGRAM);
    gateway = running;
    await until('all serve', () => workersIn(running.log).length === 3);
    const { id, key } = (await runCliHere(home, ['keys', 'create', '--quota', '9000'])) as {
      id: number;
      key: string;
    };
    const spent = async (): Promise<number> =>
      ((await runCliHere(home, ['keys', 'show', `${id}`])) as KeyRecord).used_quota;
    const former = childrenOf(running.pid);
    process.kill(workersIn(running.log)[0] ?? 0, 'SIGKILL');
    await until('its successor starts', () =>
      childrenOf(running.pid).some((pid) => !former.includes(pid)),
    );
    await rewrite(home, { ...settings, prices: { default: { per_request: 50 } } });
    expect(await runCliHere(home, ['reload'])).toMatchObject([
      { applied: ['prices.default'], why: null },
    ]);
    await until('the successor serves', () => workersIn(running.log).length === 4);
    // Connections go to the workers in turn: one with the former price would make the sum smaller.
    await until('all workers have the new price', async () => {
      const before = await spent();
      await Promise.all(Array.from({ length: 6 }, () => running.post(key, rerankBody('m'))));
      await until('they are settled', async () => (await spent()) - before >= 6 * 5);
      for (let look = 0; look < 20; look += 1) {
        if ((await spent()) - before === 6 * 50) return true;
      }
      return false;
    });
    expect(running.log.join('\n')).not.toContain('does not answer');
  }, 240_000);

  it('is done although all workers are replaced while it runs', async () => {
    const home = await makeHome({}, { WORKERS: '2' });
    open.push({ close: () => home.remove() });
    const running = await startProcess(home, PROGRAM);
    gateway = running;
    await until('both serve', () => workersIn(running.log).length === 2);
    await rewrite(home, { gateway: { attempt_timeout_ms: 100 } });
    const former = workersIn(running.log);
    const reloaded = runCliHere(home, ['reload']);
    await until('one has reloaded', () => linesOf(running.log, 'settings reloaded').length > 0);
    for (const pid of former) process.kill(pid, 'SIGKILL');
    expect(await reloaded).toMatchObject([{ applied: ['gateway.attempt_timeout_ms'], why: null }]);
  }, 240_000);

  it('finds nothing to reload where no gateway runs', async () => {
    const home = await makeHome({});
    open.push({ close: () => home.remove() });
    const before = await readdir(home.folder);
    await expect(runCliHere(home, ['reload'])).rejects.toThrow('No gateway with this store');
    expect(await readdir(home.folder)).toEqual(before);
  });
});
