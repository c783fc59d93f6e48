import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { TokenPolicy } from '../../src/core/token.js';
import { closedGate } from '../support/closed-gate.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { eventually, startRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { cohereChannel, rankLikeCohere, sendJson, startUpstream } from '../support/upstream.js';

const PRICE = 10;
const open = opened();
type Answer = Parameters<typeof startUpstream>[0];

const upstreamWith = open.upstream;

async function gatewayWith(
  settings: Record<string, unknown>,
  parts?: Parameters<typeof startGateway>[2],
): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      prices: { default: { per_request: PRICE } },
      gateway: { attempt_timeout_ms: 20_000, deadline_ms: 60_000 },
      ...settings,
    },
    undefined,
    parts,
  );
  open.push(gateway);
  return gateway;
}

const down: Answer = (_request, res) => sendJson(res, { message: 'down' }, 500);
const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };

/** A TEI server that scores a text by the number that it is, and takes so many of them. */
const tei =
  (most: number): NonNullable<Answer> =>
  ({ body }, res) => {
    const { texts } = JSON.parse(body) as { texts: readonly string[] };
    if (texts.length > most) {
      sendJson(res, { error: 'batch size > maximum allowed', error_type: 'Validation' }, 413);
      return;
    }
    const rows = texts.map((text, index) => ({ index, score: Number(text) / 2_500 }));
    sendJson(
      res,
      rows.sort((one, other) => other.score - one.score),
    );
  };

describe('a list that is longer than a channel takes', () => {
  const documents = Array.from({ length: 2_500 }, (_, at) => String((at * 7_919) % 2_500));
  const teiChannel = (name: string, url: string, settings: Record<string, unknown>) =>
    cohereChannel(name, url, { provider: 'tei', credentials: {}, models: [name], settings });

  it.each([
    ['known', { max_documents: 1_000 }, 3],
    ['learned by a refusal', { max_documents: 2_500 }, 6],
  ])('is ranked as in one call, its limit %s', async (_how, settings, calls) => {
    const small = await upstreamWith(tei(1_000));
    const large = await upstreamWith(tei(2_500));
    const gateway = await gatewayWith({
      channels: [
        teiChannel('small', small.url, settings),
        teiChannel('large', large.url, { max_documents: 2_500 }),
      ],
    });
    const { key } = await gateway.createKey();
    const rerank = (model: string) =>
      gateway.post(key, { query: 'moon', documents, top_n: 50, model });

    const split = await rerank('small');
    const whole = await rerank('large');

    expect(split.status).toBe(200);
    expect(split.body.results).toEqual(whole.body.results);
    expect(split.body.results).toHaveLength(50);
    expect(large.seen).toHaveLength(1);
    expect(small.seen.length).toBeGreaterThanOrEqual(3);
    expect(small.seen.length).toBeLessThanOrEqual(calls + 2);
  });

  it('is ranked by several channels of the model if one of them fails on the way', async () => {
    const inner = tei(1_000);
    let calls = 0;
    const dying = await upstreamWith((request, res) => {
      calls += 1;
      if (calls > 1) sendJson(res, { error: 'out of memory' }, 500);
      else void inner(request, res);
    });
    const sound = await upstreamWith(inner);
    const gateway = await gatewayWith({
      traffic: { split_parallel: 1 },
      channels: [
        {
          ...teiChannel('dying', dying.url, { max_documents: 1_000 }),
          models: ['moon'],
          priority: 1,
        },
        { ...teiChannel('sound', sound.url, { max_documents: 1_000 }), models: ['moon'] },
      ],
    });
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, { ...ask, documents, top_n: 20 });

    expect(status).toBe(200);
    expect(body.results.map(({ index }) => documents[index])).toEqual(
      Array.from({ length: 20 }, (_, at) => String(2_499 - at)),
    );
    // What the first one had ranked is not ranked again.
    expect([dying.seen.length, sound.seen.length]).toEqual([2, 2]);
  });

  it('is refused where the model is not to be split', async () => {
    const small = await upstreamWith(tei(1_000));
    const gateway = await gatewayWith({
      channels: [teiChannel('small', small.url, { max_documents: 1_000 })],
      models: { small: { split: false } },
    });
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, { query: 'q', documents, model: 'small' });

    expect(status).toBe(413);
    expect(body.error.code).toBe('too_many_documents');
  });
});

