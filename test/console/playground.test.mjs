import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { after, before, test } from 'node:test';
import { faultsOf, startConsole } from './support.mjs';

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
  await page.getByText(/a run of all lanes costs about \$0\.002/).waitFor();
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
