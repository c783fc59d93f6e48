import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { eventually } from '../support/redis-server.js';

/** Runs a program to its end; @throws Error with all that it said where it fails. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${String(status)}:\n${stdout}${stderr}`);
}

/** A daemon of Docker with everything that it keeps in one folder. */
export interface Daemon {
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** @throws Error with the end of its log where it does not start. */
export async function startDaemon(folder: string): Promise<Daemon> {
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const places = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')];
  const own = ['--pidfile', join(folder, 'docker.pid'), '--host', socket];
  const child = spawn('dockerd', [...places, ...own], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-4_000)));
  }
  const exited = ended(child);
  const env = { ...process.env, DOCKER_HOST: socket, DOCKER_BUILDKIT: '0' };
  const answers = (): boolean => spawnSync('docker', ['version'], { env }).status === 0;
  try {
    await eventually(
      'dockerd answers',
      () => Promise.resolve(answers() || child.exitCode !== null),
      60_000,
    );
    if (child.exitCode !== null) throw new Error('it ended');
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`dockerd does not start:\n${log}`, { cause });
  }
  return {
    env,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
  });
}

/** What stands in for a base image: programs of this machine, with the libraries that they load, and a shell. */
interface StandIn {
  readonly name: string;
  /** Where each program lies in the image, and where it is here. */
  readonly programs: Readonly<Record<string, string>>;
  readonly users: string;
}

const TOOLS = ['sh', 'grep', 'wget', 'mkdir', 'chown', 'cat', 'ls'];

export function standIns(which: (program: string) => string): readonly StandIn[] {
  return [
    {
      name: 'stand-in/redis',
      programs: {
        '/usr/local/bin/redis-server': which('redis-server'),
        '/usr/local/bin/redis-cli': which('redis-cli'),
      },
      users: 'redis:x:999:1000::/data:/bin/sh\n',
    },
    {
      name: 'stand-in/haproxy',
      programs: { '/usr/local/sbin/haproxy': which('haproxy') },
      users: 'haproxy:x:99:99::/:/bin/sh\n',
    },
    {
      name: 'stand-in/node',
      programs: { '/usr/local/bin/node': process.execPath },
      users: 'node:x:1000:1000::/home/node:/bin/sh\n',
    },
  ];
}

/** What the official images say besides their files. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'stand-in/redis': ['VOLUME /data', 'WORKDIR /data'],
  'stand-in/haproxy': [
    'USER haproxy',
    'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
  ],
  'stand-in/node': [],
};

/** Puts an image together below `folder`, and gives it to the daemon. */
export function importStandIn(
  { env }: Daemon,
  folder: string,
  standIn: StandIn,
  busybox: string,
): void {
  const root = join(folder, 'roots', standIn.name);
  for (const directory of ['bin', 'etc', 'tmp', 'data', 'usr/local/etc']) {
    mkdirSync(join(root, directory), { recursive: true });
  }
  const owner = standIn.users.split(':');
  run('chown', [`${owner[2] ?? '0'}:${owner[3] ?? '0'}`, join(root, 'data')]);
  chmodSync(join(root, 'tmp'), 0o1777);
  cpSync(busybox, join(root, 'bin/busybox'));
  for (const tool of TOOLS) symlinkSync('busybox', join(root, 'bin', tool));
  writeFileSync(join(root, 'etc/passwd'), `root:x:0:0::/:/bin/sh\n${standIn.users}`);
  writeFileSync(join(root, 'etc/group'), `root:x:0:\n${owner[0] ?? ''}:x:${owner[3] ?? ''}:\n`);
  for (const [target, source] of Object.entries(standIn.programs)) {
    place(realpathSync(source), join(root, target));
    for (const library of librariesOf(source)) place(realpathSync(library), join(root, library));
  }
  const archive = `${root}.tar`;
  run('tar', ['--create', '--file', archive, '--directory', root, '.']);
  const path = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/bin';
  const changes = [path, ...(CHANGES[standIn.name] ?? [])].flatMap((line) => ['--change', line]);
  run('docker', ['import', ...changes, archive, standIn.name], { env });
}

function place(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target);
}

/** Absolute paths of what the loader would load, itself included. */
function librariesOf(program: string): string[] {
  return [...run('ldd', [program]).matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

/**
 * The folder of the stack: the real compose file and settings, and an image whose last stage is the real one. What its earlier
 * stages fetch from registries comes from this checkout.
 */
export function layOut(folder: string, port: number): string {
  const project = join(folder, 'rerank');
  mkdirSync(project);
  for (const name of ['docker-compose.yml', 'config', 'dist', 'package.json', 'LICENSE']) {
    cpSync(name, join(project, name), { recursive: true });
  }
  const list = ['ls', '--omit=dev', '--omit=optional', '--parseable', '--all'];
  const [root = '', ...packages] = run('npm', list).trim().split('\n');
  for (const path of packages) {
    if (existsSync(path)) cpSync(path, join(project, relative(root, path)), { recursive: true });
  }
  const stages = readFileSync('Dockerfile', 'utf8');
  const last = stages.slice(stages.lastIndexOf('\nFROM '));
  writeFileSync(
    join(project, 'Dockerfile'),
    `ARG NODE_IMAGE
FROM \${NODE_IMAGE} AS base
WORKDIR /app
FROM base AS build
COPY dist ./dist
FROM base AS packages
COPY node_modules ./node_modules
${last}`,
  );
  const secret = (): string => randomBytes(32).toString('hex');
  const env = {
    ENCRYPTION_KEY: secret(),
    REDIS_PASSWORD: secret(),
    ROOT_PASSWORD: secret(),
    PUBLIC_PORT: String(port),
    REDIS_IMAGE: 'stand-in/redis',
    PROXY_IMAGE: 'stand-in/haproxy',
    NODE_IMAGE: 'stand-in/node',
  };
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(project, '.env'), lines.join(''));
  return project;
}
