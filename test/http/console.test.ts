import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { consoleApi } from '../../src/http/console-api.js';
import { consoleRoutes, readConsole } from '../../src/http/console-routes.js';
import { OPERATIONS } from '../../src/operations/index.js';
import { callApi, createAccount } from '../support/accounts.js';
import { startGateway } from '../support/gateway.js';

const PAGE =
  '<html><meta name="build" content="b7" /><base href="./" /><script src="assets/main-A1.js"></script></html>';

describe('the console’s files', () => {
  let folder: string;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'console-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), PAGE);
    for (const ending of ['', '.br', '.gz']) {
      writeFileSync(join(folder, 'assets', `main-A1.js${ending}`), `code${ending}`);
    }
    const files = readConsole(folder);
    if (files === undefined) throw new Error('the files were not read');
    const app = express();
    app.disable('etag');
    app.use(consoleRoutes(files));
    app.use((_req, res) => {
      res.status(404).send('left alone');
    });
    const refuse: express.ErrorRequestHandler = (error: { status: number }, ...[, res]) => {
      res.status(error.status).send('refused');
    };
    // Express knows a handler of errors by its four arguments.
    app.use(Object.defineProperty(refuse, 'length', { value: 4 }));
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url + path, { headers, redirect: 'manual' });

  it('is the page below every path, with a base that leads to the console’s root', async () => {
    for (const [path, base] of [
      ['/console/', './'],
      ['/console/keys', './'],
      ['/console/requests/rr_1', '../'],
    ] as const) {
      const reply = await get(path);

      expect(await reply.text()).toBe(PAGE.replace('./', base));
      expect(reply.headers.get('cache-control')).toBe('no-cache');
      expect(reply.headers.get('content-security-policy')).toContain(
        "require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(reply.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(reply.headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('says that a page has not changed, for the depth that it was sent for', async () => {
    const etag = (await get('/console/keys')).headers.get('etag') ?? '';

    expect((await get('/console/tags', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('/console/keys/7', { 'if-none-match': etag })).status).toBe(200);
  });

  it('sends browsers there from the root, with an address that keeps a proxy’s prefix', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, 'console/']);
    const short = await get('/console');
    expect([short.status, short.headers.get('location')]).toEqual([302, 'console/']);

    for (const accept of ['*/*', 'application/json']) {
      expect(await (await get('/', { accept })).text()).toBe('left alone');
    }
  });

  it('sends files that never change, in the smallest form that is understood', async () => {
    for (const [accepted, encoding, body] of [
      ['br, gzip', 'br', 'code.br'],
      ['gzip', 'gzip', 'code.gz'],
      ['identity', null, 'code'],
    ] as const) {
      // `fetch` would decompress what is not compressed text here.
      const { status, headers, text } = await raw(`${url}/console/assets/main-A1.js`, accepted);

      expect({ status, text }).toEqual({ status: 200, text: body });
      expect(headers['content-encoding'] ?? null).toBe(encoding);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers.vary).toBe('Accept-Encoding');
    }
  });

  it('has neither files of other releases nor other methods', async () => {
    expect((await get('/console/assets/main-B2.js')).status).toBe(404);
    expect((await fetch(`${url}/console/keys`, { method: 'POST' })).status).toBe(405);
  });

  it('has a build, which tells it from others of its release', () => {
    expect(readConsole(folder)?.build).toBe('b7');
  });

  it('is missing if it was not built', () => {
    expect(readConsole(join(folder, 'nowhere'))).toBeUndefined();
  });
});

describe('about', () => {
  it('tells everybody about the gateway, and who is logged in, also when a login has ended', async () => {
    const gateway = await startGateway({ console: { enabled: false } });
    const { user, cookie } = await createAccount(gateway.store);
    const about = async (call: { readonly cookie?: string } = {}) =>
      (await callApi<Record<string, unknown>>(gateway.url, 'GET', '/api/about', call)).body.data;

    const nobody = await about();
    expect(nobody).toMatchObject({ self: null, mail: 'outbox', units_per_usd: 500_000 });
    expect(nobody.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(nobody.builds).toEqual([]);
    expect(await about({ cookie })).toMatchObject({ self: { id: user.id } });
    expect(await about({ cookie: 'rerank_session=over' })).toMatchObject({
      ...{ self: null, logins: { refusal: null } },
    });
    expect((await fetch(`${gateway.url}/console/`)).status).toBe(404);
    await gateway.close();
  });
});

describe('what the console knows of the API', () => {
  it('is made of the tables of operations and members when the console is built', async () => {
    const files = await consoleApi();
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(`src/console/api/${name}`, 'utf8')).toBe(text);
    }
    for (const { id } of OPERATIONS) expect(files['operations.ts']).toContain(`\n  ${id}: {`);
    expect(files['members.ts']).toContain('"name":"timeout_ms"');
    expect(files['member-words.ts']).toContain('Timeout of an attempt, in ms');
  });
});

async function raw(
  address: string,
  accepted: string,
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(address, { headers: { 'accept-encoding': accepted } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part: string) => (text += part));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}