describe('a document that is longer than the model reads', () => {
  const late = `${'sea '.repeat(400)} moon`;
  const documents = ['sun', late, 'tide'];

  /** A TEI server that reads so many characters of a text, and looks for the moon. */
  const shortSighted: Answer = ({ body }, res) => {
    const { texts } = JSON.parse(body) as { texts: readonly string[] };
    sendJson(
      res,
      texts.map((text, index) => ({
        index,
        score: text.slice(0, 200).includes('moon') ? 0.9 : 0.1,
      })),
    );
  };

  it('is ranked by its best part if the channel says so, in as many calls as that takes', async () => {
    const upstream = await upstreamWith(shortSighted);
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('parts', upstream.url, {
          provider: 'tei',
          credentials: {},
          pair_tokens: 80,
          long_documents: 'chunk',
          settings: { max_documents: 10 },
        }),
      ],
      models: { moon: { split: false } },
    });
    const { key } = await gateway.createKey();

    const { status, body } = await gateway.post(key, { ...ask, documents });

    expect(status).toBe(200);
    expect(body.results.map(({ index }) => index)).toEqual([1, 0, 2]);
    expect(upstream.seen.length).toBeGreaterThan(1);
  });

  it('is cut if its provider would refuse it, and the caller is told', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('strict', upstream.url, { provider: 'prime-intellect', pair_tokens: 80 }),
      ],
    });
    const { key } = await gateway.createKey();

    const { body } = await gateway.post(key, { ...ask, documents });

    const sent = (JSON.parse(upstream.seen[0]?.body ?? '') as { documents: string[] }).documents;
    expect(sent[1]?.length).toBeLessThan(200);
    expect(body).toMatchObject({ meta: { warnings: [expect.stringContaining('were cut')] } });
  });

  it('is one of several things that the caller is told', async () => {
    const gateway = await gatewayWith({
      channels: [{ name: 'local', provider: 'local', models: ['moon'], pair_tokens: 80 }],
    });
    const { key } = await gateway.createKey();

    const { body } = await gateway.post(key, { ...ask, documents });

    expect(body).toMatchObject({
      meta: {
        warnings: [expect.stringContaining('local/lexical'), expect.stringContaining('were cut')],
      },
    });
  });

  it('goes to a channel that reads all of it, for a caller who wants nothing cut', async () => {
    const small = await upstreamWith();
    const large = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('small', small.url, { provider: 'voyage', pair_tokens: 80, priority: 1 }),
        cohereChannel('large', large.url),
      ],
    });
    const { key } = await gateway.createKey();

    const { status } = await gateway.post(key, { ...ask, documents, truncation: false });

    expect(status).toBe(200);
    expect([small.seen.length, large.seen.length]).toEqual([0, 1]);
  });
});

describe('a long list for a listwise model', () => {
  it('is shown in windows that overlap if the channel says so', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('listwise', upstream.url, {
          models: { moon: 'jina-reranker-v3' },
          provider: 'vllm',
          window_size: 20,
          window_stride: 10,
        }),
      ],
    });
    const { key } = await gateway.createKey();
    const documents = Array.from({ length: 40 }, (_, at) => (at === 37 ? 'the moon' : `sea ${at}`));

    const { status, body } = await gateway.post(key, { ...ask, documents });

    expect(status).toBe(200);
    expect(upstream.seen).toHaveLength(3);
    expect(body.results).toHaveLength(40);
    expect(new Set(body.results.map(({ index }) => index)).size).toBe(40);
    expect(body.results[0]?.index).toBe(37);
  });
});

