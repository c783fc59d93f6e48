import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startConsole, until } from './support.mjs';

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

/** Presses keys one after another, each as soon as the page has drawn what the one before led to: no frame passes in between. */
function pressAtOnce(page, ...keys) {
  return page.evaluate(async (all) => {
    for (const key of all) {
      const event = new globalThis.KeyboardEvent('keydown', {
        key,
        bubbles: true,
        cancelable: true,
      });
      document.activeElement.dispatchEvent(event);
      await new Promise((resolve) => {
        setTimeout(resolve);
      });
    }
  }, keys);
}

const inAddress = (page, name) => new URL(page.url()).searchParams.get(name);

test('keys that follow one another at once meet what the one before led to', async () => {
  const { context, page, said } = await console_.open('login');
  for (const name of ['one', 'two']) await console_.makeKey(context, { name });
  await page.goto(`${console_.url}/console/keys`);
  await page.getByRole('row', { name: /two/ }).waitFor();
  await pressAtOnce(page, 'j', '.', 'ArrowDown');
  const menu = page.getByRole('menu');
  await menu.waitFor();
  assert.equal(
    await menu
      .getByRole('menuitem')
      .nth(1)
      .evaluate((item) => item.matches(':focus')),
    true,
  );
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });

  const end = Math.floor(Date.now() / 1_000) - 7_200;
  await page.goto(`${console_.url}/console/requests?from=${end - 60}&to=${end}`);
  await page.getByRole('heading', { name: /^Requests/ }).waitFor();
  await pressAtOnce(page, '[', '[', ']', '[');
  assert.deepEqual(
    [inAddress(page, 'from'), inAddress(page, 'to')],
    [`${end - 180}`, `${end - 120}`],
  );

  await pressAtOnce(page, '/');
  await page.getByRole('combobox', { name: 'Search' }).evaluate(async (field) => {
    field.value = 'nodes';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => {
      setTimeout(resolve);
    });
    field.dispatchEvent(new globalThis.KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  });
  await page.getByRole('heading', { name: 'Nodes' }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('Enter that comes before the results opens the first of them; until then nothing is said to be missing', async () => {
  const { context, page, said } = await console_.open('');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const held = [];
  let isHeld = true;
  await page.route('**/api/channel/tag', (route) => (isHeld ? held.push(route) : route.continue()));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('hosted');
  await until('the tags are asked for', () => held.length > 0);
  await page.getByText('Loading…').waitFor();
  assert.equal(await page.getByText('Nothing found.').count(), 0);
  await page.keyboard.press('Enter');
  isHeld = false;
  await Promise.all(held.map((route) => route.continue()));
  await page.getByRole('heading', { name: 'Tags' }).waitFor();
  await until('the tag is open', () => inAddress(page, 'open') === 'hosted');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('no such thing');
  await page.getByText('Nothing found.').waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('the row that was moved to stays the one that keys act on, wherever others move it', async () => {
  const { context, page, said } = await console_.open('login');
  await console_.makeKey(context, { name: 'moved to' });
  await page.goto(`${console_.url}/console/keys?keyword=moved`);
  await page.getByRole('row', { name: /moved to/ }).waitFor();
  await pressAtOnce(page, 'j');
  await console_.makeKey(context, { name: 'moved above' });
  await page.keyboard.press('r');
  await until('two rows', async () => (await page.locator('tr.item').count()) === 2);
  await pressAtOnce(page, 'x');
  await page
    .getByRole('row', { name: /moved to/ })
    .getByRole('checkbox', { checked: true })
    .waitFor();
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 1);
  assert.deepEqual(said, []);
  await context.close();
});

test('what is reread while it is read for the first time is read anew', async () => {
  const { context, page, said } = await console_.open('login');
  let reads = 0;
  let proceed;
  const held = new Promise((resolve) => {
    proceed = resolve;
  });
  await page.route('**/api/token/search?*', async (route) => {
    reads += 1;
    if (reads > 1) {
      await route.continue();
      return;
    }
    const before = await route.fetch();
    await held;
    // The page may have given it up.
    await route.fulfill({ response: before }).catch(() => undefined);
  });
  await page.goto(`${console_.url}/console/keys?keyword=late`);
  await until('the first read', () => reads === 1);
  await console_.makeKey(context, { name: 'a late one' });
  await page.keyboard.press('r');
  await until('the second read', () => reads === 2);
  proceed();
  await page.getByRole('row', { name: /a late one/ }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('what is typed while a filter takes effect stays typed', async () => {
  const { context, page, said } = await console_.open('keys');
  const field = page.getByRole('searchbox').first();
  await field.waitFor();
  await field.evaluate((input) => {
    const type = (text) => {
      input.value = text;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const replace = globalThis.history.replaceState.bind(globalThis.history);
    globalThis.history.replaceState = (...args) => {
      replace(...args);
      globalThis.history.replaceState = replace;
      setTimeout(() => type('searching'));
    };
    type('search');
  });
  await page.waitForURL(/=searching$/);
  assert.equal(await field.inputValue(), 'searching');
  assert.deepEqual(said, []);
  await context.close();
});

test('a key that is pressed while its page is still loading is not lost', async () => {
  const { context, page, said } = await console_.open('login');
  let proceed;
  const held = new Promise((resolve) => {
    proceed = resolve;
  });
  await page.route('**/assets/keys-*.js', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${console_.url}/console/keys`, { waitUntil: 'commit' });
  await page.locator('#content [aria-busy=true]').waitFor();
  await page.keyboard.press('n');
  assert.equal(await page.getByRole('dialog').count(), 0);
  proceed();
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(said, []);
  await context.close();
});
