import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAccount, PASSWORD, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

let folder = '';
let gateway: TestGateway;
let account: Account;
let proxy: ChildProcess;
let certificate = '';

/** A certificate for nobody else, and its key, as HAProxy wants them: one after the other. */
function certify(): string {
  const [key, made] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=gateway.test', '-addext', 'subjectAltName=DNS:gateway.test'];
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  const { status } = spawnSync('openssl', [
    'req',
    ...kind,
    '-keyout',
    key,
    '-out',
    made,
    ...subject,
  ]);
  if (status !== 0) throw new Error('openssl makes no certificate');
  writeFileSync(
    join(folder, 'gateway.pem'),
    readFileSync(made, 'utf8') + readFileSync(key, 'utf8'),
  );
  return readFileSync(made, 'utf8');
}

/** The real settings, with the addresses of this test: sockets in its folder, and the one gateway there is. */
function settingsFor(port: string): string {
  return readFileSync('config/haproxy-tls.cfg', 'utf8')
    .replace('bind :8080', `bind unix@${join(folder, 'tls.sock')}`)
    .replace('bind 127.0.0.1:8081', `bind unix@${join(folder, 'health.sock')}`)
    .replace('/usr/local/etc/haproxy/tls/gateway.pem', join(folder, 'gateway.pem'))
    .replace('server-template gateway 20 gateway:8080', `server gateway 127.0.0.1:${port}`)
    .replace('inter 1s', 'inter 100ms');
}

interface Answer {
  readonly status: number | undefined;
  readonly cookies: readonly string[];
}

async function ask(path: string, options: RequestOptions = {}, body?: unknown): Promise<Answer> {
  const asked = request({
    ...{ socketPath: join(folder, 'tls.sock'), path, ca: certificate, servername: 'gateway.test' },
    ...options,
    agent: false,
  });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  await text(response);
  return { status: response.statusCode, cookies: response.headers['set-cookie'] ?? [] };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proxy-tls-'));
  certificate = certify();
  gateway = await startGateway({ server: { trusted_proxies: ['127.0.0.1'] } });
  account = await createAccount(gateway.store);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, settingsFor(new URL(gateway.url).port));
  proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  const isUp = (): Promise<boolean> =>
    ask('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('the proxy finds the gateway', isUp, 60_000);
}, 120_000);

afterAll(async () => {
  const gone = once(proxy, 'exit');
  proxy.kill('SIGKILL');
  await gone;
  await gateway.close();
  rmSync(folder, { recursive: true });
});

describe('TLS at the proxy', () => {
  it('gives cookies that no plain connection carries, whatever the caller says of its own', async () => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'http' };
    const login = { username: account.user.username, password: PASSWORD };

    const { status, cookies } = await ask('/api/user/login', { method: 'POST', headers }, login);

    expect(status).toBe(200);
    expect(cookies.join()).toMatch(/; Secure/i);
  });

  it('keeps metrics inside', async () => {
    expect((await ask('/metrics')).status).toBe(404);
    expect((await ask('//metrics')).status).toBe(404);
  });

  it('takes no old TLS, and nothing without TLS', async () => {
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    await expect(ask('/healthz', old)).rejects.toThrow();

    const plain = connect(join(folder, 'tls.sock'));
    plain.on('error', () => undefined);
    plain.write('GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n');
    let said = '';
    plain.on('data', (bytes) => (said += bytes.toString('latin1')));
    await once(plain, 'close');
    expect(said).not.toContain('200');
  });
});
