import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';

/** What the programs themselves make of the files that deploy the gateway. */

it('docker-compose takes the file, and nothing is left out without a sentence', () => {
  const secrets = { ENCRYPTION_KEY: 'a'.repeat(64), ROOT_PASSWORD: 'b'.repeat(12) };
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  for (const name of ['docker-compose.yml', 'Dockerfile']) copyFileSync(name, join(folder, name));
  writeFileSync(join(folder, '.env'), '');
  const config = (env: Record<string, string>) =>
    spawnSync('docker-compose', ['--file', 'docker-compose.yml', 'config'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...env },
      encoding: 'utf8',
    });

  const whole = config({ ...secrets, REDIS_PASSWORD: 'c'.repeat(64) });
  const lacking = config(secrets);
  rmSync(folder, { recursive: true });

  expect(whole.stderr).not.toMatch(/error|unsupported/i);
  expect(whole.status).toBe(0);
  expect(parse(whole.stdout)).toMatchObject({
    services: {
      redis: { cap_drop: ['ALL'], read_only: true },
      gateway: { environment: { REDIS_URL: `redis://:${'c'.repeat(64)}@redis:6379` } },
    },
  });
  expect(lacking.status).not.toBe(0);
  expect(lacking.stderr).toContain('put REDIS_PASSWORD into .env');
}, 60_000);

it('the proxy starts where a process may open 20 000 files', async () => {
  const free = await freePorts(2);
  const [first, second] = free;
  const file = join(mkdtempSync(join(tmpdir(), 'proxy-')), 'haproxy.cfg');
  const text = readFileSync('config/haproxy.cfg', 'utf8')
    .replace(':8080', `127.0.0.1:${first}`)
    .replace(':8081', `:${second}`);
  writeFileSync(file, text);

  const run = spawnSync('bash', ['-c', `ulimit -n 20000; exec timeout 2 haproxy -f ${file}`], {
    encoding: 'utf8',
  });
  rmSync(dirname(file), { recursive: true });

  // Ended by `timeout`, for it had nothing to stop for.
  expect(run.stderr).not.toContain('ALERT');
  expect(run.status).toBe(124);
});

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  await Promise.all(servers.map((server) => once(server, 'close')));
  return ports;
}
