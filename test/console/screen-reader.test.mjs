/** What a screen reader is told in the jobs of somebody on call, and where its focus is afterwards. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

/** Resolves once the element with the focus has this role and name. */
async function focused(page, role, name) {
  const wanted = page.getByRole(role, name === undefined ? {} : { name });
  await until(`the focus is on ${role} ${name ?? ''}`, async () =>
    (await wanted.all()).length === 0
      ? false
      : wanted.first().evaluate((element) => element === document.activeElement),
  );
}

test('why a request failed is said as soon as it is known, and reading goes on there', async () => {
  const { context, page, said } = await console_.open('');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const { id } = await console_.rerank('sk-of-nobody', 'local');
  await until('the refusal is stored', async () =>
    (await context.request.get(`${console_.url}/api/log/request/${id}`)).ok(),
  );
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('does not know the API key').waitFor();
  await focused(page, 'main');
  assert.deepEqual(said, []);
  await context.close();
});

test('a key that was made is said to be shown once, and to be copied', async () => {
  const { context, page, said } = await console_.open('keys');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('of team A');
  await page.keyboard.press('Enter');
  const made = page.getByRole('dialog', { name: 'The key “of team A”' });
  await made.getByRole('status').getByText('shown only once').waitFor();
  await focused(page, 'button', 'Copy the key');
  await page.keyboard.press('Enter');
  await made.getByRole('status').getByText('Copied.').waitFor();
  await page.keyboard.press('Escape');
  await made.waitFor({ state: 'detached' });
  await focused(page, 'button', /New key/);
  assert.deepEqual(said, []);
  await context.close();
});

test('a key that the browser did not copy is not taken for one that was', async () => {
  const refuseClipboard = () =>
    Object.defineProperty(globalThis.navigator, 'clipboard', { value: undefined });
  const { context, page, said } = await console_.open('keys', {
    prepare: (blank) => blank.addInitScript(refuseClipboard),
  });
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('not copied');
  await page.keyboard.press('Enter');
  const made = page.getByRole('dialog', { name: 'The key “not copied”' });
  await made.getByRole('button', { name: 'Copy the key' }).click();
  await page.locator('.toast').waitFor();
  await page.keyboard.press('Escape');
  await made.getByRole('button', { name: 'Close without copying' }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('the buttons of a tag name it and keep the focus, and each switch is said anew', async () => {
  const { context, page, said } = await console_.open('tags');
  const off = page.getByRole('button', { name: 'Switch off… hosted', exact: true });
  await off.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Switch “hosted” off?' });
  await dialog.getByLabel(/To confirm/).fill('hosted');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await focused(page, 'button', 'Switch on hosted');
  const report = page.getByRole('main').getByRole('status').filter({ hasText: 'in force on' });
  const ofOff = await report.elementHandle();

  await page.keyboard.press('Enter');
  await page.getByRole('switch', { name: 'Switch of hosted', checked: true }).waitFor();
  await focused(page, 'button', 'Switch off… hosted');
  // A report in the same words would not be said again if it were in the same place.
  await until('the report is a new one', () => ofOff.evaluate((element) => !element.isConnected));
  await report.waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
