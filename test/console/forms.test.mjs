import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { faultsOf, PASSWORD, settled, startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole({ server: { public_url: 'https://rerank.example.com/tools' } });
});

after(() => console_?.stop());

test('a key has every member that the API takes, when it is made and when it is changed', async () => {
  const { context, page, said } = await console_.open('keys?new=1');
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name', { exact: true }).fill('search');
  await form.getByLabel('Budget in dollars', { exact: true }).fill('5');
  await form.getByText('Limits', { exact: true }).click();
  await form.getByLabel('Requests a minute').fill('60');
  await form.getByLabel('Form that its client speaks').selectOption('tei');
  await form.getByLabel('Answer its requests with kept rankings').uncheck();
  await form.getByLabel('Renewing budget in dollars').fill('2');
  await form.getByLabel('It renews').selectOption('week');
  await form.getByLabel('Addresses').fill('10.0.0.0/8');
  await form.getByLabel('Other names for models').fill('fast = local');
  await form.getByLabel('Fallback models').fill('rerank-2.5');
  await form.getByText('--aliases fast=local').waitFor();
  assert.deepEqual(await faultsOf(page, 'new key'), []);
  await form.getByLabel('Name', { exact: true }).press('Control+Enter');
  const shown = page.getByRole('dialog', { name: /The key/ });
  await shown.getByRole('button', { name: 'Copy the key' }).click();
  await shown.getByRole('button', { name: 'Done' }).click();

  const keyOf = async () => {
    const { items } = await console_.api(context, 'GET', '/api/token');
    return items.find(({ name }) => name.startsWith('search'));
  };
  const made = await keyOf();
  assert.deepEqual(
    [made.remain_quota, made.rate_limit, made.dialect, made.reply_cache, made.fallbacks],
    [2_500_000, 60, 'tei', false, ['rerank-2.5']],
  );
  assert.deepEqual(
    [made.budget, made.budget_period, made.allow_ips, made.aliases],
    [1_000_000, 'week', ['10.0.0.0/8'], { fast: 'local' }],
  );

  await page.getByRole('button', { name: 'Actions: search' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Change the key “search”' });
  assert.equal(await edit.getByLabel('Renewing budget in dollars').inputValue(), '2');
  await edit.getByLabel('Name', { exact: true }).fill('search two');
  await edit.getByLabel('Requests a minute').fill('');
  // Somebody else changes it while the form is open.
  await console_.api(context, 'PUT', '/api/token', { id: made.id, max_concurrency: 9 });
  await edit.getByLabel('Name', { exact: true }).press('Control+Enter');
  const asked = edit.getByRole('alert');
  await asked.getByRole('row', { name: /Concurrent requests 9/ }).waitFor();
  await asked.getByRole('row', { name: /Name search search two/ }).waitFor();
  assert.deepEqual(await faultsOf(page, 'changed meanwhile'), []);
  await asked.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('row', { name: /search two/ }).waitFor();
  const kept = await keyOf();
  assert.deepEqual(
    [kept.name, kept.rate_limit, kept.max_concurrency, kept.budget],
    ['search two', 0, 0, 1_000_000],
  );
  // The refused change is a 409, which browsers tell of.
  assert.deepEqual(
    said.filter((line) => !line.includes('409')),
    [],
  );
  await context.close();
});

test('a channel shows what somebody else wrote meanwhile, and takes it', async () => {
  const { context, page, said } = await console_.open('channels');
  const { id } = await console_.api(context, 'POST', '/api/channel', {
    ...{ name: 'own', provider: 'local', models: { own: 'local/lexical' } },
  });
  await page.goto(`${console_.url}/console/channels?open=${id}&edit=1`);
  const form = page.getByRole('dialog', { name: 'Change “own”' });
  await form.getByLabel('What you pay there').fill('0.25');
  await form.getByLabel('Renewing budget in dollars').fill('10');
  await form.getByLabel('The budget is').selectOption('tag');
  await form.getByLabel('Priority').fill('7');
  await console_.api(context, 'PUT', '/api/channel', { id, priority: 3, tag: 'theirs' });
  await form.getByLabel('Priority').press('Control+Enter');
  const asked = form.getByRole('alert');
  await asked.getByRole('row', { name: /Priority 3 7/ }).waitFor();
  await asked.getByRole('row', { name: /Tag theirs none/ }).waitFor();
  const [why, foot] = await Promise.all(
    [asked.getByRole('button', { name: 'Keep mine' }), form.locator('.dialog-foot')].map((part) =>
      part.boundingBox(),
    ),
  );
  assert.ok(why.y >= 0 && why.y + why.height <= foot.y, 'what became of Save is in sight');
  await asked.getByRole('button', { name: 'Take theirs' }).click();
  await asked.waitFor({ state: 'detached' });
  assert.equal(await form.getByLabel('Priority').inputValue(), '3');
  await form.getByLabel('What you pay there').fill('0.5');
  await form.getByLabel('Priority').press('Control+Enter');
  await form.waitFor({ state: 'detached' });
  const now = await console_.api(context, 'GET', `/api/channel/${id}`);
  assert.deepEqual([now.priority, now.tag, now.cost, now.budget], [3, 'theirs', 250_000, 0]);
  assert.deepEqual(
    said.filter((line) => !line.includes('409')),
    [],
  );
  await context.close();
});

test('a refusal that names a field is in sight, between the head and the foot of the form', async () => {
  const { context, page, said } = await console_.open('channels', {
    viewport: { width: 1280, height: 500 },
  });
  const { id } = await console_.api(context, 'POST', '/api/channel', {
    ...{ name: 'theirs', provider: 'tei', models: ['m'], base_url: 'http://127.0.0.1:9' },
  });
  await page.goto(`${console_.url}/console/channels?open=${id}&edit=1`);
  const form = page.getByRole('dialog', { name: 'Change “theirs”' });
  await form.getByLabel('Address').fill('http://user:password@127.0.0.1');
  for (const from of ['Name', 'Reason']) {
    // It is scrolled to from above, and from below.
    await form.getByLabel(from, { exact: true }).press('Control+Enter');
    await form.getByText(/must not carry a user or password/).waitFor();
    await settled(page);
    const [head, field, foot] = await Promise.all(
      ['.dialog-head', '.field:has([role=alert])', '.dialog-foot'].map((part) =>
        form.locator(part).boundingBox(),
      ),
    );
    assert.ok(
      field.y >= head.y + head.height && field.y + field.height <= foot.y,
      `from ${from}: ${JSON.stringify([head, field, foot])}`,
    );
  }
  assert.deepEqual(
    said.filter((line) => !line.includes('400')),
    [],
  );
  await context.close();
});

test('a refusal of what was folded away, or is far up the page, is in sight', async () => {
  const viewport = { width: 1280, height: 500 };
  const { context, page, said } = await console_.open('keys?new=1', { viewport });
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name', { exact: true }).fill('folded');
  await form.getByText('Limits', { exact: true }).click();
  await form.getByLabel('Addresses').fill('nonsense');
  await form.getByText('Limits', { exact: true }).click();
  await form.getByLabel('Addresses').waitFor({ state: 'hidden' });
  await form.getByRole('button', { name: 'Make key' }).click();
  await form.getByRole('alert').waitFor();
  assert.ok(await form.getByRole('alert').evaluate(isInView));

  await page.goto(`${console_.url}/console/channels/new`);
  await page.getByRole('searchbox').fill('cohere');
  await page.locator('.cards button').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'api_key (required)' }).fill('a-credential');
  await page.getByLabel('Models', { exact: true }).fill('m');
  await page.getByLabel('Address').fill('http://user:password@127.0.0.1');
  await page.getByRole('button', { name: 'Add, switched off' }).click();
  const why = page.getByRole('alert').filter({ hasText: 'must not carry a user or password' });
  await why.waitFor();
  await settled(page);
  assert.ok(await why.evaluate(isInView));
  assert.deepEqual(
    said.filter((line) => !line.includes('400')),
    [],
  );
  await context.close();
});

