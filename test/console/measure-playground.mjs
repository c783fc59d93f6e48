import { Buffer } from 'node:buffer';
import { settled } from './support.mjs';

const DOCUMENTS = 1_000;
const TYPED = 'what has the most moons?';
const HOVERED = 20;
const SWITCHES = 6;
const SCROLL_PX = 60;
const SCROLL_FRAMES = 240;
/** Of two frames of a screen that draws sixty a second: one was left out. */
const LATE_MS = 1.5 * (1_000 / 60);

const TEXT =
  'Among the planets of the list, this one is found at a place of its own, with rings of ice and dust around it; ' +
  'its moons were counted again and again by those who look at the sky, and their number has grown ever since.';

/** Rankers that differ, as real ones do: every third document is anywhere, others move a little. */
async function disagree(page) {
  let lane = 0;
  await page.route('**/api/playground/rank', async (route) => {
    const reply = await route.fetch();
    const body = await reply.json();
    lane += 1;
    const seed = lane;
    const scoreOf = (index) =>
      index % 3 === 0
        ? ((index * 7_919 * seed) % 997) / 997
        : 1 - (index + ((index * seed) % 9)) / 1_100;
    const results = body.data.results
      .map(({ index }) => ({ index, relevance_score: scoreOf(index) }))
      .toSorted((one, other) => other.relevance_score - one.relevance_score);
    await route.fulfill({ response: reply, json: { ...body, data: { ...body.data, results } } });
  });
}

/** Four lanes with a thousand documents of about 300 characters, ranked and shown whole. */
async function ranked(page, lanes) {
  const file = Array.from({ length: DOCUMENTS }, (_, at) => `${at} ${at % 7} moons. ${TEXT}`);
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'many.txt', mimeType: 'text/plain' },
    buffer: Buffer.from(file.join('\n')),
  });
  for (const name of lanes) {
    await page.getByLabel('Add a model or channel').fill(name);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
  }
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByRole('button', { name: `All ${DOCUMENTS}` }).click();
  await page.getByRole('heading', { name: 'Agreement' }).waitFor();
  await page.locator('.lane .rank').nth(4).waitFor();
  await settled(page);
}

/** Begins to note how long each input takes until what it changed is painted, in steps of 8 ms. */
async function watchInput(page) {
  await page.evaluate(() => {
    globalThis.paints = [];
    new globalThis.PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries())
        globalThis.paints.push({ name, duration });
    }).observe({ type: 'event', durationThreshold: 16 });
  });
}

/** The slowest input of a kind since the last call; those below 16 ms are not noted. */
async function slowest(page) {
  await settled(page);
  const paints = await page.evaluate(() => globalThis.paints.splice(0));
  return Math.max(0, ...paints.map(({ duration }) => duration));
}

async function typing(page) {
  await page.getByLabel('Query').press('End');
  for (const letter of TYPED) {
    await page.keyboard.press(letter === ' ' ? 'Space' : letter);
    await page.evaluate(() => new Promise(globalThis.requestAnimationFrame));
  }
}

async function hovering(page) {
  const rows = page.locator('.lane').first().locator('.rank button');
  for (let at = 0; at < HOVERED; at += 1) await rows.nth(at % 5).hover();
}

async function switching(page) {
  for (let at = 0; at < SWITCHES; at += 1) {
    const name = ['Softmax', 'Share of the best', 'Scores'][at % 3];
    await page.getByRole('radio', { name }).check({ force: true });
  }
}

async function thinning(page) {
  for (let at = 0; at < SWITCHES; at += 1) await page.getByLabel('Only moves of 3 or more').click();
}

/** The share of frames that come late while the page scrolls through all rows. */
async function scrolling(page) {
  return page.evaluate(
    async ([px, frames, lateMs]) => {
      const gaps = [];
      globalThis.scrollTo(0, 0);
      let last = await new Promise(globalThis.requestAnimationFrame);
      for (let frame = 0; frame < frames; frame += 1) {
        globalThis.scrollBy(0, px);
        const now = await new Promise(globalThis.requestAnimationFrame);
        gaps.push(now - last);
        last = now;
      }
      return gaps.filter((gap) => gap > lateMs).length / gaps.length;
    },
    [SCROLL_PX, SCROLL_FRAMES, LATE_MS],
  );
}

/** How quickly the playground shows what somebody does with four lanes of a thousand documents. */
export async function measurePlayground(console_, lanes) {
  const { context, page } = await console_.open('playground');
  await disagree(page);
  await ranked(page, lanes);
  await watchInput(page);
  const found = {};
  for (const [name, act] of Object.entries({ typing, hovering, switching, thinning })) {
    await act(page);
    found[`${name} ms`] = await slowest(page);
  }
  const late = await scrolling(page);
  await context.close();
  return { ...found, 'late frames': `${(100 * late).toFixed(0)} %` };
}
