import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findBrowser } from './get-browser.mjs';
import { startRedis } from './redis.mjs';

export const root = join(import.meta.dirname, '..', '..');
export const PASSWORD = 'correct horse battery';
/** For whatever must come in the end, however busy the machine is. */
export const WAIT_MS = 60_000;
const LOOK_EVERY_MS = 50;

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

/** What a gateway logged as failed. */
function failuresIn(log) {
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter((line) => /"level":"(error|fatal)"/.test(line)).join('\n');
}

/** Resolves to what `find` finds, looking until it does; rejects, naming it, when that takes too long. */
export async function until(what, find, withinMs = WAIT_MS) {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    assert.ok(Date.now() < giveUpAt, `${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** The port that a gateway says it listens on. */
function portIn(log) {
  return /"port":(\d+).*"msg":"listening"/.exec(readFileSync(log, 'utf8'))?.[1];
}

/** The requests of each page that are under way, and how many it has begun. */
const traffic = new WeakMap();

function watchTraffic(page) {
  const watched = { underWay: new Set(), begun: 0 };
  traffic.set(page, watched);
  page.on('request', (request) => {
    // Nothing more is heard of what a page asked for that is left.
    if (request.isNavigationRequest()) watched.underWay.clear();
    watched.underWay.add(request);
    watched.begun += 1;
  });
  for (const ended of ['requestfinished', 'requestfailed']) {
    page.on(ended, (request) => watched.underWay.delete(request));
  }
}

/** In a page: resolves to whether it shows all it has read, once two frames have passed and nothing moves any more. */
async function drawn() {
  await document.fonts.ready;
  // After a frame, effects run, which may ask or draw anew.
  for (let frame = 0; frame < 2; frame += 1) {
    await new Promise((resolve) => {
      globalThis.requestAnimationFrame(() => setTimeout(resolve));
    });
  }
  const ending = document
    .getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity);
  await Promise.all(ending.map(({ finished }) => finished.catch(() => undefined)));
  return document.querySelector('[aria-busy=true]') === null;
}

/** Resolves once a page shows what it has read: it waits for no reply, no effect and no animation, on any machine. */
export async function settled(page) {
  const watched = traffic.get(page);
  await until('the page has settled', async () => {
    if (watched.underWay.size > 0) return false;
    const { begun } = watched;
    const isDrawn = await page.evaluate(drawn);
    return isDrawn && watched.underWay.size === 0 && watched.begun === begun;
  });
}

/**
 * A gateway process on a folder of its own, or on a Redis server of its own, and a browser; `stop` ends all of them.
 */
export async function startConsole(settings = {}, { onRedis = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'console-test-'));
  const redis = onRedis ? await startRedis(folder) : undefined;
  const config = join(folder, 'gateway.yaml');
  writeFileSync(config, JSON.stringify({ ...CONFIG, ...settings }));
  const gateways = [];

  /** One more gateway on the same store; resolves to its process and address. */
  async function startNode() {
    const log = join(folder, `gateway-${gateways.length}.log`);
    const output = openSync(log, 'w');
    const gateway = spawn(process.execPath, [join(root, 'dist', 'main.js'), '--config', config], {
      env: {
        ...{ ...process.env, PORT: '0', DATA_DIR: folder, ROOT_PASSWORD: PASSWORD },
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    gateways.push({ gateway, log });
    const port = await until('the gateway listens', () => {
      assert.equal(gateway.exitCode, null, readFileSync(log, 'utf8'));
      return portIn(log);
    });
    return { gateway, url: `http://127.0.0.1:${port}` };
  }

  const { url } = await startNode();
  const browser = await chromium.launch({ executablePath: findBrowser(), args: FLAGS });

  async function api(context, method, path, data) {
    const reply = await context.request.fetch(url + path, { method, data });
    const body = await reply.json();
    assert.equal(
      body.success,
      true,
      `${method} ${path}: ${body.message}\n${gateways.map(({ log }) => failuresIn(log)).join('\n')}`,
    );
    return body.data;
  }

  /** The cookies of logins that were made: a password takes the gateway a quarter of a second. */
  const logins = new Map();

  async function logIn(context, login, isAnew) {
    const known = JSON.stringify(login);
    await context.addCookies((!isAnew && logins.get(known)) || []);
    const self = await context.request.get(`${url}/api/user/self`);
    if ((await self.json()).success) return;
    await api(context, 'POST', '/api/user/login', login);
    logins.set(known, await context.cookies());
  }

  return {
    url,
    folder,
    gateways,
    startNode,
    api,

    /**
     * A page whose console must stay empty, and whose policy must not be broken; `prepare` gets it while it is blank. Pages of
     * one account share a login, unless `login` is 'anew'.
     */
    async open(path, given = {}) {
      const { login = true, username = 'root', password = PASSWORD, prepare, ...options } = given;
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        locale: 'en-GB',
        // Chromium without a window grants it to nobody else.
        permissions: ['clipboard-read', 'clipboard-write'],
        ...options,
      });
      if (login) await logIn(context, { username, password }, login === 'anew');
      const page = await context.newPage();
      page.setDefaultTimeout(WAIT_MS);
      watchTraffic(page);
      const said = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) said.push(message.text());
      });
      page.on('pageerror', (error) => said.push(error.message));
      await prepare?.(page);
      await page.goto(`${url}/console/${path}`);
      return { context, page, said };
    },

    async makeKey(context, given = {}) {
      const body = { name: 'of a test', unlimited_quota: true, ...given };
      return (await api(context, 'POST', '/api/token', body)).key;
    },

    async rerank(key, model, at = url) {
      const documents = ['Saturn has moons.', 'Olive oil.'];
      const reply = await fetch(`${at}/v1/rerank`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, query: 'moons', documents }),
      });
      return { status: reply.status, id: reply.headers.get('x-request-id') };
    },

    async stop() {
      await browser.close();
      for (const { gateway } of gateways) {
        gateway.kill('SIGCONT');
        gateway.kill('SIGTERM');
        if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit');
      }
      if (redis !== undefined) {
        redis.server.kill();
        await once(redis.server, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Clicks the last step of a chart in which its first series has a value. */
export async function clickStep(chart) {
  const plot = chart.locator('.u-over');
  await plot.waitFor();
  const share = await chart.locator('tbody tr').evaluateAll((rows) => {
    const at = rows.findLastIndex(({ cells }) => !['0', '$0', '–'].includes(cells[1].textContent));
    return (at + 0.5) / rows.length;
  });
  const { width, height } = await plot.boundingBox();
  await plot.click({ position: { x: share * width, y: height / 2 } });
}

/** Goes to a page by its letter; the second key does not wait until the page has heard the first. */
export async function goBy(page, letter, heading) {
  await Promise.all(['g', letter].map((key) => page.keyboard.press(key)));
  await page.getByRole('heading', { name: heading }).waitFor();
}

/** How each language’s code is run, as somebody who pastes it would. */
export const PROGRAMS = {
  curl: (code) => ['sh', ['-c', code.replace('curl ', 'curl --silent --show-error --fail ')]],
  TypeScript: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  Python: (code) => ['python3', ['-c', code]],
};

/** What axe finds on a page, and by how much the page is wider than a phone. */
export async function faultsOf(page, name) {
  await settled(page);
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      // Those who read by landmarks and headings get around by these.
      rules: Object.fromEntries(
        ['region', 'landmark-unique', 'heading-order'].map((rule) => [rule, { enabled: true }]),
      ),
    });
    return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  });
  const found = violations.map((violation) => [name, ...violation]);
  await page.setViewportSize({ width: 390, height: 844 });
  await settled(page);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (overflow > 0) found.push([name, `${overflow} px wider than a phone`]);
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}
