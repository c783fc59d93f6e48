/** The ten jobs that the console is for, each from the login to its end, by keyboard alone: no mouse is touched. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { assertNowhere, isLogged, job, saved, startJobs, STORES, tabTo } from './jobs.mjs';
import { goBy, PASSWORD } from './support.mjs';
import { startTei } from './tei.mjs';

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

const paste = (page, text) => page.keyboard.insertText(text);

/** The field of the name has the focus from the start. */
async function logIn(page, username = 'root', password = PASSWORD) {
  await page.keyboard.type(username);
  await press(page, 'Tab');
  await paste(page, password);
  await press(page, 'Enter');
  await page.getByRole('heading', { name: username === 'root' ? 'Overview' : 'Home' }).waitFor();
}

/** Goes on to what has that name, and presses it. */
async function activate(page, locator, key = 'Enter') {
  await locator.waitFor();
  await tabTo(page, locator);
  await press(page, key);
}

for (const { name, onRedis } of STORES) {
  describe(`on ${name}`, () => {
    let gateway;

    before(async () => {
      gateway = await startJobs(onRedis);
    });

    after(() => gateway?.stop());

    const by = (what, run, given) => job(what, () => gateway, run, given);
    const inForce = () => {
      const all = `${gateway.nodes} of ${gateway.nodes}`;
      return new RegExp(`in force on ${all} nodes? after \\d+ ms`);
    };

    if (!onRedis) {
      by('1: whether all is well stands there after the login', async ({ page }) => {
        await logIn(page);
        await page.getByText(/^All right: /).waitFor();
      });
    }

    by('2: the id of a refused request leads to why', async ({ page }) => {
      await gateway.api('POST', '/api/channel/tag/disabled', {
        tag: 'hosted',
        reason: 'it is ill',
      });
      const { id } = await gateway.rerank(gateway.key, 'rerank-2.5', gateway.otherUrl);
      await isLogged(gateway, id);
      await logIn(page);
      await press(page, 'Control+k');
      await page.getByRole('combobox', { name: 'Search' }).waitFor();
      await paste(page, id);
      await press(page, 'Enter');
      await page.getByRole('heading', { name: '503 no_channel_available' }).waitFor();
      await page.getByText(/root switched the tag hosted off at .* \(it is ill\)/).waitFor();
      await gateway.api('POST', '/api/channel/tag/enabled', { tag: 'hosted' });

      // The search is there by now: what follows at once is meant for it, and for nothing on the page.
      await press(page, 'Control+k');
      await page.keyboard.type('rr_none_such');
      const search = page.getByRole('combobox', { name: 'Search' });
      await search.waitFor();
      assert.equal(await search.inputValue(), 'rr_none_such');
    });

    by('3: a tag is switched off, and on again where the focus is', async ({ page }) => {
      await logIn(page);
      await goBy(page, 't', /^Tags/);
      const hosted = page.getByRole('listitem').filter({ has: page.getByLabel('of hosted') });
      await activate(page, hosted.getByRole('button', { name: 'Switch off…' }));
      const dialog = page.getByRole('dialog', { name: 'Switch “hosted” off?' });
      await dialog.getByText('Without it these answer 503:').waitFor();
      await paste(page, 'the provider answers 500');
      await press(page, 'Tab');
      await paste(page, 'hosted');
      await dialog.getByRole('button', { name: 'Switch off', disabled: false }).waitFor();
      await press(page, 'Enter');
      await hosted.getByText(inForce()).waitFor();
      assert.equal((await gateway.rerank(gateway.key, 'rerank-2.5', gateway.otherUrl)).status, 503);

      // Undone without a search for the button.
      await page.locator('button:focus', { hasText: 'Switch on' }).waitFor();
      await press(page, 'Enter');
      await page.getByRole('switch', { name: 'Switch of hosted', checked: true }).waitFor();
      await hosted.getByText(inForce()).waitFor();
      await page.locator('button:focus', { hasText: 'Switch off…' }).waitFor();
      assert.equal((await gateway.rerank(gateway.key, 'rerank-2.5', gateway.otherUrl)).status, 200);
    });

    if (onRedis) return;

    by('4: a key with a budget for one model is one form', async ({ page }) => {
      await logIn(page);
      await goBy(page, 'k', /^Keys/);
      await press(page, 'n');
      await page.getByRole('dialog', { name: 'New key' }).waitFor();
      await paste(page, 'team B');
      await press(page, 'Tab');
      await paste(page, '50');
      await press(page, 'Tab');
      await paste(page, 'local');
      await page.getByText('May spend $50.00 on local.').waitFor();
      await press(page, 'Enter');
      const shown = page.getByRole('dialog', { name: 'The key “team B”' });
      await shown.locator('button:focus', { hasText: 'Copy the key' }).waitFor();
      const secret = await shown.locator('.secret').innerText();
      await press(page, 'Enter');
      await shown.getByText('Copied.').waitFor();
      assert.equal(await page.evaluate(() => globalThis.navigator.clipboard.readText()), secret);
      await press(page, 'Escape');
      await shown.waitFor({ state: 'detached' });
      assert.equal((await gateway.rerank(secret, 'local')).status, 200);
      await assertNowhere(page, secret);
    });

    by('5: two models rank what was pasted', async ({ page }) => {
      await logIn(page);
      await goBy(page, 'p', 'Playground');
      await tabTo(page, page.getByLabel(/^Documents/));
      await press(page, 'Control+a');
      await paste(page, 'Olive oil\nThe moons of Saturn\nMars has two moons');
      await tabTo(page, page.getByLabel('Add a model or channel'));
      await paste(page, 'rerank-2.5');
      await press(page, 'Enter');
      await page.getByRole('region', { name: 'rerank-2.5', exact: true }).waitFor();
      await press(page, 'Control+Enter');
      await page.getByRole('heading', { name: 'Agreement' }).waitFor();
      assert.equal(await page.locator('.rank').count(), 6);
    });

    by(
      '6: who spent what last month, and as a file',
      async ({ page }) => {
        await gateway.rerank(gateway.key, 'local');
        await logIn(page);
        await goBy(page, 's', 'Spend');
        await tabTo(page, page.getByRole('radio', { name: 'This month' }));
        await press(page, 'ArrowRight');
        await page.getByRole('row', { name: /^ada \d+ \d+ / }).waitFor();
        const csv = page.getByRole('button', { name: 'CSV' });
        assert.match(await saved(page, () => activate(page, csv)), /ada/);
        await csv.and(page.locator(':focus')).waitFor();
      },
      {
        // What was spent today was spent last month.
        async prepare(page) {
          const now = new Date();
          await page.clock.setFixedTime(new Date(now.getFullYear(), now.getMonth() + 1, 15, 12));
        },
      },
    );

    by('7: a server of one’s own is found out, tried and switched on', async ({ page }) => {
      const tei = await startTei();
      await logIn(page);
      await goBy(page, 'c', /^Channels/);
      await press(page, 'n');
      await page.locator('input[type=search]:focus').waitFor();
      // Each slash is one of the address, and not the key that opens the search.
      await page.keyboard.type(tei.url);
      await press(page, 'Enter');
      const found = page.getByRole('button', { name: /text-embeddings-inference \(certain\)/ });
      await activate(page, found);
      // Address and models are known: the fields that are left come next.
      await page.locator(':is(input, textarea):focus').waitFor();
      const model = page.getByLabel('Name', { exact: true });
      await tabTo(page, model);
      await paste(page, 'by keyboard');
      await activate(page, page.getByRole('button', { name: 'Test' }));
      await page.getByText(/It works: the right order after/).waitFor();
      await activate(page, page.getByRole('button', { name: 'Add, switched on' }));
      await page
        .getByRole('dialog', { name: /by keyboard/ })
        .getByText('live')
        .waitFor();
      const { status } = await gateway.rerank(gateway.key, 'bge-reranker-v2-m3');
      assert.equal(status, 200);
      tei.stop();
    });

    by('8: a code is redeemed on the first page', async ({ page }) => {
      const [code] = await gateway.api('POST', '/api/redemption', { name: 'gift', quota: 500_000 });
      await logIn(page, 'ada');
      await tabTo(page, page.getByLabel('Redeem a code'));
      await paste(page, code);
      await press(page, 'Enter');
      await page.getByText('$1.00 was added to the balance.').waitFor();
      await assertNowhere(page, code);
    });

    by('9: a hundred codes are a file', async ({ page }) => {
      await logIn(page);
      await goBy(page, 'd', /^Codes/);
      await press(page, 'n');
      await page.getByRole('dialog', { name: 'Codes that turn into balance' }).waitFor();
      await paste(page, 'meetup');
      await press(page, 'Tab');
      await paste(page, '5');
      await press(page, 'Tab');
      await paste(page, '100');
      await page.getByText('100 × $5.00 = $500.00').waitFor();
      await press(page, 'Enter');
      const shown = page.getByRole('dialog', { name: '100 codes “meetup”' });
      await shown.locator('button:focus', { hasText: 'Copy all' }).waitFor();
      const button = shown.getByRole('button', { name: 'CSV' });
      const csv = await saved(page, () => activate(page, button));
      const rows = csv.trim().split('\r\n');
      assert.equal(rows.length, 101);
      await press(page, 'Escape');
      await shown.waitFor({ state: 'detached' });
      await assertNowhere(page, rows[1].split(',')[1]);
    });

    by('10: a reset is mailed, somebody left, somebody is new', async ({ page }) => {
      await gateway.api('POST', '/api/user', { username: 'leaver', password: PASSWORD });
      await logIn(page);
      await goBy(page, 'u', /^People/);
      const toRow = async (username) => {
        await page.getByRole('row', { name: new RegExp(username) }).waitFor();
        await activate(page, page.getByRole('button', { name: `Actions: ${username}` }));
        await page.getByRole('menu').waitFor();
      };
      const pick = async (item) => {
        const there = page.getByRole('menuitem', { name: item });
        await tabTo(page, there, 'ArrowDown');
        await press(page, 'Enter');
      };
      await toRow('ada');
      await pick('Mail a reset…');
      const mail = page.getByRole('dialog', { name: /Mail ada a code/ });
      await activate(page, mail.getByRole('button', { name: 'Mail a reset' }));
      await page.getByText('A code is on its way to ada@example.com.').waitFor();
      await mail.waitFor({ state: 'detached' });

      await toRow('leaver');
      await pick('Disable…');
      await page.getByRole('dialog', { name: 'Disable leaver?' }).waitFor();
      await paste(page, 'has left');
      await press(page, 'Enter');
      await page
        .getByRole('row', { name: /leaver/ })
        .getByText('disabled')
        .waitFor();
      // Where the menu was, one goes on.
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('button[aria-label="Actions: leaver"]:focus').waitFor();

      await press(page, 'n');
      const form = page.getByRole('dialog', { name: 'New account' });
      await form.waitFor();
      await paste(page, 'grace');
      await tabTo(page, form.locator('input[type=password]'));
      await paste(page, PASSWORD);
      await press(page, 'Enter');
      await page.getByRole('dialog', { name: 'grace' }).getByText('enabled').waitFor();
    });
  });
}
