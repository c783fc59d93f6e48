import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import { Secret } from '../../../src/core/secret.js';
import { createPreview } from '../../../src/gateway/look/preview.js';
import { WITHDRAWN, type Attempt, type Job, type Layer } from '../../../src/gateway/rank.js';
import {
  CredentialError,
  type Endpoint,
  type Provider,
  type RankerTools,
} from '../../../src/providers/provider.js';
import { documentsIn } from '../../support/documents.js';
import { job, offer } from '../../support/offers.js';
import { startUpstream, type TestUpstream } from '../../support/upstream.js';

const SECRET = 'sk-upstream-secret';
const WITH_KEY = { credentials: { apiKey: new Secret(SECRET) } };
const PLAIN: Layer<Attempt> = (send) => send;
const NO_TOOLS: RankerTools = { vectors: undefined, prompts: () => undefined };

let server: TestUpstream;
beforeEach(async () => {
  server = await startUpstream();
});
afterEach(async () => {
  expect(server.seen).toEqual([]);
  await server.close();
});

interface Given {
  readonly channel?: Partial<Channel>;
  readonly asked?: Partial<Job>;
  readonly shaped?: Layer<Attempt>;
  readonly tools?: RankerTools;
}

/** What the server would get; nothing is sent to it. */
function preview({ channel, asked, shaped = PLAIN, tools = NO_TOOLS }: Given = {}) {
  const show = createPreview({ tools, now: () => 1_000, attemptTimeoutMs: () => 5_000 });
  return show(offer(1, { baseUrl: server.url, ...channel }), job(asked), shaped);
}

