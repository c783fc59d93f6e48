import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { faultsOf, PROGRAMS, startConsole, until } from './support.mjs';

let gateway;

before(async () => {
  gateway = await startConsole({ prices: { default: { per_search_unit: 1_000 } } });
});

after(() => gateway?.stop());

test('a file brings documents with labels, which measure each lane; the bill stands before the run', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.locator('input[type=file]').setInputFiles({
    name: 'judged.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      'text,label\nSaturn has many moons.,3\nOlive oil.,0\nThe moons of Mars.,\n',
    ),
  });
  await page.getByText(/1 request: about \$0\.002/).waitFor();
  await page.getByLabel('Query').fill('moons of Saturn');
  await page.getByLabel('Query').press('Control+Enter');
  const quality = page.getByRole('region', { name: 'Quality by your labels' });
  await quality.getByRole('row', { name: /local 1\.000 1\.000 1/ }).waitFor();

  await page.getByRole('button', { name: /The moons of Mars/ }).click();
  await page.getByRole('radio', { name: '3' }).check({ force: true });
  assert.deepEqual(await faultsOf(page, 'playground, label'), []);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Saturn has many moons/ }).click();
  await page.getByRole('radio', { name: '0' }).check({ force: true });
  await page.keyboard.press('Escape');
  await quality.getByRole('row', { name: /local 0\.\d+ 0\.500 0/ }).waitFor();
  assert.deepEqual(await faultsOf(page, 'playground'), []);
  assert.deepEqual(said, []);
  await context.close();
});

async function exported(page, what) {
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: what }).click();
}

/** Lanes are chosen by what is typed, as the suggestions have it. */
async function addLane(page, name) {
  const field = page.getByLabel('Add a model or channel');
  await field.fill(name);
  await page.locator(`datalist option[value="${name}"]`).waitFor({ state: 'attached' });
  await field.press('Enter');
}

test('a channel that is off is a lane; runs are repeated, and say how much they vary', async () => {
  const { context, page, said } = await gateway.open('playground');
  const { items } = await gateway.api(context, 'GET', '/api/channel');
  const { id } = items.find(({ name }) => name === 'voyage-eu');
  await gateway.api(context, 'POST', '/api/channel/tag/disabled', { tag: 'hosted' });
  await addLane(page, `rerank-2.5 · voyage-eu #${id}`);
  await page.getByText('Parameters').click();
  await page.getByRole('radio', { name: '3', exact: true }).check({ force: true });
  await page.getByText(/6 requests: about/).waitFor();
  await page.getByRole('button', { name: /^Run/ }).click();

  const costs = page.getByRole('region', { name: 'Latency and cost' });
  await costs.getByRole('row', { name: /^local .* 3 of 3/ }).waitFor();
  await costs.getByRole('row', { name: /^rerank-2\.5 · voyage-eu .* 3 of 3/ }).waitFor();
  const against = page.getByRole('region', { name: 'Compared with local' });
  await against
    .getByRole('row', { name: /voyage-eu 1\.00 1\.00 1\.00 1\.00 yes the same order/ })
    .waitFor();
  const lane = page.getByRole('region', { name: 'rerank-2.5 · voyage-eu', exact: true });
  assert.equal(await lane.locator('.rank').count(), 3);
  assert.deepEqual(await faultsOf(page, 'playground with lanes'), []);

  await page.getByRole('button', { name: 'Actions of lane rerank-2.5 · voyage-eu' }).click();
  await page.getByRole('menuitem', { name: 'Compare the others with this one' }).click();
  await page.getByRole('region', { name: 'Compared with rerank-2.5 · voyage-eu' }).waitFor();
  await page.getByRole('button', { name: 'Actions of lane rerank-2.5 · voyage-eu' }).click();
  await page.getByRole('menuitem', { name: 'Calls and times…' }).click();
  const details = page.getByRole('dialog', { name: 'Calls and times of rerank-2.5 · voyage-eu' });
  await details.getByText('Until admitted').waitFor();
  await details.getByText(/Attempt 1 on voyage-eu: ok 200/).waitFor();
  assert.deepEqual(await faultsOf(page, 'details of a lane'), []);
  await page.keyboard.press('Escape');
  await gateway.api(context, 'POST', '/api/channel/tag/enabled', { tag: 'hosted' });
  assert.deepEqual(said, []);
  await context.close();
});

