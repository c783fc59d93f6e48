/* global fetch, setTimeout, clearTimeout */
/**
 * Packs the project, installs the package into an empty folder as npx does, and ranks with it. Needs the npm registry.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MOST_BYTES = 8_000_000;
const START_MS = 60_000;
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const folder = mkdtempSync(join(tmpdir(), 'rerank-package-'));
try {
  const [packed] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], ROOT),
  );
  const unwanted = packed.files.map(({ path }) => path).filter(isUnwanted);
  assert.deepEqual(unwanted, [], 'the package holds sources, maps or tests');
  assert.ok(packed.unpackedSize < MOST_BYTES, `unpacked, it has ${packed.unpackedSize} bytes`);

  const home = join(folder, 'home');
  npm(['install', '--prefix', home, ...QUIET, join(folder, packed.filename)], folder);
  await rank(home);
  const megabytes = (packed.unpackedSize / 1e6).toFixed(1);
  const packages = readdirSync(join(home, 'node_modules')).length;
  console.log(`The package works: ${megabytes} MB unpacked, ${packages} folders beside it.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function isUnwanted(path) {
  return /\.(map|tsx?|mjs)$|^(src|test|bench|docs)\//.test(path);
}

function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Starts the gateway in an empty folder, and ranks with the key that it prints. */
async function rank(home) {
  const program = join(home, 'node_modules', '.bin', 'rerank-gateway');
  const env = { PATH: process.env.PATH, HOME: home, HOST: '127.0.0.1', PORT: '0' };
  const child = spawn(program, ['start'], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  try {
    const { port, key, secretsOut } = await started(child);
    assert.equal(secretsOut, false, 'a secret is on standard output');
    const reply = await fetch(`http://127.0.0.1:${port}/v1/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local', query: 'tea', documents: ['a car', 'green tea'] }),
    });
    assert.equal(reply.status, 200, await reply.clone().text());
    assert.equal((await reply.json()).results[0].index, 1);
    const console = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
    assert.ok(console.url.endsWith('/console/') && console.status === 200);
    assert.ok(existsSync(join(home, 'config', 'gateway.yaml')));
    assert.ok(statSync(join(home, 'data', 'gateway.db')).size > 0);
    const listed = execFileSync(program, ['keys', 'list', '--json'], { cwd: home, env });
    assert.equal(JSON.parse(listed).items[0].name, 'first key');
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/** Resolves to the port and the key that a start prints. */
function started(child) {
  const said = { stdout: '', stderr: '' };
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`It does not start:\n${said.stdout}${said.stderr}`));
    const timer = setTimeout(fail, START_MS);
    child.once('exit', fail);
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8').on('data', (text) => {
        said[stream] += text;
        const port = /"port":(\d+).*"msg":"listening"/.exec(said.stdout)?.[1];
        const key = /first API key: (sk-\w+)/.exec(said.stderr)?.[1];
        if (port === undefined || key === undefined) return;
        clearTimeout(timer);
        resolve({ port, key, secretsOut: said.stdout.includes('sk-') });
      });
    }
  });
}
