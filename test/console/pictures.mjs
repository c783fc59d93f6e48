/**
 * Takes the pictures that the tests compare with, and those of the README and of docs/console.md. Data and scores are fixed, so that the same
 * console makes the same pictures.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { PASSWORD, root, settled, startConsole, until } from './support.mjs';

export const FOLDER = join(import.meta.dirname, 'pictures');
const DOCS = join(root, 'docs', 'pictures');
/** Small pictures are cheap to keep, and their pixels are means, which a different smoothing of letters hardly moves. */
const SCALE = 0.25;

const QUERY = 'How do I get my money back?';
/** Each with what two stand-ins for models that know meaning say of it. */
const DOCUMENTS = [
  ['Money transfers and bank cards are accepted at the checkout.', 0.04, 0.02],
  ['A refund reaches your account five working days after the parcel has reached us.', 0.86, 0.93],
  ['Get back to your basket whenever you like: we keep it for a week.', 0.06, 0.03],
  ['Return an item within 30 days and you are paid the full price.', 0.91, 0.88],
  ['Gift cards cannot be exchanged for money.', 0.31, 0.22],
  ['Damaged on arrival? Tell us, and choose a replacement or a credit note.', 0.47, 0.64],
  ['The shop is open from nine to five.', 0.01, 0.01],
];