test('a link carries lanes, labels and parameters, and another browser spends nothing by it', async () => {
  const { context, page, said } = await gateway.open('playground');
  await addLane(page, 'rerank-2.5');
  await page.getByRole('radio', { name: 'Cards' }).check({ force: true });
  await page.getByLabel('Relevance of document 2').selectOption('3');
  await page.getByText('Parameters').click();
  await page.getByLabel('top_n').fill('2');
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByText('Copied').waitFor();
  const link = await page.evaluate(() => globalThis.navigator.clipboard.readText());
  assert.equal(new URL(link).search, '');

  const other = await gateway.open('playground');
  const ranked = [];
  other.page.on('request', (request) => {
    if (request.url().endsWith('/api/playground/rank')) ranked.push(request.postDataJSON());
  });
  await other.page.goto(link);
  await other.page.getByRole('region', { name: 'rerank-2.5', exact: true }).waitFor();
  await other.page.getByRole('radio', { name: 'Cards' }).check({ force: true });
  assert.equal(await other.page.getByLabel('Relevance of document 2').inputValue(), '3');
  assert.deepEqual(ranked, []);

  await other.page.keyboard.press('Control+Enter');
  const quality = other.page.getByRole('region', { name: 'Quality by your labels' });
  await quality.getByRole('row', { name: /rerank-2\.5 1\.000 1\.000 1/ }).waitFor();
  assert.deepEqual(ranked.map(({ model, top_n }) => [model, top_n]).sort(), [
    ['local', 2],
    ['rerank-2.5', 2],
  ]);
  assert.deepEqual([...said, ...other.said], []);
  await other.context.close();
  await context.close();
});

/** What a program says of the ranking: the places of documents, best first. */
function orderSaid(language, said) {
  if (language !== 'curl')
    return said
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]));
  const reply = JSON.parse(said);
  return (reply.data ?? reply).results.map(({ index }) => index);
}

test('the code that is copied ranks as the page does, by a key or by a login', async () => {
  const { context, page, said } = await gateway.open('playground');
  const KEY = await gateway.makeKey(context);
  const ACCESS_TOKEN = await gateway.api(context, 'POST', '/api/user/token');
  const { items } = await gateway.api(context, 'GET', '/api/channel');
  const { id } = items.find(({ name }) => name === 'inside');
  await page.getByLabel('Query').fill(`which planet's moons are "many"? 土星 $HOME`);
  await addLane(page, `local · inside #${id}`);
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByRole('heading', { name: 'Agreement' }).waitFor();
  const shown = await page.locator('.lane').first().locator('.rank .clip').allInnerTexts();
  const documents = (await page.getByLabel(/^Documents/).inputValue()).split('\n');
  const order = shown.map((text) => documents.indexOf(text));

  await page.getByRole('button', { name: 'Copy as code' }).click();
  const dialog = page.getByRole('dialog', { name: 'Copy as code' });
  for (const lane of ['local', 'local · inside']) {
    await dialog.getByRole('radio', { name: lane, exact: true }).check({ force: true });
    for (const [language, programOf] of Object.entries(PROGRAMS)) {
      await dialog.getByRole('radio', { name: language }).check({ force: true });
      const code = await dialog.locator('pre').innerText();
      assert.ok(!code.includes(KEY) && !code.includes(ACCESS_TOKEN));
      const [program, args] = programOf(code);
      const env = {
        ...process.env,
        KEY,
        ACCESS_TOKEN,
        NO_PROXY: '127.0.0.1',
        no_proxy: '127.0.0.1',
      };
      const ran = spawnSync(program, args, { env, encoding: 'utf8', timeout: 60_000 });
      if (ran.error?.code === 'ENOENT') continue;
      assert.equal(ran.status, 0, `${lane}, ${language}: ${ran.stderr}`);
      assert.deepEqual(orderSaid(language, ran.stdout), order, `${lane}, ${language}`);
    }
  }
  assert.deepEqual(said, []);
  await context.close();
});

test('a thousand documents are ranked in four lanes, of which the rows in view are in the page', async () => {
  const { context, page, said } = await gateway.open('playground');
  const list = Array.from(
    { length: 1_000 },
    (_, at) => `The moon number ${at} of ${at % 7} planets`,
  );
  await page.locator('input[type=file]').setInputFiles({
    name: 'many.jsonl',
    mimeType: 'application/jsonl',
    buffer: Buffer.from(list.map((text) => JSON.stringify({ text })).join('\n')),
  });
  await page.getByText('Documents (1000)').waitFor();
  for (const name of ['rerank-2.5', 'local@own', 'rerank-2.5@hosted']) {
    await page.getByLabel('Add a model or channel').fill(name);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
  }
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByRole('button', { name: 'All 1000' }).click();
  await page.getByRole('heading', { name: 'Agreement' }).waitFor();
  const last = page.locator('.rank[aria-posinset="1000"]').first();
  await page.locator('.lanes').evaluate((lanes) => lanes.scrollIntoView({ block: 'end' }));
  await last.waitFor();
  assert.ok((await page.locator('.rank').count()) < 4 * 150);
  assert.deepEqual(said, []);
  await context.close();
});

