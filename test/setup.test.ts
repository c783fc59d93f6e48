import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

/** Installs nothing but the account of what it would have installed. */
const FAKE_NPM = `#!/usr/bin/env node
const fs = require('node:fs');
fs.appendFileSync('calls.log', 'npm ' + process.argv.slice(2).join(' ') + '\\n');
fs.rmSync('node_modules', { recursive: true, force: true });
fs.mkdirSync('node_modules');
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
`;
/** Copies the program. */
const FAKE_BUILD = `
import fs from 'node:fs';
fs.appendFileSync('calls.log', 'build\\n');
const code = fs.readFileSync('src/main.ts', 'utf8');
if (code.includes('wrong')) {
  console.log('main.ts: error: unexpected end');
  process.exit(2);
}
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/main.js', code);
`;
const FAKE_CONSOLE_BUILD = `
import fs from 'node:fs';
const code = fs.readFileSync('src/console/main.tsx', 'utf8');
if (code.includes('broken')) {
  console.log('main.tsx: error: unexpected end');
  process.exit(1);
}
fs.mkdirSync('dist/console/assets', { recursive: true });
fs.writeFileSync('dist/console/assets/main.js', code);
`;
const PROGRAM = `
process.on('SIGTERM', () => { console.log('drained'); process.exit(7); });
console.log(JSON.stringify(process.argv.slice(1)));
if (process.argv.includes('--stay')) setTimeout(() => {}, 15000);
`;

let root = '';
/** A clone after its first setup. */
let ready = '';

beforeAll(async () => {
  makeClone();
  await setup();
  calls();
  ready = root;
});

beforeEach(makeClone);

function makeClone(): void {
  root = mkdtempSync(join(tmpdir(), 'rerank-setup-'));
  put('package.json', JSON.stringify({ type: 'module', engines: { node: '>=20.19' } }));
  put('package-lock.json', lockFile('1.0.0'));
  put('tsconfig.json', '{}');
  put('src/main.ts', PROGRAM);
  put('src/page/page.html', '<p>');
  put('bin/package.json', '{}');
  put('bin/npm', FAKE_NPM);
  chmodSync(join(root, 'bin/npm'), 0o755);
  put('src/bytes/wasm/build.mjs', '');
  put('src/build.mjs', FAKE_BUILD);
  put('src/console/build.mjs', FAKE_CONSOLE_BUILD);
  put('src/console/main.tsx', 'the console');
  copyFileSync('src/setup.mjs', join(root, 'src/setup.mjs'));
}

function useReadyClone(): void {
  cpSync(ready, root, { recursive: true });
}

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

afterAll(() => {
  rmSync(ready, { recursive: true, force: true });
});

