import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { runCli as runCommand } from '../../src/cli/program.js';
import type { ReplyBody } from '../support/gateway.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';

/** A gateway as it is deployed: a process of its own, from the built program. */
export interface GatewayProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Lines of the log so far, and whatever else it printed. */
  readonly log: readonly string[];
  /** Resolves when the process has ended, however that came about. */
  readonly exited: Promise<Exit>;
  post(
    key: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    path?: string,
  ): Promise<Reply>;
  /** The value of a metric that has one series, or the sum of several. */
  metric(name: string): Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Reply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly headers: { get(name: string): string | null };
  readonly body: ReplyBody;
}

/** What a test reads of a key as the command line prints it. */
export interface KeyRecord {
  readonly id: number;
  readonly remain_quota: number;
  readonly used_quota: number;
}

/** Several gateways over one Redis, and the command line beside them. */
export interface Fleet {
  readonly redis: RedisServer;
  readonly gateways: readonly [GatewayProcess, GatewayProcess];
  /** Runs a command to its end; rejects with what it said when it fails. Resolves to what it printed as JSON. */
  cli(...args: string[]): Promise<unknown>;
  createKey(...options: string[]): Promise<{ readonly id: number; readonly key: string }>;
  keyRecord(id: number): Promise<KeyRecord>;
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** What runs the gateway; `npm start` does the same after it has seen to packages and build. */
export const PROGRAM: readonly string[] = [process.execPath, 'dist/main.js'];

let built = false;

/** Sees to it that `dist` is what the sources say. */
export function build(): void {
  if (built) return;
  const { status, stderr } = spawnSync(process.execPath, ['src/setup.mjs', '--quiet'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The gateway does not build:\n${stderr}`);
  built = true;
}

/** Settings and data of one test, in a folder of its own. `env` is the whole environment of the processes. */
export interface Home {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function makeHome(
  settings: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'rerank-system-'));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, JSON.stringify(settings));
  return {
    folder,
    env: {
      ENV_FILE: '',
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? folder,
      // Where a login of whoever runs the tests would be found.
      XDG_CONFIG_HOME: folder,
      NODE_ENV: 'production',
      CONFIG: file,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: '0',
      ROOT_PASSWORD: 'a password for tests',
      REGISTRATION: 'true',
      ...env,
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Starts a gateway and resolves when it listens; rejects with its output when it ends before that. */
export async function startProcess(
  home: Home,
  program: readonly string[] = PROGRAM,
  timeoutMs = START_TIMEOUT_MS,
): Promise<GatewayProcess> {
  build();
  const [command = '', ...args] = program;
  const child = spawn(command, args, { env: home.env, stdio: ['ignore', 'pipe', 'pipe'] });
  // A test run that is cut short leaves no gateway behind.
  const onExit = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', onExit);
  const exited = once(child, 'exit').then(([code, signal]): Exit => {
    process.off('exit', onExit);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const log: string[] = [];
  const port = await listeningPort(child, log, exited, timeoutMs);
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent({ connections: null, pipelining: 1 });
  void exited.then(() => agent.destroy());
  return {
    url,
    port,
    pid: child.pid ?? 0,
    log,
    exited,
    async post(key, body, headers = {}, path = '/v1/rerank') {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        dispatcher: agent,
      });
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        headers: response.headers,
        body: (await response.json()) as ReplyBody,
      };
    },
    async metric(name) {
      const response = await fetch(`${url}/metrics`, { dispatcher: agent });
      let sum = 0;
      for (const line of (await response.text()).split('\n')) {
        if (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) {
          sum += Number(line.slice(line.lastIndexOf(' ') + 1));
        }
      }
      return sum;
    },
    kill(signal) {
      child.kill(signal);
    },
  };
}

/** Two gateways over a Redis of their own. */
export async function startFleet(settings: Readonly<Record<string, unknown>>): Promise<Fleet> {
  const redis = await startRedis();
  const home = await makeHome(settings, { REDIS_URL: redis.url });
  const remove = async (): Promise<void> => {
    await redis.stop();
    await home.remove();
  };
  const [first, second] = await Promise.all([startProcess(home), startProcess(home)]).catch(
    async (error: unknown) => {
      await remove();
      throw error;
    },
  );
  const cli = (...args: string[]): Promise<unknown> => runCliHere(home, args);
  return {
    redis,
    gateways: [first, second],
    cli,
    createKey: async (...options) => {
      const limit = options.includes('--quota') ? [] : ['--unlimited'];
      return (await cli('keys', 'create', ...limit, ...options)) as { id: number; key: string };
    },
    keyRecord: async (id) => (await cli('keys', 'show', String(id))) as KeyRecord,
    async close() {
      for (const gateway of [first, second]) gateway.kill('SIGKILL');
      await Promise.all([first.exited, second.exited]);
      await remove();
    },
  };
}

/** Runs a command in this process, which takes a tenth of the time of a process of its own. */
export async function runCliHere(home: Home, args: readonly string[]): Promise<unknown> {
  let output = '';
  let errors = '';
  const code = await runCommand([...args, '--json'], {
    env: home.env,
    user: 'tests',
    now: Date.now,
    writeOut: (text) => (output += text),
    writeError: (text) => (errors += text),
    ask: undefined,
    readInput: () => Promise.resolve(''),
  });
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${errors}`);
  return JSON.parse(output);
}

/** The same with the built program, as an operator has it. */
export async function runCli(home: Home, args: readonly string[]): Promise<unknown> {
  build();
  const child = spawn(process.execPath, ['dist/cli.js', ...args, '--json'], {
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}:\n${errors}`);
  return JSON.parse(output);
}

async function listeningPort(
  child: ChildProcess,
  log: string[],
  exited: Promise<Exit>,
  timeoutMs: number,
): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const listening = new Promise<number>((resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The gateway does not listen:\n${log.join('\n')}`));
    }, timeoutMs);
    void exited.then(({ code }) => {
      reject(new Error(`The gateway ended with ${String(code)}:\n${log.join('\n')}`));
    });
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          log.push(line);
          const port = /"port":(\d+).*"msg":"listening"/.exec(line)?.[1];
          if (port !== undefined) resolve(Number(port));
        }
      });
    }
  });
  try {
    return await listening;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
