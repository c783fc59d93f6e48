/**
 * Makes a fresh clone runnable: installs the packages and builds `dist`, each only where it is needed, and may go on as
 * the program that was asked for. Plain Node without packages, since it runs before there are any.
 *
 *   node src/setup.mjs [--build] [--quiet] [--run <file> [arguments of the program]]
 *
 * --build  builds even where nothing has changed
 * --quiet  says nothing unless something goes wrong
 * --run    goes on as that program, in this process: signals and exit codes are the program's own
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const inRoot = (...names) => path.join(root, ...names);
const STAMP = inRoot('dist', '.built-from');
/** What the console's build writes among the sources; they are in no hash, and not in git. */
const CONSOLE_API = ['operations.ts', 'members.ts', 'member-words.ts'].map((name) =>
  path.join('src', 'console', 'api', name),
);
const LOCK_WAIT_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/** Ends the process with one sentence instead of a stack trace. */
class SetupError extends Error {}

const options = readArguments(process.argv.slice(2));
try {
  checkNode();
  // Nothing is written where nothing is to do: a clone may be read-only.
  if (options.build || !isInstalled() || !isBuilt(hashSources())) await withLock(setUp);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup: ${error.message}`);
  process.exit(1);
}
if (options.run !== undefined) {
  const program = path.resolve(root, options.run);
  process.argv = [process.argv[0], program, ...options.programArguments];
  await import(pathToFileURL(program).href);
}

function readArguments(given) {
  const at = given.indexOf('--run');
  const own = at === -1 ? given : given.slice(0, at);
  const unknown = own.find((name) => name !== '--build' && name !== '--quiet');
  if (unknown !== undefined || (at !== -1 && given[at + 1] === undefined)) {
    console.error('usage: node src/setup.mjs [--build] [--quiet] [--run <file> [arguments]]');
    process.exit(2);
  }
  return {
    build: own.includes('--build'),
    quiet: own.includes('--quiet'),
    run: at === -1 ? undefined : given[at + 1],
    programArguments: at === -1 ? [] : given.slice(at + 2),
  };
}

/** Standard output belongs to the program that follows: it may be read by another one. */
function say(sentence) {
  if (!options.quiet) console.error(`setup: ${sentence}`);
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw new SetupError(`${path.relative(root, file)} cannot be read: ${error.message}`);
  }
}

function checkNode() {
  const floor = /(\d+)\.(\d+)/.exec(readJson(inRoot('package.json')).engines.node);
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = floor.slice(1).map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new SetupError(
    `this is Node ${process.versions.node}, and ${wantedMajor}.${wantedMinor} or newer is needed; ` +
      'get one from https://nodejs.org or your version manager',
  );
}

async function setUp() {
  const startedAt = Date.now();
  let worked = false;
  if (!isInstalled()) {
    say('installing packages (npm ci)');
    await npmCi();
    worked = true;
  }
  if (options.build || !isBuilt(hashSources())) {
    say('building dist (esbuild)');
    // The sources import what this compiles.
    await runScript('src/bytes/wasm/build.mjs');
    await build(hashSources());
    worked = true;
  }
  if (worked) say(`ready after ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
}

/**
 * Whether the packages are those of the lock file. npm leaves its own account of what it has installed in node_modules,
 * written last, so that an installation that was cut off, by hand or by a power failure, is seen too.
 */
function isInstalled() {
  const wanted = readJson(inRoot('package-lock.json'));
  if (wanted === undefined) throw new SetupError('package-lock.json is missing');
  const present = readJson(inRoot('node_modules', '.package-lock.json'));
  if (present === undefined) return false;
  return Object.entries(wanted.packages).every(
    ([where, { version, optional, devOptional, peer }]) => {
      const found = present.packages[where];
      if (where === '') return true;
      // What is optional may be for another platform.
      if (found === undefined) return optional === true || devOptional === true || peer === true;
      return found.version === version;
    },
  );
}

