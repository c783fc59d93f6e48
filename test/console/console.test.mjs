import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { faultsOf, PASSWORD, root, startConsole, until } from './support.mjs';

let open;
let api;
let makeKey;
let rerank;
let stop;
let url;

before(async () => {
  ({ open, api, makeKey, rerank, stop, url } = await startConsole());
});

after(() => stop?.());

test('somebody logs in, and is told in one sentence when the password is wrong', async () => {
  const { context, page, said } = await open('keys?keyword=x', { login: false });
  await page.getByLabel('Name or e-mail address').fill('root');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').waitFor();

  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Keys/ }).waitFor();

  assert.equal(new URL(page.url()).search, '?keyword=x', 'the address that was asked for is kept');
  // The browser itself tells of the 401.
  assert.deepEqual(
    said.filter((text) => !text.includes('401')),
    [],
  );
  const [cookie] = await context.cookies();
  assert.equal(cookie.httpOnly && cookie.sameSite === 'Strict', true);
  assert.doesNotMatch(await page.evaluate(() => JSON.stringify(localStorage)), /session|sk-/);
  await context.close();
});

test('the id of any answer leads to a page that says why', async () => {
  const { context, page, said } = await open('');
  const key = await makeKey(context);
  const answers = {
    ok: await rerank(key, 'local'),
    invalid_api_key: await rerank('sk-nobody', 'local'),
    model_not_found: await rerank(key, 'no such model'),
  };
  await api(context, 'POST', '/api/channel/tag/disabled', { tag: 'hosted', reason: 'answers 500' });
  answers.no_channel_available = await rerank(key, 'rerank-2.5');
  // The logs are written in batches.
  for (const { id } of Object.values(answers)) {
    const isKept = async () =>
      (await context.request.get(`${url}/api/log/request/${id}`)).status() === 200;
    await until(`request ${id} is in the log`, isKept);
  }

  for (const [code, { id, status }] of Object.entries(answers)) {
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `${status} ${code}` }).waitFor();
    // What is read goes on there, without a line around it.
    await page.locator('main:focus').waitFor();
    const outline = await page
      .locator('main')
      .evaluate((main) => globalThis.getComputedStyle(main).outlineStyle);
    assert.equal(outline, 'none');
    await page.goto(`${url}/console/`);
  }
  await page.goto(`${url}/console/requests/${answers.no_channel_available.id}`);
  await page
    .getByText(/voyage-eu: root switched the tag hosted off at .* \(answers 500\)/)
    .waitFor();
  await api(context, 'POST', '/api/channel/tag/enabled', { tag: 'hosted' });
  assert.deepEqual(said, []);
  await context.close();
});

