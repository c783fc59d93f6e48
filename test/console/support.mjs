import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findBrowser } from './get-browser.mjs';

export const root = join(import.meta.dirname, '..', '..');
export const PASSWORD = 'correct horse battery';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
const CONFIG = {
  gateway: { default_model: 'local' },
  accounts: { attempts_per_account: 1_000, attempts_per_address: 1_000 },
  channels: [
    { name: 'inside', provider: 'local', tag: 'own', models: { local: 'local/lexical' } },
    {
      name: 'voyage-eu',
      provider: 'local',
      tag: 'hosted',
      models: { 'rerank-2.5': 'local/lexical', local: 'local/lexical' },
    },
  ],
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A gateway process on a folder of its own, and a browser; `stop` ends both. */
export async function startConsole(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'console-test-'));
  const config = join(folder, 'gateway.yaml');
  writeFileSync(config, JSON.stringify({ ...CONFIG, ...settings }));
  const gateways = [];

  /** One more gateway on the same store; resolves to its process and address. */
  async function startNode() {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const gateway = spawn(process.execPath, [join(root, 'dist', 'main.js'), '--config', config], {
      env: { ...process.env, PORT: String(port), DATA_DIR: folder, ROOT_PASSWORD: PASSWORD },
      stdio: 'ignore',
    });
    gateways.push(gateway);
    const giveUpAt = Date.now() + 30_000;
    for (;;) {
      const isUp = await fetch(`${address}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return { gateway, url: address };
      assert.ok(Date.now() < giveUpAt, 'the gateway does not start');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  const { url } = await startNode();
  const browser = await chromium.launch({ executablePath: findBrowser(), args: FLAGS });

  async function api(context, method, path, data) {
    const reply = await context.request.fetch(url + path, { method, data });
    const body = await reply.json();
    assert.equal(body.success, true, `${method} ${path}: ${body.message}`);
    return body.data;
  }

  return {
    url,
    startNode,
    api,

    /** A page whose console must stay empty, and whose policy must not be broken. */
    async open(path, { login = true, username = 'root', password = PASSWORD, ...options } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        locale: 'en-GB',
        ...options,
      });
      if (login) await api(context, 'POST', '/api/user/login', { username, password });
      const page = await context.newPage();
      page.setDefaultTimeout(12_000);
      const said = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) said.push(message.text());
      });
      page.on('pageerror', (error) => said.push(error.message));
      await page.goto(`${url}/console/${path}`);
      return { context, page, said };
    },

    async makeKey(context, given = {}) {
      const body = { name: 'of a test', unlimited_quota: true, ...given };
      return (await api(context, 'POST', '/api/token', body)).key;
    },

    async rerank(key, model) {
      const documents = ['Saturn has moons.', 'Olive oil.'];
      const reply = await fetch(`${url}/v1/rerank`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, query: 'moons', documents }),
      });
      return { status: reply.status, id: reply.headers.get('x-request-id') };
    },

    async stop() {
      await browser.close();
      for (const gateway of gateways) {
        gateway.kill('SIGCONT');
        gateway.kill('SIGTERM');
        if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What axe finds on a page, and by how much the page is wider than a phone. */
export async function faultsOf(page, name) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    });
    return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  });
  const found = violations.map((violation) => [name, ...violation]);
  await page.setViewportSize({ width: 390, height: 844 });
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (overflow > 0) found.push([name, `${overflow} px wider than a phone`]);
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}
