import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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

/**
 * Starts a gateway as `npm start` does, with the settings that a clone has, and reads the first key from what it prints.
 * @returns {Promise<{ url: string, key: string, stop: () => Promise<void> }>}
 */
export async function startGateway() {
  const folder = await mkdtemp(join(tmpdir(), 'rerank-clients-'));
  const child = spawn(process.execPath, ['src/setup.mjs', '--quiet', '--run', 'dist/main.js'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  const { port, key } = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`The gateway does not start:\n${output}`));
    }, START_TIMEOUT_MS);
    child.once('exit', () => reject(new Error(`The gateway has ended:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        const listening = /"port":(\d+).*"msg":"listening"/.exec(output)?.[1];
        const first = /first API key: (sk-\w+)/.exec(output)?.[1];
        if (listening === undefined || first === undefined) return;
        clearTimeout(timer);
        resolve({ port: listening, key: first });
      });
    }
  });
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
