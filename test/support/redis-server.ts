import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { nextLookMs } from './next-look.js';

/** A server of our own, with a folder that outlives `kill` and is removed by `stop`. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGKILL, as a crash. */
  kill(): Promise<void>;
  /** Starts again on the same port with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisCluster {
  /** The nodes, separated by commas. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  readonly password?: string;
  readonly cluster?: boolean;
}

/** For stores whose commands are to succeed, however busy the machine is. */
export const PATIENT = { commandTimeoutMs: 20_000, connectTimeoutMs: 20_000 } as const;

const SLOTS = 16_384;
const CLUSTER_NODES = 3;
const START_TIMEOUT_MS = 60_000;

/** The server to run: `REDIS_SERVER`, else redis-server or valkey-server on the PATH. */
export function redisBinary(): string {
  const named = process.env.REDIS_SERVER;
  if (named !== undefined && named !== '') return named;
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const name of ['redis-server', 'valkey-server']) {
    for (const folder of folders) {
      const file = join(folder, name);
      if (folder !== '' && existsSync(file)) return file;
    }
  }
  throw new Error(
    'No redis-server or valkey-server on the PATH: install one, or set REDIS_SERVER.',
  );
}

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-test-'));
  // Between asking for a free port and using it another process may take it: then another one is tried.
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return await launch(folder, port, options);
    } catch (error) {
      if (attempt === 5) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    }
  }
}

async function launch(
  folder: string,
  port: number,
  { password, cluster = false }: RedisServerOptions,
): Promise<RedisServer> {
  await mkdir(folder, { recursive: true });
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(
      redisBinary(),
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
        ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--daemonize', 'no'],
        ...(password === undefined ? [] : ['--requirepass', password]),
        ...(cluster ? ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'] : []),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    // A test run that is cut short leaves no server behind, not even one that never answered.
    const onExit = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', onExit);
    child.once('exit', () => process.off('exit', onExit));
    try {
      await answers(child, port, password);
    } catch (error) {
      await end(child, 'SIGKILL');
      throw error;
    }
    return child;
  };
  let child = await start();
  return {
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill: () => end(child, 'SIGKILL'),
    async restart() {
      child = await start();
    },
    async stop() {
      await end(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Three masters that share the slots, as a real Cluster. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: CLUSTER_NODES }, () => startRedis({ cluster: true })),
  );
  const clients = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  try {
    const share = Math.ceil(SLOTS / CLUSTER_NODES);
    await Promise.all(
      clients.map((client, index) =>
        client.cluster('ADDSLOTSRANGE', index * share, Math.min(SLOTS, (index + 1) * share) - 1),
      ),
    );
    await Promise.all(
      clients.map((client, index) => client.cluster('SET-CONFIG-EPOCH', index + 1)),
    );
    const [first, ...others] = clients;
    for (const { port } of nodes.slice(1)) await first?.cluster('MEET', '127.0.0.1', port);
    await Promise.all(
      [first, ...others].map((client) =>
        eventually('the Cluster agrees on its slots', async () => {
          const info = String(await client?.cluster('INFO'));
          return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
        }),
      ),
    );
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

/** Asks until it is so; for what a server tells only when it is asked. */
export async function eventually(
  what: string,
  isSo: () => Promise<boolean>,
  timeoutMs = START_TIMEOUT_MS,
): Promise<void> {
  const beganMs = Date.now();
  while (!(await isSo())) {
    const waitedMs = Date.now() - beganMs;
    if (waitedMs > timeoutMs) throw new Error(`Not in ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, nextLookMs(waitedMs)));
  }
}

async function answers(
  child: ChildProcess,
  port: number,
  password: string | undefined,
): Promise<void> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2_000)));
  }
  let failed: Error | undefined;
  child.once('error', (error) => (failed = error));
  const client = new Redis({
    port,
    host: '127.0.0.1',
    ...(password === undefined ? {} : { password }),
    retryStrategy: () => 20,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  });
  client.on('error', () => undefined);
  try {
    await eventually('the server answers', async () => {
      if (failed !== undefined) throw failed;
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`The Redis server stopped at once:\n${output}`);
      }
      const reply = await client.info('server').catch(() => '');
      // Another server may have got hold of the port.
      if (reply !== '' && !reply.includes(`process_id:${child.pid ?? 0}\r`)) {
        throw new Error(`Port ${port} is used by another server.`);
      }
      return reply !== '';
    });
  } finally {
    client.disconnect();
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
