import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { updateChannel } from '../../src/management/channels.js';
import { EXPLAINED, type ExplainedWire } from '../../src/shapes/explained.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { rankLikeCohere, startUpstream, type TestUpstream } from '../support/upstream.js';

const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = ['Mercury has no moons at all.', 'Saturn has the most moons of any planet.'];
const SECRET = 'a-very-secret-key';
const HIDDEN_TENANT = 'tenant-seven';
const CONSTANTS = JSON.stringify({ of: { tenant: HIDDEN_TENANT } });

const MOON_AND_STUCK = { moon: 'rerank-moon', stuck: 'rerank-moon' };

let gateway: TestGateway;
let upstream: TestUpstream;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream(rankLikeCohere);
  const at = { provider: 'cohere', base_url: upstream.url, credentials: { api_key: SECRET } };
  gateway = await startGateway({
    tags: [{ tag: 'off', disabled: true, reason: 'maintenance' }],
    models: { moon: { fallbacks: ['local'] }, stuck: { select: 'sticky' } },
    prices: { models: { chat: { per_million_tokens: 1_000_000_000 } } },
    channels: [
      { name: 'best', ...at, models: { moon: 'rerank-moon' }, priority: 9, tag: 'a' },
      { name: 'next', ...at, models: MOON_AND_STUCK, priority: 1, weight: 3, tag: 'a' },
      { name: 'other', ...at, models: MOON_AND_STUCK, priority: 1, weight: 1, tag: 'a' },
      { name: 'off', ...at, models: ['moon'], tag: 'off' },
      { name: 'disabled', ...at, models: ['moon'] },
      { name: 'small', ...at, models: ['moon'], tag: 'a', settings: {} },
      { name: 'untagged', ...at, models: ['moon'] },
      { name: 'inside', provider: 'local', models: ['local'], tag: 'a' },
      {
        ...{ name: 'constant', provider: 'bentoml', base_url: upstream.url, models: ['constant'] },
        ...{ settings: { constants: CONSTANTS }, tag: 'a' },
      },
      {
        ...{ name: 'chat', provider: 'chat-listwise', base_url: upstream.url, models: ['chat'] },
        ...{ credentials: { api_key: SECRET }, tag: 'a' },
      },
      {
        ...{ name: 'config', provider: 'portkey', base_url: upstream.url, models: ['config'] },
        ...{ credentials: { api_key: SECRET }, settings: { config: CONSTANTS }, tag: 'a' },
      },
    ],
  });
  const { store, app } = gateway;
  const { channels } = await store.loadChannels();
  const id = channels.find(({ name }) => name === 'disabled')?.id ?? 0;
  const deps = {
    store,
    now: Date.now,
    randomBytes,
    allowPrivateUpstreams: true,
    allowMetadataUpstreams: false,
  };
  const actor = { id: 1, name: 'root', role: 100, address: undefined, reason: 'broken' } as const;
  await updateChannel(deps, id, { status: 2 }, actor);
  await app.gateway.channels.refresh();
  ({ key } = await gateway.createKey({ policy: { mayExplain: true, tags: ['a', 'off'] } }));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.answer(rankLikeCohere);
  upstream.seen.length = 0;
});

async function ask(
  { path = '/v1/rerank?explain=1', by = key, headers = {} as Record<string, string> },
  body: unknown = { model: 'moon', query: QUERY, documents: DOCUMENTS },
) {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text() };
}

async function explained(...given: Parameters<typeof ask>): Promise<ExplainedWire> {
  const { status, text } = await ask(...given);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return EXPLAINED.validateAsync(JSON.parse(text));
}

