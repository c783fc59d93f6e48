import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { faultsOf, settled, startConsole, until } from './support.mjs';

/** What nobody but an admin may see: a channel's name, where it leads, and what is said there. */
const HIDDEN = { name: 'hidden-channel', base_url: 'http://127.0.0.1:9/hidden-path' };
const CHANNELS = [
  { name: 'inside', provider: 'local', tag: 'own', models: { local: 'local/lexical' } },
  { ...HIDDEN, provider: 'tei', models: { broken: 'hidden-model' } },
];

let gateway;

before(async () => {
  gateway = await startConsole({ channels: CHANNELS });
});

after(() => gateway?.stop());

/** Notes which rankings a page asks for. */
function rankingsOf(page) {
  const ranked = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/playground/rank')) ranked.push(request.postDataJSON());
  });
  return ranked;
}

async function linkTo(page, item) {
  await page.evaluate(() => globalThis.navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: 'Share' }).click();
  if (item !== undefined) await page.getByRole('menuitem', { name: item }).click();
  return until('the link', async () => {
    const text = await page.evaluate(() => globalThis.navigator.clipboard.readText());
    return text !== '' && text;
  });
}

test('a link that is too long, cut off, or not of a playground says so, and changes nothing', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.getByLabel('Query').waitFor();
  const link = await linkTo(page);
  const faulty = {
    [link.slice(0, -8)]: /cut off or changed/,
    [link.replace('#v1.', '#v2.')]: /not from a playground of this release/,
    [`${gateway.url}/console/playground#${encodeURIComponent('{"query":"q"}')}`]:
      /not from a playground of this release/,
    [`${link}${'A'.repeat(1_000_000)}`]: /longer than any/,
  };
  for (const [address, words] of Object.entries(faulty)) {
    const other = await gateway.open('playground');
    const ranked = rankingsOf(other.page);
    await other.page.goto(address);
    await other.page.getByRole('alert').getByText(words).waitFor();
    assert.equal(
      await other.page.getByLabel('Query').inputValue(),
      'Which planet has the most moons?',
    );
    assert.deepEqual(ranked, []);
    assert.deepEqual(other.said, []);
    if (Object.keys(faulty).indexOf(address) === 0) {
      assert.deepEqual(await faultsOf(other.page, 'a link that was cut off'), []);
    }
    await other.context.close();
  }
  assert.deepEqual(said, []);
  await context.close();
});

test('a link is copied by browsers that allow it only while a press is handled, as Safari does', async () => {
  const { context, page, said } = await gateway.open('playground', {
    prepare: (blank) =>
      blank.addInitScript(() => {
        const { Clipboard } = globalThis;
        const { write, writeText } = Clipboard.prototype;
        const allowed = (run) =>
          function asked(...given) {
            // The test itself empties the clipboard; whatever a page copies, it copies in an event.
            if (given[0] !== '' && globalThis.event === undefined) {
              return Promise.reject(new Error('NotAllowedError: too late'));
            }
            return run.apply(this, given);
          };
        Clipboard.prototype.write = allowed(write);
        Clipboard.prototype.writeText = allowed(writeText);
      }),
  });
  await page.getByLabel('Query').waitFor();
  assert.match(await linkTo(page), /\/console\/playground#v1\./);
  assert.deepEqual(said, []);
  await context.close();
});

test('what is pressed before a link has been read does not run what was there before', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.getByLabel('Query').waitFor();
  await page.getByLabel('Query').fill('of the link');
  const link = await linkTo(page);

  const other = await gateway.open('login', {
    // Holds back what is unpacked until the test lets it go.
    prepare: (blank) =>
      blank.addInitScript(() => {
        const gate = new Promise((resolve) => {
          globalThis.letGo = resolve;
        });
        const { stream } = Blob.prototype;
        Blob.prototype.stream = function held() {
          const holding = new globalThis.TransformStream({
            async transform(chunk, controller) {
              await gate;
              controller.enqueue(chunk);
            },
          });
          return stream.call(this).pipeThrough(holding);
        };
      }),
  });
  const ranked = rankingsOf(other.page);
  await other.page.goto(link);
  await other.page.getByLabel('Query').waitFor();
  await other.page.keyboard.press('Control+Enter');
  assert.equal(await other.page.getByRole('button', { name: /^Run/ }).isDisabled(), true);
  await other.page.evaluate(() => globalThis.letGo());
  await until(
    'the link is read',
    async () => (await other.page.getByLabel('Query').inputValue()) === 'of the link',
  );
  assert.deepEqual(ranked, []);
  await other.page.keyboard.press('Control+Enter');
  await other.page.locator('.rank').first().waitFor();
  assert.deepEqual(
    ranked.map(({ query }) => query),
    ['of the link'],
  );
  assert.deepEqual([...said, ...other.said], []);
  await other.context.close();
  await context.close();
});

const JUDGED = [
  { query: 'moons of Saturn', documents: ['Saturn has many moons.', 'Olive oil.'], labels: [3, 0] },
  { query: 'olive oil', documents: ['Saturn has many moons.', 'Olive oil.'], labels: [0, 2] },
];

