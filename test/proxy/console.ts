import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';

const BUILDS = ['a', 'b', 'c'];

let folder = '';
let gateways: readonly Server[] = [];
let proxy: ChildProcess;

/** A gateway of which the proxy sees that it is ready; its page and all else say its build. */
async function startDouble(build: string): Promise<Server> {
  const server = createServer((_req, res) => res.end(build));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function stop(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}

const socket = (): string => join(folder, 'public.sock');
const settingsOf = (name: string): string => readFileSync(join('config', name), 'utf8');

/** The real settings, with the addresses of this test: sockets in its folder, and gateways that need no DNS. */
function settingsFor(ports: readonly number[]): string {
  const servers = ports.map((port) => `    server gateway${port} 127.0.0.1:${port}`).join('\n');
  return settingsOf('haproxy.cfg')
    .replace('bind :8080', `bind unix@${socket()} accept-proxy`)
    .replace('bind 127.0.0.1:8081', `bind unix@${join(folder, 'health.sock')}`)
    .replace('    server-template gateway 20 gateway:8080', servers)
    .replace('inter 1s', 'inter 100ms')
    .replace(' resolvers docker init-addr none', '');
}

/** A connection of one browser: a socket in a folder has no address, so it says which. */
function connectAsBrowser(): Socket {
  const connection = connect(socket());
  connection.write('PROXY TCP4 192.0.2.7 192.0.2.1 40000 8080\r\n');
  return connection;
}

/** The build of the gateway that answers; empty while none does. */
async function ask(path: string): Promise<string> {
  const asked = request({ path, createConnection: connectAsBrowser });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const said = await text(response);
  return response.statusCode === 200 ? said : '';
}

async function askOften(path: string): Promise<ReadonlySet<string>> {
  const said: string[] = [];
  for (let at = 0; at < 12; at += 1) said.push(await ask(path));
  return new Set(said);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proxy-console-'));
  gateways = await Promise.all(BUILDS.map(startDouble));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, settingsFor(gateways.map((one) => (one.address() as AddressInfo).port)));
  proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  const findsAll = async (): Promise<boolean> => (await askOften('/healthz')).size === 3;
  await until('the proxy finds the gateways', () => findsAll().catch(() => false), 60_000);
}, 120_000);

afterAll(async () => {
  const gone = once(proxy, 'exit');
  proxy.kill('SIGKILL');
  await gone;
  gateways.forEach(stop);
  rmSync(folder, { recursive: true });
});

describe('the console behind the proxy', () => {
  it('gets all parts of a page from one gateway while it lives, and all else from the others too', async () => {
    const page = await ask('/console/');

    // A machine that stalls makes the proxy take a gateway for dead.
    await until('all parts are of that gateway', async () => {
      const said = await askOften('/console/assets/main-ABC.js');
      return said.size === 1 && said.has(page);
    });
    await until('all gateways answer', async () => {
      const said = await askOften('/api/about');
      return said.size === 3 && !said.has('');
    });

    stop(gateways[BUILDS.indexOf(page)]);
    await until('another gateway has the page', async () => {
      const next = await ask('/console/').catch(() => page);
      return next !== page && next !== '';
    });
    await until('all parts are of that gateway', async () => {
      const said = await askOften('/console/assets/main-ABC.js');
      return said.size === 1 && !said.has('');
    });
  }, 60_000);

  it('is spread in the same way with TLS', () => {
    const backendOf = (name: string): string | undefined =>
      /^backend[^]*/m.exec(settingsOf(name))?.[0];

    expect(backendOf('haproxy-tls.cfg')).toBe(backendOf('haproxy.cfg'));
    expect(backendOf('haproxy.cfg')).toContain('balance leastconn');
  });
});
