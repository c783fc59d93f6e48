import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_TIMEOUT_MS = 180_000;

/** What every client is asked to rank, and the order that is right. */
export const QUERY = 'Which planet has the most moons?';
export const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Bread is baked from flour and water.',
  'Saturn is the planet with the most moons.',
];
export const BEST = 2;
/** What stands for the first key where requests are signed. */
export const ACCESS_KEY_ID = 'AKIDGATEWAY';
export const ROOT_PASSWORD = 'correct horse 42 battery';

/**
 * Starts a gateway as `npm start` does, with the settings that a clone has, and reads the first key from what it prints.
 * @returns {Promise<{ url: string, key: string, stop: () => Promise<void> }>}
 */
export async function startGateway() {
  const folder = await mkdtemp(join(tmpdir(), 'rerank-clients-'));
  // The first start makes the key, and the second one lets an access key id stand for it.
  const first = await launch(folder, { ROOT_PASSWORD }, /first API key: (sk-\w+)/);
  await first.stop();
  const config = join(folder, 'gateway.yaml');
  await writeFile(config, JSON.stringify(settings(first.found)));
  const second = await launch(folder, { CONFIG: config }, /"msg":"(listening)"/);
  return {
    url: `http://127.0.0.1:${second.port}`,
    key: first.found,
    async stop() {
      await second.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const settings = (key) => ({
  gateway: { default_model: 'local' },
  callers: { aws_keys: { [ACCESS_KEY_ID]: key } },
  channels: [{ name: 'local', provider: 'local', models: { local: 'lexical' } }],
});

/** A process, as soon as it listens and has said what is looked for. */
async function launch(folder, env, wanted) {
  const child = spawn(process.execPath, ['src/setup.mjs', '--quiet', '--run', 'dist/main.js'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  const { port, found } = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`The gateway does not start:\n${output}`));
    }, START_TIMEOUT_MS);
    child.once('exit', () => reject(new Error(`The gateway has ended:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        const listening = /"port":(\d+).*"msg":"listening"/.exec(output)?.[1];
        const said = wanted.exec(output)?.[1];
        if (listening === undefined || said === undefined) return;
        clearTimeout(timer);
        resolve({ port: listening, found: said });
      });
    }
  });
  return {
    port,
    found,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