describe('a fallback to another model', () => {
  it('answers when every channel of the model fails, is named, marked and priced', async () => {
    const bad = await upstreamWith(down);
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('bad', bad.url),
        { name: 'last', provider: 'local', models: ['words'] },
      ],
      models: { moon: { fallbacks: ['words'] } },
      prices: { default: { per_request: PRICE }, models: { words: { per_request: 3 } } },
    });
    const { key, id } = await gateway.createKey({ remainQuota: 100 });

    const { status, body, headers } = await gateway.post(key, ask);

    expect(status).toBe(200);
    expect(body.results[0]?.index).toBe(1);
    expect(body).toMatchObject({ model: 'words', meta: { degraded: true } });
    expect(headers.get('x-rerank-model')).toBe('words');
    expect(headers.get('x-rerank-degraded')).toBe('true');
    await gateway.app.gateway.settlements.drained();
    expect((await gateway.store.getToken(id, Date.now()))?.remainQuota).toBe(97);
  });

  it('is marked and counted as a last resort though the same model has it, below a channel that fails', async () => {
    const bad = await upstreamWith(down);
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('bad', bad.url, { priority: 10 }),
        { name: 'last', provider: 'local', models: ['moon'] },
      ],
      models: { moon: { cache_ttl_ms: 60_000 } },
    });
    const { key } = await gateway.createKey();

    const replies = [await gateway.post(key, ask), await gateway.post(key, ask)];

    for (const { body, headers } of replies) {
      expect(body).toMatchObject({ model: 'moon', meta: { degraded: true } });
      expect(headers.get('x-rerank-degraded')).toBe('true');
      expect(headers.get('x-rerank-cache')).toBeNull();
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('rerank_degraded_total{model="moon"} 2');
  });

  it('answers when the model is switched off, and keeps to the models of the key', async () => {
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('off', 'http://127.0.0.1:9', { enabled: false }),
        { name: 'last', provider: 'local', models: ['words'] },
      ],
      models: { moon: { fallbacks: ['words'] } },
    });
    const free = await gateway.createKey();
    const bound = await gateway.createKey({ policy: { models: ['moon'] } });

    expect((await gateway.post(free.key, ask)).status).toBe(200);
    const refused = await gateway.post(bound.key, ask);

    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('no_channel_available');
  });
});

describe('a chain of models that a key has', () => {
  const settings = (url: string) => ({
    channels: [
      cohereChannel('bad', url),
      { name: 'first', provider: 'local', models: ['words'] },
      { name: 'second', provider: 'local', models: ['letters'] },
    ],
    models: { moon: { fallbacks: ['words'] } },
    prices: {
      default: { per_request: PRICE },
      models: { words: { per_request: 3 }, letters: { per_request: 40 } },
    },
  });

  it('takes the place of the chain of the model', async () => {
    const bad = await upstreamWith(down);
    const gateway = await gatewayWith(settings(bad.url));
    const chains = [['gone', 'letters'], [], ['moon', 'words', 'letters']];

    const replies = await Promise.all(
      chains.map(async (fallbacks) => {
        const { key } = await gateway.createKey({ policy: { fallbacks } });
        return gateway.post(key, ask);
      }),
    );

    expect(replies.map(({ body, headers }) => [body.model, headers.get('x-rerank-model')])).toEqual(
      [
        ['letters', 'letters'],
        ['words', 'words'],
        ['words', 'words'],
      ],
    );
    expect(replies[0]?.body.meta).toMatchObject({ degraded: true });
  });

  it('serves a model that is switched off, within the models of the key, and is reserved for', async () => {
    const gateway = await gatewayWith({
      ...settings('http://127.0.0.1:9'),
      models: {},
      tags: [{ tag: 'off', disabled: true }],
      channels: [
        cohereChannel('off', 'http://127.0.0.1:9', { tag: 'off' }),
        { name: 'second', provider: 'local', models: ['letters'] },
      ],
    });
    const chain = { fallbacks: ['letters'] };
    const [free, bound, poor] = await Promise.all([
      gateway.createKey({ policy: chain }),
      gateway.createKey({ policy: { ...chain, models: ['moon'] } }),
      gateway.createKey({ policy: chain, remainQuota: PRICE }),
    ]);

    const replies = [free, bound, poor].map(({ key }) => gateway.post(key, ask));

    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 503, 403]);
  });
});

