import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { Secret } from '../../src/core/secret.js';
import type { Job } from '../../src/gateway/rank.js';
import { createScope } from '../../src/gateway/scope.js';
import { createSend, type SendDeps } from '../../src/gateway/send.js';
import { TransportError, type UpstreamRequest } from '../../src/gateway/transport/transport.js';
import type { RawReply } from '../../src/providers/reply.js';
import { job, offer } from '../support/offers.js';

const DOCUMENTS = textDocuments(['a', '', 'c']);

type Offered = Parameters<typeof offer>[1];
type Answer = (request: UpstreamRequest, nth: number) => RawReply | Error;

/** Ranks what it is sent in its own order. */
const inOrder: Answer = ({ body }) => {
  const { texts = [], documents = [] } = JSON.parse(String(body)) as Record<string, unknown[]>;
  const rows = (texts.length > 0 ? texts : documents).map((_, index) => ({
    index,
    score: 1 - index / 10,
  }));
  const list =
    texts.length > 0
      ? rows
      : { results: rows.map(({ index, score }) => ({ index, relevance_score: score })) };
  return reply(200, list);
};

function reply(status: number, json: unknown): RawReply {
  return { status, headers: { 'content-type': 'application/json' }, text: JSON.stringify(json) };
}

/** Sends to an upstream that answers as the test says, at a clock that goes on by 10 ms with each request. */
function setUp(answer: Answer, given: Offered = {}, changed: Partial<SendDeps> = {}) {
  const state = { nowMs: 1_000, live: true };
  const sent: UpstreamRequest[] = [];
  const deps: SendDeps = {
    upstream: {
      send: (request) => {
        sent.push(request);
        state.nowMs += 10;
        const answered = answer(request, sent.length);
        return answered instanceof Error ? Promise.reject(answered) : Promise.resolve(answered);
      },
    },
    tokens: {
      get: () => Promise.reject(new Error('no tokens here')),
      drop: () => undefined,
    },
    neural: { rank: () => Promise.reject(new Error('no model here')) },
    tools: { vectors: undefined, prompts: { listwise: '', pointwise: '' } as never },
    now: () => state.nowMs,
    attemptTimeoutMs: 5_000,
    mayBegin: () => state.live,
    ...changed,
  };
  const attempt = createSend(deps);
  const ask = (more: Partial<Job> = {}) =>
    attempt(offer(1, given), job({ documents: DOCUMENTS, ...more }));
  return { state, sent, ask };
}

describe('a call', () => {
  it('comes back as a ranking of the caller’s list, with the channel that made it', async () => {
    const { sent, ask } = setUp(inOrder);

    const outcome = await ask();

    expect(outcome).toMatchObject({
      kind: 'ranked',
      ranking: {
        rows: [{ index: 0 }, { index: 1 }, { index: 2 }],
        servedBy: [{ channelId: 1, provider: 'tei' }],
      },
    });
    expect(outcome.kind === 'ranked' && outcome.ranking.warnings).toStrictEqual([]);
    expect(sent).toHaveLength(1);
  });

  it('does not send blank documents to an upstream that fails on them, and gives them the lowest score', async () => {
    const { sent, ask } = setUp(inOrder, { provider: 'bifrost' });

    const outcome = await ask();

    expect(JSON.parse(String(sent[0]?.body))).toMatchObject({
      documents: [{ text: 'a' }, { text: 'c' }],
    });
    expect(outcome).toMatchObject({
      ranking: {
        rows: [
          { index: 0, score: 1 },
          { index: 2, score: 0.9 },
          { index: 1, score: 0.9 },
        ],
      },
    });
  });

  it('does not let blank documents stand in for rows that the upstream left out', async () => {
    const { ask } = setUp(() => reply(200, { results: [{ index: 0, relevance_score: 1 }] }), {
      provider: 'bifrost',
    });

    expect(await ask()).toMatchObject({ kind: 'failed', failure: { kind: 'invalid' } });
  });

  it('may take what its channel says, or what is left for an attempt, if that is less', async () => {
    const { sent, ask } = setUp(inOrder, { timeoutMs: 2_000 });

    await ask();
    await ask({ mostMs: 300 });
    await ask({ mostMs: 9_000 });

    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([2_000, 300, 2_000]);
  });

  it.each([
    [undefined, undefined],
    [9_000, undefined],
    [300, true],
  ])(
    'is given up early if it had less than its channel says: %d of 2000 ms',
    async (mostMs, isEarly) => {
      const { ask } = setUp(() => new TransportError('timeout', 'late'), { timeoutMs: 2_000 });

      const outcome = await ask(mostMs === undefined ? {} : { mostMs });

      expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'timeout' } });
      expect(outcome.kind === 'failed' && outcome.failure.isEarly).toBe(isEarly);
    },
  );

  it('asks right before it is written whether the channel is still live', async () => {
    const { state, sent, ask } = setUp(inOrder);
    await ask();

    expect(sent[0]?.stillWanted()).toBe(true);
    state.live = false;
    expect(sent[0]?.stillWanted()).toBe(false);
  });

  it('tells whoever asks when an upstream has all of it', async () => {
    let told = 0;
    const { sent, ask } = setUp(inOrder);
    await ask({ onSent: () => (told += 1) });

    sent[0]?.onSent?.();

    expect(told).toBe(1);
  });

  it('on trial is wanted although its channel is switched off', async () => {
    const { state, sent, ask } = setUp(inOrder);
    state.live = false;

    await ask({ ignoresSwitches: true });

    expect(sent[0]?.stillWanted()).toBe(true);
  });
});

