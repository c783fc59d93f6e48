/** A Redis server of a test's own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';

const NAMES = ['redis-server', 'valkey-server'];

function findServer() {
  const named = process.env.REDIS_SERVER;
  if (named !== undefined && named !== '') return named;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) =>
    existsSync(file),
  );
  if (found === undefined) throw new Error('No redis-server on the PATH: install one.');
  return found;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts one that keeps its data in `folder`; resolves to its address and process once it answers. */
export async function startRedis(folder) {
  for (;;) {
    const port = await freePort();
    const options = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
    const server = spawn(findServer(), options, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    const isReady = await new Promise((resolve) => {
      server.stdout.on('data', (chunk) => {
        said += chunk;
        if (said.includes('Ready to accept connections')) resolve(true);
      });
      // Another process may have taken the port.
      server.once('exit', () => resolve(false));
    });
    if (isReady) return { server, url: `redis://127.0.0.1:${port}` };
    if (!said.includes('bind')) throw new Error(`Redis has not started: ${said}`);
  }
}