describe('the only channel of a model', () => {
  it('is asked again after a failure that may pass', async () => {
    let fails = 1;
    const shaky = await upstreamWith((request, res) => {
      fails -= 1;
      return fails >= 0 ? down(request, res) : rankLikeCohere(request, res);
    });
    const gateway = await gatewayWith({ channels: [cohereChannel('shaky', shaky.url)] });
    const { key } = await gateway.createKey();

    expect((await gateway.post(key, ask)).status).toBe(200);
    expect(shaky.seen).toHaveLength(2);
  });

  it('is not asked again if retries are switched off', async () => {
    const bad = await upstreamWith(down);
    const gateway = await gatewayWith({
      channels: [cohereChannel('bad', bad.url)],
      traffic: { retry_percent: 0 },
    });
    const { key } = await gateway.createKey();

    expect((await gateway.post(key, ask)).status).toBe(502);
    expect(bad.seen).toHaveLength(1);
  });
});

describe('X-Request-Timeout-Ms', () => {
  it('shortens the deadline, and leaves time for another channel', async () => {
    const silent = await upstreamWith(() => undefined);
    const good = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [
        cohereChannel('silent', silent.url, { priority: 1 }),
        cohereChannel('good', good.url),
      ],
    });
    const { key } = await gateway.createKey();
    const header = (ms: string) => ({ 'x-request-timeout-ms': ms });

    const both = await gateway.post(key, ask, header('3000'));
    const wrong = await gateway.post(key, ask, header('soon'));

    expect(both.status).toBe(200);
    expect(silent.seen).toHaveLength(1);
    expect(wrong.status).toBe(400);
    expect(wrong.body.error.message).toContain('X-Request-Timeout-Ms');
  });
});

describe('the cheapest channel', () => {
  it('gets every request, and a dearer one only those that it fails', async () => {
    const [cheap, dear] = [await upstreamWith(), await upstreamWith()];
    const gateway = await gatewayWith({
      models: { default: { select: 'cheapest' } },
      channels: [
        cohereChannel('dear', dear.url, { cost: 900, weight: 1_000 }),
        cohereChannel('cheap', cheap.url, { cost: 800 }),
      ],
    });
    const { key } = await gateway.createKey();

    for (let round = 0; round < 5; round += 1) await gateway.post(key, ask);
    expect([cheap.seen.length, dear.seen.length]).toEqual([5, 0]);
    cheap.answer(down);
    const reply = await gateway.post(key, ask);

    expect([reply.status, dear.seen.length]).toEqual([200, 1]);
  });
});

describe('a reply cache', () => {
  it('answers the same call without asking anybody, at the price that the settings say', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [cohereChannel('a', upstream.url)],
      models: { default: { cache_ttl_ms: 60_000 } },
      traffic: { cache_hit_percent: 50 },
    });
    const { key, id } = await gateway.createKey({ remainQuota: 100 });

    const fresh = await gateway.post(key, ask);
    const kept = await gateway.post(key, ask);
    const forced = await gateway.post(key, ask, { 'cache-control': 'no-cache' });

    expect(kept.body.results).toEqual(fresh.body.results);
    expect(fresh.headers.get('x-rerank-cache')).toBeNull();
    expect(kept.headers.get('x-rerank-cache')).toBe('hit');
    expect(forced.headers.get('x-rerank-cache')).toBeNull();
    expect(upstream.seen).toHaveLength(2);
    await gateway.app.gateway.settlements.drained();
    expect((await gateway.store.getToken(id, Date.now()))?.remainQuota).toBe(75);
  });

  it('keeps rankings for as long as the key says, and not at all for one that wants none', async () => {
    const upstream = await upstreamWith();
    const gateway = await gatewayWith({
      channels: [cohereChannel('a', upstream.url)],
      models: { default: { cache_ttl_ms: 1 } },
    });
    const secondHit = async (policy: Partial<TokenPolicy>) => {
      const { key } = await gateway.createKey({ policy });
      await gateway.post(key, ask);
      return (await gateway.post(key, ask)).headers.get('x-rerank-cache');
    };

    expect(await secondHit({ replyCacheTtlMs: 60_000 })).toBe('hit');
    expect(await secondHit({ replyCacheTtlMs: 60_000, replyCache: false })).toBeNull();
  });
});

