import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startConsole } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

test('an entry shows what changed, leads to its record, and is set back by a form', async () => {
  const { context, page, said } = await console_.open('login');
  const body = { name: 'search', unlimited_quota: true, rate_limit: 600 };
  const { id } = await console_.api(context, 'POST', '/api/token', body);
  const change = { id, name: 'renamed', rate_limit: 60, reason: 'too busy' };
  await console_.api(context, 'PUT', '/api/token', change);
  await page.goto(`${console_.url}/console/audit`);

  const row = page.getByRole('row', { name: /changed the key search/ });
  await row.getByText('too busy').waitFor();
  assert.equal(await row.getByRole('link').getAttribute('href'), `/console/keys/${id}`);
  await row.getByText('name, rate_limit').click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('row', { name: 'rate_limit 600 60' }).waitFor();
  await drawer.getByRole('row', { name: 'name search renamed' }).waitFor();

  await drawer.getByRole('button', { name: 'Undo…' }).click();
  const form = page.getByRole('dialog', { name: 'Set back search' });
  await form.getByRole('row', { name: 'rate_limit 60 600' }).waitFor();
  await form.getByRole('checkbox', { name: 'name' }).uncheck();
  assert.equal((await console_.api(context, 'GET', `/api/token/${id}`)).rate_limit, 60);
  await form.getByLabel('Reason').fill('quiet again');
  await form.getByRole('button', { name: 'Set back' }).click();
  await page.getByText('Set back.').waitFor();

  const token = await console_.api(context, 'GET', `/api/token/${id}`);
  assert.equal(token.rate_limit, 600);
  assert.equal(token.name, 'renamed');
  await page.getByRole('row', { name: /changed the key renamed.*quiet again/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('a switch is set back with the reason it had', async () => {
  const { context, page, said } = await console_.open('login');
  const tag = { tag: 'hosted', reason: 'answers 500' };
  await console_.api(context, 'POST', '/api/channel/tag/disabled', tag);
  await console_.api(context, 'POST', '/api/channel/tag/enabled', { tag: 'hosted' });
  await page.goto(`${console_.url}/console/audit?action=tag.enable`);

  await page
    .getByRole('row', { name: /switched on the tag hosted/ })
    .getByText('root')
    .click();
  await page.getByRole('button', { name: 'Undo…' }).click();
  await page.getByRole('row', { name: 'disabled false true' }).waitFor();
  await page.getByRole('button', { name: 'Set back' }).click();
  await page.getByText('Set back.').waitFor();

  const tags = await console_.api(context, 'GET', '/api/channel/tag');
  const { disabled, reason } = tags.find((one) => one.tag === 'hosted');
  assert.deepEqual({ disabled, reason }, { disabled: true, reason: 'answers 500' });
  assert.deepEqual(said, []);
  await context.close();
});

test('an older page of a log stays as it is while entries arrive', async () => {
  const { context, page, said } = await console_.open('login');
  const make = (name) =>
    console_.api(context, 'POST', '/api/token', { name, unlimited_quota: true });
  for (let at = 0; at < 60; at += 1) await make(`key-${at}`);
  await page.goto(`${console_.url}/console/audit?action=token.create`);
  await page.getByRole('row', { name: /key-59/ }).waitFor();

  await page.getByRole('button', { name: /Older/ }).click();
  await page.getByRole('row', { name: /made the key key-9/ }).waitFor();
  const address = page.url();
  const rows = await page.getByRole('main').getByRole('row').allInnerTexts();
  await make('one-more');
  await page.reload();

  await page.getByRole('row', { name: /made the key key-9/ }).waitFor();
  const whats = (texts) => texts.map((text) => text.split('\t')[2]);
  assert.deepEqual(
    whats(await page.getByRole('main').getByRole('row').allInnerTexts()),
    whats(rows),
  );
  assert.equal(page.url(), address);
  await page.getByRole('button', { name: /Newest/ }).click();
  await page.getByRole('row', { name: /one-more/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
