import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { createKeys } from '../../src/store/redis/keys.js';
import { moveSlotOf } from '../support/move-slots.js';
import {
  eventually,
  redisBinary,
  startRedis,
  startRedisCluster,
  type RedisServer,
} from '../support/redis-server.js';
import { startLink } from './link.js';
import type { Span } from './observations.js';
import type { Chance } from './random.js';

export type StoreKind = 'single' | 'sentinel' | 'cluster';
export const STORE_KINDS: readonly StoreKind[] = ['single', 'sentinel', 'cluster'];

/** A Redis as it is deployed, and what can happen to it. */
export interface ChaosStore {
  /** For the gateways: through whatever slows it down. */
  readonly url: string;
  /** Straight to it. */
  readonly client: Redis | Cluster;
  /** Does something to it and waits until that is over; tells what it was. */
  disturb(chance: Chance): Promise<string>;
  readonly troubles: readonly Span[];
  /** When confirmed writes may have been forgotten. */
  readonly losses: readonly Span[];
  stop(): Promise<void>;
}

export function startStore(kind: StoreKind): Promise<ChaosStore> {
  switch (kind) {
    case 'single':
      return startSingle();
    case 'sentinel':
      return startSentinel();
    case 'cluster':
      return startCluster();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Notes when work is under way. */
async function during(spans: Span[], work: () => Promise<void>): Promise<void> {
  const fromMs = Date.now();
  try {
    await work();
  } finally {
    spans.push({ fromMs, toMs: Date.now() });
  }
}

async function frozen({ pid }: Pick<RedisServer, 'pid'>, ms: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await pause(ms);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

async function startSingle(): Promise<ChaosStore> {
  const server = await startRedis();
  const link = await startLink(server.port);
  const client = new Redis(server.url);
  const troubles: Span[] = [];
  const disturbances: Readonly<Record<string, (chance: Chance) => Promise<void>>> = {
    async 'slow link'(chance) {
      link.delay(chance.whole(2, 60));
      await pause(chance.whole(300, 1_500));
      link.delay(0);
    },
    async 'stopped link'(chance) {
      link.hold();
      await pause(chance.whole(100, 1_200));
      link.release();
    },
    async 'cut link'(chance) {
      const ms = chance.whole(0, 800);
      link.cut(ms);
      // Until clients are connected again.
      await pause(ms + 500);
    },
    'frozen server': (chance) => frozen(server, chance.whole(100, 1_000)),
  };
  return {
    url: `redis://127.0.0.1:${link.port}`,
    client,
    troubles,
    losses: [],
    async disturb(chance) {
      const name = chance.pick(Object.keys(disturbances));
      await during(troubles, async () => disturbances[name]?.(chance));
      return `store: ${name}`;
    },
    async stop() {
      client.disconnect();
      await link.close();
      await server.stop();
    },
  };
}

const MASTER = 'chaos';

async function startSentinel(): Promise<ChaosStore> {
  const servers = await Promise.all([startRedis(), startRedis()]);
  const [master, replica] = servers;
  const second = new Redis(replica.url);
  await second.replicaof('127.0.0.1', master.port);
  await eventually('the replica follows', async () =>
    (await second.info('replication')).includes('master_link_status:up'),
  );
  second.disconnect();
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'));
  const { child, port } = await startSentinelProcess(folder, master.port);
  const sentinel = new Redis(port, '127.0.0.1');
  await eventually('Sentinel knows the replica', async () =>
    String(await sentinel.call('SENTINEL', 'MASTER', MASTER)).includes('num-slaves,1'),
  );
  const client = new Redis({
    sentinels: [{ host: '127.0.0.1', port }],
    name: MASTER,
    maxRetriesPerRequest: null,
    failoverDetector: true,
  });
  const troubles: Span[] = [];
  const losses: Span[] = [];
  return {
    url: `redis+sentinel://127.0.0.1:${port}/${MASTER}`,
    client,
    troubles,
    losses,
    async disturb(chance) {
      if (chance.hits(0.5)) {
        await during(troubles, () => frozen(chance.pick(servers), chance.whole(100, 800)));
        return 'store: frozen server';
      }
      const before = String(await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER));
      await during(troubles, () =>
        during(losses, async () => {
          await sentinel.call('SENTINEL', 'FAILOVER', MASTER);
          await eventually(
            'another master',
            async () => {
              const now = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER);
              return String(now) !== before;
            },
            SETTLED_MS,
          );
          await settled(servers);
        }),
      );
      return 'store: failover';
    },
    async stop() {
      client.disconnect();
      sentinel.disconnect();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await Promise.all(servers.map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** How long Sentinel leaves an old master in peace, takes to make a replica of it, and that to copy everything. */
const SETTLED_MS = 60_000;

/** Until the old master is a replica: what it took since the failover, and the new one never had, is forgotten then. */
async function settled(servers: readonly RedisServer[]): Promise<void> {
  const clients = servers.map(({ port }) => new Redis(port, '127.0.0.1'));
  try {
    await eventually(
      'one master and its replica',
      async () => {
        const said = await Promise.all(clients.map((client) => client.info('replication')));
        const isAt = (text: string): boolean =>
          said.filter((each) => each.includes(text)).length === 1;
        return isAt('role:master') && isAt('role:slave') && isAt('master_link_status:up');
      },
      SETTLED_MS,
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function startSentinelProcess(
  folder: string,
  masterPort: number,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const file = join(folder, 'sentinel.conf');
  // Any free port will do: a link that is closed at once tells one.
  const probe = await startLink(masterPort);
  const { port } = probe;
  await probe.close();
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${MASTER} 3000`,
    `sentinel failover-timeout ${MASTER} 6000`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const child = spawn(redisBinary(), [file, '--sentinel'], { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  return { child, port };
}

async function startCluster(): Promise<ChaosStore> {
  const cluster = await startRedisCluster();
  const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  const keys = createKeys('rg:');
  const troubles: Span[] = [];
  return {
    url: cluster.url,
    client,
    troubles,
    losses: [],
    async disturb(chance) {
      if (chance.hits(0.4)) {
        // Shorter than what makes the others take it for gone.
        await during(troubles, () => frozen(chance.pick(cluster.nodes), chance.whole(100, 800)));
        return 'store: frozen node';
      }
      const place = chance.pick([keys.user(2), keys.user(3), keys.channelsVersion, '{usage}']);
      await during(troubles, () => moveSlotOf(cluster, place, chance.whole(0, 20)));
      return `store: moved the slot of ${place}`;
    },
    async stop() {
      client.disconnect();
      await cluster.stop();
    },
  };
}
