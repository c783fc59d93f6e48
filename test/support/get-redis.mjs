// Sees to it that a Redis server can be run before the tests start: they use a real one. Plain Node, no dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const SERVERS = ['redis-server', 'valkey-server'];

const HOW_TO_GET_ONE = `The tests need a Redis server (7.0 or newer, or Valkey) to run one of their own. Install it:
  Debian, Ubuntu   sudo apt-get install redis-server
  Alpine           sudo apk add redis
  Fedora, RHEL     sudo dnf install redis   (or: sudo dnf install valkey)
  Arch             sudo pacman -S valkey
  macOS            brew install redis
or set REDIS_SERVER to the path of a redis-server or valkey-server binary.`;

/** Package managers and what they call a server, in the order of trying. `update` fetches the package lists. */
const MANAGERS = [
  {
    command: 'apt-get',
    update: ['update', '-q'],
    install: (name) => ['install', '-y', '-q', '--no-install-recommends', name],
    packages: ['redis-server', 'valkey-server'],
    // Installing must not start a service of the system, nor ask questions.
    env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  },
  {
    command: 'apk',
    install: (name) => ['add', '--no-cache', name],
    packages: ['redis', 'valkey'],
  },
  { command: 'dnf', install: (name) => ['install', '-y', name], packages: ['redis', 'valkey'] },
  { command: 'yum', install: (name) => ['install', '-y', name], packages: ['redis', 'valkey'] },
  {
    command: 'zypper',
    install: (name) => ['--non-interactive', 'install', name],
    packages: ['redis', 'valkey'],
  },
  {
    command: 'pacman',
    install: (name) => ['-Sy', '--noconfirm', name],
    packages: ['valkey', 'redis'],
  },
  {
    command: 'brew',
    install: (name) => ['install', name],
    packages: ['redis', 'valkey'],
    // Homebrew refuses to be root.
    asUser: true,
  },
];

const named = process.env.REDIS_SERVER;
if (named) {
  if (!answers(named)) fail(`REDIS_SERVER is set to ${named}, which does not run.`);
} else if (!SERVERS.some(onPath)) {
  console.log('No Redis server on the PATH: installing one for the tests.');
  if (!install()) fail('No Redis server was found, and none could be installed.');
}

/** Tries the package managers that are here and may be used, until there is a server. */
function install() {
  for (const manager of MANAGERS) {
    const { command, update, packages, env = {}, asUser = false } = manager;
    if (!onPath(command)) continue;
    const before = asUser ? [] : rights(env);
    if (before === undefined) {
      console.log(`${command} is here, but needs root or sudo without a password.`);
      continue;
    }
    const run = (args) => {
      const line = [...before, command, ...args];
      console.log(`> ${line.join(' ')}`);
      return (
        spawnSync(line[0], line.slice(1), {
          stdio: ['ignore', 'inherit', 'inherit'],
          env: { ...process.env, ...env },
        }).status === 0
      );
    };
    // Lists that are out of date are no reason to give up before the package was tried.
    if (update !== undefined) run(update);
    for (const name of packages) {
      if (run(manager.install(name)) && SERVERS.some(onPath)) return true;
    }
  }
  return false;
}

/** What to put before a command so that it may install, or `undefined` when it may not. */
function rights(env) {
  if (process.getuid?.() === 0) return [];
  if (!onPath('sudo') || spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) {
    return undefined;
  }
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return ['sudo', '-n', ...(settings.length === 0 ? [] : ['env', ...settings])];
}

function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, name)));
}

function answers(binary) {
  return spawnSync(binary, ['--version'], { stdio: 'ignore' }).status === 0;
}

function fail(reason) {
  console.error(`${reason}\n${HOW_TO_GET_ONE}`);
  process.exit(1);
}