test('more lanes than fit beside each other are a table, and run a few at a time', async () => {
  const { context, page, said } = await gateway.open('playground');
  await gateway.api(context, 'POST', '/api/channel/tag/enabled', { tag: 'hosted' });
  const wanted = ['local@own', 'local@hosted', 'rerank-2.5', 'rerank-2.5@hosted', 'no-such-model'];
  for (const model of wanted) {
    const field = page.getByLabel('Add a model or channel');
    await field.fill(model);
    await field.press('Enter');
    await page.locator('.chip').getByText(model, { exact: true }).waitFor();
  }
  await page.getByRole('button', { name: /^Run/ }).click();
  const table = page.getByRole('region', { name: 'Compare' });
  await table.getByRole('link', { name: 'model_not_found' }).waitFor();
  const saturn = table.getByRole('row', { name: /^Saturn/ });
  await until('five places', async () => (await saturn.locator('strong').count()) === 5);
  assert.deepEqual(await saturn.locator('strong').allInnerTexts(), ['1', '1', '1', '1', '1']);
  assert.deepEqual(await faultsOf(page, 'a table of lanes'), []);
  await table.getByRole('button', { name: 'Actions of lane rerank-2.5', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await table.getByRole('button', { name: 'Actions of lane no-such-model' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.locator('.lane').nth(3).waitFor();
  assert.equal(said.length, 1);
  assert.match(said[0], /404/);
  await context.close();
});

test('a table asks for its columns, and a page that was saved is open again', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.locator('input[type=file]').setInputFiles({
    name: 'table.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      '\ufeffid,note,summary,grade\nd1,a long note of no use,Short one.,2\nd2,another long note,Short two.,\n',
    ),
  });
  await page.getByLabel('Column with the text').selectOption('summary');
  assert.equal(await page.getByLabel(/^Documents/).inputValue(), 'Short one.\nShort two.');
  await page.getByLabel('Column with the title').selectOption('note');
  assert.match(
    await page.getByLabel(/^Documents/).inputValue(),
    /^a long note of no use\nShort one\.\n\n/,
  );
  await page.getByLabel('Column with the title').selectOption('-1');
  await page.getByRole('radio', { name: 'Cards' }).check({ force: true });
  assert.equal(await page.getByLabel('Relevance of document 1').inputValue(), '2');
  await page.getByRole('button', { name: 'Document 1 down' }).click();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    exported(page, 'A file that opens when it is dropped here'),
  ]);
  const file = await saved.path();
  await page.reload();
  await page.locator('input[type=file]').setInputFiles({
    name: 'playground.json',
    mimeType: 'application/json',
    buffer: readFileSync(file),
  });
  await page.getByRole('radio', { name: 'Cards' }).check({ force: true });
  assert.equal(await page.getByLabel('Relevance of document 2').inputValue(), '2');
  assert.match(await page.locator('.doc-card').nth(1).innerText(), /d1/);
  assert.deepEqual(said, []);
  await context.close();
});

test('a picture is saved, lanes and documents are dragged, and a link may carry the results', async () => {
  const { context, page, said } = await gateway.open('playground');
  await addLane(page, 'rerank-2.5');
  const lanes = page
    .getByRole('region')
    .filter({ has: page.getByRole('button', { name: /^Actions of lane/ }) });
  const named = () => lanes.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  await lanes.nth(1).waitFor();
  assert.deepEqual(await named(), ['local', 'rerank-2.5']);
  await page
    .locator('.chip', { hasText: 'rerank-2.5' })
    .dragTo(page.locator('.chip', { hasText: 'local' }));
  await until('the lanes in another order', async () => (await named())[0] === 'rerank-2.5');
  assert.deepEqual(await named(), ['rerank-2.5', 'local']);
  await page.getByRole('radio', { name: 'Cards' }).check({ force: true });
  const cards = page.locator('.doc-card');
  const texts = () => cards.locator('.clip').allTextContents();
  const before = await texts();
  await cards.nth(2).locator('.clip').dragTo(cards.nth(0).locator('.clip'));
  await until('the cards in another order', async () => (await texts())[0] === before[2]);
  assert.deepEqual(await texts(), [before[2], before[0], before[1], ...before.slice(3)]);

  await page.keyboard.press('Control+Enter');
  for (const at of [0, 1]) await lanes.nth(at).locator('.rank').first().waitFor();
  const [picture] = await Promise.all([
    page.waitForEvent('download'),
    exported(page, 'Picture (PNG)'),
  ]);
  const png = readFileSync(await picture.path());
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.length > 10_000, `${png.length} bytes`);

  const scores = () => page.locator('.rank .score').allTextContents();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('menuitem', { name: 'A link with the results' }).click();
  await page.getByText('Copied').waitFor();
  const link = await page.evaluate(() => globalThis.navigator.clipboard.readText());
  const other = await gateway.open('playground');
  const ranked = [];
  other.page.on('request', (request) => {
    if (request.url().endsWith('/api/playground/rank')) ranked.push(request.url());
  });
  await other.page.goto(link);
  await other.page.getByText('from the link').first().waitFor();
  assert.deepEqual(await other.page.locator('.rank .score').allTextContents(), await scores());
  assert.deepEqual(await faultsOf(other.page, 'results from a link'), []);
  assert.deepEqual(ranked, []);
  assert.deepEqual([...said, ...other.said], []);
  await other.context.close();
  await context.close();
});

