/** What may come in between on every page: a broken connection, a login that ends, another account, refusals, odd names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { assertNowhere } from './jobs.mjs';
import { PASSWORD, settled, startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

const LISTS = ['requests', 'keys', 'spend', 'codes', 'people', 'channels', 'tags', 'models'];
const PAGES = ['', ...LISTS, 'nodes', 'audit', 'account'];

const without = (said, expected) => said.filter((text) => !expected.test(text));

/** Waits until a page shows what it has read, whatever that is. */
async function shown(page) {
  await page.getByRole('main').waitFor();
  await settled(page);
}

test('a key whose making was not answered is the same one when it is made again', async () => {
  const { context, page, said } = await console_.open('keys?new=1');
  let isBroken = true;
  await page.route(/\/api\/token$/, async (route) => {
    if (route.request().method() !== 'POST' || !isBroken) return route.continue();
    isBroken = false;
    // The gateway has made it, and its answer is lost.
    await route.fetch();
    return route.abort('connectionreset');
  });
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name', { exact: true }).fill('made once');
  await form.getByRole('button', { name: 'Make key' }).click();
  await form.getByText('No connection to the gateway.').waitFor();
  assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'made once');
  await form.getByRole('button', { name: 'Make key' }).click();
  const secret = await page.locator('.secret').innerText();
  assert.equal((await console_.rerank(secret, 'local')).status, 200);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close without copying' }).click();
  await page.locator('.secret').waitFor({ state: 'detached' });
  const { total } = await console_.api(context, 'GET', '/api/token/search?keyword=made%20once');
  assert.equal(total, 1);
  await assertNowhere(page, secret);
  assert.deepEqual(without(said, /ERR_CONNECTION_RESET/), []);
  await context.close();
});

async function logInAgain(page) {
  const again = page.getByRole('dialog', { name: 'You are logged out' });
  await again.waitFor();
  // Somebody mistypes, and goes on where the focus is.
  await again.getByLabel('Password').fill('wrong');
  await again.getByRole('button', { name: 'Log in' }).click();
  await again.getByText('The username or the password is wrong.').waitFor();
  await again.locator('input[type=password]:focus').waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await again.waitFor({ state: 'detached' });
}

test('a login over the page keeps what was typed, and what had failed is done: a form, a file', async () => {
  const { context, page, said } = await console_.open('keys?new=1');
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name', { exact: true }).fill('after the login');
  await form.getByLabel('Budget in dollars', { exact: true }).fill('7');
  await context.clearCookies();
  await form.getByRole('button', { name: 'Make key' }).click();
  await logInAgain(page);
  await page.locator('.secret').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close without copying' }).click();
  await page
    .getByRole('row', { name: /after the login/ })
    .getByText('$7.00')
    .waitFor();
  const { total } = await console_.api(context, 'GET', '/api/token/search?keyword=after%20the');
  assert.equal(total, 1);

  await settled(page);
  await context.clearCookies();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  await logInAgain(page);
  assert.match(readFileSync(await (await saved).path(), 'utf8'), /after the login/);
  assert.deepEqual(without(said, /401/), []);
  await context.close();
});

test('a shared playground is there after the login, and no server was told of it', async () => {
  const { context, page, said } = await console_.open('login', { login: false });
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const fragment = await page.evaluate(async () => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ query: 'shared with you', documents: 'a\nb', lanes: ['local'] }),
    );
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    return `v1.${btoa(String.fromCharCode(...packed))
      .replaceAll('+', '-')
      .replaceAll('/', '_')}`;
  });
  await page.goto(`${console_.url}/console/playground#${fragment.replaceAll('=', '')}`);
  await page.getByLabel('Name or e-mail address').fill('root');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('input[type=password]:focus').waitFor();
  // Also through a reload of the login page.
  await page.reload();
  await page.getByLabel('Name or e-mail address').fill('root');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  const query = page.getByLabel('Query');
  await until(
    'the query of the link',
    async () => (await query.inputValue()) === 'shared with you',
  );
  const told = asked.filter((url) => url.split('#')[0].includes(fragment.slice(3, 20)));
  assert.deepEqual(told, []);
  assert.deepEqual(without(said, /401/), []);
  await context.close();
});

