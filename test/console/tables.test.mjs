import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startConsole } from './support.mjs';

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

test('tables fit a common screen, however long the names in them are', async () => {
  const { context, page, said } = await console_.open('login');
  const key = await console_.makeKey(context, { name: LONG });
  for (const model of [`${LONG}-model-0`, 'shared', LONG]) await console_.rerank(key, model);
  const found = [];
  for (const path of ['requests', 'keys', 'channels', 'models', 'nodes', 'people', 'audit']) {
    await page.goto(`${console_.url}/console/${path}`);
    await page.locator('.tablebox tbody tr').first().waitFor();
    await page.waitForLoadState('networkidle');
    const beyond = await page.evaluate(() =>
      [...document.querySelectorAll('.tablebox')].map((box) => box.scrollWidth - box.clientWidth),
    );
    if (beyond.some((pixels) => pixels > 0)) found.push([path, ...beyond]);
  }
  assert.deepEqual(found, []);

  await page.goto(`${console_.url}/console/tags?off=${LONG}-0`);
  const asked = page.getByRole('dialog');
  await asked.getByText(/shared → .+, .+, .+ \+\d+/).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
