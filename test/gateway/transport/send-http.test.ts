import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import { JsonFragment, type Documents } from '../../../src/bytes/index.js';
import { Secret } from '../../../src/core/secret.js';
import type { Route } from '../../../src/gateway/channels/route.js';
import { createScope, type OwnedScope } from '../../../src/gateway/scope.js';
import {
  sendHttp,
  type HttpSendDeps,
  type SentJob,
} from '../../../src/gateway/transport/send-http.js';
import { TransportError, type UpstreamRequest } from '../../../src/gateway/transport/transport.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import type { HttpProvider, TokenSource, UpstreamCall } from '../../../src/providers/provider.js';
import { tei } from '../../../src/providers/tei.js';
import { deferred } from '../../support/deferred.js';
import { openedBody } from '../../support/documents.js';
import { offer } from '../../support/offers.js';
import { signedBody } from '../../support/signed-body.js';
import { sendJson, startUpstream, type Answer, type TestUpstream } from '../../support/upstream.js';

/** Ranks in the order given. */
const inOrder: Answer = ({ body }, res) => {
  const { texts } = JSON.parse(body) as { texts: string[] };
  sendJson(
    res,
    texts.map((_, index) => ({ index, score: 1 / (index + 1) })),
  );
};

let upstream: Upstream;
let server: TestUpstream;
let scope: OwnedScope;

beforeAll(() => {
  upstream = new Upstream({ maxReplyBytes: 10_000_000 });
});
afterAll(() => upstream.close());

beforeEach(async () => {
  server = await startUpstream(inOrder);
  scope = createScope(0, 60_000);
});
afterEach(async () => {
  scope.release();
  await server.close();
});

interface Given {
  readonly channel?: Partial<Channel>;
  /** What differs from the channel's provider. */
  readonly provider?: Partial<HttpProvider>;
  readonly deps?: Partial<HttpSendDeps>;
  readonly call?: Partial<UpstreamCall>;
  readonly job?: Partial<SentJob>;
  /** What happens to the first requests in place of being sent. */
  readonly faults?: Error[];
  /** How long each request takes, by the clock of the test. */
  readonly takesMs?: number;
}

/** Sends one call to the server by its channel. */
function setUp(given: Given = {}) {
  const { faults = [], takesMs = 10 } = given;
  let nowMs = 1_000;
  const requests: UpstreamRequest[] = [];
  const deps: HttpSendDeps = {
    upstream: {
      send: (request, within) => {
        requests.push(request);
        nowMs += takesMs;
        const fault = faults.shift();
        return fault === undefined ? upstream.send(request, within) : Promise.reject(fault);
      },
    },
    tokens: { get: () => Promise.reject(new Error('no token is needed')), drop: () => undefined },
    tools: { vectors: undefined, prompts: () => undefined },
    now: () => nowMs,
    mayBegin: () => true,
    ...given.deps,
  };
  const { route, upstreamModel: model } = offer(1, { baseUrl: server.url, ...given.channel });
  const documents = textDocuments(['a', 'b']);
  const { settings } = route.endpoint;
  const call = { model, query: 'q', documents, topN: 2, options: {}, settings, ...given.call };
  const provider = { ...route.provider, ...given.provider } as HttpProvider;
  const send = () =>
    sendHttp(deps, route, provider, {
      ...{ call, timeoutMs: 5_000, scope, ignoresSwitches: false, onSent: undefined },
      ...given.job,
    });
  return { requests, route, send };
}

function documentsOfBody(body: Buffer): Documents {
  return openedBody(body).documents({ elements: 'any' }) as Documents;
}