test('a tab does nothing in the name of another account that logged in beside it', async () => {
  const { context, page, said } = await console_.open('login');
  await console_.api(context, 'POST', '/api/user', { username: 'eve', password: PASSWORD });
  await console_.makeKey(context, { name: 'a secret of root' });
  await page.goto(`${console_.url}/console/keys?new=1`);
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name', { exact: true }).fill('of root alone');
  // As another program of this browser does, of which no tab hears.
  await console_.api(context, 'POST', '/api/user/login', { username: 'eve', password: PASSWORD });
  const other = await context.newPage();
  await other.goto(`${console_.url}/console/keys`);
  await other.getByText('No key yet').first().waitFor();

  await form.getByRole('button', { name: 'Make key' }).click();
  const again = page.getByRole('dialog', { name: 'You are logged out' });
  await again.waitFor();
  const { total } = await console_.api(context, 'GET', '/api/token');
  assert.equal(total, 0, 'eve has got no key');
  assert.equal((await other.content()).includes('a secret of root'), false);

  await again.getByLabel('Name or e-mail address').fill('root');
  await again.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('.secret').waitFor();
  const { items } = await console_.api(context, 'GET', '/api/token/search?keyword=of%20root%20al');
  assert.equal(items.length, 1);
  assert.deepEqual(without(said, /401|403/), []);
  await context.close();
});

const REFUSALS = [
  [429, 'rate_limited', 'Too many requests of this account.'],
  [503, 'store_unavailable', 'The store does not answer.'],
];

test('every page says that it is too often, and that the store is away, and comes back by itself', async () => {
  const { context, page } = await console_.open('login');
  let refusal;
  await page.route(/\/api\/(?!about)/, (route) => {
    if (refusal === undefined) return route.continue();
    const [status, code, message] = refusal;
    return route.fulfill({
      ...{ status, headers: { 'retry-after': '1' } },
      json: { success: false, message, code, request_id: 'r1' },
    });
  });
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  for (const path of [...PAGES, 'keys/1', 'channels/1', 'people/1', 'tags/own', 'channels/new']) {
    for (refusal of REFUSALS) {
      await page.goto(`${console_.url}/console/${path}`);
      await page.getByRole('alert').filter({ hasText: refusal[2] }).first().waitFor();
    }
  }
  await page.goto(`${console_.url}/console/keys?keyword=nobody`);
  await page.getByText('The store does not answer.').first().waitFor();
  await page.getByRole('button', { name: 'CSV' }).click();
  await page.getByRole('status').filter({ hasText: 'The store does not answer.' }).waitFor();
  refusal = undefined;
  await page.getByText('Nothing matches').waitFor();
  await until('nothing is said any more', async () => {
    return (await page.getByRole('alert').count()) === 0;
  });
  assert.deepEqual(errors, []);
  await context.close();
});

test('back and forward lead through pages, filters, drawers and dialogs', async () => {
  const { context, page, said } = await console_.open('');
  const steps = [
    ['', () => page.getByRole('heading', { name: 'Overview' })],
    ['keys', () => page.getByRole('heading', { name: /^Keys/ })],
    ['keys?open=1', () => page.getByRole('dialog', { name: 'first key' })],
    ['channels', () => page.getByRole('heading', { name: /^Channels/ })],
    ['channels?open=2', () => page.getByRole('dialog', { name: 'voyage-eu' })],
    ['tags?off=hosted', () => page.getByRole('dialog', { name: /Switch .hosted. off/ })],
    ['models?model=local', () => page.getByRole('dialog', { name: 'local' })],
  ];
  const link = (to) => page.locator(`a[href="/console/${to}"]`).first();
  await steps[0][1]().waitFor();
  await link('keys').click();
  await steps[1][1]().waitFor();
  await link('keys/1').click();
  await steps[2][1]().waitFor();
  // A dialog that covers the navigation is left by the search.
  for (const [to, thing] of steps.slice(3)) {
    await page.evaluate((path) => {
      globalThis.history.pushState(null, '', `/console/${path}`);
      globalThis.dispatchEvent(new globalThis.PopStateEvent('popstate'));
    }, to);
    await thing().waitFor();
  }
  for (const [to, thing] of steps.slice(2, -1).reverse()) {
    await page.goBack();
    await thing().waitFor();
    assert.equal(page.url(), `${console_.url}/console/${to}`);
  }
  for (const [to, thing] of steps.slice(3)) {
    await page.goForward();
    await thing().waitFor();
    assert.equal(page.url(), `${console_.url}/console/${to}`);
  }
  assert.deepEqual(said, []);
  await context.close();
});

