import { describe, expect, it } from '@jest/globals';
import { Json } from '../../src/core/json.js';
import { textDocuments } from '../../src/core/text-documents.js';
import {
  defineComposedProvider,
  type Rounds,
  type UpstreamCall,
} from '../../src/providers/provider.js';
import { RankingFault } from '../../src/rankers/ranker.js';
import { ask, readRounds, sumUsage, type SendPart } from '../../src/providers/rounds.js';

const call: UpstreamCall = {
  model: 'm',
  query: 'q',
  documents: textDocuments(['a', 'b', 'c', 'd']),
  topN: 4,
  options: {},
  settings: {},
};

const tools = { vectors: undefined, prompts: () => undefined };

function providerOf(rounds: () => Rounds) {
  return defineComposedProvider({
    id: 'composed',
    title: 'Composed',
    baseUrl: undefined,
    path: '/x',
    headers: () => ({}),
    exampleModels: [],
    profile: {
      limits: {},
      truncates: true,
      sorted: false,
      topN: 'unsupported',
      echo: 'never',
      documents: { objects: false, images: { default: false } },
      blanks: 'accepted',
      scoreScale: { default: 'cosine' },
      ranking: { default: 'pointwise' },
      billing: 'none',
    },
    rounds,
    estimate: () => 1,
  });
}

/** Asks for the scores of `count` documents at once, then for one more number. */
function* twoRounds(count: number): Rounds {
  const decode = (reply: Json): number => reply.field('n').number();
  const scores = yield* ask(
    Array.from({ length: count }, (_, at) => ({ makeBody: () => at, decode })),
  );
  yield [];
  const [more = 0] = yield* ask([{ makeBody: () => 'more', decode }]);
  return { rows: scores.map((score, index) => ({ index, score: score + more })) };
}

const answer = (value: unknown, status = 200) => ({
  status,
  headers: {},
  text: JSON.stringify(value),
});

const TIME = { now: () => 0, pause: () => Promise.resolve() };

const run = (rounds: () => Rounds, send: SendPart, settings = {}) =>
  readRounds(providerOf(rounds), { ...call, settings }, tools, send, TIME);

describe('readRounds', () => {
  it('gives every answer to whoever asked, whatever order they come in', async () => {
    const reading = await run(
      () => twoRounds(4),
      async (body) => {
        if (typeof body === 'number') {
          await new Promise((resolve) => setTimeout(resolve, (4 - body) * 3));
        }
        return answer({ n: body === 'more' ? 100 : body });
      },
    );

    expect(reading).toEqual({
      kind: 'ranking',
      ranking: { rows: [100, 101, 102, 103].map((score, index) => ({ index, score })) },
    });
  });

  it.each([
    [1, 1],
    [3, 3],
    [undefined, 4],
    [0, 4],
    [0.5, 4],
  ])('has as many calls under way as the channel says: %s', async (concurrency, most) => {
    let now = 0;
    let seen = 0;

    await run(
      () => twoRounds(9),
      async (body) => {
        now += 1;
        seen = Math.max(seen, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return answer({ n: body === 'more' ? 0 : 1 });
      },
      concurrency === undefined ? {} : { concurrency },
    );

    expect(seen).toBe(most);
  });

  it('ends with the first call that fails, without waiting for the others and without sending more', async () => {
    const sent: unknown[] = [];

    const reading = await run(
      () => twoRounds(9),
      (body) => {
        sent.push(body);
        if (body === 1) return Promise.resolve(answer({ error: 'no' }, 503));
        return new Promise(() => undefined);
      },
      { concurrency: 3 },
    );

    expect(reading).toMatchObject({ kind: 'failure', failure: { kind: 'busy' } });
    expect(sent).toEqual([0, 1, 2]);
  });

  it('sends nothing more for a ranking that has failed, when calls that were under way are answered', async () => {
    const sent: unknown[] = [];
    const answered: (() => void)[] = [];

    await run(
      () => twoRounds(8),
      (body) => {
        sent.push(body);
        if (body === 0) return Promise.resolve(answer({ error: 'no' }, 503));
        return new Promise((resolve) => answered.push(() => resolve(answer({ n: 1 }))));
      },
      { concurrency: 2 },
    );
    for (const late of answered) late();
    await new Promise((resolve) => setImmediate(resolve));

    expect(sent).toEqual([0, 1]);
  });

  it('passes on what sending throws', async () => {
    const lost = new Error('gone');

    await expect(
      run(
        () => twoRounds(3),
        () => Promise.reject(lost),
      ),
    ).rejects.toBe(lost);
  });

  it('treats what does not decode as an answer without a ranking', async () => {
    const reading = await run(
      () => twoRounds(3),
      () => Promise.resolve(answer({ n: 'x' })),
    );

    expect(reading).toMatchObject({ kind: 'failure', failure: { kind: 'invalid' } });
  });

  it('tells faults that the ranking itself finds', async () => {
    const reading = await run(
      // oxlint-disable-next-line require-yield -- it fails before it asks for anything
      function* (): Rounds {
        throw new RankingFault('limit', 'too long');
      },
      () => Promise.resolve(answer({ n: 1 })),
    );

    expect(reading).toEqual({
      kind: 'failure',
      failure: { kind: 'limit', status: undefined, message: 'too long' },
    });
  });

  it('asks for nothing if there is nothing to ask', async () => {
    const reading = await run(
      () => twoRounds(0),
      () => Promise.resolve(answer({ n: 1 })),
    );

    expect(reading).toEqual({ kind: 'ranking', ranking: { rows: [] } });
  });
});

describe('sumUsage', () => {
  it('adds up, and knows nothing where one call says nothing', () => {
    expect(sumUsage([1, 2, 3])).toEqual({ inputTokens: 6 });
    expect(sumUsage([1, undefined, 3])).toEqual({ inputTokens: undefined });
    expect(sumUsage([])).toEqual({ inputTokens: undefined });
  });
});
