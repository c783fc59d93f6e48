import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { makeHome, startProcess, type GatewayProcess, type Home } from './fleet.js';

/** Modules take most of the time of a command: each takes about as long to load as a command does to work. */

let home: Home;
let gateway: GatewayProcess;
beforeAll(async () => {
  home = await makeHome({ channels: [{ name: 'here', provider: 'local', models: ['local'] }] });
  gateway = await startProcess(home);
}, 120_000);
afterAll(async () => {
  gateway.kill('SIGKILL');
  await gateway.exited;
  await home.remove();
});

/** The folders of `src`, and the packages, whose modules a command loads, by what Node itself says. */
async function loadedBy(...args: readonly string[]): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(home.folder, 'loaded-'));
  const env = { ...home.env, NODE_V8_COVERAGE: folder };
  await promisify(execFile)(process.execPath, ['dist/cli.js', ...args], { env });
  const [name = ''] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
    readonly result: readonly { readonly url: string }[];
  };
  const parts = result.map(async ({ url }) => {
    const packaged = /\/node_modules\/([^/]+)\//.exec(url)?.[1];
    if (packaged !== undefined) return [packaged];
    if (!/\/dist\/[^/]+\.js$/.test(url)) return [];
    // A bundle names each source before its code.
    const code = await readFile(new URL(url), 'utf8');
    return [...code.matchAll(/^\/\/ src\/([^/]+)\//gm)].map(([, part = '']) => part);
  });
  return new Set((await Promise.all(parts)).flat());
}

it('a command that goes to a gateway loads nothing of what the gateway does', async () => {
  const login = ['--username', 'root', '--password', 'env:ROOT_PASSWORD'];
  await loadedBy('login', '--url', gateway.url, ...login);

  const loaded = await loadedBy('keys', 'list');

  expect([...loaded]).toEqual(expect.arrayContaining(['cli', 'client', 'commander']));
  for (const part of ['assembly', 'bytes', 'operations', 'store', 'joi', 'yaml']) {
    expect(loaded).not.toContain(part);
  }
}, 60_000);

it('a command that works on the store loads no more than its operation needs', async () => {
  const loaded = await loadedBy('keys', 'list', '--local');

  expect([...loaded]).toEqual(expect.arrayContaining(['operations', 'store', 'joi']));
  for (const part of ['bytes', 'http', 'rankers', 'telemetry', 'aws4', 'jose']) {
    expect(loaded).not.toContain(part);
  }
}, 60_000);

it('a reader that needs no output ends a command without a word', async () => {
  const line = `${process.execPath} dist/cli.js completion bash | true; exit \${PIPESTATUS[0]}`;

  const { stderr } = await promisify(execFile)('bash', ['-c', line], { env: home.env });

  expect(stderr).toBe('');
});

it('output that does not fit on its disk ends a command with a sentence', async () => {
  const line = `${process.execPath} dist/cli.js completion bash > /dev/full`;

  const ended = promisify(execFile)('bash', ['-c', line], { env: home.env });

  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: 'The output cannot be written: ENOSPC: no space left on device, write.\n',
  });
});
