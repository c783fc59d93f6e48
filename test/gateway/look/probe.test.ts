import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CHANNEL_DEFAULTS } from '../../../src/core/channel-members.js';
import type { Channel } from '../../../src/core/channel.js';
import { Secret } from '../../../src/core/secret.js';
import { createProbe } from '../../../src/gateway/look/probe.js';
import { LlamaEngine } from '../../../src/rankers/llama.js';
import { TransportError } from '../../../src/gateway/transport/transport.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import { sendJson, startUpstream, type Answer, type TestUpstream } from '../../support/upstream.js';

const KEY = 'the key of the upstream';

let upstream: TestUpstream;
let http: Upstream;

beforeEach(async () => {
  upstream = await startUpstream();
  http = new Upstream({ maxReplyBytes: 1_000_000 });
});
afterEach(async () => {
  await http.close();
  await upstream.close();
});

function channel(fields: Partial<Channel> = {}): Channel {
  return {
    id: 7,
    name: 'tested',
    provider: 'cohere',
    baseUrl: upstream.url,
    credentials: { apiKey: new Secret(KEY) },
    models: { 'rerank-v3.5': 'rerank-v3.5' },
    tag: undefined,
    ...CHANNEL_DEFAULTS,
    timeoutMs: 2_000,
    status: 1,
    settings: {},
    origin: 'store',
    ...fields,
  };
}

function probe(
  given: Channel,
  model = Object.keys(given.models)[0] ?? '',
  turn = 0,
  through: Pick<Upstream, 'send' | 'fetchToken'> = http,
  now: () => number = Date.now,
) {
  return createProbe({
    upstream: through,
    neural: new LlamaEngine({ load: () => Promise.reject(new Error('not here')) }),
    tools: { vectors: undefined, prompts: () => undefined },
    declared: new Map([['declared', { apiKey: new Secret(KEY) }]]),
    now,
    attemptTimeoutMs: 2_000,
  })(given, model, turn);
}

function scored(...scores: number[]): Answer {
  return (_, res) => {
    const results = scores.map((score, index) => ({ index, relevance_score: score }));
    sendJson(res, { results });
  };
}