describe('a call with a reply of megabytes', () => {
  const text = JSON.stringify({
    results: [0, 1, 2].map((index) => ({
      index,
      relevance_score: 1 - index / 10,
      document: { text: '每九十天'.repeat(200_000) },
    })),
  });
  const COHERE = { provider: 'cohere', credentials: { apiKey: new Secret('k') } };
  const large: Answer = () => ({ status: 200, headers: {}, text, bytes: Buffer.from(text) });

  it('lets others have their turn while it is read', async () => {
    const { ask } = setUp(large, COHERE);
    let turns = 0;
    let isRead = false;
    const count = (): void => {
      turns += 1;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);

    const outcome = await ask();
    isRead = true;

    expect(outcome).toMatchObject({ kind: 'ranked', ranking: { rows: [{}, {}, {}] } });
    expect(turns).toBeGreaterThan(5);
  });
});

describe('a call with a token', () => {
  const AZURE = {
    provider: 'azure-cosmos-rerank',
    settings: { tenant: 't', clientId: 'c' },
  };

  const withToken = (answer: Answer) => {
    const dropped: string[] = [];
    const tokens: SendDeps['tokens'] = {
      get: () => Promise.resolve({ kind: 'token', token: 'short-lived' }),
      drop: (_route, token = '') => dropped.push(token),
    };
    const credentials = { clientSecret: new Secret('s') };
    return { dropped, ...setUp(answer, { ...AZURE, credentials }, { tokens }) };
  };

  it('carries it, and keeps it', async () => {
    const { dropped, sent, ask } = withToken(() => reply(500, {}));

    await ask();

    const headers = sent[0]?.headers ?? [];
    expect(headers[headers.indexOf('authorization') + 1]).toBe('Bearer short-lived');
    expect(dropped).toEqual([]);
  });

  it('drops it once it is refused', async () => {
    const { dropped, ask } = withToken(() => reply(401, {}));

    await ask();

    expect(dropped).toEqual(['short-lived']);
  });
});

describe('a ranking in this process', () => {
  const LLAMA = { provider: 'llama', baseUrl: undefined, settings: { modelPath: '/m.gguf' } };

  const rankedHere = (rank: SendDeps['neural']['rank'], more: Offered = LLAMA) =>
    setUp(() => new Error('nothing is sent'), more, { neural: { rank } });

  it('is told when its request ends', async () => {
    const scope = createScope(Date.now(), 60_000);
    const { ask } = rankedHere((_request, signal) => {
      scope.end('client_gone');
      return Promise.reject(signal.reason as Error);
    });

    await expect(ask({ scope })).rejects.toMatchObject({ code: 'client_closed_request' });
    scope.release();
  });

  it('is stopped when its time is up, and fails', async () => {
    const untilAborted = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    const { ask } = rankedHere((_request, signal) => untilAborted(signal), {
      ...LLAMA,
      timeoutMs: 1,
    });

    expect(await ask()).toMatchObject({ kind: 'failed', failure: { kind: 'timeout' } });
  });

  it('that has ended hears nothing more', async () => {
    const scope = createScope(Date.now(), 60_000);
    let heard: AbortSignal | undefined;
    const { ask } = rankedHere(
      (_request, signal) => {
        heard = signal;
        return Promise.resolve([0.3, 0.2, 0.1]);
      },
      { ...LLAMA, timeoutMs: 30 },
    );
    expect(await ask({ scope })).toMatchObject({ kind: 'ranked' });

    scope.end('client_gone');
    await new Promise((resolve) => setTimeout(resolve, 60));

    expect(heard?.aborted).toBe(false);
    scope.release();
  });
});