async function npmCi() {
  const flags = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const cli = process.env.npm_execpath;
  const sameNpm = cli !== undefined && path.basename(cli) === 'npm-cli.js';
  const [command, args] = sameNpm ? [process.execPath, [cli, ...flags]] : ['npm', flags];
  // On Windows npm is a script of the shell.
  const shell = !sameNpm && process.platform === 'win32';
  await run(command, [...args, '--loglevel=error'], { shell }, 'npm ci');
}

/** A hash over everything that a build is made from. */
function hashSources() {
  const hash = createHash('sha256');
  const settings = ['package.json', 'tsconfig.json', 'package-lock.json'];
  const sources = filesBelow('src').filter((file) => !CONSOLE_API.includes(file));
  for (const file of [...settings, ...sources]) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(inRoot(file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function isBuilt(sources) {
  return fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === sources;
}

async function build(sources) {
  fs.rmSync(STAMP, { force: true });
  // Side by side; both are waited for, so that nothing writes any more when one has failed.
  const builds = ['src/build.mjs', 'src/console/build.mjs'].map(runScript);
  for (const { reason } of await Promise.allSettled(builds)) if (reason !== undefined) throw reason;
  fs.writeFileSync(STAMP, sources);
}

/** Paths below a folder of the project, from the project's own, in one and the same order everywhere. */
function filesBelow(folder) {
  return fs
    .readdirSync(inRoot(folder), { withFileTypes: true })
    .flatMap((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(file) : [file];
    })
    .sort();
}

function runScript(name) {
  return run(process.execPath, [inRoot(name)], {}, name);
}

/** Runs a command to its end; a signal that comes meanwhile ends it too. */
function run(command, args, settings, title) {
  return new Promise((resolve, reject) => {
    const output = options.quiet ? 'pipe' : 2;
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', output, output],
      ...settings,
    });
    let heard = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => (heard += text));
    }
    const pass = (signal) => child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM'];
    for (const signal of signals) process.on(signal, pass);
    const end = (problem) => {
      for (const signal of signals) process.off(signal, pass);
      if (problem === undefined) return resolve();
      process.stderr.write(heard);
      reject(new SetupError(problem));
    };
    child.on('error', (error) => end(`${title} cannot be started: ${error.message}`));
    child.on('close', (code, signal) => {
      if (code === 0) end(undefined);
      else end(`${title} failed (${signal ?? `exit code ${code}`}); its output is above`);
    });
  });
}

/** Runs `work` while no other setup of this clone does. The lock names its owner: one whose process is gone is void. */
async function withLock(work) {
  const lock = inRoot('.setup.lock');
  const mine = `${process.pid} ${randomUUID()}`;
  const giveUpAt = Date.now() + LOCK_WAIT_MS;
  for (let waiting = false; !take(lock, mine); waiting = true) {
    const owner = readIfThere(lock);
    if (owner !== undefined && !isAlive(Number(owner.split(' ')[0]))) {
      breakLock(lock, owner);
      continue;
    }
    if (Date.now() > giveUpAt) {
      throw new SetupError(`another setup does not finish; if none is running, delete ${lock}`);
    }
    if (!waiting) say('waiting for another setup of this clone to finish');
    await wait(LOCK_POLL_MS);
  }
  const free = () => {
    if (readIfThere(lock) === mine) fs.rmSync(lock, { force: true });
  };
  process.once('exit', free);
  try {
    await work();
  } finally {
    process.off('exit', free);
    free();
  }
}

/** The lock appears with its owner's name already in it, so nobody ever reads half of one. */
function take(lock, mine) {
  const draft = `${lock}.${randomUUID()}`;
  fs.writeFileSync(draft, mine, { flag: 'wx' });
  try {
    fs.linkSync(draft, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Takes a void lock away; one that somebody else has taken in the meantime goes back. */
function breakLock(lock, owner) {
  const aside = `${lock}.${randomUUID()}`;
  try {
    fs.renameSync(lock, aside);
    if (fs.readFileSync(aside, 'utf8') !== owner) fs.linkSync(aside, lock);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  fs.rmSync(aside, { force: true });
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
