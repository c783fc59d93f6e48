import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PASSWORD, settled, startConsole, until } from './support.mjs';

const LONG = 'a-name-that-is-as-long-as-people-make-them';
/** As many as make lists of names long. */
const CHANNELS = 40;

let console_;

before(async () => {
  const channels = Array.from({ length: CHANNELS }, (_, at) => ({
    ...{
      name: `${LONG}-${at}`,
      provider: at % 2 === 0 ? 'tei' : 'local',
      tag: `${LONG}-${at % 5}`,
    },
    ...(at % 2 === 0 ? { base_url: 'http://127.0.0.1:9' } : {}),
    models: { [`${LONG}-model-${at % 10}`]: 'local/lexical', shared: 'local/lexical' },
  }));
  console_ = await startConsole({ channels });
});

after(() => console_?.stop());

test('tables fit common screens, however long the names in them are', async () => {
  const { context, page, said } = await console_.open('login');
  const key = await console_.makeKey(context, { name: LONG });
  for (const model of [`${LONG}-model-0`, 'shared', LONG]) await console_.rerank(key, model);
  // The log is written in batches.
  await until('a request is in the log', async () => {
    const { items } = await console_.api(context, 'GET', '/api/log');
    return items.length > 0;
  });
  const found = [];
  for (const path of ['requests', 'keys', 'channels', 'models', 'nodes', 'people', 'audit']) {
    await page.goto(`${console_.url}/console/${path}`);
    // The numbers of a chart are a table, too, which is folded.
    await page.locator('.tablebox tbody tr:visible').first().waitFor();
    // The wider one shows columns that the other leaves to the drawer.
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      const beyond = await page.evaluate(() =>
        [...document.querySelectorAll('.tablebox')].map((box) => box.scrollWidth - box.clientWidth),
      );
      if (beyond.some((pixels) => pixels > 0)) found.push([path, width, ...beyond]);
    }
  }
  assert.deepEqual(found, []);

  await page.goto(`${console_.url}/console/tags?off=${LONG}-0`);
  const asked = page.getByRole('dialog');
  await asked.getByText(/shared → .+, .+, .+ \+\d+/).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('rows and their drawers are walked through by keys alone', async () => {
  const { context, page, said } = await console_.open('channels');
  await page.locator('tbody tr').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('heading', { name: `${LONG}-0` }).waitFor();
  // The press that opened it does not close it.
  await settled(page);
  await page.keyboard.press('ArrowDown');
  await drawer.getByRole('heading', { name: `${LONG}-1` }).waitFor();
  await page.goBack();
  await drawer.waitFor({ state: 'detached' });

  const { id } = await console_.api(context, 'POST', '/api/channel', {
    ...{ name: 'of a test', provider: 'local', models: { own: 'local/lexical' } },
  });
  await page.goto(`${console_.url}/console/channels?open=${id}`);
  await drawer.getByRole('heading', { name: 'of a test' }).waitFor();
  await page.keyboard.press('e');
  await drawer.getByLabel('Name', { exact: true }).waitFor();
  await settled(page);
  assert.equal(await drawer.getByLabel('Name', { exact: true }).inputValue(), 'of a test');

  await page.goto(`${console_.url}/console/channels?p=99`);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.locator('tbody tr').first().waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('drawers fit a page at four times its size', async () => {
  const { context, page } = await console_.open('login', {
    viewport: { width: 320, height: 640 },
  });
  for (const path of ['keys?open=1', 'people?open=1', 'channels?open=1', 'keys?new=1']) {
    await page.goto(`${console_.url}/console/${path}`);
    await page.locator('dialog[open] .dialog-body').waitFor();
    await settled(page);
    const beyond = await page.evaluate(() =>
      [document.documentElement, document.querySelector('dialog[open] .dialog-body')].map(
        ({ scrollWidth, clientWidth }) => Math.max(0, scrollWidth - clientWidth),
      ),
    );
    assert.deepEqual(beyond, [0, 0], path);
  }
  await context.close();
});

test('a login page goes on when somebody logs in in another tab', async () => {
  const { context, page, said } = await console_.open('keys', { login: false });
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  const other = await context.newPage();
  await other.goto(`${console_.url}/console/tags`);
  await other.getByLabel('Name or e-mail address').fill('root');
  await other.getByLabel('Password').fill(PASSWORD);
  await other.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Keys/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