test('the switch of a tag is found by what one wants to do', async () => {
  const { context, page, said } = await open('');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  const search = page.getByRole('combobox', { name: 'Search' });
  await search.fill('switch off hosted');
  await page.getByRole('option', { name: 'Switch hosted off…' }).waitFor();
  await search.press('Enter');
  const dialog = page.getByRole('dialog', { name: /Switch .hosted. off/ });
  await dialog.getByText('rerank-2.5').first().waitFor();
  await dialog.getByLabel(/To confirm/).fill('hosted');
  await page.keyboard.press('Enter');
  await page.getByText(/in force on 1 of 1 node after \d+ ms/).waitFor();
  // The way back has the focus.
  await page.keyboard.press('Enter');
  await page.getByRole('switch', { name: 'Switch of hosted', checked: true }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('a tag is switched off with its reason, and on again exactly as it was', async () => {
  const { context, page, said } = await open('tags');
  await page.getByRole('switch', { name: 'Switch of hosted' }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch “hosted” off?' });
  await dialog.getByText('rerank-2.5').first().waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Switch off' }).isDisabled(), true);
  await dialog.getByLabel('Reason').fill('a test');
  await dialog.getByLabel(/To confirm/).fill('hosted');
  await page.keyboard.press('Enter');
  await page.getByText(/in force on 1 of 1 node after \d+ ms/).waitFor();
  await page.getByText(/Switched off .* root: a test/).waitFor();

  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('switch', { name: 'Switch of hosted', checked: true }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('a key is made by keyboard alone, shown once, and nowhere once its dialog is closed', async () => {
  const { context, page, said } = await open('keys');
  await page.getByRole('heading', { name: /^Keys/ }).waitFor();
  await page.keyboard.press('n');
  await page.getByLabel('Name', { exact: true }).last().waitFor();
  await page.keyboard.type('team A');
  await page.keyboard.press('Tab');
  await page.keyboard.type('50');
  await page.getByText('May spend $50.00 on all models.').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.secret').waitFor();
  const secret = (await page.locator('.secret').textContent()) ?? '';
  assert.match(secret, /^sk-/);
  assert.equal((await rerank(secret, 'local')).status, 200);

  await page.keyboard.press('Escape');
  await page.getByText('The key was not copied').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const left = await page.evaluate(() =>
    [document.documentElement.outerHTML, location.href, JSON.stringify(localStorage)].join(),
  );
  assert.equal(left.includes(secret), false);
  await page.getByRole('cell', { name: /^team A/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('a key gets a new secret, and the old one works on for as long as was asked', async () => {
  const { context, page, said } = await open('keys');
  const old = await makeKey(context, { name: 'rolled' });
  await page.keyboard.press('r');
  await page.getByRole('button', { name: 'Actions: rolled' }).click();
  await page.getByRole('menuitem', { name: 'New secret…' }).click();
  const asked = page.getByRole('dialog', { name: 'A new secret for “rolled”?' });
  await asked.getByText('one more hour').click();
  await asked.getByLabel('Reason').fill('a test');
  assert.deepEqual(await faultsOf(page, 'new secret'), []);
  await asked.getByRole('button', { name: 'Make new secret' }).click();
  await page.locator('.secret').waitFor();
  const secret = (await page.locator('.secret').textContent()) ?? '';
  assert.notEqual(secret, old);
  for (const key of [old, secret]) assert.equal((await rerank(key, 'local')).status, 200);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close without copying' }).click();
  await page.locator('.secret').waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(secret), false);

  const { items } = await api(context, 'GET', '/api/token/search?keyword=rolled');
  await page.goto(`${url}/console/keys?open=${items[0].id}`);
  await page
    .getByRole('dialog', { name: 'rolled', exact: true })
    .getByText('works until')
    .waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('the playground compares models, and a link that is opened runs nothing', async () => {
  const { context, page, said } = await open('playground');
  await page.getByLabel('Add a model or channel').fill('rerank-2.5');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const ranked = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/playground/rank')) ranked.push(request);
  });
  await page.getByLabel(/^Documents/).press('Control+Enter');
  await page.getByRole('heading', { name: 'Agreement' }).waitFor();
  assert.equal(await page.locator('.rank').count(), 6);
  assert.equal(await page.locator('.gap path').count(), 3);
  assert.equal(ranked.length, 2);

  const link = await page.evaluate(async () => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ query: 'shared?', documents: 'a\nb', lanes: ['local'] }),
    );
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    return btoa(String.fromCharCode(...packed))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  });
  await page.goto(`${url}/console/playground#v1.${link}`);
  await page.reload();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('input, textarea')].some(({ value }) => value === 'shared?'),
  );
  assert.equal(ranked.length, 2, 'what a link brings is not run');
  assert.deepEqual(said, []);
  await context.close();
});

// What is legible depends on the colours, and what fits on the language: each is met here and, the other way round, in
// states.test.mjs.
for (const [colorScheme, locale] of [
  ['light', 'en-GB'],
  ['dark', 'zh-CN'],
]) {
  test(`every page is accessible and fits: ${colorScheme}, ${locale}`, async () => {
    const { context, page, said } = await open('', { colorScheme, locale });
    const key = await makeKey(context);
    await rerank(key, 'local');
    const pages = [
      '',
      'spend',
      'playground',
      'requests',
      'keys',
      'keys?new=1',
      'tags',
      'tags?off=hosted',
    ];
    const found = [];
    for (const path of [...pages, 'nodes', 'alerts', 'audit', 'account', 'no-such-page']) {
      await page.goto(`${url}/console/${path}`);
      found.push(...(await faultsOf(page, path)));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(said, []);
    await context.close();
  });
}

test('a login that is over is asked for again over the page, which no Esc takes away', async () => {
  const { context, page, said } = await open('keys?keyword=draft');
  await page.getByRole('heading', { name: /^Keys/ }).waitFor();
  await context.clearCookies();
  await page.keyboard.press('r');
  const again = page.getByRole('dialog', { name: 'You are logged out' });
  await again.waitFor();
  for (let press = 0; press < 3; press += 1) await page.keyboard.press('Escape');
  // Chromium closes it nevertheless, and the page opens it again: a key in between would meet nobody.
  await again.getByLabel('Password').fill(PASSWORD);
  await again.getByRole('button', { name: 'Log in' }).click();
  await again.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).search, '?keyword=draft');
  // The browser itself tells of the 401.
  assert.deepEqual(
    said.filter((text) => !text.includes('401')),
    [],
  );
  await context.close();
});

test('a page that the gateway is slow to answer shows that it waits', async () => {
  const { context, page, said } = await open('login');
  let proceed;
  const held = new Promise((resolve) => {
    proceed = resolve;
  });
  await page.route('**/api/about', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${url}/console/keys`, { waitUntil: 'commit' });
  await page.locator('.gate [aria-busy=true]').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  proceed();
  await page.getByRole('heading', { name: /^Keys/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('what is sent stays within its budget', async () => {
  const { context, page } = await open('login', { login: false });
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  const names = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name.split('/').pop() ?? '')
      .filter((name) => /\.(js|css)$/.test(name)),
  );
  const assets = join(root, 'dist', 'console', 'assets');
  const sizeOf = (name) => statSync(join(assets, `${name}.gz`)).size;
  const first = names.reduce((sum, name) => sum + sizeOf(name), 0);
  const whole = readdirSync(assets)
    .filter((name) => /\.(js|css)$/.test(name) && !name.startsWith('zh-'))
    .reduce((sum, name) => sum + sizeOf(name), 0);

  const mostOf = (name) =>
    /^plot-/.test(name) ? 25 : /^(playground|(en|zh)-pages)-/.test(name) ? 20 : 15;
  const large = readdirSync(assets).filter(
    (name) => name.endsWith('.js') && !names.includes(name) && sizeOf(name) > mostOf(name) * 1024,
  );

  assert.ok(first <= 35 * 1024, `the first view has ${first} bytes`);
  const html = readFileSync(join(root, 'dist', 'console', 'index.html'), 'utf8');
  assert.deepEqual(
    names.filter((name) => !html.includes(name) && !/^en-/.test(name)),
    [],
    'all but the words is named by the page, so that nothing is found out late',
  );
  assert.deepEqual(
    large,
    [],
    'a page has 15 KB of its own, the playground and the words of all pages 20, charts 25',
  );
  assert.ok(whole <= 172 * 1024, `the whole console has ${whole} bytes`);
  await context.close();
});