describe('the preview of a request', () => {
  it('is what its channel would get', async () => {
    const outgoing = await preview();

    const body = { query: 'q', texts: ['a', 'b', 'c'] };
    expect(outgoing).toMatchObject({
      url: `${server.url}/rerank`,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'rerank-gateway' },
    });
    expect(JSON.parse(outgoing?.body ?? '')).toMatchObject(body);
    expect(outgoing?.bodyBytes).toBe(outgoing?.body.length);
  });

  it('has the beginning of a long body, and the size of all of it', async () => {
    const documents = documentsIn(JSON.stringify(['a', 'é'.repeat(20_000)]));

    const outgoing = await preview({ asked: { documents } });

    expect(outgoing?.body).toMatch(/^\{"query":"q","texts":\["a","éé/);
    expect(outgoing?.bodyBytes).toBeGreaterThan(40_000);
  });

  it('is shaped on its way as the request would be', async () => {
    const shaped: Layer<Attempt> = (send) => (to, asked) => send(to, { ...asked, query: 'other' });

    expect((await preview({ shaped }))?.body).toContain('"query":"other"');
  });

  it('is the first of several, whatever vectors are remembered', async () => {
    const vectors = { get: () => [new Float32Array([1, 0])], set: () => undefined };
    const outgoing = await preview({
      channel: { provider: 'embeddings', settings: { batchSize: 2 } },
      tools: { ...NO_TOOLS, vectors },
    });

    expect(JSON.parse(outgoing?.body ?? '')).toMatchObject({ input: ['q', 'a'] });
  });

  it('is the first that is made, if its way leads to several', async () => {
    const shaped: Layer<Attempt> = (send) => async (to, asked) => {
      await send(to, { ...asked, query: 'first' });
      return send(to, { ...asked, query: 'second' });
    };

    expect((await preview({ shaped }))?.body).toContain('"query":"first"');
  });

  it('shows a kilobyte of its body, and how large the whole is', async () => {
    const outgoing = await preview({ asked: { documents: textDocuments(['x'.repeat(5_000)]) } });

    expect(outgoing?.body).toHaveLength(1_024);
    expect(outgoing?.bodyBytes).toBeGreaterThan(5_000);
  });

  it('is none if nothing would be sent', async () => {
    const shaped: Layer<Attempt> = () => () => Promise.resolve(WITHDRAWN);

    expect(await preview({ shaped })).toBeUndefined();
  });

  it('is none for a channel that ranks inside the gateway, on whose way nothing happens', async () => {
    let isShaped = false;
    const shaped: Layer<Attempt> = (send) => {
      isShaped = true;
      return send;
    };

    const outgoing = await preview({
      channel: { provider: 'local', baseUrl: undefined },
      shaped,
    });

    expect([outgoing, isShaped]).toEqual([undefined, false]);
  });

  it('has a trace of its own, and five seconds', async () => {
    const asked = job();
    let made: Job | undefined;
    const shaped: Layer<Attempt> = (send) => (to, job) => {
      made = job;
      return send(to, job);
    };

    await preview({ asked, shaped });

    expect(made?.trace).not.toBe(asked.trace);
    expect(made?.scope.deadlineMs).toBe(1_000 + 5_000);
  });

  it('leaves no timer behind, even if its way fails', async () => {
    jest.useFakeTimers();
    try {
      const shaped: Layer<Attempt> = () => () => Promise.reject(new Error('no way'));

      await expect(preview({ shaped })).rejects.toThrow('no way');

      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the preview does not show', () => {
  it('the values of headers that depend on credentials, only their names', async () => {
    const outgoing = await preview({ channel: WITH_KEY });

    expect(outgoing?.headers).toMatchObject({
      accept: 'application/json',
      authorization: '[hidden]',
    });
    expect(JSON.stringify(outgoing)).not.toContain(SECRET);
  });

  it('a signature, though headers of every request are shown', async () => {
    const outgoing = await preview({
      channel: {
        provider: 'bedrock',
        credentials: {
          accessKeyId: new Secret('AKIAEXAMPLE'),
          secretAccessKey: new Secret(SECRET),
        },
      },
    });

    expect(outgoing?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-amz-date': '[hidden]',
      authorization: '[hidden]',
    });
    expect(JSON.stringify(outgoing)).not.toContain('AKIAEXAMPLE');
  });

  it('what headers have in common if they cannot be made with other credentials', async () => {
    const { route, ...rest } = offer(1, WITH_KEY);
    const headers = ({ credentials }: Endpoint): Record<string, string> => {
      if (credentials.apiKey?.reveal() !== SECRET) throw new CredentialError('of another form');
      return {};
    };
    const provider = { ...route.provider, headers } as Provider;
    const show = createPreview({
      tools: NO_TOOLS,
      now: () => 1_000,
      attemptTimeoutMs: () => 5_000,
    });

    const outgoing = await show({ ...rest, route: { ...route, provider } }, job(), PLAIN);

    expect(new Set(Object.values(outgoing?.headers ?? {}))).toEqual(new Set(['[hidden]']));
    expect(outgoing?.headers).toHaveProperty('accept');
  });

  it('a token, which is not fetched either', async () => {
    const outgoing = await preview({
      channel: {
        provider: 'azure-cosmos-rerank',
        settings: { tenant: 't', clientId: 'c', tokenUrl: `${server.url}/token` },
        credentials: { clientSecret: new Secret(SECRET) },
      },
    });

    expect(outgoing?.headers).toMatchObject({ authorization: '[hidden]' });
  });

  it('a credential that occurs in its address, a harmless header or its body', async () => {
    const outgoing = await preview({
      channel: { credentials: { apiKey: new Secret('rerank') } },
      asked: { query: 'how to rerank' },
    });

    expect(outgoing?.url).toBe(`${server.url}/[hidden]`);
    expect(outgoing?.headers['user-agent']).toBe('[hidden]-gateway');
    expect(outgoing?.body).toContain('how to [hidden]');
  });

  it('the beginning of a credential at the end of what is shown of the body', async () => {
    const query = 'x'.repeat(1_024 - '{"query":"'.length - 10) + SECRET;
    const body = (channel: Partial<Channel>) =>
      preview({ channel, asked: { query } }).then((outgoing) => outgoing?.body);

    expect(await body({})).toMatch(/xsk-upstrea$/);
    expect(await body(WITH_KEY)).toMatch(/x\[hidden\]$/);
  });
});