test('results of many queries outlive their dialog, and go along in links and files', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.getByLabel('Query').waitFor();
  await page.getByRole('button', { name: 'Many queries…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Many queries' });
  const lines = JUDGED.map((judged) => JSON.stringify(judged)).join('\n');
  await dialog.getByLabel('Queries with labelled documents').fill(lines);
  await dialog.getByRole('button', { name: 'Run' }).click();
  const measured = /^local 2 0 1\.000 1\.000 /;
  await dialog.getByRole('row', { name: measured }).waitFor();
  await dialog.getByRole('button', { name: 'CSV' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const result = page.getByRole('region', { name: 'Quality over all queries' });
  await result.getByRole('row', { name: measured }).waitFor();
  assert.deepEqual(await faultsOf(page, 'results of many queries'), []);

  // They are there after another page, with what was typed.
  await page.getByRole('link', { name: 'Requests' }).first().click();
  await page.getByRole('heading', { name: /^Requests/ }).waitFor();
  await page.goBack();
  await result.getByRole('row', { name: measured }).waitFor();
  await page.getByRole('button', { name: 'Many queries…' }).click();
  assert.equal(await dialog.getByLabel('Queries with labelled documents').inputValue(), lines);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  const link = await linkTo(page, 'A link with the results');
  const other = await gateway.open('playground');
  const ranked = rankingsOf(other.page);
  await other.page.goto(link);
  const theirs = other.page.getByRole('region', { name: 'Quality over all queries' });
  await theirs.getByRole('row', { name: measured }).waitFor();
  await other.page.getByText('from the link').waitFor();
  const [csv] = await Promise.all([
    other.page.waitForEvent('download'),
    other.page.getByRole('button', { name: 'CSV', exact: true }).click(),
  ]);
  assert.match(readFileSync(await csv.path(), 'utf8'), /\r\nolive oil,1,1,/);
  assert.deepEqual(ranked, []);
  await other.page.getByRole('button', { name: 'Remove these results' }).click();
  await theirs.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Export' }).click();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'A file that opens when it is dropped here' }).click(),
  ]);
  await other.page.locator('input[type=file]').setInputFiles({
    ...{ name: 'playground.json', mimeType: 'application/json' },
    buffer: Buffer.from(readFileSync(await saved.path())),
  });
  await theirs.getByRole('row', { name: measured }).waitFor();
  assert.deepEqual(ranked, []);
  assert.deepEqual([...said, ...other.said], []);
  await other.context.close();
  await context.close();
});

test('who is no admin meets no channel, address or upstream message, whatever a link names', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.getByLabel('Query').waitFor();
  const { items } = await gateway.api(context, 'GET', '/api/channel');
  const { id } = items.find(({ name }) => name === HIDDEN.name);
  await page.goto(`${gateway.url}/console/playground?channel=${id}&model=broken`);
  await page.locator('.chip').getByText(`broken · ${HIDDEN.name}`).waitFor();
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.locator('.lane .bad-bar').waitFor();
  await page.getByText(/Attempt 1 on hidden-channel/).waitFor();
  const link = await linkTo(page);

  const user = { username: 'eve', password: 'correct horse battery' };
  const made = await gateway.api(context, 'POST', '/api/user', user);
  await gateway.api(context, 'POST', '/api/user/manage', {
    ...{ id: made.id, action: 'add_quota', mode: 'add', value: 5_000_000 },
  });
  const other = await gateway.open('login', { login: false });
  const login = await other.context.request.post(`${gateway.url}/api/user/login`, { data: user });
  assert.equal(login.status(), 200);
  const told = [];
  other.page.on('response', (reply) => {
    if (!reply.url().includes('/api/')) return;
    told.push(
      reply.text().then(
        (text) => `${reply.status()} ${reply.url()} ${text}`,
        () => '',
      ),
    );
  });
  await other.page.goto(link);
  await other.page.locator('.chip').getByText(`broken · channel ${id}`).waitFor();
  await other.page.keyboard.press('Control+Enter');
  await other.page.locator('.lane').getByText('permission_denied').first().waitFor();
  await other.page
    .getByRole('button', { name: /^Remove$/ })
    .first()
    .click();
  const field = other.page.getByLabel('Add a model');
  await field.fill('broken');
  await field.press('Enter');
  await other.page.getByRole('button', { name: /^Run/ }).click();
  const lane = other.page.getByRole('region', { name: 'broken', exact: true });
  const failed = lane.getByRole('link', { name: /^[0-9a-z_-]+$/i }).last();
  await failed.waitFor();
  const seen = [await other.page.locator('body').innerHTML()];
  await failed.click();
  await other.page.waitForURL(/\/requests\/./);
  await settled(other.page);
  seen.push(await other.page.locator('body').innerHTML());
  for (const path of ['', 'models', 'requests', 'keys', 'spend', 'playground']) {
    await other.page.goto(`${gateway.url}/console/${path}`);
    await other.page.getByRole('heading', { level: 1 }).waitFor();
    await settled(other.page);
    seen.push(await other.page.locator('body').innerHTML());
  }
  const all = [...seen, ...(await Promise.all(told))].join('\n');
  for (const secret of [HIDDEN.name, 'hidden-path', 'hidden-model', '127.0.0.1:9/', 'ECONNREFUSED'])
    assert.ok(
      !all.includes(secret),
      `${secret} is seen: ${all.slice(Math.max(0, all.indexOf(secret) - 300)).slice(0, 400)}`,
    );
  assert.match(all, /403 \S+\/api\/playground\/rank/);
  assert.ok(
    [...said, ...other.said].every((line) => /40[34]|50[234]/.test(line)),
    other.said.join(),
  );
  await other.context.close();
  await context.close();
});
