import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allProviders } from '../../src/providers/index.js';
import {
  forModel,
  type ComposedProvider,
  type HttpProvider,
} from '../../src/providers/provider.js';
import { FAULTS, type FaultName } from '../stubs/faults.js';
import { knownStub, startStubs, stubModel, type SeenCall, type Stubs } from '../stubs/server.js';
import { wrongCredentialsOf } from '../stubs/stub.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

/** The query that all fixtures share, with documents of which by words in common the second is best, then the first. */
const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is the planet that has the most moons, well over a hundred.',
  'Olive oil keeps best in a dark place.',
];
const RIGHT_ORDER = [1, 0, 2];

const providers = allProviders().filter(
  (provider): provider is HttpProvider | ComposedProvider => provider.transport === 'http',
);

const TRANSPORT_FAULTS: readonly FaultName[] = [
  'delay',
  'slow-headers',
  'dribble',
  'reset-before-headers',
  'reset-mid-body',
  'truncated-chunked',
];
/** Those that only a timeout ends. */
const SILENT: readonly string[] = ['delay', 'slow-headers', 'dribble'];

/** Providers whose documented codes blame the input: their word is enough. */
const PROVIDERS_THAT_BLAME: readonly string[] = [
  'rankllm',
  'tencent-es',
  'tencent-lkeap',
  'vikingdb',
  'volcengine',
  'watsonx',
  'watsonx-on-prem',
  'zhipu',
];

/** How a connection breaks does not depend on the dialect: one of each family has to show that it copes. */
const FAMILIES = [
  'cohere',
  'voyage',
  'deepinfra',
  'tei',
  'bedrock',
  'google',
  'rankllm',
  'tencent-lkeap',
];

/** Faults that a reader must see through. */
const HARMLESS: readonly FaultName[] = ['shuffle', 'extra-keys', 'gzip', 'bom'];

const REPLY_FAULTS = (Object.keys(FAULTS) as FaultName[]).filter(
  (fault) => !TRANSPORT_FAULTS.includes(fault) && !HARMLESS.includes(fault),
);

/** Ids whose rows are an order alone where scores are missing. */
const ORDER_WITHOUT_SCORES = ['google', 'google-us', 'google-eu', 'rankllm'];

/** What a list of identifiers, an answer of a chat model, is mended from. */
const MENDED: readonly string[] = ['duplicate-index', 'missing-row', 'null-scores', 'nan'];

/** Not the fetch of a token. */
const isRerank = ({ method, path }: SeenCall): boolean =>
  method === 'POST' && !/token$|authorize$/.test(path);

let stubs: Stubs;
beforeAll(async () => {
  stubs = await startStubs();
});
afterAll(async () => {
  await stubs.close();
});

const modesOf = (id: string): string[] => {
  const stub = knownStub(id);
  return [
    ...Object.keys(FAULTS),
    ...Object.keys(stub.variants),
    ...Object.keys(stub.failures).map((name) => `error-${name}`),
  ];
};

/** One channel for each mode with a good one behind it, and one each with wrong credentials, with and without that. */
function channelsOf(id: string): Record<string, unknown>[] {
  const upstream = stubModel(id);
  const model = (name: string): Record<string, string> => ({ [name]: upstream });
  const good = stubs.channel(id);
  const wrong = wrongCredentialsOf(knownStub(id).channel, stubs.url(id));
  const modes = modesOf(id);
  const limited = Object.entries(knownStub(id).failures)
    .filter(([, { blames }]) => blames === 'limit')
    .map(([name]) => `error-${name}`);
  return [
    {
      ...good,
      name: 'good',
      tag: 'good',
      models: Object.assign({}, ...['plain', 'refused', ...modes].map(model)) as object,
    },
    // The last resort of requests that break a limit of the provider's own.
    ...limited.map((name) => ({
      name: `last resort of ${name}`,
      provider: 'local',
      priority: -9,
      models: { [name]: 'lexical' },
    })),
    {
      ...good,
      name: 'refused',
      tag: 'bad',
      priority: 9,
      credentials: wrong,
      models: model('refused'),
    },
    ...modes.map((mode) => ({
      ...stubs.channel(id, mode),
      name: `mode ${mode}`,
      tag: 'bad',
      priority: 9,
      ...(SILENT.includes(mode) ? { timeout_ms: 200 } : {}),
      models: model(mode),
    })),
  ];
}

