import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  forModel,
  type ComposedProvider,
  type HttpProvider,
} from '../../../src/providers/provider.js';
import { knownStub, startStubs, stubModel, type SeenCall, type Stubs } from '../../stubs/server.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import {
  channelsOf,
  FAMILIES,
  faultsOf,
  harmlessOf,
  hasOwnReading,
  hasOwnWriting,
  providers,
  TRANSPORT_FAULTS,
} from './modes.js';

/** The query that all fixtures share, with documents of which by words in common the second is best, then the first. */
const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is the planet that has the most moons, well over a hundred.',
  'Olive oil keeps best in a dark place.',
];
const RIGHT_ORDER = [1, 0, 2];

/** Errors whose documented code blames the input, so that no other channel is asked. */
const BLAMES_CALLER: readonly string[] = [
  'rankllm validation',
  'tencent-es invalid-parameter',
  'tencent-es missing-parameter',
  'tencent-lkeap invalid-parameter',
  'tencent-lkeap missing-parameter',
  'vikingdb invalid',
  'vikingdb invalid-body',
  'volcengine invalid',
  'volcengine invalid-body',
  'watsonx invalid',
  'watsonx-on-prem invalid',
  'zhipu invalid',
];

/** Ids whose rows are an order alone where scores are missing. */
const ORDER_WITHOUT_SCORES = ['google', 'google-us', 'google-eu', 'rankllm'];

/** Not the fetch of a token. */
const isRerank = ({ method, path }: SeenCall): boolean =>
  method === 'POST' && !/token$|authorize$/.test(path);

let stubs: Stubs;
let gateway: TestGateway;
let key: string;

/** Every `of`-th provider, from the `part`-th on, behind one gateway: a file of its own for each part keeps all workers busy. */
export function walkProviders(part: number, of: number): void {
  const mine = providers.filter((_, at) => at % of === part);
  beforeAll(async () => {
    stubs = await startStubs();
    gateway = await startGateway({
      channels: mine
        .flatMap(({ id }) => channelsOf(id, stubs))
        .map((channel) => ({ health_check_s: 0, ...channel })),
      prices: { default: { per_request: 1 } },
      gateway: { attempt_timeout_ms: 20_000, deadline_ms: 60_000, max_attempts: 2 },
      // What nobody asked for would be counted as a call: probes and health checks begin after a minute.
      traffic: { return_after_ms: 3_600_000 },
      server: { max_documents: 20_000 },
      // Limits are judged here as they are; what is split is another test's.
      models: { default: { split: false } },
    });
    ({ key } = await gateway.createKey());
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await stubs.close();
  });

  describe.each(mine.map((provider) => [provider.id, provider] as const))('%s', walkProvider);
}