/** Servers that speak as Text Embeddings Inference does, one for each column of scores. */
async function startRerankers() {
  return Promise.all(
    [1, 2].map(async (column) => {
      const scores = new Map(DOCUMENTS.map((row) => [row[0], row[column]]));
      const server = createServer((req, res) => {
        let text = '';
        req.on('data', (chunk) => (text += chunk));
        req.on('end', () => {
          const rows = JSON.parse(text).texts.map((one, index) => ({
            index,
            score: scores.get(one) ?? 0,
          }));
          res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows));
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
}

function channel(name, server) {
  return {
    ...{ name, provider: 'tei', tag: 'own', models: { [name]: name } },
    base_url: `http://127.0.0.1:${server.address().port}`,
  };
}

const LANES = ['local', 'small-reranker', 'large-reranker'];

/** What a page links to when somebody shares it. */
function sharedPlayground() {
  const documents = DOCUMENTS.map(([text]) => text).join('\n');
  const packed = deflateRawSync(JSON.stringify({ query: QUERY, documents, lanes: LANES }));
  return `playground#v1.${packed.toString('base64url')}`;
}

async function runPlayground(page) {
  const query = page.getByLabel(/^(Query|查询)$/);
  await until('what the link brings', async () => (await query.inputValue()) === QUERY);
  await query.press('Control+Enter');
  const agreement = page.getByRole('region', { name: /^(Agreement|一致程度)$/ });
  await agreement
    .locator('tbody tr')
    .nth(LANES.length - 1)
    .waitFor();
  await agreement.scrollIntoViewIfNeeded();
  await page.evaluate(() => globalThis.scrollTo(0, 0));
}

/** What a page in whatever language has from the beginning; the rest is waited for when it stands still. */
const titled = (page) => page.locator('h1').first().waitFor();

/** Where each picture is taken, and what must be there first. */
const PICTURES = [
  ['login', 'login', titled, { login: false }],
  ['overview', '', titled, {}],
  ['playground', sharedPlayground(), runPlayground, {}],
  ['requests', 'requests', (page) => page.locator('tr.item').first().waitFor(), {}],
  ['keys', 'keys?new=1', (page) => page.locator('dialog h2').first().waitFor(), {}],
  ['spend', 'spend', titled, {}],
  ['codes', 'codes', titled, {}],
  ['people', 'people', titled, {}],
  [
    'channels',
    'channels',
    (page) => page.getByRole('cell', { name: 'inside' }).first().waitFor(),
    {},
  ],
  ['tags', 'tags', (page) => page.getByRole('switch').first().waitFor(), {}],
  ['models', 'models', titled, {}],
  ['nodes', 'nodes', (page) => page.locator('tr.item').first().waitFor(), {}],
  ['audit', 'audit', (page) => page.locator('tr.item').first().waitFor(), {}],
  ['account', 'account', titled, {}],
];
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** How each page is looked at: it is opened once for each language. */
const VIEWS = [
  [
    'en-GB',
    [
      ['light', 'light', DESK],
      ['dark', 'dark', DESK],
      ['phone', 'light', PHONE],
    ],
  ],
  ['zh-CN', [['chinese', 'light', DESK]]],
];

/** A console with the data of the pictures. */
export async function startPictures() {
  const servers = await startRerankers();
  const [small, large] = servers;
  const console_ = await startConsole({
    channels: [
      { name: 'inside', provider: 'local', tag: 'own', models: { local: 'local/lexical' } },
      channel('small-reranker', small),
      channel('large-reranker', large),
    ],
    prices: {
      default: { per_search_unit: 500 },
      models: { local: { per_search_unit: 0 } },
    },
  });
  const refused = await useGateway(console_);
  return {
    ...console_,
    refused,
    startedMs: Date.now(),
    async stop() {
      await console_.stop();
      for (const server of servers) server.close();
    },
  };
}

/** Makes something of everything that pages list; resolves to the id of a request that was refused. */
async function useGateway({ open, api, makeKey, rerank }) {
  const { context } = await open('login');
  await api(context, 'POST', '/api/user', { username: 'ada', password: PASSWORD, quota: 500_000 });
  await api(context, 'POST', '/api/redemption', { name: 'meetup', quota: 2_500_000, count: 3 });
  const key = await makeKey(context, { name: 'shop' });
  for (const model of LANES) await rerank(key, model);
  await api(context, 'POST', '/api/channel/tag/disabled', {
    tag: 'own',
    reason: 'the servers are being moved',
  });
  const { id } = await rerank(key, 'large-reranker');
  await api(context, 'POST', '/api/channel/tag/enabled', { tag: 'own' });
  await until('all requests are listed', async () => {
    const { total } = await api(context, 'GET', '/api/log/request');
    return total === LANES.length + 1;
  });
  await context.close();
  return id;
}

/** Ages are some hours, and no traffic is of the last one, however long the pictures take. */
const LATER_MS = 2.5 * 3_600_000;
const TIMING = { total_ms: 12, upstream_ms: 10, admission_ms: 1 };

/** Makes time stand still for a page, and each ranking take as long as all others. */
function stopTime(startedMs) {
  return async (page) => {
    await page.clock.setFixedTime(startedMs + LATER_MS);
    await page.route('**/api/playground/rank', async (route) => {
      const response = await route.fetch();
      const { data, ...rest } = await response.json();
      await route.fulfill({ response, json: { ...rest, data: { ...data, timing: TIMING } } });
    });
  };
}

/** A page that stands still, without the caret. */
async function stillOf(page) {
  await settled(page);
  await page.evaluate(() => globalThis.document.activeElement?.blur());
  await settled(page);
  return page.screenshot({ animations: 'disabled' });
}

/** All pictures by name, as small PNG files. */
export async function takePictures(console_) {
  const taken = new Map();
  const prepare = stopTime(console_.startedMs);
  for (const [name, path, ready, options] of PICTURES) {
    for (const [locale, looks] of VIEWS) {
      const still = { prepare, deviceScaleFactor: SCALE, reducedMotion: 'reduce' };
      const { context, page } = await console_.open(path, {
        login: 'anew',
        ...options,
        locale,
        ...still,
      });
      await ready(page);
      for (const [view, colorScheme, viewport] of looks) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        taken.set(`${name}-${view}`, await stillOf(page));
      }
      await context.close();
    }
  }
  return taken;
}

/** How wide letters come out: pictures can be compared only where they are the same. */
export async function fontsOf(console_) {
  const { context, page } = await console_.open('login', { login: false });
  await titled(page);
  const widths = await page.evaluate(() => {
    const brush = globalThis.document.createElement('canvas').getContext('2d');
    return ['system-ui', 'ui-monospace', 'sans-serif'].map((family) => {
      brush.font = `100px ${family}`;
      return Math.round(brush.measureText('Hamburgefonts 0123456789').width);
    });
  });
  await context.close();
  return widths;
}

/** The pictures of the documentation, each with its page and size. */
const IN_DOCS = [
  ['playground', () => sharedPlayground(), runPlayground, { width: 1280, height: 1330 }],
  [
    'request',
    ({ refused }) => `requests/${refused}`,
    (page) => page.getByText('large-reranker').first().waitFor(),
    { width: 1280, height: 760 },
  ],
  [
    'switch',
    () => 'tags?off=own',
    (page) => page.getByRole('dialog').getByText('large-reranker').first().waitFor(),
    { width: 1280, height: 760 },
  ],
];

async function takeForDocs(console_, [, pathOf, ready, viewport]) {
  const prepare = stopTime(console_.startedMs);
  const { context, page } = await console_.open(pathOf(console_), {
    login: 'anew',
    viewport,
    prepare,
  });
  await ready(page);
  const picture = await stillOf(page);
  await context.close();
  return picture;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const console_ = await startPictures();
  try {
    for (const folder of [FOLDER, DOCS]) mkdirSync(folder, { recursive: true });
    for (const [name, picture] of await takePictures(console_)) {
      writeFileSync(join(FOLDER, `${name}.png`), picture);
    }
    writeFileSync(join(FOLDER, 'fonts.json'), `${JSON.stringify(await fontsOf(console_))}\n`);
    for (const shown of IN_DOCS) {
      writeFileSync(join(DOCS, `${shown[0]}.png`), await takeForDocs(console_, shown));
    }
  } finally {
    await console_.stop();
  }
}
