import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { faultsOf, startConsole, until } from './support.mjs';
import { startTei } from './tei.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

test('a channel is added by the wizard: found, tried before it is stored, and switched on', async () => {
  const { context, page, said } = await console_.open('channels');
  await page.getByRole('heading', { name: /^Channels/ }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('searchbox').fill('local');
  await page.locator('.cards button').first().waitFor();
  assert.deepEqual(await faultsOf(page, 'wizard'), []);
  await page.keyboard.press('Enter');
  await page
    .getByLabel('Models', { exact: true })
    .fill('fresh = local/lexical\nlocal = local/lexical');
  await page.getByText(/local is served already, by/).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('by the wizard');
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText(/It works: the right order after/).waitFor();
  const before = await console_.api(context, 'GET', '/api/channel');
  assert.equal(before.total, 2, 'nothing is stored before it is added');
  assert.deepEqual(await faultsOf(page, 'wizard, filled in'), []);

  await page.getByRole('button', { name: 'Add, switched on' }).click();
  const drawer = page.getByRole('dialog', { name: 'by the wizard' });
  await drawer.getByText('live').waitFor();
  const key = await console_.makeKey(context);
  assert.equal((await console_.rerank(key, 'fresh')).status, 200);
  assert.deepEqual(said, []);
  await context.close();
});

test('an unknown server is found out from its address, tried, and switched on', async () => {
  const tei = await startTei();
  const { context, page, said } = await console_.open('channels/new');
  await page.getByRole('searchbox').fill(tei.url);
  await page.getByRole('button', { name: 'Find out what it speaks' }).click();
  const candidate = page.getByRole('button', {
    name: /^Hugging Face text-embeddings-inference \(certain\)/,
  });
  await candidate.waitFor();
  assert.deepEqual(await faultsOf(page, 'found out'), []);
  await candidate.click();
  assert.equal(await page.getByLabel('Address').inputValue(), tei.url);
  const models = page.getByLabel('Models', { exact: true });
  if ((await models.inputValue()) === '') await models.fill('bge-reranker-v2-m3');
  assert.equal(await models.inputValue(), 'bge-reranker-v2-m3');
  await page.getByLabel('Name', { exact: true }).fill('gpu');
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText(/It works: the right order after/).waitFor();
  await page.getByRole('button', { name: 'Add, switched off' }).click();
  await page.getByRole('dialog', { name: 'gpu' }).getByText('switched off').waitFor();
  assert.deepEqual(said, []);
  await context.close();
  tei.stop();
});

test('a channel is tested, changed, copied, switched and deleted from the list', async () => {
  const { context, page, said } = await console_.open('channels');
  await console_.api(context, 'POST', '/api/channel', {
    ...{ name: 'mine', provider: 'local', models: { own: 'local/lexical' }, tag: 'lab' },
  });
  await page.keyboard.press('r');
  await page.getByRole('searchbox', { name: 'Name, address or model' }).fill('mine');
  await page.waitForURL(/keyword=mine/);
  await page.getByRole('cell', { name: 'mine', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'mine' });
  await drawer.getByRole('button', { name: 'Test' }).click();
  await drawer.getByText(/It works: the right order after/).waitFor();
  assert.deepEqual(await faultsOf(page, 'drawer'), []);

  await drawer.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Change “mine”' });
  await form.getByLabel('Priority').fill('7');
  await form
    .getByLabel('Models', { exact: true })
    .fill('own = local/lexical\nsecond = local/lexical');
  await form.getByLabel('Reason').fill('a test');
  assert.deepEqual(await faultsOf(page, 'form'), []);
  await page.keyboard.press('Control+Enter');
  await drawer.getByText('7 · 1').waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });

  const act = async (name, item) => {
    await page.getByRole('button', { name: `Actions: ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await act('mine', 'Switch off…');
  const off = page.getByRole('dialog', { name: 'Switch “mine” off?' });
  await off.getByText('second').waitFor();
  await off.getByRole('button', { name: 'Switch off' }).click();
  await page.getByRole('cell', { name: 'switched off' }).waitFor();
  await act('mine', 'Switch on');
  await page.getByRole('cell', { name: 'live' }).waitFor();

  await act('mine', 'Copy…');
  await page.getByLabel('Name of the copy').fill('mine too');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Change “mine too”' }).waitFor();
  await page.keyboard.press('Escape');
  await act('mine too', 'Delete…');
  await page.getByLabel(/To confirm/).fill('mine too');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'mine too', exact: true }).waitFor({ state: 'detached' });

  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await page.getByRole('button', { name: 'Tag…' }).click();
  await page.getByLabel('Tag', { exact: true }).fill('moved');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'moved' }).waitFor();
  const { items } = await console_.api(context, 'GET', '/api/channel/search?keyword=mine');
  assert.deepEqual(
    items.map(({ name, priority, tag, models }) => [name, priority, tag, Object.keys(models)]),
    [['mine', 7, 'moved', ['own', 'second']]],
  );
  assert.deepEqual(said, []);
  await context.close();
});

test('a channel that is refused says so at its field, and what was typed stays', async () => {
  const { context, page, said } = await console_.open('channels/new');
  await page.getByRole('searchbox').fill('cohere');
  await page.locator('.cards button').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('3 · Which models').waitFor();
  await page.getByRole('textbox', { name: 'api_key (required)' }).fill('a-secret-credential');
  await page.getByLabel('Models', { exact: true }).fill('rerank-v4');
  await page.getByLabel('Name', { exact: true }).fill('inside');
  await page.getByRole('button', { name: 'Add, switched off' }).click();
  await page.getByText(/channel( named)? "inside"/).waitFor();
  assert.equal(await page.getByLabel('Models', { exact: true }).inputValue(), 'rerank-v4');
  const shown = await page.evaluate(
    () => document.body.innerText + location.href + JSON.stringify(localStorage),
  );
  assert.equal(shown.includes('a-secret-credential'), false);
  // The browser itself tells of the 409.
  assert.deepEqual(
    said.filter((text) => !text.includes('409')),
    [],
  );
  await context.close();
});

for (const [colorScheme, locale] of [
  ['light', 'en-GB'],
  ['dark', 'zh-CN'],
]) {
  test(`the pages are accessible and fit: ${colorScheme}, ${locale}`, async () => {
    const { context, page, said } = await console_.open('', { colorScheme, locale });
    const found = [];
    for (const path of ['channels', 'channels?state=off', 'channels/new', 'channels/1']) {
      await page.goto(`${console_.url}/console/${path}`);
      found.push(...(await faultsOf(page, path)));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(said, []);
    await context.close();
  });
}

test('several are switched off at once, told on how many gateways, and exactly undone', async () => {
  const { context, page, said } = await console_.open('channels');
  const status = async () => {
    const { items } = await console_.api(context, 'GET', '/api/channel?page_size=100');
    return Object.fromEntries(items.map(({ name, status: own }) => [name, own]));
  };
  const before = await status();
  const rowOf = (name) => page.getByRole('row', { name });
  await rowOf('inside').getByRole('checkbox').check();
  await rowOf('voyage-eu').getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Switch off…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch 2 channels off?' });
  const goesDark = await dialog.locator('label code').innerText();
  await dialog.getByLabel(/^To confirm/).fill(goesDark);
  assert.deepEqual(await faultsOf(page, 'switching many'), []);
  await dialog.getByRole('button', { name: 'Switch off' }).click();

  const notice = page.getByRole('status').filter({ hasText: '2 channels were switched off.' });
  await notice.getByText(/1 of 1/).waitFor();
  assert.deepEqual(await status(), { ...before, inside: 2, 'voyage-eu': 2 });
  await notice.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('2 channels were switched on.').waitFor();
  assert.deepEqual(await status(), before);
  assert.deepEqual(said, []);
  await context.close();
});

test('each row shows what its channel did in the last hour', async () => {
  const { context, page, said } = await console_.open('channels?keyword=voyage-eu');
  const key = await console_.makeKey(context);
  for (let request = 0; request < 3; request += 1) await console_.rerank(key, 'rerank-2.5');
  await page.getByRole('row', { name: /voyage-eu .*3 p95/ }).waitFor();
  assert.deepEqual(await faultsOf(page, 'channels with traffic'), []);
  assert.deepEqual(said, []);
  await context.close();
});

test('a channel that the gateway took out is told of alike on all pages, with the reason', async (t) => {
  const refusing = createServer((req, res) => {
    res.writeHead(401).end('{"message":"invalid api token"}');
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  t.after(() => refusing.close());
  const { context, page, said } = await console_.open('channels');
  const { id } = await console_.api(context, 'POST', '/api/channel', {
    ...{ name: 'locked out', provider: 'jina', api_key: 'wrong', tag: 'abroad' },
    ...{ models: ['theirs'], base_url: `http://127.0.0.1:${refusing.address().port}` },
  });
  const key = await console_.makeKey(context);
  await until('it is taken out', async () => {
    await console_.rerank(key, 'theirs');
    const { effective } = await console_.api(context, 'GET', `/api/channel/${id}`);
    return effective.because === 'auto_disabled';
  });
  const stateOn = async (address) => {
    await page.goto(`${console_.url}/console/${address}`);
    const state = page.locator('.state', { hasText: 'taken out by the gateway' }).first();
    await state.waitFor();
    return state.locator('.sign').getAttribute('class');
  };

  const onChannels = await stateOn('channels');
  assert.equal(await stateOn('tags/abroad'), onChannels);

  const refused = await console_.rerank(key, 'theirs');
  assert.equal(refused.status, 503);
  // The logs are written in batches.
  await until('the request is in the log', async () => {
    const reply = await context.request.get(`${console_.url}/api/log/request/${refused.id}`);
    return reply.status() === 200;
  });
  await page.goto(`${console_.url}/console/requests/${refused.id}`);
  await page
    .getByText(
      /locked out: the gateway took it out at [\d:]+: the provider refuses its credentials \(invalid api token\)\. It is still out\./,
    )
    .waitFor();
  await page.getByText('Mend what the channel says').waitFor();
  assert.deepEqual(await faultsOf(page, 'why it answered 503'), []);
  await page.goto(`${console_.url}/console/audit`);
  await page
    .getByRole('row', { name: /gateway took out .* locked out .* the gateway itself/ })
    .waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