describe('a call without a reply', () => {
  it.each([
    ['withdrawn', { kind: 'withdrawn' }],
    ['timeout', { kind: 'failed', failure: { kind: 'timeout' } }],
    ['unreadable', { kind: 'failed', failure: { kind: 'invalid' } }],
    ['forbidden', { kind: 'failed', failure: { kind: 'misconfigured' } }],
    ['connect', { kind: 'failed', failure: { kind: 'transient', unsent: true } }],
    ['reset', { kind: 'failed', failure: { kind: 'transient' } }],
    ['no_room', { kind: 'failed', failure: { kind: 'transient' } }],
  ] as const)('that is %s is a value', async (fault, outcome) => {
    const { ask } = setUp(() => new TransportError(fault, 'words'));

    expect(await ask()).toMatchObject(outcome);
  });

  it.each([
    ['that the request’s end cut off', 'cancelled'],
    ['whose time was up when its caller left', 'timeout'],
  ] as const)('%s ends the request', async (_what, fault) => {
    const scope = createScope(Date.now(), 60_000);
    const { ask } = setUp(() => {
      scope.end('client_gone');
      return new TransportError(fault, 'words');
    });

    await expect(ask({ scope })).rejects.toMatchObject({ code: 'client_closed_request' });
    scope.release();
  });

  it('whose rival was faster is as if it had not been made', async () => {
    const scope = createScope(Date.now(), 60_000);
    const { ask } = setUp(() => {
      scope.end('lost');
      return new TransportError('cancelled', 'words');
    });

    expect(await ask({ scope })).toEqual({ kind: 'withdrawn' });
    scope.release();
  });

  it.each([
    ['safe', false, 2],
    ['unsafe', false, 2],
    ['unsafe', true, 2],
    [undefined, true, 1],
  ] as const)(
    'that is %s to repeat, of a server that bills nobody, with retry_unsafe %p, is sent %i times, within one timeout',
    async (resend, retryUnsafe, times) => {
      const { sent, ask } = setUp(
        (request, nth) =>
          nth === 1 ? new TransportError('reset', 'broke', resend) : inOrder(request, nth),
        { retryUnsafe },
      );

      const { kind } = await ask();

      expect(sent).toHaveLength(times);
      expect(kind).toBe(times === 2 ? 'ranked' : 'failed');
      if (times === 2) expect(sent[1]?.timeoutMs).toBe(4_990);
    },
  );
});

it.each([
  ['tei', 'safe', false, true],
  ['tei', 'unsafe', false, true],
  // A server that bills nobody may pass it on to one that does.
  ['bifrost', 'unsafe', false, false],
  ['cohere', 'safe', false, true],
  ['cohere', undefined, false, false],
  ['cohere', undefined, true, true],
] as const)(
  'a broken call to %s, %s to repeat, with retry_unsafe %p, may be made again: %p',
  async (provider, resend, retryUnsafe, repeatable) => {
    const credentials = { apiKey: new Secret('k') };
    const broken = () => new TransportError('reset', 'broke', resend);
    const { ask } = setUp(broken, { provider, credentials, retryUnsafe });

    expect(await ask()).toMatchObject({ failure: { kind: 'transient', repeatable } });
  },
);

describe('a failure', () => {
  it('does not quote the credentials', async () => {
    const { ask } = setUp(() => reply(401, { error: 'key sk-upstream-secret is wrong' }), {
      credentials: { apiKey: new Secret('sk-upstream-secret') },
    });

    const outcome = await ask();

    expect(JSON.stringify(outcome)).not.toContain('upstream-secret');
    expect(outcome).toMatchObject({ kind: 'failed', failure: { status: 401 } });
  });

  it('does not quote settings that may hold secrets, nor what is inside them', async () => {
    const constants = JSON.stringify({ tenant: 'tenant "seven"', deep: { list: ['pass word 9'] } });
    const said = `pass word 9 of tenant "seven" in ${constants} is wrong`;
    const { ask } = setUp(() => reply(400, { error: said }), {
      provider: 'bentoml',
      settings: { constants },
    });

    const text = JSON.stringify(await ask());

    expect(text).toContain('[secret] of [secret] in [secret] is wrong');
    expect(text).not.toMatch(/pass word|seven/);
  });

  it('that is cut off in the middle of a credential does not quote its beginning', async () => {
    const said = `${'not so '.repeat(41)} with up.stream.key`;
    const { ask } = setUp(() => reply(400, { error: said.padEnd(400, '.') }), {
      credentials: { apiKey: new Secret('up.stream.key.of.ours') },
    });
    const { ask: askAnother } = setUp(() => reply(400, { error: said.padEnd(400, '.') }), {
      credentials: { apiKey: new Secret('another') },
    });

    expect(JSON.stringify(await askAnother())).toContain('up.s');
    expect(JSON.stringify(await ask())).not.toContain('up.s');
  });

  it('that nobody foresaw is thrown', async () => {
    const { ask } = setUp(() => new RangeError('a mistake of ours'));

    await expect(ask()).rejects.toThrow('a mistake of ours');
  });
});