describe('a call over HTTP', () => {
  it('is posted to the path of its provider, and its reply is read', async () => {
    const { requests, send } = setUp();

    expect(await send()).toMatchObject({
      kind: 'ranking',
      ranking: {
        rows: [
          { index: 0, score: 1 },
          { index: 1, score: 0.5 },
        ],
      },
    });
    expect(server.seen).toMatchObject([{ path: '/rerank' }]);
    expect(JSON.parse(server.seen[0]?.body ?? '')).toMatchObject({ query: 'q', texts: ['a', 'b'] });
    expect(requests).toMatchObject([{ method: 'POST', timeoutMs: 5_000 }]);
  });

  it('fails as its reply says', async () => {
    server.answer((_request, res) => sendJson(res, { error: 'too many' }, 429));

    expect(await setUp().send()).toMatchObject({
      kind: 'failed',
      failure: { kind: 'busy', status: 429, message: 'too many' },
    });
  });

  it.each([
    [true, false, true],
    [false, false, false],
    [false, true, true],
  ])(
    'of a channel that may begin: %j, and that ignores switches: %j, is wanted: %j',
    async (mayBegin, ignoresSwitches, wanted) => {
      const asked: Route[] = [];
      const { requests, route, send } = setUp({
        deps: {
          mayBegin: (which) => {
            asked.push(which);
            return mayBegin;
          },
        },
        job: { ignoresSwitches },
      });

      const sending = send();

      if (wanted) expect(await sending).toMatchObject({ kind: 'ranking' });
      else await expect(sending).rejects.toMatchObject({ fault: 'withdrawn' });
      expect(server.seen).toHaveLength(wanted ? 1 : 0);
      expect(requests).toHaveLength(1);
      expect(asked.every((which) => which === route)).toBe(true);
    },
  );

  it('tells when all of it has left', async () => {
    let told = 0;

    await setUp({ job: { onSent: () => (told += 1) } }).send();

    expect(told).toBe(1);
  });

  it('sends documents from where they lie in the body', async () => {
    const body = Buffer.from(JSON.stringify({ documents: ['a', 'b'.repeat(20_000)] }));
    const { requests, send } = setUp({ call: { documents: documentsOfBody(body) } });

    await send();

    const sent = requests[0]?.body;
    const pieces = sent instanceof JsonFragment ? sent.pieces : [];
    expect(pieces.map(({ buffer }) => buffer)).toContain(body.buffer);
    expect(JSON.parse(server.seen[0]?.body ?? '')).toMatchObject({
      texts: ['a', 'b'.repeat(20_000)],
    });
  });

  it('is signed as a whole, wherever its documents lie', async () => {
    const body = Buffer.from(JSON.stringify({ documents: ['a', 'b'.repeat(20_000)] }));
    const signed: unknown[] = [];
    const sign: HttpProvider['sign'] = ({ bytes, sha256 }) => {
      signed.push({ bytes, sha256 });
      return {};
    };

    await setUp({ provider: { sign }, call: { documents: documentsOfBody(body) } }).send();

    expect(server.seen.map((seen) => signedBody(seen.body))).toEqual(signed);
  });

  it('is not signed where its channel has an API key', async () => {
    const sign: HttpProvider['sign'] = () => {
      throw new Error('it is signed');
    };
    const credentials = { apiKey: new Secret('up') };

    expect(await setUp({ provider: { sign }, channel: { credentials } }).send()).toMatchObject({
      kind: 'ranking',
    });
  });

  it('is signed by its hash if it is large, too', async () => {
    const signed: unknown[] = [];
    const sign: HttpProvider['sign'] = ({ bytes, sha256 }) => {
      signed.push({ bytes, sha256 });
      return {};
    };
    const documents = textDocuments(['é'.repeat(1_500_000), 'b']);

    await setUp({ provider: { sign }, call: { documents } }).send();

    expect(server.seen.map((seen) => signedBody(seen.body))).toEqual(signed);
  });

  it('is signed as it is sent: its address, headers and body, at that time', async () => {
    const signed: unknown[] = [];
    const sign: HttpProvider['sign'] = ({ url, headers, bytes, sha256 }, { baseUrl }, nowMs) => {
      signed.push([url.href, headers.accept, { bytes, sha256 }, baseUrl, nowMs]);
      return { 'user-agent': 'signer', 'x-signature': 'signed' };
    };

    await setUp({ provider: { sign } }).send();

    const body = signedBody(server.seen[0]?.body ?? '');
    expect(signed).toEqual([[`${server.url}/rerank`, 'application/json', body, server.url, 1_000]]);
    expect(server.seen[0]?.headers).toMatchObject({
      'x-signature': 'signed',
      'user-agent': 'signer',
      accept: 'application/json',
    });
  });
});