/** In a page: whether the whole of an element is in the window, and nothing lies over it. */
function isInView(element) {
  const { left, top, bottom } = element.getBoundingClientRect();
  const over = [top + 1, bottom - 1].map((y) => document.elementFromPoint(left + 1, y));
  return over.every((found) => found !== null && element.contains(found));
}

/** The mails that the gateway has written, decoded. */
function mailsTo(folder, address) {
  const outbox = join(folder, 'outbox');
  const texts = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
  return texts
    .filter((text) => text.includes(`To: ${address}`))
    .map((text) => text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='));
}

test('somebody is invited by mail, chooses a password by its link, and is mailed another', async () => {
  const { context, page, said } = await console_.open('people?new=1');
  const form = page.getByRole('dialog', { name: 'New account' });
  await form.getByRole('radio', { name: 'By mail' }).check({ force: true });
  await form.getByLabel('Name', { exact: true }).fill('lin');
  await form.getByLabel('E-mail').fill('lin@example.com');
  await form.getByText('Limits', { exact: true }).click();
  await form.getByLabel('Renewing budget in dollars').fill('3');
  assert.deepEqual(await faultsOf(page, 'invitation'), []);
  await form.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('An invitation is on its way to lin@example.com.').waitFor();

  const mails = await until('the mail', () => {
    const found = mailsTo(console_.folder, 'lin@example.com');
    return found.length > 0 ? found : undefined;
  });
  const link = /https:\/\/rerank\.example\.com\/tools\/console\/(reset#\S+)/.exec(mails[0])?.[1];
  const guest = await console_.open(link, { login: false });
  await guest.page.getByLabel('New password').fill(PASSWORD);
  await guest.page.getByRole('button', { name: 'Set the password' }).click();
  await guest.page.getByLabel('Name or e-mail address').fill('lin');
  await guest.page.getByLabel('Password').fill(PASSWORD);
  await guest.page.keyboard.press('Enter');
  await guest.page.getByRole('heading', { name: 'Home' }).waitFor();
  assert.deepEqual(guest.said, []);
  await guest.context.close();

  await page.goto(`${console_.url}/console/people`);
  await page.getByRole('button', { name: 'Actions: lin' }).click();
  await page.getByRole('menuitem', { name: 'Mail a reset…' }).click();
  const asked = page.getByRole('dialog', { name: /Mail lin a code/ });
  await asked.getByRole('button', { name: 'Mail a reset' }).click();
  await page.getByText('A code is on its way to lin@example.com.').waitFor();
  assert.equal(mailsTo(console_.folder, 'lin@example.com').length, 2);

  await page.getByRole('button', { name: 'Actions: lin' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Change lin' });
  assert.equal(await edit.getByLabel('Renewing budget in dollars').inputValue(), '3');
  await edit.getByLabel('Display name').fill('Lin');
  assert.deepEqual(await faultsOf(page, 'edit account'), []);
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /lin Lin/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('whose a key is, is asked without the key in an address', async () => {
  const { context, page, said } = await console_.open('');
  const key = await console_.makeKey(context, { name: 'found by its key' });
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill(key);
  await page.getByRole('option', { name: /found by its key/ }).waitFor();
  assert.deepEqual(
    asked.filter((url) => url.includes(key.slice(3, 12))),
    [],
  );
  assert.deepEqual(said, []);
  await context.close();
});

test('an auditor sees every page and changes nothing', async () => {
  const root = await console_.open('');
  await console_.api(root.context, 'POST', '/api/user', {
    ...{ username: 'aud', password: PASSWORD, role: 5 },
  });
  const { context, page, said } = await console_.open('', { username: 'aud' });
  const pages = [
    ...['channels', 'tags', 'people', 'codes', 'nodes', 'audit', 'requests', 'spend', 'models'],
  ];
  for (const path of pages) {
    await page.goto(`${console_.url}/console/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('alert').count(), 0, path);
    const buttons = await page.locator('main').getByRole('button').allTextContents();
    const writing = buttons.filter((text) => /^(Add|New|Make|Switch|Delete|⋯)/.test(text));
    assert.deepEqual(writing, [], path);
  }
  await page.goto(`${console_.url}/console/`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const refused = await context.request.post(`${console_.url}/api/channel/tag/disabled`, {
    data: { tag: 'hosted' },
  });
  assert.equal(refused.status(), 403);
  assert.deepEqual(said, []);
  await context.close();
  await root.context.close();
});