function put(name: string, content: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

function lockFile(version: string): string {
  const packages = { '': { name: 'x' }, 'node_modules/x': { version } };
  return JSON.stringify({ lockfileVersion: 3, packages });
}

/** The calls of npm and the build since the last time this was asked. */
function calls(): string[] {
  const log = join(root, 'calls.log');
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  rmSync(log);
  return lines.map((line) => line.split(' ')[0] ?? '');
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

function start(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const path = [join(root, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return spawn(command, args, {
    cwd: root,
    env: { ...Object.fromEntries(inherited), PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(child: ChildProcess): Promise<Ended> {
  if (child.stdout === null || child.stderr === null) throw new Error('no output to read');
  const [out, said] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
  ]);
  return { code: child.exitCode, out, said };
}

function setup(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return ended(start(process.execPath, ['src/setup.mjs', ...args], env));
}

describe('setup', () => {
  it('installs and builds a fresh clone, and says so in a line each', async () => {
    const { code, out, said } = await setup();

    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(said).toMatch(
      /^setup: installing packages.*\nsetup: building dist.*\nsetup: ready after \d+ s\n$/,
    );
    expect(calls()).toEqual(['npm', 'build']);
    expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
    expect(existsSync(join(root, '.setup.lock'))).toBe(false);
  });

  it('builds the console beside the program', async () => {
    await setup();

    expect(readFileSync(join(root, 'dist/console/assets/main.js'), 'utf8')).toBe('the console');
  });

  it('fails with what the bundler said where the console is broken, and mends itself', async () => {
    put('src/console/main.tsx', 'broken');
    const { code, said } = await setup();

    expect(code).toBe(1);
    expect(said).toContain('main.tsx: error: unexpected end');
    expect(said).toContain('src/console/build.mjs failed (exit code 1)');

    put('src/console/main.tsx', 'whole');
    expect((await setup()).code).toBe(0);
    expect(readFileSync(join(root, 'dist/console/assets/main.js'), 'utf8')).toBe('whole');
  });

  it('does and says nothing the second time', async () => {
    useReadyClone();

    const { code, said } = await setup();

    expect({ code, said, calls: calls() }).toEqual({ code: 0, said: '', calls: [] });
  });

  it.each<[string, () => void, string[]]>([
    ['the lock file changed', () => put('package-lock.json', lockFile('2.0.0')), ['npm', 'build']],
    ['an installation was cut off', () => rm('node_modules/.package-lock.json'), ['npm']],
    ['a source changed', () => put('src/main.ts', `${PROGRAM};`), ['build']],
    ['a source is new', () => put('src/new.ts', ''), ['build']],
    ['a page changed', () => put('src/page/page.html', '<b>'), ['build']],
    ['dist is gone', () => rm('dist'), ['build']],
  ])('does what is needed when %s', async (_when, change, needed) => {
    useReadyClone();
    change();

    await setup();

    expect(calls()).toEqual(needed);
    await setup();
    expect(calls()).toEqual([]);
  });

  it('builds when told to, and is quiet when told to', async () => {
    useReadyClone();

    const { said } = await setup(['--build', '--quiet']);

    expect({ said, calls: calls() }).toEqual({ said: '', calls: ['build'] });
  });

  it('installs what builds also where the environment says production', async () => {
    await setup([], { NODE_ENV: 'production' });

    expect(readFileSync(join(root, 'calls.log'), 'utf8')).toContain('--include=dev');
  });

  it.each([[['--quiet']], [[]]])(
    'shows what the build said when it fails, with %j',
    async (args) => {
      put('src/main.ts', 'wrong');

      const { code, said } = await setup(args);

      expect(code).toBe(1);
      expect(said).toContain('main.ts: error: unexpected end');
      expect(said).toContain('setup: src/build.mjs failed (exit code 2)');
      calls();
      await setup();
      expect(calls()).toEqual(['build']);
    },
  );

  it('works once when two run at the same time', async () => {
    const both = await Promise.all([setup(), setup()]);

    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(calls()).toEqual(['npm', 'build']);
  });

  it('takes over from one that was killed', async () => {
    const gone = start(process.execPath, ['-e', '']);
    await ended(gone);
    put('.setup.lock', `${String(gone.pid)} some-run`);

    const { code } = await setup();

    expect({ code, calls: calls() }).toEqual({ code: 0, calls: ['npm', 'build'] });
  });

  it('names the Node that is needed to one that is too old', async () => {
    put('package.json', JSON.stringify({ type: 'module', engines: { node: '>=99.1' } }));

    const { code, said } = await setup();

    expect(code).toBe(1);
    expect(said).toContain(`this is Node ${process.versions.node}, and 99.1 or newer is needed`);
    expect(calls()).toEqual([]);
  });

  it('goes on as the program with its arguments and nothing else on standard output', async () => {
    const { code, out } = await setup(['--run', 'dist/main.js', '--quiet', 'x y']);

    expect({ code, out }).toEqual({
      code: 0,
      out: `${JSON.stringify([join(root, 'dist/main.js'), '--quiet', 'x y'])}\n`,
    });
  });
});

it('npm start hands arguments and SIGTERM on, and leaves nothing running', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: { start: string };
  };
  const engines = { node: '>=20.19' };
  put('package.json', JSON.stringify({ type: 'module', engines, scripts }));
  await setup();
  rm('bin');

  const npm = start('npm', ['start', '--silent', '--', '--stay']);
  const result = ended(npm);
  await new Promise<void>((resolve) => {
    npm.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('--stay')) resolve();
    });
  });
  npm.kill('SIGTERM');

  // npm itself waits for the program; the output ends when the last process that holds it is gone.
  const { code, out } = await result;
  expect(out).toContain('drained');
  expect(code).toBe(7);
});

function rm(name: string): void {
  rmSync(join(root, name), { recursive: true });
}
