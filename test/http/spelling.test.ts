import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spelled, type Spelling } from '../support/spelling.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';

/** One unit of quota for a token. */
const PRICE = { per_million_tokens: 1_000_000 };
const QUOTA = 1_000_000;
const QUERY = 'Какая "планета"?';
const TEXTS = ['签名密钥每九十天轮换一次。\n'.repeat(20), 'Ключи "подписи"', 'plain', '🪐 / \\'];

let gateway: TestGateway;
let upstream: TestUpstream;

beforeAll(async () => {
  upstream = await startUpstream(({ body }, res) => {
    const { documents, input } = JSON.parse(body) as { documents?: unknown[]; input?: unknown[] };
    if (input === undefined) {
      const results = documents?.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
      sendJson(res, { results });
    } else {
      sendJson(res, { data: input.map((_, index) => ({ index, embedding: [1, index] })) });
    }
  });
  const at = { base_url: upstream.url, credentials: { api_key: 'k' } };
  gateway = await startGateway({
    prices: { default: PRICE },
    channels: [
      { name: 'hosted', provider: 'cohere', ...at, models: ['hosted'] },
      { name: 'vectors', provider: 'voyage-embeddings', ...at, models: ['vectors'] },
    ],
  });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** What a request costs, which has to be what is answered. */
async function chargeFor(body: string): Promise<number> {
  const { key, id } = await gateway.createKey({ remainQuota: QUOTA });
  const reply = await gateway.post(key, body);
  expect([reply.status, reply.body.message]).toEqual([200, undefined]);
  const { total_tokens: tokens } = reply.body.usage;
  expect(reply.body.meta).toMatchObject({ tokens: { input_tokens: tokens } });
  await until('the request is settled', async () => {
    const token = await gateway.store.getToken(id, Date.now());
    return token?.usedQuota === tokens && token.remainQuota === QUOTA - tokens;
  });
  return tokens;
}

describe.each(['hosted', 'vectors'])(
  'what an upstream without a count of tokens costs: %s',
  (model) => {
    const bodyOf = (
      document: (text: string) => string,
      ways: Spelling,
      more = '',
      comma = ',',
    ): string =>
      `{"model":"${model}","query":${spelled(QUERY, ways)}${more},` +
      `"documents":[${TEXTS.map((text) => document(spelled(text, ways))).join(comma)}]}`;

    it.each([
      ['strings', (json: string) => json, ''],
      ['objects', (json: string) => `{"text":${json}}`, ''],
      [
        'fields',
        (json: string) => `{"a":${json},"b":${json},"c":1}`,
        ',"rank_fields":["b","a","c"]',
      ],
      ['images that are none', (json: string) => `{"text":${json},"image":null}`, ''],
    ])('depends on what is meant, not on how it is spelled: %s', async (_kind, document, more) => {
      const plain = await chargeFor(bodyOf(document, [0], more));

      expect(plain).toBeGreaterThan(100);
      for (const ways of [[1], [2], [3], [0, 2, 1]]) {
        expect(await chargeFor(bodyOf(document, ways, more, ',\n   '))).toBe(plain);
      }
    });
  },
);