describe('an explanation', () => {
  it('says how many channels of other models it does not name', async () => {
    const channels = Array.from({ length: 104 }, (_, at) => ({
      name: `inside ${at}`,
      provider: 'local',
      models: [`m${at}`],
    }));
    const many = await startGateway({ channels });
    try {
      const { key: by } = await many.createKey({ policy: { mayExplain: true } });
      const reply = await fetch(`${many.url}/v1/rerank?explain=1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm0', query: QUERY, documents: DOCUMENTS }),
      });
      const told = await EXPLAINED.validateAsync(await reply.json());

      expect([told.passed_over.length, told.more_passed_over]).toEqual([100, 3]);
    } finally {
      await many.close();
    }
  });

  it('says which channels would be asked in which order, and why the others would not', async () => {
    const { dialect, model, candidates, passed_over: passedOver, refusal } = await explained({});

    expect([dialect, model, refusal]).toEqual(['cohere', 'moon', null]);
    expect(candidates.map(({ name, priority, chance }) => [name, priority, chance])).toEqual([
      ['best', 9, 1],
      ['next', 1, 0.75],
      ['other', 1, 0.25],
      ['small', 0, 1],
    ]);
    expect(passedOver.map(({ name, because, message }) => [name, because, message])).toEqual([
      [
        'off',
        'tag_disabled',
        expect.stringMatching(/^Its tag "off" was switched off by config at .*: maintenance$/),
      ],
      ['disabled', 'disabled', expect.stringMatching(/^It was disabled by root at .*: broken$/)],
      ['untagged', 'key_tags', 'The key is bound to a, off, and it has none.'],
      ['inside', 'other_models', 'It serves local.'],
      ['constant', 'other_models', 'It serves constant.'],
      ['chat', 'other_models', 'It serves chat.'],
      ['config', 'other_models', 'It serves config.'],
    ]);
  });

  it('sends nothing, charges nothing and counts nothing', async () => {
    const { key: poor, id } = await gateway.createKey({
      remainQuota: 5_000,
      policy: { mayExplain: true, rateLimit: 1 },
    });

    for (let round = 0; round < 3; round += 1) await explained({ by: poor });

    expect(upstream.seen).toEqual([]);
    const token = await gateway.store.getToken(id, Date.now());
    expect([token?.remainQuota, token?.usedQuota]).toEqual([5_000, 0]);
    const served = await ask({ by: poor, path: '/v1/rerank' });
    expect(served.status).toBe(200);
  });

  it('shows what would be sent as it would be sent, without credentials', async () => {
    const { outgoing } = await explained({});
    await ask({ path: '/v1/rerank' });

    const [sent] = upstream.seen;
    expect(outgoing).toMatchObject({
      url: `${upstream.url}${sent?.path ?? ''}`,
      method: 'POST',
      headers: { authorization: '[hidden]', 'content-type': 'application/json' },
      body: sent?.body,
      body_bytes: Buffer.byteLength(sent?.body ?? ''),
    });
    expect(sent?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.stringify(outgoing)).not.toContain(SECRET);
  });

  it.each(['constant', 'config'])('hides settings that may hold secrets: %s', async (model) => {
    const { outgoing } = await explained({}, { model, query: QUERY, documents: DOCUMENTS });

    expect(outgoing?.body).toContain(DOCUMENTS[0]);
    expect(JSON.stringify(outgoing)).toContain('[hidden]');
    expect(JSON.stringify(outgoing)).not.toContain(HIDDEN_TENANT);
  });

  it('shows the first kilobyte of a long body', async () => {
    const documents = Array.from({ length: 100 }, (_, at) => `${at} ${'moon '.repeat(10)}`);

    const { outgoing, cost } = await explained({}, { model: 'moon', query: QUERY, documents });

    expect(outgoing?.body).toHaveLength(1_024);
    expect(outgoing?.body_bytes).toBeGreaterThan(5_000);
    expect(cost.reserved).toBeGreaterThan(0);
  });

  it('is about the channel of the key, where each key has its own', async () => {
    const firsts: unknown[] = [];
    for (let count = 0; count < 12; count += 1) {
      const { key: by } = await gateway.createKey({ policy: { mayExplain: true } });
      const { candidates } = await explained(
        { by },
        { model: 'stuck', query: QUERY, documents: ['a'] },
      );
      firsts.push(...candidates.filter(({ chance }) => chance === 1).map(({ name }) => name));
    }

    expect(firsts).toHaveLength(12);
    expect(new Set(firsts)).toEqual(new Set(['next', 'other']));
  });

  it('estimates what a chat model costs with its instructions', async () => {
    const { cost } = await explained({}, { model: 'chat', query: QUERY, documents: DOCUMENTS });

    expect(cost.estimated).toBe(cost.reserved);
  });

  it('knows the models that would be asked in its place', async () => {
    const { fallbacks } = await explained({});

    expect(
      fallbacks.map(({ model, candidates }) => [model, candidates.map(({ name }) => name)]),
    ).toEqual([['local', ['inside']]]);
  });

  it('asks them under the same tag', async () => {
    const { fallbacks } = await explained({ headers: { 'x-rerank-tag': 'off' } });

    expect(fallbacks).toMatchObject([
      { model: 'local', candidates: [], passed_over: [{ name: 'inside', because: 'request_tag' }] },
    ]);
  });

  it('knows the chain of models of the key that asks', async () => {
    const { key: by } = await gateway.createKey({
      policy: { mayExplain: true, fallbacks: ['unknown', 'local'] },
    });

    const { fallbacks } = await explained({ by });

    expect(fallbacks.map(({ model, candidates }) => [model, candidates.length])).toEqual([
      ['unknown', 0],
      ['local', 1],
    ]);
  });

  it('leaves out the models that the key may not use', async () => {
    const { key: by } = await gateway.createKey({ policy: { mayExplain: true, models: ['moon'] } });

    expect((await explained({ by })).fallbacks).toEqual([]);
  });

  it('is given in the same way whatever form the request has', async () => {
    const { key: by } = await gateway.createKey({
      policy: { mayExplain: true, defaultModel: 'moon' },
    });
    const headers = { 'x-rerank-explain': '1' };
    const tei = await explained(
      { path: '/rerank', by, headers },
      { query: QUERY, texts: DOCUMENTS },
    );
    const voyage = await explained(
      { path: '/v1/rerank', headers },
      { model: 'voyage/moon', query: QUERY, documents: DOCUMENTS, top_k: 1 },
    );

    expect([tei.dialect, tei.model]).toEqual(['tei', 'moon']);
    expect([voyage.dialect, voyage.asked, voyage.model]).toEqual(['voyage', 'voyage/moon', 'moon']);
  });

  it.each([
    ['a model that is not there', { model: 'nobody' }, {}, 'model_not_found'],
    ['a tag that the key is not bound to', { model: 'moon@b' }, {}, 'tag_not_allowed'],
    ['a tag that is switched off', { model: 'moon@off' }, {}, 'no_channel_available'],
  ])('says what would be refused: %s', async (_what, members, headers, code) => {
    const { refusal, candidates } = await explained(
      { headers },
      { query: QUERY, documents: DOCUMENTS, ...members },
    );

    expect([refusal?.code, candidates]).toEqual([code, []]);
    expect(upstream.seen).toEqual([]);
  });

  it('says that a balance does not cover the request', async () => {
    const { key: poor } = await gateway.createKey({ remainQuota: 1, policy: { mayExplain: true } });

    const { refusal, cost } = await explained({ by: poor });

    expect([refusal?.code, cost.reserved > 1]).toEqual(['token_quota_exhausted', true]);
  });

  it('says that a budget does not cover the request', async () => {
    const { key: poor } = await gateway.createKey({ policy: { mayExplain: true, budget: 1 } });

    const { refusal } = await explained({ by: poor });

    expect(refusal).toMatchObject({ code: 'token_budget_exhausted', status: 403 });
    expect(refusal?.message).toContain('more than the monthly budget of this API key');
  });

  it('says until when a channel is left alone', async () => {
    upstream.answer((_request, res) => {
      res.writeHead(429, { 'retry-after': '30' }).end('{}');
    });
    await ask({ path: '/v1/rerank' }, { model: 'moon', query: QUERY, documents: DOCUMENTS });

    const { passed_over: passedOver, candidates } = await explained({});

    const cooling = passedOver.filter(({ because }) => because === 'cooling');
    expect(cooling.map(({ name }) => name)).toContain('best');
    expect(cooling[0]?.until).toBeGreaterThan(Date.now());
    expect(candidates.map(({ name }) => name)).not.toContain('best');
  });

  it('is for keys that may, and for those of admins', async () => {
    const { key: plain } = await gateway.createKey();
    const refused = await ask({ by: plain });
    const admin = await gateway.store.createUser(
      {
        username: 'boss',
        email: undefined,
        displayName: '',
        passwordHash: 'none',
        role: 10,
        enabled: true,
        quota: 10_000,
      },
      Date.now(),
    );
    if (admin.kind !== 'updated') throw new Error('there is one already');
    const { key: theirs } = await gateway.createKey({ userId: admin.user.id });

    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'permission_denied' } });
    expect((await ask({ by: theirs })).status).toBe(200);
  });

  it('refuses what it does not understand, and ignores other queries', async () => {
    expect((await ask({ path: '/v1/rerank?explain=perhaps' })).status).toBe(400);
    for (const no of ['0', 'false']) {
      expect((await ask({ path: `/v1/rerank?explain=${no}&x=1` })).text).toContain('"results"');
    }
    expect((await ask({ path: '/v1/rerank?api-version=1' })).text).toContain('"results"');
  });
});

describe('an explanation with the reply', () => {
  it('is one more member of the reply that was served', async () => {
    const { status, text } = await ask({ path: '/v1/rerank?explain=after' });
    const { results, explanation } = JSON.parse(text) as {
      results: unknown[];
      explanation: ExplainedWire;
    };

    expect([status, results.length, explanation.model]).toEqual([200, 2, 'moon']);
  });

  it('comes with an error too', async () => {
    upstream.answer((_request, res) => {
      res.writeHead(400).end('{"message":"no"}');
    });

    const { status, text } = await ask(
      { path: '/v1/rerank?explain=after' },
      { model: 'nobody', query: QUERY, documents: DOCUMENTS },
    );

    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'model_not_found' },
      explanation: { refusal: { code: 'model_not_found' } },
    });
  });

  it('is refused if a reply is a list', async () => {
    const { key: tei } = await gateway.createKey({
      policy: { mayExplain: true, defaultModel: 'moon' },
    });

    const { status, text } = await ask(
      { path: '/rerank?explain=after', by: tei },
      { query: QUERY, texts: DOCUMENTS },
    );

    // As TEI says it.
    expect([status, text]).toEqual([422, expect.stringContaining('explain=1')]);
  });
});