test('every address can be loaded again, and shows the same', async () => {
  const { context, page, said } = await console_.open('login');
  const key = await console_.makeKey(context, { name: 'reloaded' });
  const { id } = await console_.rerank(key, 'local');
  await until('the request is in the log', async () => {
    const reply = await context.request.get(`${console_.url}/api/log/request/${id}`);
    return reply.status() === 200;
  });
  await until('the request is in the statistics', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const span = `start_timestamp=${now - 3_600}&end_timestamp=${now + 60}&by=token`;
    const { rows } = await console_.api(context, 'GET', `/api/stats/breakdown?${span}`);
    return rows.some(({ token_name: name }) => name === 'reloaded');
  });
  await console_.api(context, 'POST', '/api/redemption', { name: 'gift', quota: 5 });
  const addresses = [
    // The plain lists are the same with less to keep in their addresses.
    ...['', 'playground', 'channels/new', `requests/${id}`],
    ...['keys/1', 'people/1', 'channels/1', 'codes/1', 'tags/own', 'models/rerank-2.5'],
    ...['keys?open=1', 'people?open=1', 'channels?open=1', 'models?model=local', 'tags?off=hosted'],
    ...['keys?new=1', 'people?new=1', 'codes?new=1', 'keys?keyword=reloaded&status=enabled'],
    ...['?span=24h', 'requests?span=7d', 'spend?span=last_month', 'audit?action=token.create'],
    'no-such-page',
  ];
  const look = () =>
    page.evaluate(() => {
      const heads = [...document.querySelectorAll('h1, dialog h2, th')];
      const values = [...document.querySelectorAll('input.filter, select.filter')];
      return [
        ...[location.href, document.querySelectorAll('dialog[open]').length],
        ...heads.map(({ textContent }) => textContent.replace(/\d+$/, '')),
        ...values.map(({ value }) => value),
      ];
    });
  for (const address of addresses) {
    await page.goto(`${console_.url}/console/${address}`);
    await shown(page);
    const before = await look();
    await page.reload();
    await shown(page);
    assert.deepEqual(await look(), before, address);
    assert.equal(before[0], `${console_.url}/console/${address}`);
  }
  assert.deepEqual(said, []);
  await context.close();
});

const ODD = `<script>globalThis.caught=1</script><img src=x onerror="globalThis.caught=1">`;
/** Text that begins markup, runs from right to left, has signs of four units, and does not end. */
const nameOf = (length) => `${ODD} שלום 👍🏽 ${'wide'.repeat(300)}`.slice(0, length);

test('odd and endless names are text on every page, in every form, and move nothing', async () => {
  const { context, page, said } = await console_.open('login');
  const api = (method, path, body) => console_.api(context, method, path, body);
  const name = nameOf(128);
  const tag = nameOf(128);
  const channel = await api('POST', '/api/channel', {
    ...{ name: nameOf(128), provider: 'local', tag },
    models: { [nameOf(128)]: 'local/lexical' },
  });
  await api('POST', '/api/channel/tag/disabled', { tag, reason: nameOf(500) });
  await api('POST', '/api/redemption', { name: nameOf(128), quota: 5, count: 2 });
  const key = await console_.makeKey(context, { name });
  const { items } = await api('GET', '/api/token');
  const { id: request } = await console_.rerank(key, nameOf(128));
  await until('the request is in the log', async () => {
    const reply = await context.request.get(`${console_.url}/api/log/request/${request}`);
    return reply.status() === 200;
  });
  const made = items.find((one) => one.name === name);
  const paths = [...PAGES, `keys?open=${made.id}`, `keys/${made.id}`, `requests/${request}`];
  paths.push(`channels?open=${channel.id}`, `tags/${encodeURIComponent(tag)}`);
  const wide = [];
  for (const path of paths) {
    await page.goto(`${console_.url}/console/${path}`);
    await shown(page);
    const beyond = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (beyond > 0) wide.push([path, beyond]);
  }
  await page.getByText(ODD).first().waitFor();

  const forms = ['keys?new=1', 'people?new=1', 'codes?new=1', `keys?open=${made.id}&edit=1`];
  for (const path of [...forms, `channels?open=${channel.id}&edit=1`, 'account', 'playground']) {
    await page.goto(`${console_.url}/console/${path}`);
    await shown(page);
    const dialog = page.locator('dialog[open]').last();
    const place = (await dialog.count()) === 0 ? page.getByRole('main') : dialog;
    const fields = place.locator(
      'input:not([type]), input[type=text], input[type=search], textarea',
    );
    for (const field of await fields.all())
      if (await field.isVisible()) await field.fill(nameOf(1_000));
    if (path === 'keys?new=1') {
      // What is refused stays as it was typed.
      await page.keyboard.press('Control+Enter');
      await dialog.getByRole('alert').first().waitFor();
      assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), nameOf(1_000));
    }
    await settled(page);
    const beyond = await place.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    );
    if (beyond > 0) wide.push([path, beyond]);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(nameOf(1_000));
  await settled(page);
  assert.equal(await page.evaluate(() => globalThis.caught), undefined);
  assert.deepEqual(wide, []);
  assert.deepEqual(without(said, /400/), []);
  await context.close();
});
