import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedis } from '../test/support/redis-server.js';
import { drive, percentile } from './load.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16' },
    documents: { type: 'string', default: '10,100,1000' },
    rate: { type: 'string', default: '100' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const rate = Number(values.rate);
const sizes = values.documents.split(',').map(Number);

/** How large a document is, by how many there are: requests of 2 kB, 51 kB and a megabyte. */
const BYTES_PER_DOCUMENT: Readonly<Record<number, number>> = { 10: 200, 100: 510, 1000: 1000 };

interface Target {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  request(documents: number): Buffer;
}

interface Sample {
  readonly cpuUs: number;
  readonly throughput: number;
}

/** Engines go on optimizing for a while: what they do until then is no steady state. */
const WARM_UP_SECONDS = 10;
const SLOW_SECONDS = 3;

const folder = await mkdtemp(join(tmpdir(), 'rerank-bench-'));
const children: ChildProcess[] = [];
const redis = await startRedis();
try {
  const upstreamPort = await start('bench/upstream.ts', []);
  const bare = await startBare(upstreamPort.port);
  const gateway = await startGateway(upstreamPort.port);
  console.log(
    `Node ${process.version}; ${rounds} rounds of ${seconds} s, ${connections} connections, in turns\n`,
  );
  for (const documents of sizes) await compare(documents, bare, gateway);
  console.log(
    `peak memory: bare ${await peakMiB(bare.pid)} MiB, gateway ${await peakMiB(gateway.pid)} MiB`,
  );
} finally {
  for (const child of children) child.kill('SIGTERM');
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}

async function compare(documents: number, bare: Target, gateway: Target): Promise<void> {
  for (const target of [bare, gateway]) {
    const request = target.request(documents);
    await drive({ port: target.port, request, connections, seconds: WARM_UP_SECONDS });
  }
  const turns = { bare: [] as Sample[], gateway: [] as Sample[] };
  for (let round = 0; round < rounds; round += 1) {
    turns.bare.push(await measure(bare, documents));
    turns.gateway.push(await measure(gateway, documents));
  }
  const slow = { bare: await slowly(bare, documents), gateway: await slowly(gateway, documents) };

  // The ratio of each round: a machine that slows down slows both of a round.
  const ratios = turns.gateway.map(
    ({ cpuUs }, round) => cpuUs / (turns.bare[round]?.cpuUs ?? Number.NaN),
  );
  const cpu = (samples: readonly Sample[]) => median(samples.map(({ cpuUs }) => cpuUs)).toFixed(0);
  const throughput = (samples: readonly Sample[]) =>
    median(samples.map((sample) => sample.throughput)).toFixed(0);
  const added = (share: number) =>
    (percentile(slow.gateway, share) - percentile(slow.bare, share)).toFixed(2);
  console.log(
    `${documents} documents (${(gateway.request(documents).length / 1000).toFixed(1)} kB)\n` +
      `  CPU per request   ${median(ratios).toFixed(2)} x: bare ${cpu(turns.bare)} us, gateway ${cpu(turns.gateway)} us\n` +
      `  throughput        bare ${throughput(turns.bare)}/s, gateway ${throughput(turns.gateway)}/s\n` +
      `  added at ${rate}/s    p50 ${added(0.5)} ms, p99 ${added(0.99)} ms\n`,
  );
}

/** Latencies at a low rate, sorted, in milliseconds. */
async function slowly(target: Target, documents: number): Promise<readonly number[]> {
  const request = target.request(documents);
  const { latencies } = await drive({
    port: target.port,
    request,
    connections: 4,
    seconds: SLOW_SECONDS,
    rate,
  });
  return latencies;
}

async function measure(target: Target, documents: number): Promise<Sample> {
  const before = await cpuMicroseconds(target.pid);
  const result = await drive({
    port: target.port,
    request: target.request(documents),
    connections,
    seconds,
  });
  const after = await cpuMicroseconds(target.pid);
  if (result.failures > 0) throw new Error(`${target.name} failed ${result.failures} requests`);
  return {
    cpuUs: (after - before) / result.requests,
    throughput: result.requests / result.seconds,
  };
}

async function startBare(upstreamPort: number): Promise<Target> {
  const child = await start('bench/bare.ts', [`http://127.0.0.1:${upstreamPort}`]);
  return {
    name: 'bare',
    ...child,
    request: (documents) => httpRequest(`/${documents}/v2/rerank`, documents, ''),
  };
}

async function startGateway(upstreamPort: number): Promise<Target> {
  const channels = sizes.map((documents) => ({
    name: `bench-${documents}`,
    provider: 'cohere',
    base_url: `http://127.0.0.1:${upstreamPort}/${documents}`,
    credentials: { apiKey: 'bench' },
    models: [`bench-${documents}`],
    tag: 'bench',
  }));
  const config = join(folder, 'gateway.yaml');
  await writeFile(config, JSON.stringify({ channels }));
  const env = {
    ...process.env,
    CONFIG: config,
    REDIS_URL: redis.url,
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  };
  // As `npm start` and the image run it: without the loader for TypeScript that this process has.
  const child = fork('dist/main.js', [], {
    env,
    execArgv: ['--single-threaded-gc', '--initial-old-space-size=128'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  const port = await listeningPort(child);
  const key = await createKey(env);
  return {
    name: 'gateway',
    port,
    pid: pidOf(child),
    request: (documents) =>
      httpRequest('/v1/rerank', documents, `authorization: Bearer ${key}\r\n`),
  };
}

/** Reads the log until the gateway says where it listens, then lets it run on into nothing. */
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

async function createKey(env: NodeJS.ProcessEnv): Promise<string> {
  const child = fork(
    'dist/cli.js',
    ['keys', 'create', '--name', 'bench', '--quota', '1000000000000', '--json'],
    {
      env,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
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

async function start(file: string, args: string[]): Promise<{ port: number; pid: number }> {
  const child = fork(file, args, { execArgv: ['--import', 'tsx'] });
  children.push(child);
  const [message] = (await once(child, 'message')) as [{ port: number }];
  return { port: message.port, pid: pidOf(child) };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('a process did not start');
  return child.pid;
}

function httpRequest(path: string, documents: number, headers: string): Buffer {
  const body = Buffer.from(
    JSON.stringify({
      model: `bench-${documents}`,
      query: 'how do I rotate the signing keys of a cluster',
      documents: Array.from({ length: documents }, (_, index) => document(index, documents)),
    }),
  );
  return Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n`,
    ),
    body,
  ]);
}

function document(index: number, documents: number): string {
  const sentence = `Passage ${index} says how keys are kept and who may rotate them in time. `;
  const bytes = BYTES_PER_DOCUMENT[documents] ?? 500;
  return sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, bytes);
}

/** What all threads of a process have run for, from the scheduler; in nanoseconds there, and so also right for short turns. */
async function cpuMicroseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) =>
      Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
    ),
  );
  return times.reduce((sum, ns) => sum + ns, 0) / 1000;
}

async function peakMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
