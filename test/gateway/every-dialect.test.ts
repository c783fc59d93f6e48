import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { allProviders } from '../../src/providers/index.js';
import { startStubs, stubModel, type Stubs } from '../stubs/server.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { LONG } from '../support/long.js';
import { askExample, ingressFixture, orderOf } from '../support/ingress-fixtures.js';

/** With words in common the second is best, then the first, as the stubs score. */
const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is the planet that has the most moons, well over a hundred.',
  'Olive oil keeps best in a dark place.',
];
const RIGHT_ORDER = [1, 0, 2];

const PROVIDERS = allProviders()
  .filter(({ transport }) => transport === 'http')
  .map(({ id }) => id);
const AT_ONCE = 12;
const ajv = new Ajv2020({ strict: false });

let stubs: Stubs;
let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  stubs = await startStubs();
  gateway = await startGateway({
    channels: [
      ...PROVIDERS.map((id) => ({
        ...stubs.channel(id),
        name: id,
        models: { [`model of ${id}`]: stubModel(id) },
      })),
      { name: 'lexical', provider: 'local', models: { 'model of local': 'lexical' } },
    ],
    prices: { default: { per_request: 1 } },
    // A machine that is busy with other tests may keep the store waiting.
    gateway: { attempt_timeout_ms: 20_000, deadline_ms: 40_000, staleness_ms: 20_000 },
  });
  ({ key } = await gateway.createKey());
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await stubs.close();
});

async function send(path: string, headers: Record<string, string>, body: string) {
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** A quarter of them for each dialect, so that three or four dialects reach each provider; in a long run all reach all. */
function providersFor(dialect: number): string[] {
  const some = PROVIDERS.filter((_, index) => LONG || index % 4 === dialect % 4);
  return [...some, 'local'];
}

describe.each(DIALECTS.map(({ id }, index) => [id, index] as const))('%s', (id, index) => {
  const { schemas, example } = ingressFixture(id);
  const isReply = ajv.compile(schemas.reply);
  const isError = ajv.compile(schemas.error);
  const ask = (model: string, documents: readonly string[] = DOCUMENTS) =>
    askExample(id, example, { model, query: QUERY, documents });

  it('reaches the providers', async () => {
    const wrong: string[] = [];
    const queue = providersFor(index);
    const work = async (): Promise<void> => {
      for (let provider = queue.pop(); provider !== undefined; provider = queue.pop()) {
        const { path, headers, body } = ask(`model of ${provider}`);
        const { status, text } = await send(path, headers, body);
        const reply = JSON.parse(text) as unknown;
        const isRight =
          status === 200 &&
          isReply(reply) &&
          JSON.stringify(orderOf(reply, example.order)) === JSON.stringify(RIGHT_ORDER);
        if (!isRight) wrong.push(`${provider}: ${status} ${text.slice(0, 300)}`);
      }
    };

    await Promise.all(Array.from({ length: AT_ONCE }, work));

    expect(wrong).toEqual([]);
  }, 120_000);

  it('carries text of every kind, and a hundred documents', async () => {
    const strange = ['"quoted" \\ and\nbroken', '', '   ', 'Ünïcödé 漢字 \u{1f31d}', '\u0000'];
    const many = [...strange, ...Array.from({ length: 94 }, (_, at) => `number ${at}`)];
    const { path, headers, body } = ask('model of cohere', [...many, DOCUMENTS[1] ?? '']);
    const { status, text } = await send(path, headers, body);

    expect([status, text.slice(0, status === 200 ? 0 : 300)]).toEqual([200, '']);
    const order = orderOf(JSON.parse(text), example.order);
    expect(order[0]).toBe(99);
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it('marks its replies as all others are, and refuses in its own form', async () => {
    const { path, headers, body } = ask('model of local');
    const good = await send(path, headers, body);
    const unknown = ask('model of nobody');
    const refusals = {
      'wrong key': await send(path, { ...headers, authorization: 'Bearer sk-wrong' }, body),
      'no key': await send(path, { ...headers, authorization: '' }, body),
      'unknown model': await send(unknown.path, unknown.headers, unknown.body),
      'broken JSON': await send(path, headers, body.slice(0, -1)),
      'no JSON': await send(path, { ...headers, 'content-type': 'text/plain' }, body),
      nothing: await send(path, headers, ''),
      'no object': await send(path, headers, '[]'),
      'no members': await send(path, headers, '{}'),
    };

    expect(good.headers.get('x-request-id')).toMatch(/^rr_/);
    for (const [name, { status, headers: sent, text }] of Object.entries(refusals)) {
      expect([name, status >= 400 && status < 500]).toEqual([name, true]);
      expect(sent.get('x-request-id')).not.toBeNull();
      // What has neither a mark nor a path of its own is answered as the main contract does.
      const isOwn = isError(JSON.parse(text)) || 'error' in (JSON.parse(text) as object);
      expect([name, text, isOwn]).toEqual([name, text, true]);
    }
    expect(refusals['wrong key'].status).toBeGreaterThanOrEqual(401);
    expect(refusals['wrong key'].status).toBeLessThanOrEqual(403);
    expect(refusals['unknown model'].status).toBe(404);
    expect([isError(JSON.parse(refusals['unknown model'].text)), isError.errors]).toEqual([
      true,
      null,
    ]);
  });
});
