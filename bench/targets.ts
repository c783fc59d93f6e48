import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedis, type RedisServer } from '../test/support/redis-server.js';
import { FORMS, requestJson, type BodyName, type FormName } from './bodies.js';

/** The content of a request, and how its upstream answers. */
export interface Kind {
  readonly body: BodyName;
  readonly documents: number;
  /** The upstream's delay before it answers. */
  readonly delayMs: number;
  /** Whether the gateway's upstream returns the documents too, as that of the pass-through does. */
  readonly echoes?: boolean;
  /** The form in which the gateway is asked; the pass-through is always asked in the main one. */
  readonly form?: FormName;
}

/** A server under measurement, in a separate process. */
export interface Target {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  request(kind: Kind): Buffer;
}

export interface Targets {
  readonly bare: Target;
  /** The pass-through with the gateway's commands to the store. */
  readonly floor: Target;
  readonly gateway: Target;
  /** The gateway of another checkout, if one is named. */
  readonly other: Target | undefined;
  /** The gateway's longest turn since this was last asked, if it measures them. */
  longestTurn(): Promise<Turn>;
  stop(): Promise<void>;
}

/** The longest turn of an event loop, by the clock and in processor time. */
export interface Turn {
  readonly tookMs: number;
  readonly workedMs: number;
}

interface TargetsOptions {
  /** The folder of another checkout, which is built. */
  readonly other?: string | undefined;
  /** Whether the gateway measures the turns of its event loop, which costs it time. */
  readonly measuresTurns?: boolean;
  /** Whether the upstream speaks TLS. */
  readonly tls?: boolean;
}