describe('a channel that works', () => {
  it('is reported with order, scores, scale, usage and where the request went', async () => {
    const report = await probe(channel());

    expect(report).toEqual({
      model: 'rerank-v3.5',
      upstreamModel: 'rerank-v3.5',
      url: `${upstream.url}/v2/rerank`,
      status: 200,
      durationMs: expect.any(Number) as unknown,
      ranking: {
        order: 'right',
        scores: {
          right: expect.any(Number) as unknown,
          other: expect.any(Number) as unknown,
        },
        scale: { expected: 'probability', observed: 'probability', fits: true },
      },
      usage: { searchUnits: 1 },
      problem: undefined,
      warnings: [],
    });
    expect(upstream.seen).toHaveLength(1);
  });

  it('is tested even when it is switched off', async () => {
    const report = await probe(channel({ status: 2, tag: 'off' }));

    expect(report.problem).toBeUndefined();
  });

  it('of the configuration is tested with the credentials given there', async () => {
    const report = await probe(channel({ name: 'declared', origin: 'config', credentials: {} }));

    expect(report.problem).toBeUndefined();
    expect(upstream.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('inside the gateway is tested without a request', async () => {
    const inside = { provider: 'local', baseUrl: undefined, credentials: {}, models: { a: 'a' } };

    const report = await probe(channel(inside));

    expect(report).toMatchObject({ url: undefined, ranking: { order: 'right' } });
    expect(report.problem).toBeUndefined();
  });

  it('with scores on another scale gets a warning', async () => {
    upstream.answer(scored(-4, 3));
    const outside = await probe(channel());
    upstream.answer(scored(0.1, 0.9));
    const squeezed = await probe(
      channel({
        provider: 'xinference',
        models: { m: 'bge-reranker' },
        settings: {},
        scores: 'normalized',
      }),
    );

    upstream.answer(scored(-4, 3));
    const logits = await probe(
      channel({ provider: 'vllm', models: { m: 'ms-marco' }, scores: 'normalized' }),
    );

    expect(logits.ranking?.scores).toEqual({ right: 3, other: -4 });
    expect(outside.ranking?.scale).toMatchObject({ observed: 'unbounded', fits: false });
    expect(outside.warnings.join()).toMatch(/outside the range/);
    expect(squeezed.ranking?.scores).toEqual({ right: 0.9, other: 0.1 });
  });
});

describe('a channel that does not work', () => {
  const error =
    (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
    (_, res) => {
      res
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  const html = { 'content-type': 'text/html' };

  it.each<[string, Answer, RegExp]>([
    ['wrong_key', error(401, { message: `invalid api token ${KEY}` }), /refuses the channel's/],
    ['wrong_key', error(403, { message: 'forbidden' }), /credentials \(403\)/],
    ['no_credit', error(402, { message: 'top up' }), /no credit/],
    ['unknown_model', error(404, { message: "model 'rerank-v3.5' not found" }), /"rerank-v3.5"/],
    ['unknown_model', error(400, { message: 'unknown model' }), /name of the model/],
    ['wrong_path', error(404, { detail: 'Not Found' }), /path of base_url/],
    ['wrong_path', error(404, '<html>nginx</html>', html), /path of base_url/],
    ['wrong_path', error(405, ''), /path of base_url/],
    ['web_page', error(200, '<!doctype html><title>Sign in</title>', html), /web page/],
    ['web_page', error(403, '<html>denied</html>', html), /proxy in front/],
    ['redirected', error(301, '', { location: 'https://elsewhere.test' }), /redirects/],
    ['busy', error(429, { message: 'slow down' }), /slow down/],
    ['upstream_fault', error(500, { message: 'out of memory' }), /out of memory/],
    ['not_a_ranking', error(200, { choices: [] }), /not what provider "cohere" sends/],
    ['not_a_ranking', error(200, 'ok'), /Check the provider/],
    ['refused', error(400, { message: 'top_n is too large' }), /top_n is too large/],
    ['wrong_order', scored(0.9, 0.1), /came last/],
    ['wrong_order', scored(0.5, 0.5), /same score/],
  ])('is told as %s', async (code, answer, message) => {
    upstream.answer(answer);

    const report = await probe(channel());

    expect(report.problem).toMatchObject({
      code,
      message: expect.stringMatching(message) as unknown,
    });
    expect(JSON.stringify(report)).not.toContain(KEY);
    expect(report.url).toBe(`${upstream.url}/v2/rerank`);
  });

  it.each<[string, Answer]>([
    ['a page', error(500, '<html><body>payroll: ann 9000</body></html>', html)],
    ['a page that was found', error(200, '<html><body>payroll: ann 9000</body></html>', html)],
    ['a text', error(400, 'payroll: ann 9000', { 'content-type': 'text/plain' })],
    ['a text that says it is JSON', error(403, 'payroll: ann 9000')],
    ['a lone string', error(500, '"payroll: ann 9000"')],
  ])('is told without quoting %s', async (_what, answer) => {
    upstream.answer(answer);

    const report = await probe(channel());

    expect(report.problem).toBeDefined();
    expect(JSON.stringify(report)).not.toContain('payroll');
  });

  it('with several keys is tried with the next ones where some are refused, other ones each turn', async () => {
    const keys = Array.from({ length: 12 }, (_, at) => `key-of-account-${1_000 + at}`);
    const several = channel({ credentials: { apiKey: new Secret(keys.join('\n')) } });
    upstream.answer((request, res) =>
      request.headers.authorization === `Bearer ${keys[11] ?? ''}`
        ? scored(0.1, 0.9)(request, res)
        : error(401, { message: 'no' })(request, res),
    );

    const first = await probe(several);
    const second = await probe(several, undefined, 1);

    expect(first.problem).toMatchObject({ code: 'wrong_key' });
    expect(first.warnings).toEqual([
      expect.stringMatching(/refuses: …1000, .*…1009\.$/) as unknown as string,
    ]);
    expect(second.problem).toBeUndefined();
    expect(second.warnings).toEqual(['Keys that the server refuses: …1010.']);
    expect(upstream.seen).toHaveLength(12);
  });

  it('tries no further key once a test has taken its time', async () => {
    const keys = ['key-of-account-1000', 'key-of-account-1001', 'key-of-account-1002'];
    const several = channel({ credentials: { apiKey: new Secret(keys.join('\n')) } });
    upstream.answer(error(401, { message: 'no' }));
    let nowMs = 0;
    const through: Pick<typeof http, 'send' | 'fetchToken'> = {
      send: (...asked) => {
        nowMs += 30_000;
        return http.send(...asked);
      },
      fetchToken: (...asked) => http.fetchToken(...asked),
    };

    const report = await probe(several, undefined, 0, through, () => nowMs);

    expect(report.warnings).toEqual(['Keys that the server refuses: …1000, …1001.']);
  });

  it('without a key says so if the server asks for one', async () => {
    upstream.answer(error(401, { message: 'no key' }));

    const { problem } = await probe(channel({ provider: 'tei', credentials: {} }));

    expect(problem).toMatchObject({
      code: 'wrong_key',
      message: expect.stringMatching(/asks for a key and the channel has none/) as unknown,
    });
  });

  it.each<[string, (port: number) => string, RegExp]>([
    ['unreachable', (port) => `http://127.0.0.1:${port}`, /ECONNREFUSED/],
    ['unknown_host', () => 'http://nothing.invalid', /does not resolve/],
  ])('is told as %s when nothing is there', async (code, urlOf, message) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');

    const { problem, status } = await probe(channel({ baseUrl: urlOf(port) }));

    expect(problem).toMatchObject({ code, message: expect.stringMatching(message) as unknown });
    expect(status).toBeUndefined();
  });

  it('that speaks no TLS is told so', async () => {
    const baseUrl = upstream.url.replace('http:', 'https:');

    const { problem } = await probe(channel({ baseUrl }));

    expect(problem).toMatchObject({
      code: 'tls',
      message: expect.stringMatching(/Use http:\/\//) as unknown,
    });
  });

  it('that answers with megabytes is not read to the end', async () => {
    upstream.answer((_, res) => sendJson(res, ' '.repeat(2_200_000)));
    await http.close();
    http = new Upstream({ maxReplyBytes: 64_000_000 });

    const { problem } = await probe(channel());

    expect(problem?.message).toContain('the reply is larger than allowed');
  });

  it('that never answers is abandoned', async () => {
    upstream.answer(() => undefined);

    const { problem } = await probe(channel({ timeoutMs: 50 }));

    expect(problem).toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/within 50 ms/) as unknown,
    });
  });

  it('that hangs up is reported as a broken connection', async () => {
    upstream.answer((_, res) => void res.destroy());

    const { problem } = await probe(channel());

    expect(problem?.code).toBe('connection_broken');
  });

  it('that does not fit its provider is not even asked', async () => {
    const { problem } = await probe(channel({ credentials: {} }));

    expect(problem).toMatchObject({
      code: 'unusable',
      message: expect.stringMatching(/credentials.api_key is missing/) as unknown,
    });
    expect(upstream.seen).toHaveLength(0);
  });
});

describe('a channel that needs a token first', () => {
  const onPrem = () =>
    channel({
      provider: 'watsonx-on-prem',
      settings: { username: 'ann', projectId: 'p' },
      models: { m: 'm' },
    });

  it('is reported when its credentials get none', async () => {
    upstream.answer((_, res) => sendJson(res, { message: 'invalid key' }, 401));

    const { problem, url, status } = await probe(onPrem());

    expect(problem).toMatchObject({
      code: 'wrong_key',
      message: expect.stringMatching(/no token was given.*invalid key/) as unknown,
    });
    expect([url, status]).toEqual([undefined, 401]);
  });

  it('is reported when the token endpoint never answers', async () => {
    upstream.answer(() => undefined);

    const { problem } = await probe({ ...onPrem(), timeoutMs: 50 });

    expect(problem).toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/^The token endpoint did not answer within 50 ms/) as unknown,
    });
  });

  it('fetches a token of its own, and reports what came after', async () => {
    upstream.answer(({ path }, res) => {
      if (path.startsWith('/icp4d-api')) sendJson(res, { token: 'opaque' });
      else sendJson(res, { errors: [{ message: 'model m does not exist' }] }, 404);
    });

    const { problem, url } = await probe(onPrem());

    expect(problem?.code).toBe('unknown_model');
    expect(url).toContain('/ml/v1/text/rerank');
  });

  it('has no status where it was the token endpoint alone that answered', async () => {
    upstream.answer(({ path }, res) => {
      if (path.startsWith('/icp4d-api')) sendJson(res, { token: 'opaque' });
      else res.destroy();
    });

    const { problem, status } = await probe(onPrem());

    expect([problem?.code, status]).toEqual(['connection_broken', undefined]);
  });
});

it('a channel whose requests may take long is tested for no longer than three quarters of a minute', async () => {
  const times: number[] = [];
  const { problem } = await probe(channel({ timeoutMs: 3_600_000 }), undefined, 0, {
    send: ({ timeoutMs }) => {
      times.push(timeoutMs);
      return Promise.reject(new TransportError('timeout', 'no reply'));
    },
    fetchToken: () => Promise.reject(new Error('there is no token')),
  });

  expect(times.map((ms) => ms > 40_000 && ms <= 45_000)).toEqual([true]);
  expect(problem?.message).toContain('within 45000 ms');
});
