import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PASSWORD, settled, startConsole } from './support.mjs';

/** How many requests one view of a page may make to the API. */
const BUDGET = 6;
/** Of a list with the record that is open beside it. */
const BUDGET_OF_BOTH = 7;
const EVERYBODYS = ['', 'playground', 'requests', 'keys', 'spend', 'models', 'account'];
const ADMINS = [...EVERYBODYS, 'codes', 'people', 'channels', 'tags', 'nodes', 'audit'];

let console_;

before(async () => {
  console_ = await startConsole();
});

after(() => console_?.stop());

/** The pages whose first view asks the API more often than it may, each with what it asked. */
async function beyondBudget(page, paths) {
  const found = [];
  for (const path of paths) {
    const asked = [];
    const note = (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/api/')) asked.push(`${request.method()} ${pathname}${search}`);
    };
    page.on('request', note);
    await page.goto(`${console_.url}/console/${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await settled(page);
    page.off('request', note);
    assert.notEqual(asked.length, 0);
    if (asked.length > (path.includes('open=') ? BUDGET_OF_BOTH : BUDGET))
      found.push([path, ...asked]);
  }
  return found;
}

test('no page asks the API more often than its budget, for admins and for users', async () => {
  const { context, page, said } = await console_.open('login');
  const key = await console_.makeKey(context);
  const { id } = await console_.rerank(key, 'local');
  const [token] = (await console_.api(context, 'GET', '/api/token')).items;
  const user = await console_.api(context, 'POST', '/api/user', {
    username: 'ada',
    password: PASSWORD,
  });
  const [channel] = (await console_.api(context, 'GET', '/api/channel')).items;
  const records = [
    ...[`requests/${id}`, `keys/${token.id}`, `people/${user.id}`, `channels/${channel.id}`],
    ...['tags/own', 'models/local'],
    ...[`keys?open=${token.id}`, `people?open=${user.id}`, `channels?open=${channel.id}`],
    ...['tags?open=own', 'requests?span=24h', '?span=7d', 'spend?by=token', 'channels?new=1'],
  ];

  assert.deepEqual(await beyondBudget(page, [...ADMINS, ...records]), []);
  assert.deepEqual(said, []);
  await context.close();

  const other = await console_.open('login', { username: 'ada' });
  assert.deepEqual(await beyondBudget(other.page, EVERYBODYS), []);
  assert.deepEqual(other.said, []);
  await other.context.close();
});