describe('a call that needs a token', () => {
  const source = { request: () => Promise.reject(new Error('not here')) } as unknown as TokenSource;
  const dropped: (string | undefined)[] = [];
  const withToken = (get: HttpSendDeps['tokens']['get']): Given => ({
    provider: { token: () => source },
    deps: { tokens: { get, drop: (_route, token) => dropped.push(token) } },
  });
  const held = withToken(() => Promise.resolve({ kind: 'token', token: 'short-lived' }));
  beforeEach(() => {
    dropped.length = 0;
  });

  it('waits for it as long as for the call, and carries it', async () => {
    const asked: unknown[] = [];
    const { route, send } = setUp(
      withToken((...ask) => {
        asked.push(ask);
        return Promise.resolve({ kind: 'token', token: 'short-lived' });
      }),
    );

    await send();

    expect(asked).toEqual([[route, source, { scope, timeoutMs: 5_000 }]]);
    expect(server.seen[0]?.headers.authorization).toBe('Bearer short-lived');
    expect(route.headers).not.toContain('authorization');
  });

  it('fails without it, and nothing is sent', async () => {
    const failure = { kind: 'misconfigured', status: 400, message: 'no such tenant' } as const;
    const { send } = setUp(withToken(() => Promise.resolve({ kind: 'failed', failure })));

    expect(await send()).toEqual({ kind: 'failed', failure });
    expect(server.seen).toEqual([]);
  });

  it.each([
    [401, ['short-lived']],
    [403, []],
    [500, []],
  ])('and is answered with %i drops %j', async (status, expected) => {
    server.answer((_request, res) => sendJson(res, { error: 'no' }, status));

    expect(await setUp(held).send()).toMatchObject({ kind: 'failed', failure: { status } });
    expect(dropped).toEqual(expected);
  });

  it('keeps it when it succeeds', async () => {
    await setUp(held).send();

    expect(dropped).toEqual([]);
  });
});

describe('a call whose kept-alive connection broke', () => {
  const broken = (resend?: 'safe' | 'unsafe') => new TransportError('reset', 'it broke', resend);

  it.each([
    ['safe', false],
    ['unsafe', true],
    ['unsafe', false],
  ] as const)(
    'and that is %s to repeat, of a server that bills nobody, with retry_unsafe %j, is sent once more in what is left of its time',
    async (resend, retryUnsafe) => {
      const { requests, send } = setUp({ channel: { retryUnsafe }, faults: [broken(resend)] });

      expect(await send()).toMatchObject({ kind: 'ranking' });
      expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 4_990]);
      expect(server.seen).toHaveLength(1);
    },
  );

  it.each([
    ['unsafe to repeat', false, broken('unsafe')],
    ['not known to be kept alive', true, broken()],
    ['broken by a mistake of ours', true, new RangeError('a mistake')],
  ])('and that is %s is not sent again', async (_what, retryUnsafe, fault) => {
    // What is behind such a server may bill.
    const channel = { provider: 'openai-compatible', retryUnsafe };
    const { send } = setUp({ channel, faults: [fault] });

    await expect(send()).rejects.toBe(fault);
    expect(server.seen).toEqual([]);
  });

  it('is not sent a third time', async () => {
    const { requests, send } = setUp({ faults: [broken('safe'), broken('safe')] });

    await expect(send()).rejects.toThrow('it broke');
    expect(requests).toHaveLength(2);
  });

  it('has a little time left even if all of it is gone', async () => {
    const { requests, send } = setUp({ faults: [broken('safe'), broken()], takesMs: 6_000 });

    await expect(send()).rejects.toThrow('it broke');
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 1]);
  });
});

