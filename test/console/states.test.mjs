import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { faultsOf, startConsole, until } from './support.mjs';

let console_;
let requestIds;

before(async () => {
  console_ = await startConsole();
  const { context } = await console_.open('login');
  const key = await console_.makeKey(context);
  const user = { username: 'wang', password: 'correct horse battery', quota: 500_000 };
  await console_.api(context, 'POST', '/api/user', user);
  await console_.api(context, 'POST', '/api/redemption', { name: 'meetup', quota: 5, count: 2 });
  const answers = [
    await console_.rerank(key, 'no-such-model'),
    await console_.rerank(key, 'local'),
  ];
  requestIds = answers.map(({ id }) => id);
  // The log is written in batches.
  await until('the requests are in the logs', async () => {
    const logs = await Promise.all(
      ['/api/log', '/api/log/refused'].map((path) => console_.api(context, 'GET', path)),
    );
    return logs.every(({ items }) => items.length > 0);
  });
  await context.close();
});

after(() => console_?.stop());

const press = (key) => (page) => page.keyboard.press(key);
const click = (selector) => (page) => page.locator(selector).first().click();
/** The actions of the first row, or of what is open. */
const menuIn = (place) => click(`${place} [aria-haspopup]`);
const DIALOG = 'dialog[open]';

/** Each state by its address, what leads to it from there, and what shows that it is there. */
const STATES = [
  ['register', [], '.gate form', { login: false }],
  ['forgot', [], '.gate :is(form, .box)', { login: false }],
  ['reset', [], '.gate form', { login: false }],
  ['tags', [press('Control+k')], `${DIALOG} [role=combobox], ${DIALOG} input`],
  ['tags', [press('?')], `${DIALOG} kbd`],
  ['keys', [menuIn('tbody')], '.menu button'],
  ['keys', [click('tbody input[type=checkbox]')], '.content button'],
  ['keys?keyword=zzzz', [], '.empty'],
  ['keys?open=1', [], `${DIALOG} dl`],
  ['keys?open=1', [menuIn(DIALOG)], '.menu button'],
  ['keys/1', [], '.codebox'],
  ['keys/99', [], '.empty'],
  ['people?open=2', [], `${DIALOG} dl`],
  ['people/2', [], 'dl'],
  ['channels?open=1', [], `${DIALOG} dl`],
  ['tags/hosted', [], '.card'],
  ['models/local', [], '.codebox'],
  ['models?model=local', [], `${DIALOG} .codebox`],
  ['codes?new=1', [], `${DIALOG} form, form ${DIALOG}, ${DIALOG} input`],
  ['codes/1', [], 'dl'],
  ['audit', [click('tbody tr.item')], `${DIALOG}`],
  ['requests?which=refused', [], 'tbody tr.item'],
  ['requests/req_none', [], '.empty, .notice'],
  ['channels', [], '.empty', { username: 'wang' }],
  ['', [], '.tile', { username: 'wang' }],
  ['models', [], 'tbody tr.item', { username: 'wang' }],
];

for (const [colorScheme, locale] of [
  ['light', 'zh-CN'],
  ['dark', 'en-GB'],
]) {
  test(`every state is accessible and fits: ${colorScheme}, ${locale}`, async () => {
    const found = [];
    const opened = new Map();
    const states = [...STATES, ...requestIds.map((id) => [`requests/${id}`, [], '.notice'])];
    for (const [path, steps, shown, options = {}] of states) {
      const who = options.username ?? String(options.login ?? 'root');
      if (!opened.has(who)) {
        opened.set(who, await console_.open('login', { colorScheme, locale, ...options }));
      }
      const { page } = opened.get(who);
      await page.goto(`${console_.url}/console/${path}`);
      await page.locator('main').first().waitFor();
      for (const step of steps) {
        await page.locator('.content h1').first().waitFor();
        await step(page);
      }
      await page.locator(shown).first().waitFor();
      found.push(...(await faultsOf(page, `${path} after ${steps.length} steps`)));
    }
    assert.deepEqual(found, []);
    for (const { context } of opened.values()) await context.close();
  });
}

test('a page whose store is away is accessible', async () => {
  const { context, page } = await console_.open('keys');
  await page.locator('tbody tr').first().waitFor();
  await page.route('**/api/token**', (route) =>
    route.fulfill({
      status: 503,
      headers: { 'retry-after': '4' },
      json: { success: false, message: 'The store does not answer.', code: 'store_unavailable' },
    }),
  );
  await page.keyboard.press('r');
  await page.locator('.bar[role=alert]').waitFor();
  assert.deepEqual(await faultsOf(page, 'the store is away'), []);
  await context.close();
});
