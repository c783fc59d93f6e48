/** The ten jobs that the console is for, each from the login to its end, by mouse. */
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { after, before, describe } from 'node:test';
import { assertNowhere, isLogged, job, saved, startJobs, STORES } from './jobs.mjs';
import { PASSWORD } from './support.mjs';
import { startTei } from './tei.mjs';

async function typeInto({ page, click }, field, text) {
  await click(field);
  await page.keyboard.insertText(text);
}

async function logIn(hand, username = 'root', password = PASSWORD) {
  const { page, click } = hand;
  await typeInto(hand, page.getByLabel('Name or e-mail address'), username);
  await typeInto(hand, page.getByLabel('Password'), password);
  await click(page.getByRole('button', { name: 'Log in' }));
  await page.getByRole('heading', { name: username === 'root' ? 'Overview' : 'Home' }).waitFor();
}

async function goTo({ page, click }, name) {
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
  await click(link);
  await page.getByRole('heading', { level: 1, name: new RegExp(`^${name}`) }).waitFor();
}

for (const { name, onRedis } of STORES) {
  describe(`on ${name}`, () => {
    let gateway;

    before(async () => {
      gateway = await startJobs(onRedis);
    });

    after(() => gateway?.stop());

    const by = (what, run, given) => job(what, () => gateway, run, given);

    if (!onRedis) {
      by('1: whether all is well stands there without a click', async (hand) => {
        const { page, clicks } = hand;
        await logIn(hand);
        clicks();
        await page.getByText(/^All right: /).waitFor();
        assert.equal(clicks(), 0);
      });
    }

    by('2: the id of a refused request leads to why', async (hand) => {
      const { page, click, clicks } = hand;
      const tag = { tag: 'hosted', reason: 'answers 500' };
      await gateway.api('POST', '/api/channel/tag/disabled', tag);
      const { id, status } = await gateway.rerank(gateway.key, 'rerank-2.5', gateway.otherUrl);
      assert.equal(status, 503);
      await isLogged(gateway, id);
      await logIn(hand);
      clicks();
      await click(page.getByRole('button', { name: 'Search' }));
      await page.getByRole('combobox', { name: 'Search' }).waitFor();
      await page.keyboard.insertText(id);
      await click(page.getByRole('option', { name: id }));
      await page.getByRole('heading', { name: '503 no_channel_available' }).waitFor();
      await page
        .getByText(/voyage-eu: root switched the tag hosted off at .* \(answers 500\)/)
        .waitFor();
      await gateway.api('POST', '/api/channel/tag/enabled', { tag: 'hosted' });
      assert.equal(clicks(), 2);
    });

    by('3: a tag is switched off from the overview, and on again', async (hand) => {
      const { page, click, clicks } = hand;
      await logIn(hand);
      clicks();
      await click(page.getByRole('main').getByRole('link', { name: 'hosted' }));
      const hosted = page.getByRole('listitem').filter({ has: page.getByLabel('of hosted') });
      await click(hosted.getByRole('button', { name: 'Switch off…' }));
      const dialog = page.getByRole('dialog', { name: 'Switch “hosted” off?' });
      await dialog.getByText('Without it these answer 503:').waitFor();
      await page.keyboard.insertText('the provider answers 500');
      await page.keyboard.press('Tab');
      await page.keyboard.insertText('hosted');
      await click(dialog.getByRole('button', { name: 'Switch off' }));
      const all = `${gateway.nodes} of ${gateway.nodes}`;
      await hosted.getByText(new RegExp(`in force on ${all} nodes? after \\d+ ms`)).waitFor();
      assert.equal(clicks(), 3);
      await hosted.getByText(/Switched off .* root: the provider answers 500/).waitFor();
      for (const url of [gateway.url, gateway.otherUrl]) {
        assert.equal((await gateway.rerank(gateway.key, 'rerank-2.5', url)).status, 503);
      }

      await click(hosted.getByRole('button', { name: 'Switch on' }));
      await page.getByRole('switch', { name: 'Switch of hosted', checked: true }).waitFor();
      await hosted.getByText(new RegExp(`in force on ${all} nodes? after \\d+ ms`)).waitFor();
      assert.equal(clicks(), 1);
      for (const url of [gateway.url, gateway.otherUrl]) {
        assert.equal((await gateway.rerank(gateway.key, 'rerank-2.5', url)).status, 200);
      }
    });

    if (onRedis) return;

    by('4: a key with a budget for one model is one form', async (hand) => {
      const { page, click, clicks } = hand;
      await logIn(hand);
      clicks();
      await goTo(hand, 'Keys');
      await click(page.getByRole('button', { name: 'New key' }));
      const form = page.getByRole('dialog', { name: 'New key' });
      await form.getByLabel('Name', { exact: true }).waitFor();
      await page.keyboard.insertText('team A');
      await typeInto(hand, form.getByLabel('Budget in dollars', { exact: true }), '50');
      await typeInto(hand, form.getByLabel('Models', { exact: true }), 'local');
      await form.getByText('May spend $50.00 on local.').waitFor();
      await click(form.getByRole('button', { name: 'Make key' }));
      const shown = page.getByRole('dialog', { name: 'The key “team A”' });
      await click(shown.getByRole('button', { name: 'Copy the key' }));
      const secret = await shown.locator('.secret').innerText();
      assert.equal(await page.evaluate(() => globalThis.navigator.clipboard.readText()), secret);
      await click(shown.getByRole('button', { name: 'Done' }));
      await shown.waitFor({ state: 'detached' });
      assert.equal(clicks(), 7);
      await page
        .getByRole('row', { name: /team A/ })
        .getByText('$50.00')
        .waitFor();
      assert.equal((await gateway.rerank(secret, 'local')).status, 200);
      assert.equal((await gateway.rerank(secret, 'rerank-2.5')).status, 403);
      await assertNowhere(page, secret);
      await page.goBack();
      await assertNowhere(page, secret);
    });

    by('5: two models rank what was pasted', async (hand) => {
      const { page, click, clicks } = hand;
      await logIn(hand);
      await goTo(hand, 'Playground');
      clicks();
      await click(page.getByLabel(/^Documents/));
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('Olive oil\nThe moons of Saturn\nMars has two moons');
      await typeInto(hand, page.getByLabel('Add a model or channel'), 'rerank-2.5');
      await page.keyboard.press('Enter');
      await click(page.getByRole('button', { name: /^Run/ }));
      await page.getByRole('heading', { name: 'Agreement' }).waitFor();
      assert.equal(clicks(), 3);
      assert.equal(await page.locator('.rank').count(), 6);
      await page.getByText('Olive oil').last().waitFor();
    });

    by(
      '6: who spent what last month, and as a file',
      async (hand) => {
        const { page, click, clicks } = hand;
        await gateway.rerank(gateway.key, 'local');
        await logIn(hand);
        clicks();
        await goTo(hand, 'Spend');
        await click(page.getByText('Last month', { exact: true }));
        await page.getByRole('row', { name: /^ada \d+ \d+ / }).waitFor();
        assert.equal(clicks(), 2);
        const csv = await saved(page, () => click(page.getByRole('button', { name: 'CSV' })));
        assert.match(csv, /ada/);
      },
      {
        // What was spent today was spent last month.
        async prepare(page) {
          const now = new Date();
          await page.clock.setFixedTime(new Date(now.getFullYear(), now.getMonth() + 1, 15, 12));
        },
      },
    );

    by('7: a server of one’s own is found out, tried and switched on', async (hand) => {
      const { page, click } = hand;
      const tei = await startTei();
      await logIn(hand);
      await goTo(hand, 'Channels');
      await click(page.getByRole('button', { name: 'Add a channel' }));
      await typeInto(hand, page.getByRole('searchbox'), tei.url);
      await click(page.getByRole('button', { name: 'Find out what it speaks' }));
      await click(page.getByRole('button', { name: /text-embeddings-inference \(certain\)/ }));
      await typeInto(hand, page.getByLabel('Name', { exact: true }), ' of the lab');
      await click(page.getByRole('button', { name: 'Test' }));
      await page.getByText(/It works: the right order after/).waitFor();
      await click(page.getByRole('button', { name: 'Add, switched on' }));
      await page
        .getByRole('dialog', { name: / of the lab$/ })
        .getByText('live')
        .waitFor();
      const { status } = await gateway.rerank(gateway.key, 'bge-reranker-v2-m3');
      assert.equal(status, 200);
      tei.stop();
    });

    by('8: a code is redeemed on the first page', async (hand) => {
      const { page, click, clicks } = hand;
      const [code] = await gateway.api('POST', '/api/redemption', { name: 'gift', quota: 500_000 });
      await logIn(hand, 'ada');
      clicks();
      await typeInto(hand, page.getByLabel('Redeem a code'), code);
      await click(page.getByRole('button', { name: 'Redeem' }));
      await page.getByText('$1.00 was added to the balance.').waitFor();
      assert.equal(clicks(), 2);
      await assertNowhere(page, code);
    });

    by('9: a hundred codes are a file', async (hand) => {
      const { page, click } = hand;
      await logIn(hand);
      await goTo(hand, 'Codes');
      await click(page.getByRole('button', { name: 'Make codes' }));
      const form = page.getByRole('dialog', { name: 'Codes that turn into balance' });
      await form.getByLabel('Name', { exact: true }).waitFor();
      await page.keyboard.insertText('meetup');
      await typeInto(hand, form.getByLabel('Worth of each, in dollars'), '5');
      await click(form.getByLabel('How many'));
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('100');
      await form.getByText('100 × $5.00 = $500.00').waitFor();
      await click(form.getByRole('button', { name: 'Make', exact: false }));
      const shown = page.getByRole('dialog', { name: '100 codes “meetup”' });
      const csv = await saved(page, () => click(shown.getByRole('button', { name: 'CSV' })));
      const rows = csv.trim().split('\r\n');
      assert.equal(rows.length, 101);
      const code = rows[1].split(',')[1];
      await click(shown.getByRole('button', { name: 'I have them: close' }));
      await shown.waitFor({ state: 'detached' });
      await assertNowhere(page, code);
      assert.equal(Buffer.byteLength(code) >= 16, true);
    });

    by('10: a reset is mailed, somebody left, somebody is new', async (hand) => {
      const { page, click, clicks } = hand;
      await gateway.api('POST', '/api/user', { username: 'leaver', password: PASSWORD });
      await logIn(hand);
      await goTo(hand, 'People');
      clicks();
      await click(page.getByRole('button', { name: 'Actions: ada' }));
      await click(page.getByRole('menuitem', { name: 'Mail a reset…' }));
      await click(
        page
          .getByRole('dialog', { name: /Mail ada a code/ })
          .getByRole('button', { name: 'Mail a reset' }),
      );
      await page.getByText('A code is on its way to ada@example.com.').waitFor();
      assert.equal(clicks(), 3);

      await click(page.getByRole('button', { name: 'Actions: leaver' }));
      await click(page.getByRole('menuitem', { name: 'Disable…' }));
      const asked = page.getByRole('dialog', { name: 'Disable leaver?' });
      await click(asked.getByRole('button', { name: 'Disable' }));
      await page
        .getByRole('row', { name: /leaver/ })
        .getByText('disabled')
        .waitFor();
      assert.equal(clicks(), 3);

      await click(page.getByRole('button', { name: 'New account' }));
      const form = page.getByRole('dialog', { name: 'New account' });
      await form.getByLabel('Name', { exact: true }).waitFor();
      await page.keyboard.insertText('grace');
      await typeInto(hand, form.locator('input[type=password]'), PASSWORD);
      await click(form.locator('.dialog-foot').getByRole('button').last());
      await page.getByRole('dialog', { name: 'grace' }).getByText('enabled').waitFor();
    });
  });
}