describe('a call of several requests', () => {
  it('fetches page after page within one time limit', async () => {
    server.answer(({ body }, res) => {
      const isFirst = (JSON.parse(body) as { page?: string }).page === undefined;
      if (isFirst) sendJson(res, { list: [{ index: 0, score: 1 }], next: 'second' });
      else sendJson(res, { list: [{ index: 1, score: 0 }] });
    });
    const { requests, send } = setUp({
      provider: {
        body: ({ page }) => ({ page }),
        decode: (reply, call, http) => tei.decode(reply.field('list'), call, http),
        nextPage: (reply) => reply.maybe('next').optionalString(),
      },
    });

    expect(await send()).toMatchObject({ ranking: { rows: [{ index: 0 }, { index: 1 }] } });
    expect(server.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      {},
      { page: 'second' },
    ]);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 4_990]);
  });

  const embed: Answer = ({ body }, res) => {
    const { input } = JSON.parse(body) as { input: string[] };
    sendJson(res, { data: input.map((_, index) => ({ index, embedding: [1, index] })) });
  };
  const embedded = (given: Given = {}) =>
    setUp({ ...given, channel: { provider: 'embeddings', ...given.channel } });

  it('ranks by all of their replies', async () => {
    server.answer(embed);

    expect(await embedded({ channel: { settings: { batchSize: 1 } } }).send()).toMatchObject({
      kind: 'ranking',
    });
    expect(server.seen).toHaveLength(3);
  });

  it('ranks by long embeddings of few texts, of which a reply of more than a megabyte is full', async () => {
    const embedding = Array.from({ length: 80_000 }, (_, at) => Math.sin(at));
    server.answer(({ body }, res) => {
      const { input } = JSON.parse(body) as { input: string[] };
      sendJson(res, { data: input.map((_, index) => ({ index, embedding })) });
    });

    expect(await embedded().send()).toMatchObject({ kind: 'ranking' });
  });

  it('ranks by embeddings in base64 as long as those', async () => {
    const embedding = Buffer.from(Float32Array.from({ length: 300_000 }, Math.random).buffer);
    server.answer(({ body }, res) => {
      const { input } = JSON.parse(body) as { input: string[] };
      const text = embedding.toString('base64');
      sendJson(res, { data: input.map((_, index) => ({ index, embedding: text })) });
    });

    expect(await embedded().send()).toMatchObject({ kind: 'ranking' });
  });

  it('are sent to the other place of the provider where the first has none, once each', async () => {
    server.answer((request, res) =>
      request.path === '/embeddings' ? embed(request, res) : sendJson(res, {}, 404),
    );
    const { send } = embedded({ channel: { settings: { batchSize: 1, concurrency: 1 } } });

    expect(await send()).toMatchObject({ kind: 'ranking' });

    expect(server.seen.map(({ path }) => path)).toEqual([
      ...['/v1/embeddings', '/embeddings', '/embeddings', '/embeddings'],
    ]);
  });

  it('are sent nowhere else once the other place was found', async () => {
    server.answer((request, res) =>
      request.path === '/embeddings' && server.seen.length < 3
        ? embed(request, res)
        : sendJson(res, {}, 404),
    );
    const { send } = embedded({ channel: { settings: { batchSize: 1, concurrency: 1 } } });

    expect(await send()).toMatchObject({ kind: 'failed' });
    expect(server.seen).toHaveLength(3);
  });

  it('ends those under way when one fails, and not the request', async () => {
    const cut = deferred();
    server.answer(({ body }, res) => {
      if (body.includes('"a"')) void server.reached(3).then(() => sendJson(res, {}, 500));
      else res.on('close', () => cut.resolve());
    });

    const outcome = await embedded({
      channel: { settings: { batchSize: 1 } },
      // They do not end by themselves while the test lasts.
      job: { timeoutMs: 600_000 },
    }).send();

    expect(outcome).toMatchObject({ kind: 'failed', failure: { status: 500 } });
    await cut.promise;
    expect(scope.ended).toBeUndefined();
  });

  it('remembers vectors of one server, which another does not know', async () => {
    server.answer(embed);
    const other = await startUpstream(embed);
    const vectors = new Map<string, readonly Float32Array[]>();
    const deps = { tools: { vectors, prompts: () => undefined } };

    for (const baseUrl of [server.url, server.url, `${server.url}/beside`, other.url]) {
      expect(await embedded({ deps, channel: { baseUrl } }).send()).toMatchObject({
        kind: 'ranking',
      });
    }

    const asked = [...server.seen, ...other.seen].filter(({ body }) => body.includes('"b"'));
    expect(asked.map(({ path }) => path)).toEqual([
      '/v1/embeddings',
      '/beside/v1/embeddings',
      '/v1/embeddings',
    ]);
    await other.close();
  });
});

it('is told of a large reply with documents in it', async () => {
  const rows = [0, 1].map((index) => ({ index, score: index, text: '天'.repeat(400_000) }));
  server.answer((_request, res) => sendJson(res, rows));

  expect(await setUp().send()).toMatchObject({ kind: 'ranking' });
});

it('is told why by a large refusal with documents in it', async () => {
  const error = `these are too many ${'天'.repeat(1_500_000)}`;
  server.answer((_request, res) => sendJson(res, { detail: [{ msg: error }] }, 422));

  const outcome = await setUp().send();

  expect(outcome).toMatchObject({ failure: { message: expect.stringMatching(/^these are too/) } });
});