test('examples are opened, kept, shared with others and deleted', async () => {
  const { context, page, said } = await gateway.open('playground');
  await page.getByRole('button', { name: 'Examples' }).click();
  const dialog = page.getByRole('dialog', { name: 'Examples' });
  assert.deepEqual(await faultsOf(page, 'examples'), []);
  await dialog.getByRole('button', { name: /Chinese/ }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Query').inputValue(), '如何降低向量检索的延迟？');

  await page.getByLabel('Query').fill('my own question');
  await page.getByRole('button', { name: 'Examples' }).click();
  await dialog.getByLabel('Name').fill('mine for all');
  await dialog.getByLabel('Everybody with a login may see it').check();
  await dialog.getByLabel('Name').press('Enter');
  await dialog.getByRole('button', { name: 'mine for all', exact: true }).waitFor();

  await gateway.api(context, 'POST', '/api/user', {
    username: 'eve',
    password: 'correct horse battery',
  });
  const other = await gateway.open('playground', { username: 'eve' });
  await other.page.getByRole('button', { name: 'Examples' }).click();
  await other.page.getByText('shared by others').waitFor();
  assert.equal(await other.page.getByRole('button', { name: /Delete the example/ }).count(), 0);
  await other.page.getByRole('button', { name: 'mine for all' }).click();
  await other.page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await other.page.getByLabel('Query').inputValue(), 'my own question');

  await dialog.getByRole('button', { name: 'Delete the example mine for all' }).click();
  await dialog
    .getByRole('button', { name: 'mine for all', exact: true })
    .waitFor({ state: 'detached' });
  assert.deepEqual([...said, ...other.said], []);
  await other.context.close();
  await context.close();
});

const JUDGED = [
  { query: 'moons of Saturn', documents: ['Saturn has many moons.', 'Olive oil.'], labels: [3, 0] },
  { query: 'olive oil', documents: ['Saturn has many moons.', 'Olive oil.'], labels: [0, 2] },
  { query: 'what turns', documents: ['Oil.', 'A wheel turns.', 'A door.'], labels: [0, 1, 0] },
];

test('many queries with labels measure each lane, can be stopped, and are saved', async () => {
  const { context, page, said } = await gateway.open('playground');
  await addLane(page, 'rerank-2.5');
  await page.getByRole('button', { name: 'Many queries…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Many queries' });
  const lines = JUDGED.map((judged) => JSON.stringify(judged)).join('\n');
  await dialog.getByLabel('Queries with labelled documents').fill(`${lines}\n{"query":"none"}`);
  await dialog.getByText('3 queries × 2 lanes = 6 requests; at most 500 a run.').waitFor();
  await dialog.getByText(/Not read: 4: no list of documents/).waitFor();
  assert.deepEqual(await faultsOf(page, 'many queries'), []);
  await dialog.getByRole('button', { name: 'Run' }).click();
  const result = dialog.getByRole('region', { name: 'Quality over all queries' });
  await result.getByRole('row', { name: /^local 3 0 1\.000 1\.000 – / }).waitFor();
  await result.getByRole('row', { name: /^rerank-2\.5 3 0 1\.000 1\.000 0\.000 / }).waitFor();
  assert.deepEqual(await faultsOf(page, 'many queries, ranked'), []);
  const saved = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'CSV' }).click();
  const rows = readFileSync(await (await saved).path(), 'utf8')
    .trim()
    .split('\r\n');
  assert.equal(rows[0].split(',')[1], 'local nDCG@10');
  assert.match(rows[1], /^moons of Saturn,1,1,/);

  // A file of a table; more than a run may have is told before, and not begun.
  const many = Array.from({ length: 251 }, (_, at) => `query ${at},a text,1`).join('\n');
  await dialog.locator('input[type=file]').setInputFiles({
    ...{ name: 'many.csv', mimeType: 'text/csv' },
    buffer: Buffer.from(`query,text,label\n${many}\n`),
  });
  await dialog.getByText('251 queries × 2 lanes = 502 requests').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Run' }).isDisabled(), true);

  // Esc stops what runs, and keeps what was ranked.
  await page.route('**/api/playground/rank', () => undefined);
  await dialog.getByLabel('Queries with labelled documents').fill(lines);
  await dialog.getByRole('button', { name: 'Run' }).click();
  await dialog.getByText('0 of 6 done').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Run' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(said, []);
  await context.close();
});