function walkProvider(id: string, provider: HttpProvider | ComposedProvider): void {
  const ask = (model: string, more: object = {}, tag?: string) =>
    gateway.post(
      key,
      { model: `${id} ${model}`, query: QUERY, documents: DOCUMENTS, ...more },
      tag === undefined ? {} : { 'x-rerank-tag': tag },
    );
  const order = (reply: Awaited<ReturnType<typeof ask>>): number[] =>
    reply.status === 200 ? reply.body.results.map(({ index }) => index) : [];
  /** Rerank calls to the stub while `work` ran. */
  const callsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const before = stubs.seen.length;
    await work();
    return stubs.seen.slice(before).filter(isRerank).length;
  };

  /** A ranking by several calls has as many as it takes; one that fails ends with the first that does. */
  let callsOfOne = 1;
  beforeAll(async () => {
    if (provider.rounds === undefined) return;
    callsOfOne = await callsDuring(() => ask('plain'));
  });
  const expectCalls = (calls: number, rankings: number): void => {
    if (provider.rounds === undefined || rankings === 1) {
      expect(calls).toBe(callsOfOne * rankings);
      return;
    }
    expect(calls).toBeGreaterThan(callsOfOne);
    expect(calls).toBeLessThanOrEqual(callsOfOne * rankings);
  };

  it('ranks, best first, with documents and usage', async () => {
    const reply = await ask('plain', { return_documents: true });

    expect(reply.body.message).toBeUndefined();
    expect(order(reply)).toEqual(RIGHT_ORDER);
    expect(reply.body.results[0]?.document).toEqual({ text: DOCUMENTS[1] });
    expect(reply.body.usage.total_tokens).toBeGreaterThan(0);
    const scores = reply.body.results.map((row) => row.relevance_score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  it('keeps to top_n', async () => {
    expect(order(await ask('plain', { top_n: 1 }))).toEqual([1]);
    if (!hasOwnWriting(id)) return;
    expect(order(await ask('plain', { top_n: 2 }))).toEqual([1, 0]);
    expect(order(await ask('plain', { top_n: 99 }))).toEqual(RIGHT_ORDER);
  });

  if (hasOwnWriting(id)) {
    it('takes one document, and thirty-one', async () => {
      const thirty = Array.from({ length: 30 }, (_, at) => `document ${at}`);

      expect(order(await ask('plain', { documents: ['moons'] }))).toEqual([0]);
      expect(order(await ask('plain', { documents: [...thirty, DOCUMENTS[1]] }))[0]).toBe(30);
    });

    it('takes objects, and gives them back as they came', async () => {
      const documents = DOCUMENTS.map((text, at) => ({ text, id: `d${at}` }));
      const reply = await ask('plain', { documents, return_documents: true });

      expect(order(reply)).toEqual(RIGHT_ORDER);
      expect(reply.body.results[0]?.document).toEqual(documents[1]);
    });

    it('ranks fields that the caller names', async () => {
      const documents = DOCUMENTS.map((text) => ({ title: 'x', body: text }));

      expect(order(await ask('plain', { documents, rank_fields: ['title', 'body'] }))).toEqual(
        RIGHT_ORDER,
      );
    });

    it('takes blank documents, and ranks nothing but blanks', async () => {
      const reply = await ask('plain', { documents: ['', ...DOCUMENTS, '   '] });
      const blanks = await ask('plain', { documents: ['', '  '] });

      expect(order(reply)[0]).toBe(2);
      expect([...order(reply)].sort()).toEqual([0, 1, 2, 3, 4]);
      expect([...order(blanks)].sort()).toEqual([0, 1]);
    });

    it('takes every option', async () => {
      const reply = await ask('plain', {
        max_chunks_per_doc: 3,
        max_tokens_per_doc: 512,
        overlap_tokens: 10,
        instruction: 'prefer planets',
        truncation: true,
        priority: 5,
      });

      // What an engine does with a number of chunks is its own affair; the rest must not be refused.
      expect(order(reply)).toEqual(RIGHT_ORDER);
    });
  }

  it('leaves a channel with wrong credentials for another, and alone is a 502', async () => {
    const behind = await ask('refused');
    const alone = await ask('refused', {}, 'bad');

    expect(order(behind)).toEqual(RIGHT_ORDER);
    if (!knownStub(id).guarded) return;
    expect([alone.status, alone.body.error.code]).toEqual([502, 'upstream_error']);
  });

  const limit = provider.profile.limits.documents;
  if (limit !== undefined) {
    it('is not asked at all for more documents than it takes', async () => {
      const most = forModel(limit, stubModel(id));
      const documents = Array.from({ length: most + 1 }, () => 'x');
      let status = 0;

      const calls = await callsDuring(async () => {
        ({ status } = await ask('plain', { documents }));
      });

      expect([status, calls]).toEqual([413, 0]);
      if (most > 2_048) return;
      expect((await ask('plain', { documents: documents.slice(1), top_n: 1 })).status).toBe(200);
    });
  }

  if (hasOwnReading(id)) {
    it.each(harmlessOf(id))('sees through %s', async (mode) => {
      const calls = await callsDuring(async () => {
        expect(order(await ask(mode))).toEqual(RIGHT_ORDER);
      });

      expectCalls(calls, 1);
    });
  }

  const own = Object.keys(knownStub(id).variants);
  if (own.length > 0) {
    it.each(own)('reads the variant %s', async (mode) => {
      const reply = await ask(mode, {}, 'bad');

      expect(order(reply)).toEqual(RIGHT_ORDER);
    });
  }

  it.each(faultsOf(id))('leaves %s for the next channel', async (fault) => {
    const isRanking = fault === 'null-scores' && ORDER_WITHOUT_SCORES.includes(id);
    const calls = await callsDuring(async () => {
      expect(order(await ask(fault))).toEqual(RIGHT_ORDER);
    });

    expectCalls(calls, isRanking ? 1 : 2);
  });

  const failures = Object.entries(knownStub(id).failures);
  if (failures.length > 0) {
    it.each(failures)('judges its own error %s', async (name, { blames }) => {
      let status = 0;
      const calls = await callsDuring(async () => {
        const reply = await ask(`error-${name}`);
        status = reply.status;
        if (status === 200) expect(order(reply)).toEqual(RIGHT_ORDER);
      });

      // A refusal without a documented code is the channel's until another one says so too.
      if (BLAMES_CALLER.includes(`${id} ${name}`)) {
        expect(blames).toBe('caller');
        expect([400, 422]).toContain(status);
        expect(calls).toBeLessThanOrEqual(callsOfOne);
      } else {
        expect(status).toBe(200);
        if (blames !== 'limit') expectCalls(calls, 2);
      }
    });
  }

  if (FAMILIES.includes(id)) {
    it('leaves connections that break or fall silent for the next channel', async () => {
      const replies = await Promise.all(TRANSPORT_FAULTS.map((fault) => ask(fault)));

      expect(replies.map(order)).toEqual(TRANSPORT_FAULTS.map(() => RIGHT_ORDER));
    });
  }
}
