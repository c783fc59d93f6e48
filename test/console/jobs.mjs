/** What the two files of the ten jobs share: by mouse, and by keyboard alone. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PASSWORD, startConsole, until } from './support.mjs';

export const STORES = [
  { name: 'the embedded store', onRedis: false },
  { name: 'Redis, two gateways', onRedis: true },
];

/** A gateway on that store with the traffic of a day: a second one beside it on Redis. */
export async function startJobs(onRedis) {
  const settings = {
    gateway: { default_model: 'local', staleness_ms: 8_000 },
    prices: { default: { per_search_unit: 250_000 } },
  };
  const console_ = await startConsole(settings, { onRedis });
  const { context } = await console_.open('login');
  const other = onRedis ? await console_.startNode() : undefined;
  const nodes = onRedis ? 2 : 1;
  await until('every gateway reports', async () => {
    const { nodes: reporting } = await console_.api(context, 'GET', '/api/node');
    return reporting.length === nodes;
  });
  const api = (method, path, body) => console_.api(context, method, path, body);
  const { id: ada } = await api('POST', '/api/user', {
    ...{ username: 'ada', email: 'ada@example.com', password: PASSWORD, quota: 5_000_000 },
  });
  const key = await console_.makeKey(context, { name: 'shop', user_id: ada });
  return { ...console_, context, api, key, ada, nodes, otherUrl: other?.url ?? console_.url };
}

/** A page before the login, and a hand whose clicks are counted. */
export async function openAtDoor(gateway, path = '', given = {}) {
  const opened = await gateway.open(path, { login: false, ...given });
  await opened.page.getByRole('button', { name: 'Log in' }).waitFor();
  let count = 0;
  return {
    ...opened,
    async click(locator) {
      count += 1;
      await locator.click();
    },
    /** How many clicks there were since the last question. */
    clicks() {
      const before = count;
      count = 0;
      return before;
    },
  };
}

/** Whatever is shown once is nowhere once its dialog is closed: not in the page, its address, its history, what it stores. */
export async function assertNowhere(page, secret) {
  const cdp = await page.context().newCDPSession(page);
  const { entries } = await cdp.send('Page.getNavigationHistory');
  const left = await page.evaluate(async () => {
    const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
    const caches = await Promise.all(
      (await globalThis.caches.keys()).map(async (name) =>
        (await (await globalThis.caches.open(name)).keys()).map(({ url }) => url),
      ),
    );
    const databases = await globalThis.indexedDB.databases();
    const { localStorage, sessionStorage, history, name } = globalThis;
    return JSON.stringify([
      ...[document.documentElement.outerHTML, document.title, document.cookie, fields],
      ...[{ ...localStorage }, { ...sessionStorage }, history.state, name, caches, databases],
    ]);
  });
  assert.equal(left.includes(secret), false, 'in the page or in what it keeps');
  assert.equal(JSON.stringify(entries).includes(secret), false, 'in the history');
}

/** The text of the file that the page saves when somebody acts. */
export async function saved(page, act) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return readFileSync(await download.path(), 'utf8');
}

/** Goes with Tab to what has that name, however far it is. */
export async function tabTo(page, locator, key = 'Tab') {
  for (let press = 0; press < 80; press += 1) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`the focus does not come to ${locator}`);
}

/** The logs are written in batches. */
export function isLogged({ context, url }, id) {
  return until(`request ${id} is in the log`, async () => {
    const reply = await context.request.get(`${url}/api/log/request/${id}`);
    return reply.status() === 200;
  });
}

/** A test that gets a page before the login; its console stays empty, but for what `expected` names. */
export function job(name, gatewayOf, run, { expected = /^$/, ...given } = {}) {
  test(name, async () => {
    const gateway = gatewayOf();
    const opened = await openAtDoor(gateway, given.path, given);
    await run({ ...opened, gateway });
    const { said } = opened;
    assert.deepEqual(
      said.filter((text) => !expected.test(text)),
      [],
    );
    await opened.context.close();
  });
}
