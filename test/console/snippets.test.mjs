import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { PROGRAMS, startConsole } from './support.mjs';

let console_;

before(async () => {
  const inside = { provider: 'local' };
  const [local, other] = ['local', 'rerank-2.5'].map((name) => ({ [name]: 'local/lexical' }));
  console_ = await startConsole({
    // Without a default model, each request must name one.
    gateway: {},
    channels: [
      { ...inside, name: 'inside', models: { ...local, ...other } },
      { ...inside, name: 'of a tag', tag: 'blue', models: other },
    ],
  });
});

after(() => console_?.stop());

/** Runs the code that is shown in each language, and expects a ranking. */
async function assertAllRank(place, KEY, what) {
  const bypass = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
  for (const [language, programOf] of Object.entries(PROGRAMS)) {
    await place.getByRole('radio', { name: language }).check({ force: true });
    // Of the models that the key may name, one that is served; they come from the gateway.
    await place.locator('pre', { hasText: /\bmodel\b.{2,9}\b(?:local|rerank-2\.5)\b/ }).waitFor();
    const [program, args] = programOf(await place.locator('pre').innerText());
    const env = { ...process.env, KEY, ...bypass };
    const ran = spawnSync(program, args, { env, encoding: 'utf8', timeout: 60_000 });
    if (ran.error?.code === 'ENOENT') continue;
    assert.equal(ran.status, 0, `${what}, ${language}: ${ran.stderr}`);
    assert.match(ran.stdout, /^1 0\.\d|"index":1,"relevance_score":0\.\d/, `${what}, ${language}`);
  }
}

test('the code that is shown with a key ranks with it, also where nothing is the default', async () => {
  const { context, page, said } = await console_.open('requests');
  const free = await console_.makeKey(context, { name: 'free' });
  await assertAllRank(page.locator('main'), free, 'without a key');

  const narrow = await console_.makeKey(context, {
    ...{ name: 'narrow', model_limits_enabled: true, model_limits: ['gone', 'rerank-2.5'] },
  });
  const bound = await console_.makeKey(context, { name: 'bound', tags: ['blue'] });
  const { items } = await console_.api(context, 'GET', '/api/token');
  for (const [name, key] of Object.entries({ free, narrow, bound })) {
    const { id } = items.find((item) => item.name === name);
    await page.goto(`${console_.url}/console/keys?open=${id}`);
    await assertAllRank(page.getByRole('dialog'), key, name);
  }

  await page.goto(`${console_.url}/console/keys?new=1`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('new');
  await dialog.getByRole('button', { name: 'Make key' }).click();
  const secret = await dialog.locator('.secret').textContent();
  await assertAllRank(dialog, secret, 'shown once');
  assert.deepEqual(said, []);
  await context.close();
});