describe.each(providers.map((provider) => [provider.id, provider] as const))(
  '%s',
  (id, provider) => {
    let gateway: TestGateway;
    let key: string;
    beforeAll(async () => {
      gateway = await startGateway({
        channels: channelsOf(id),
        prices: { default: { per_request: 1 } },
        gateway: { attempt_timeout_ms: 20_000, deadline_ms: 60_000, max_attempts: 2 },
        server: { max_documents: 20_000 },
        // Limits are judged here as they are; what is split is another test's.
        models: { default: { split: false } },
      });
      ({ key } = await gateway.createKey());
    });
    afterAll(async () => {
      await gateway.close();
    });

    const ask = (model: string, more: object = {}, tag?: string) =>
      gateway.post(
        key,
        { model, query: QUERY, documents: DOCUMENTS, ...more },
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
      expect(order(await ask('plain', { top_n: 2 }))).toEqual([1, 0]);
      expect(order(await ask('plain', { top_n: 99 }))).toEqual(RIGHT_ORDER);
    });

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

    it('leaves a channel with wrong credentials for another, and alone is a 502', async () => {
      const behind = await ask('refused');
      const alone = await ask('refused', {}, 'bad');

      expect(order(behind)).toEqual(RIGHT_ORDER);
      if (!knownStub(id).guarded) return;
      expect([alone.status, alone.body.error.code]).toEqual([502, 'upstream_error']);
    });

    it('is not asked at all for more documents than it takes', async () => {
      const limit = provider.profile.limits.documents;
      if (limit === undefined) return;
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

    it.each(HARMLESS)('sees through %s', async (mode) => {
      if (mode === 'shuffle' && knownStub(id).orderOnly) return;
      const calls = await callsDuring(async () => {
        expect(order(await ask(mode))).toEqual(RIGHT_ORDER);
      });

      expectCalls(calls, 1);
    });

    const own = Object.keys(knownStub(id).variants);
    if (own.length > 0) {
      it.each(own)('reads the variant %s', async (mode) => {
        const reply = await ask(mode, {}, 'bad');

        expect(order(reply)).toEqual(RIGHT_ORDER);
      });
    }

    it.each(REPLY_FAULTS)('leaves %s for the next channel', async (fault) => {
      if (!knownStub(id).indexed && fault === 'duplicate-index') return;
      if (knownStub(id).mends && MENDED.includes(fault)) return;
      const isRanking = fault === 'null-scores' && ORDER_WITHOUT_SCORES.includes(id);
      const calls = await callsDuring(async () => {
        expect(order(await ask(fault))).toEqual(RIGHT_ORDER);
      });

      expectCalls(calls, isRanking ? 1 : 2);
    });

    const failures = Object.entries(knownStub(id).failures);
    if (failures.length > 0) {
      it.each(failures)('judges its own error %s', async (name, { blames }) => {
        const before = stubs.seen.length;
        const reply = await ask(`error-${name}`);
        const calls = stubs.seen.slice(before).filter(isRerank).length;

        if (blames !== 'caller') {
          expect(order(reply)).toEqual(RIGHT_ORDER);
          if (blames === 'channel') expectCalls(calls, 2);
          return;
        }
        // A refusal without a documented code is the channel's until another one says so too.
        if (reply.status === 200) {
          expect(order(reply)).toEqual(RIGHT_ORDER);
          expectCalls(calls, 2);
          return;
        }
        expect([400, 422]).toContain(reply.status);
        expect(calls).toBeLessThanOrEqual(callsOfOne);
        expect(PROVIDERS_THAT_BLAME).toContain(id);
      });
    }

    if (FAMILIES.includes(id)) {
      it('leaves connections that break or fall silent for the next channel', async () => {
        const replies = await Promise.all(TRANSPORT_FAULTS.map((fault) => ask(fault)));

        expect(replies.map(order)).toEqual(TRANSPORT_FAULTS.map(() => RIGHT_ORDER));
      });
    }
  },
);