/** Starts upstream, pass-through and gateway for all `kinds`. */
export async function startTargets(
  kinds: readonly Kind[],
  { other, measuresTurns = false, tls = false }: TargetsOptions = {},
): Promise<Targets> {
  const children: ChildProcess[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'rerank-bench-'));
  const redis = await startRedis();
  const stop = async (): Promise<void> => {
    const running = children.filter(
      ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
    );
    await Promise.all(
      running.map(async (child) => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      }),
    );
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const certificate = tls ? await makeCertificate(folder) : undefined;
    const upstream = await start(children, 'bench/upstream.ts', certificate ?? []);
    const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${upstream.port}`;
    // For all processes that are started from now on: Node reads it as it starts.
    if (certificate !== undefined) process.env.NODE_EXTRA_CA_CERTS = certificate[1];
    const bare = await start(children, 'bench/bare.ts', [origin]);
    const parts = { children, redis, origin, kinds, measuresTurns };
    const { gateway, key, child } = await startGateway({ ...parts, checkout: OWN, folder });
    const twin = other === undefined ? undefined : { ...parts, checkout: other, folder };
    const floor = await start(children, 'bench/floor.ts', [origin, redis.url, key]);
    return {
      bare: { name: 'bare', ...bare, request: bareRequest },
      floor: { name: 'floor', ...floor, request: bareRequest },
      gateway,
      longestTurn: () => longestTurn(child),
      other: twin === undefined ? undefined : (await startGateway(twin)).gateway,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The files of a key, and of a certificate for the upstream's address. */
async function makeCertificate(
  folder: string,
): Promise<readonly [key: string, certificate: string]> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const what = ['-subj', '/CN=upstream', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'rsa:2048', '-noenc', '-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...what]);
  return [key, certificate];
}

/** CPU time of all threads of a process. The scheduler counts in nanoseconds, so it is accurate for short turns too. */
export async function cpuMicroseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) =>
      Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
    ),
  );
  return times.reduce((sum, ns) => sum + ns, 0) / 1000;
}

export async function peakMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

function bareRequest({ body, documents, delayMs }: Kind): Buffer {
  return post(`/${documents}/${delayMs}/${body}/v2/rerank`, requestJson(body, documents, 'bench'));
}

const MAX_IN_FLIGHT_BYTES = 2 ** 30;

/** One model per way in which the upstream answers. */
function modelOf({ body, documents, delayMs, echoes = false }: Kind): string {
  return `bench-${documents}-${delayMs}${echoes ? `-${body}` : ''}`;
}

/** The folder of this checkout. */
const OWN = '.';

interface GatewayParts {
  readonly children: ChildProcess[];
  readonly redis: RedisServer;
  readonly origin: string;
  readonly kinds: readonly Kind[];
  /** The folder of the checkout whose gateway it is. */
  readonly checkout: string;
  readonly folder: string;
  readonly measuresTurns: boolean;
}

async function startGateway({
  children,
  redis,
  origin,
  kinds,
  checkout,
  folder,
  measuresTurns,
}: GatewayParts): Promise<{
  readonly gateway: Target;
  readonly key: string;
  readonly child: ChildProcess;
}> {
  const byModel = new Map(kinds.map((kind) => [modelOf(kind), kind]));
  const channels = [...byModel].map(([model, { body, documents, delayMs, echoes }]) => ({
    name: model,
    provider: 'cohere',
    base_url: `${origin}/${documents}/${delayMs}/${echoes === true ? body : 'none'}`,
    credentials: { apiKey: 'bench' },
    models: [model],
    tag: 'bench',
  }));
  const prefix = checkout === OWN ? 'rg:' : 'other:';
  const config = join(folder, `${checkout === OWN ? 'gateway' : 'other'}.yaml`);
  // One caller sends everything, so one caller may have the whole of the gateway.
  const server = { in_flight_share: 1, max_in_flight_bytes: MAX_IN_FLIGHT_BYTES };
  await writeFile(config, JSON.stringify({ server, channels }));
  const env = {
    ...process.env,
    CONFIG: config,
    REDIS_URL: redis.url,
    REDIS_PREFIX: prefix,
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  };
  // As `npm start` and the image run it: without the TypeScript loader that this process has.
  const child = fork(join(checkout, 'dist/main.js'), [], {
    env,
    execArgv: [
      '--single-threaded-gc',
      '--initial-old-space-size=128',
      '--max-semi-space-size=16',
      ...(measuresTurns ? ['--import', './bench/preload/turns.mjs'] : []),
    ],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  const port = await listeningPort(child);
  const key = await createKey(checkout, env);
  const gateway: Target = {
    name: 'gateway',
    port,
    pid: pidOf(child),
    request: ({ form = 'main', ...kind }) =>
      post(
        FORMS[form].path,
        requestJson(kind.body, kind.documents, modelOf(kind), form),
        `authorization: Bearer ${key}\r\n`,
      ),
  };
  return { gateway, key, child };
}

async function longestTurn(child: ChildProcess): Promise<Turn> {
  const said = once(child, 'message') as Promise<[{ turns: Turn }]>;
  child.kill('SIGUSR2');
  const [{ turns }] = await said;
  return turns;
}

/** Reads the log until the gateway says where it listens, then discards the rest. */
function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${seen}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      if (seen.length > 100_000) return;
      seen += chunk.toString();
      const port = /"port":(\d+)/.exec(seen)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

async function createKey(checkout: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = fork(
    join(checkout, 'dist/cli.js'),
    ['keys', 'create', '--name', 'bench', '--quota', '1000000000000', '--json'],
    { env, execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  let out = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await once(child, 'exit');
  const key = /sk-[A-Za-z0-9]{48}/.exec(out)?.[0];
  if (key === undefined) throw new Error(`no key was created: ${out}`);
  return key;
}

async function start(
  children: ChildProcess[],
  file: string,
  args: readonly string[],
): Promise<{ port: number; pid: number }> {
  const child = fork(file, args, { execArgv: ['--import', 'tsx'] });
  children.push(child);
  const [message] = (await once(child, 'message')) as [{ port: number }];
  return { port: message.port, pid: pidOf(child) };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('a process did not start');
  return child.pid;
}

/** A whole request, head and body. */
export function post(path: string, body: Buffer, headers = ''): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
