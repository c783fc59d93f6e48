import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import { faultsOf, settled, startConsole, until } from './support.mjs';

const PAGES = [
  ...[
    '',
    'playground',
    'requests',
    'keys',
    'spend',
    'codes',
    'people',
    'channels',
    'tags',
    'models',
  ],
  ...['nodes', 'audit', 'account'],
];

let console_;

before(async () => {
  // A busy machine needs longer to confirm than the bound of a second.
  console_ = await startConsole({ gateway: { default_model: 'local', staleness_ms: 8_000 } });
});

after(() => console_?.stop());

test('a switch says on how many nodes it is in force, and names the one that is frozen', async () => {
  const other = await console_.startNode();
  const { context, page, said } = await console_.open('login');
  await until('both gateways report', async () => {
    const { nodes } = await console_.api(context, 'GET', '/api/node');
    return nodes.length === 2;
  });
  await page.goto(`${console_.url}/console/tags`);
  await page.getByRole('switch', { name: 'Switch of hosted' }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch “hosted” off?' });
  await dialog.getByLabel('Reason').fill('a test');
  await dialog.getByLabel(/To confirm/).fill('hosted');
  await page.keyboard.press('Enter');
  await page.getByText(/in force on 2 of 2 nodes after \d+ ms/).waitFor();

  other.gateway.kill('SIGSTOP');
  await page.getByRole('button', { name: 'Switch on' }).click();
  // Both are on one machine, and the system has chosen their ports.
  const late = `${hostname()}:${other.gateway.pid}`;
  await page
    .getByText(`1 of 2 nodes confirmed it; ${late} did not report within the bound of`)
    .waitFor();
  assert.equal(await page.getByRole('main').getByRole('link', { name: 'Nodes' }).count(), 1);
  const { page: nodes, said: saidOfNodes, context: second } = await console_.open('nodes');
  await nodes.getByText(/^an older version|^silent/).waitFor();
  await nodes
    .getByRole('row', { name: late })
    .getByText(/^an older version|^silent/)
    .waitFor();
  await nodes.getByText('the newest version').waitFor();
  assert.deepEqual(await faultsOf(nodes, 'nodes'), []);

  // All else goes on without it.
  for (const path of PAGES) {
    await nodes.goto(`${console_.url}/console/${path}`);
    await nodes.getByRole('heading', { level: 1 }).first().waitFor();
    await settled(nodes);
    assert.equal(await nodes.getByRole('alert').count(), 0, path);
  }
  await nodes.goto(`${console_.url}/console/nodes`);
  await nodes.getByText(/^an older version|^silent/).waitFor();

  other.gateway.kill('SIGCONT');
  await nodes.keyboard.press('r');
  await nodes.waitForFunction(
    () => document.body.textContent.split('the newest version').length === 3,
  );
  // What was late has happened by now, and the page goes on to say so.
  await page.bringToFront();
  await page.getByText('now in force on all 2 nodes').waitFor();
  assert.deepEqual([...said, ...saidOfNodes], []);
  await second.close();
  await context.close();
});