it('a ranking of the tag "ta,tb" is no answer for a key of the tags "ta" and "tb"', async () => {
  const [joined, apart] = [await upstreamWith(), await upstreamWith()];
  const gateway = await gatewayWith({
    channels: [
      cohereChannel('joined', joined.url, { tag: 'ta,tb' }),
      cohereChannel('apart', apart.url, { tag: 'ta' }),
    ],
    models: { default: { cache_ttl_ms: 60_000 } },
  });
  const one = await gateway.createKey({ policy: { tags: ['ta,tb'] } });
  const other = await gateway.createKey({ policy: { tags: ['ta', 'tb'] } });

  await gateway.post(one.key, ask);
  const reply = await gateway.post(other.key, ask);

  expect(reply.headers.get('x-rerank-cache')).toBeNull();
  expect([joined.seen.length, apart.seen.length]).toEqual([1, 1]);
});

describe('a reply cache that nodes share', () => {
  /** Asks one node something new, then another one the same; tells what the second says of its cache. */
  async function secondNode(policy: Partial<TokenPolicy>) {
    const redis = await startRedis();
    open.push({ close: () => redis.stop() });
    const reader = new Redis(redis.url);
    open.push({
      close: () => {
        reader.disconnect();
        return Promise.resolve();
      },
    });
    const upstream = await upstreamWith();
    const node = async (): Promise<TestGateway> => {
      const gateway = await startGateway(
        {
          channels: [cohereChannel('a', upstream.url)],
          models: { moon: { cache_ttl_ms: 600_000, cache_shared: true } },
        },
        { REDIS_URL: redis.url, ENCRYPTION_KEY: 'k'.repeat(32) },
      );
      open.push(gateway);
      return gateway;
    };
    const [one, other] = [await node(), await node()];
    const { key } = await one.createKey({ policy });
    let count = 0;
    return async (): Promise<string | null> => {
      count += 1;
      const again = { ...ask, query: `moon ${count}` };
      const fresh = await one.post(key, again);
      await eventually('it is kept', async () => {
        return (await reader.keys('rg:{rc*}:*')).length === count;
      });
      const kept = await other.post(key, again);
      expect(kept.body.results).toEqual(fresh.body.results);
      expect(fresh.headers.get('x-rerank-cache')).toBeNull();
      return kept.headers.get('x-rerank-cache');
    };
  }

  it('answers on another node over the same store', async () => {
    const askBoth = await secondNode({});

    // A store that is slow for a moment is done without.
    await until('the other node finds it', async () => (await askBoth()) === 'hit');
  });

  it('answers no key that wants none', async () => {
    const askBoth = await secondNode({ replyCache: false });

    expect(await askBoth()).toBeNull();
  });
});

describe('a channel that is at its bound', () => {
  /** The answers to three at once; those that are still missing come when the upstream may answer. */
  const threeAtOnce = async (models: Record<string, unknown>) => {
    const gate = closedGate();
    const upstream = await upstreamWith(gate.answer);
    const gateway = await gatewayWith({
      channels: [cohereChannel('a', upstream.url, { max_concurrency: 1 })],
      models,
    });
    const { key } = await gateway.createKey();
    const statuses: number[] = [];
    const all = [1, 2, 3].map(async () => {
      statuses.push((await gateway.post(key, ask)).status);
    });
    return { gateway, gate, statuses, all: Promise.all(all) };
  };

  it('is waited for if the model’s rule says so', async () => {
    const { gateway, gate, statuses, all } = await threeAtOnce({ moon: { queue_ms: 20_000 } });
    await until('two wait for the one that is asked', async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return gate.waiting === 1 && metrics.includes('\nrerank_requests_waiting 2\n');
    });

    gate.open();
    await all;

    expect(statuses).toEqual([200, 200, 200]);
  });

  it('is not waited for otherwise: the request is refused', async () => {
    const { gate, statuses, all } = await threeAtOnce({});
    await until('two are refused', () => statuses.length === 2);

    gate.open();
    await all;

    expect(statuses).toEqual([503, 503, 200]);
  });
});

