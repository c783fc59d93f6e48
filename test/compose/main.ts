import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { eventually } from '../support/redis-server.js';
import { importStandIn, layOut, run, standIns, startDaemon, type Daemon } from './stack.js';

/**
 * `npm run test:compose`: the stack of docker-compose.yml, run for real by a daemon of its own in a network of its own: three
 * gateways, Redis and HAProxy answer all requests while one gateway is stopped and one is killed. Base images are stood in for
 * by programs of this machine, so that nothing is fetched. Where no daemon can be started it says why, and that it was skipped.
 */
const PROGRAMS = ['dockerd', 'docker', 'docker-compose', 'redis-server', 'redis-cli', 'haproxy'];
const TOOLS = ['busybox', 'unshare', 'ip', 'ldd', 'tar'];
const PACKAGES = [
  'docker.io',
  'docker-compose',
  'redis-server',
  'haproxy',
  'busybox-static',
  'iproute2',
];
const INSIDE = 'COMPOSE_TEST_INSIDE';
const PORT = 8080;
const REQUESTS = 150;

function which(program: string): string {
  return spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
}

function missing(): string[] {
  return [...PROGRAMS, ...TOOLS].filter((program) => which(program) === '');
}

/** Why there can be no daemon here; `undefined` where nothing speaks against one. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root, to start a daemon of its own';
  if (missing().length > 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const args = ['install', '-y', '-q', '--no-install-recommends', ...PACKAGES];
    spawnSync('apt-get', args, { env, stdio: 'ignore' });
  }
  if (missing().length > 0) return `${missing().join(', ')} not found`;
  if (spawnSync('unshare', ['--net', '--mount', 'true']).status === 0) return undefined;
  return 'the kernel gives no network of its own';
}

function skip(why: string): void {
  console.log(`test:compose was skipped: ${why}.`);
}

/** The same program in a network and mounts of its own, so that bridges and rules end with it. */
function enter(): number {
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, [INSIDE]: 'yes' };
  const options = { env, stdio: 'inherit' } as const;
  const { status } = spawnSync('unshare', ['--net', '--mount', ...again], options);
  return status ?? 1;
}

async function main(): Promise<number> {
  if (process.env[INSIDE] === undefined) {
    const why = obstacle();
    if (why === undefined) return enter();
    skip(why);
    return 0;
  }
  run('ip', ['link', 'set', 'lo', 'up']);
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  try {
    let daemon: Daemon;
    try {
      daemon = await startDaemon(folder);
    } catch (error) {
      skip(error instanceof Error ? error.message : String(error));
      return 0;
    }
    try {
      return await tryStack(daemon, folder);
    } finally {
      await daemon.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryStack(daemon: Daemon, folder: string): Promise<number> {
  for (const standIn of standIns(which)) importStandIn(daemon, folder, standIn, which('busybox'));
  const cwd = layOut(folder, PORT);
  const compose = (...args: string[]): string =>
    run('docker-compose', args, { cwd, env: daemon.env });
  const docker = (...args: string[]): string => run('docker', args, { env: daemon.env });
  try {
    compose('up', '--detach', '--build', '--scale', 'gateway=3');
    const create = [
      'node',
      'dist/cli.js',
      'keys',
      'create',
      '--name',
      'compose',
      '--unlimited',
      '--json',
    ];
    const { key } = JSON.parse(compose('exec', '-T', 'gateway', ...create)) as { key: string };
    const [stopped = '', killed = ''] = compose('ps', '--quiet', 'gateway').trim().split('\n');
    // The proxy knows of the gateways a second after they are there.
    await eventually('the proxy finds a gateway', async () => (await ask(key)) === '200', 60_000);
    const bad: string[] = [];
    let stopping: Promise<unknown> | undefined;
    const stop = ['stop', '--time', '40', stopped];
    for (let at = 0; at < REQUESTS; at += 1) {
      if (at === 30) stopping = promisify(execFile)('docker', stop, { env: daemon.env });
      // Between two requests: one that the killed gateway was at work on would be lost, as it may have been paid for.
      if (at === 90) docker('kill', killed);
      const said = await ask(key);
      if (said !== '200') bad.push(`${at + 1}: ${said}`);
      await delay(20);
    }
    await stopping;
    const running = docker('ps', '--quiet', '--filter', 'status=running').trim().split('\n').length;
    console.log(
      `${REQUESTS - bad.length} of ${REQUESTS} requests were answered. ${bad.join('; ')}`,
    );
    console.log(`${running} containers still run.`);
    return bad.length === 0 ? 0 : 1;
  } catch (error) {
    console.log(compose('ps'));
    console.log(compose('logs', '--tail=20'));
    throw error;
  } finally {
    compose('down', '--volumes', '--timeout', '5');
  }
}

async function ask(key: string): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${PORT}/v1/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local', query: 'red apple', documents: ['pear', 'apple'] }),
    });
    await response.text();
    return String(response.status);
  } catch (error) {
    return String(error);
  }
}

process.exitCode = await main();