describe('a channel whose circuit is open', () => {
  it('is tried again with no caller waiting for it, even if it hangs', async () => {
    let hangs = false;
    const ill = await upstreamWith((...exchange) => {
      if (!hangs) void down(...exchange);
    });
    const well = await upstreamWith();
    const gateway = await gatewayWith({
      gateway: { attempt_timeout_ms: 600_000, deadline_ms: 900_000 },
      traffic: { breaker_failures: 1, breaker_open_ms: 50 },
      channels: [cohereChannel('ill', ill.url, { priority: 1 }), cohereChannel('well', well.url)],
    });
    const { key } = await gateway.createKey();
    expect((await gateway.post(key, ask)).status).toBe(200);
    hangs = true;

    await eventually('it is tried', async () => {
      expect((await gateway.post(key, ask)).status).toBe(200);
      return ill.seen.length > 1;
    });
    expect((await gateway.post(key, ask)).status).toBe(200);

    // One probe at a time.
    expect(ill.seen).toHaveLength(2);
  });

  it('is back with the first probe that it answers', async () => {
    let isWell = false;
    const ill = await upstreamWith((...exchange) => (isWell ? rankLikeCohere : down)(...exchange));
    const well = await upstreamWith();
    const gateway = await gatewayWith({
      traffic: { breaker_failures: 1, breaker_open_ms: 50 },
      channels: [cohereChannel('ill', ill.url, { priority: 1 }), cohereChannel('well', well.url)],
    });
    const { key } = await gateway.createKey();
    await gateway.post(key, ask);
    isWell = true;

    await eventually('it serves alone', async () => {
      const before = well.seen.length;
      expect((await gateway.post(key, ask)).status).toBe(200);
      return well.seen.length === before;
    });
  });
});

describe('a clock that is set back', () => {
  const OPEN_MS = 600_000;

  it('keeps no channel out for longer', async () => {
    let isWell = false;
    const upstream = await upstreamWith((...exchange) =>
      (isWell ? rankLikeCohere : down)(...exchange),
    );
    let stepMs = 0;
    let turnedMs = 0;
    const gateway = await gatewayWith(
      {
        traffic: { breaker_failures: 1, breaker_open_ms: OPEN_MS, retry_percent: 0 },
        channels: [cohereChannel('only', upstream.url)],
      },
      { now: () => Date.now() + stepMs, elapsed: () => performance.now() + turnedMs },
    );
    const { key } = await gateway.createKey();
    expect((await gateway.post(key, ask)).status).toBe(502);
    expect((await gateway.post(key, ask)).status).toBe(503);

    isWell = true;
    stepMs = -10 * OPEN_MS;
    turnedMs = OPEN_MS;

    await eventually('the channel is asked again', async () => {
      const { status } = await gateway.post(key, ask);
      return status === 200;
    });
  });

  it('in the middle of a request does not keep it out of the metrics', async () => {
    let stepMs = 0;
    const upstream = await upstreamWith((...exchange) => {
      stepMs = -OPEN_MS;
      return rankLikeCohere(...exchange);
    });
    const gateway = await gatewayWith(
      { channels: [cohereChannel('only', upstream.url)] },
      { now: () => Date.now() + stepMs },
    );
    const { key } = await gateway.createKey();

    expect((await gateway.post(key, ask)).status).toBe(200);

    await eventually('it is counted', async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return /^rerank_channel_attempts_total\{.*channel="only".*\} 1$/m.test(metrics);
    });
    const lines = gateway.log.join('');
    expect(lines).toMatch(/"outcome":"ok".*"durationMs":0,/);
    expect(lines).not.toContain('a reader of events failed');
  });

  it('keeps no ranking for longer', async () => {
    const upstream = await upstreamWith(rankLikeCohere);
    let stepMs = 0;
    let turnedMs = 0;
    const gateway = await gatewayWith(
      {
        models: { default: { cache_ttl_ms: OPEN_MS } },
        channels: [cohereChannel('only', upstream.url)],
      },
      { now: () => Date.now() + stepMs, elapsed: () => performance.now() + turnedMs },
    );
    const { key } = await gateway.createKey();
    const fromCache = async () =>
      (await gateway.post(key, ask)).headers.get('x-rerank-cache') === 'hit';
    expect([await fromCache(), await fromCache()]).toEqual([false, true]);

    stepMs = -10 * OPEN_MS;
    turnedMs = OPEN_MS;

    expect(await fromCache()).toBe(false);
  });
});
