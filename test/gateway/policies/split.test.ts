import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import { split } from '../../../src/gateway/policies/split.js';
import type { Attempt, Job, Offer } from '../../../src/gateway/rank.js';
import { createScope } from '../../../src/gateway/scope.js';
import { failed, job, offer } from '../../support/offers.js';

const TEXTS = Array.from({ length: 10 }, (_, at) => String((at * 7) % 10));

/** Scores a document by the number that it is: what one call for the whole list would rank. */
function scoring(seen: string[][], refuses: (job: Job) => boolean = () => false): Attempt {
  return (from, { documents, topN, ...rest }) => {
    const texts = Array.from({ length: documents.count }, (_, at) => documents.text(at));
    seen.push(texts);
    if (refuses({ documents, topN, ...rest })) return Promise.resolve(failed('limit'));
    const rows = texts
      .map((text, index) => ({ index, score: Number(text) }))
      .sort((one, other) => other.score - one.score)
      .slice(0, topN);
    return Promise.resolve({
      kind: 'ranked',
      ranking: {
        rows,
        usage: { inputTokens: texts.length },
        warnings: ['odd'],
        written: undefined,
        servedBy: from.servedBy,
      },
    });
  };
}

/** Other channels of the same model, in this order. */
function twins(offers: readonly Offer[], heard: number[] = []): NonNullable<Job['elsewhere']> {
  const left = [...offers];
  return { twinOf: () => left.shift(), heard: ({ id }) => void heard.push(id) };
}

const windowed = (documents?: number): Offer => ({
  ...offer(1),
  window: { documents, characters: undefined, bytes: undefined, tokens: undefined },
});
const whole = job({ documents: textDocuments(TEXTS), topN: 4 });

describe('a list beyond the limits of a channel', () => {
  it('is ranked in windows as in one call', async () => {
    const seen: string[][] = [];
    const tops: number[] = [];
    const inner = scoring(seen);
    const layer = split({ parallel: 2 });

    const outcome = await layer((from, asked) => {
      tops.push(asked.topN);
      return inner(from, asked);
    })(windowed(4), whole);
    const atOnce = await layer(scoring([]))(offer(2), whole);

    expect(seen.map(({ length }) => length)).toEqual([4, 4, 2]);
    // Some providers refuse a `top_n` beyond their documents.
    expect(tops).toEqual([4, 4, 2]);
    expect(outcome).toMatchObject({
      ranking: { usage: { inputTokens: 10 }, warnings: ['odd'], servedBy: [{ channelId: 1 }] },
    });
    if (outcome.kind !== 'ranked' || atOnce.kind !== 'ranked') throw new Error('not ranked');
    expect(outcome.ranking.rows).toEqual(atOnce.ranking.rows);
  });

  it('goes out with no more windows at once than allowed', async () => {
    let running = 0;
    let most = 0;
    const inner = scoring([]);
    const counting: Attempt = async (from, asked) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return inner(from, asked);
    };

    await split({ parallel: 3 })(counting)(windowed(1), whole);

    expect(most).toBe(3);
  });

  it('of two documents is halved as well', async () => {
    const two = job({ documents: textDocuments(['1', '2']), topN: 2 });
    const attempt = split({ parallel: 1 })(scoring([], ({ documents }) => documents.count > 1));

    expect(await attempt(windowed(), two)).toMatchObject({
      ranking: { rows: [{ index: 1 }, { index: 0 }] },
    });
  });

  it('is halved until the channel takes it, and not asked so much of the next time', async () => {
    const seen: string[][] = [];
    const attempt = split({ parallel: 1 })(scoring(seen, ({ documents }) => documents.count > 3));

    const first = await attempt(windowed(), whole);
    const calls = seen.length;
    const second = await attempt(windowed(), whole);

    expect([first.kind, second.kind]).toEqual(['ranked', 'ranked']);
    expect(seen.slice(0, calls).map(({ length }) => length)).toContain(10);
    expect(Math.max(...seen.slice(calls).map(({ length }) => length))).toBeLessThanOrEqual(3);
    expect(seen).toHaveLength(calls + 4);
    // What its operator allows by now counts, too.
    await attempt(windowed(2), whole);
    expect(seen.slice(calls + 4).map(({ length }) => length)).toEqual([2, 2, 2, 2, 2]);
  });

  it.each([
    ['its channel takes two calls a minute', 'limit', { requestsPerMinute: 2 }],
    ['its channel takes three', 'ranked', { requestsPerMinute: 3 }],
    ['its channel takes two tokens a minute', 'ranked', { tokensPerMinute: 2 }],
    ['each of two keys takes one', 'limit', { keyRequestsPerMinute: 1 }],
    ['each of two keys takes two', 'ranked', { keyRequestsPerMinute: 2 }],
  ])('of three windows, where %s, ends with: %s', async (_what, expected, limits) => {
    const seen: string[][] = [];
    const credentials = { apiKey: new Secret('key-one-aaaa\nkey-two-bbbb') };
    const { route } = offer(1, { ...limits, provider: 'cohere', credentials });
    const outcome = await split({ parallel: 2 })(scoring(seen))({ ...windowed(4), route }, whole);

    expect(outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind).toBe(expected);
    expect(outcome.kind === 'failed' && outcome.failure.unsent).toBe(expected === 'limit');
    expect(seen).toHaveLength(expected === 'limit' ? 0 : 3);
  });

  it('is not sent whole once more after one of its halves failed in passing', async () => {
    const seen: string[][] = [];
    const inner = scoring(seen, ({ documents }) => documents.count > 5);
    let isDown = true;
    const attempt = split({ parallel: 1 })((from, asked) => {
      const isSecondHalf = asked.documents.text(0) === TEXTS[5];
      return isDown && isSecondHalf ? Promise.resolve(failed('transient')) : inner(from, asked);
    });

    expect(await attempt(windowed(), whole)).toMatchObject(failed('transient'));
    isDown = false;
    expect(await attempt(windowed(), whole)).toMatchObject({ kind: 'ranked' });

    expect(seen.map(({ length }) => length)).toEqual([10, 5, 5, 5]);
  });

  it('teaches nothing about other channels and other models', async () => {
    const seen: string[][] = [];
    const attempt = split({ parallel: 1 })(scoring(seen, ({ documents }) => documents.count > 3));
    await attempt(windowed(), whole);

    const others = [
      { ...windowed(), id: 2 },
      { ...windowed(), upstreamModel: 'another' },
    ];
    for (const other of others) {
      const before = seen.length;
      await attempt(other, whole);
      expect(seen[before]).toHaveLength(10);
    }
  });

  it('teaches nothing where no half of it is small enough', async () => {
    const seen: string[][] = [];
    // One of the documents is too large for any request.
    const inner = scoring(seen, ({ documents: asked }) =>
      Array.from({ length: asked.count }, (_, at) => asked.text(at)).includes('7'),
    );
    const attempt = split({ parallel: 1 })(inner);

    expect(await attempt(windowed(), whole)).toMatchObject(failed('limit'));
    const before = seen.length;
    await attempt(windowed(), whole);

    expect(seen[before]).toHaveLength(10);
  });

  it('fails with the first window that fails, and ends the others', async () => {
    const ends: (string | undefined)[] = [];
    const attempt: Attempt = (_from, { documents, scope }) =>
      documents.text(0) === TEXTS[0]
        ? Promise.resolve(failed('timeout'))
        : new Promise((resolve) => {
            scope.onEnd(() => {
              ends.push(scope.ended);
              resolve({ kind: 'withdrawn' });
            });
          });

    const outcome = await split({ parallel: 3 })(attempt)(windowed(4), whole);

    expect(outcome).toEqual(failed('timeout'));
    expect(ends).toEqual(['lost', 'lost']);
  });

  it('sends a window that fails elsewhere alone, and those after it', async () => {
    const asked: [id: number, count: number][] = [];
    const heard: number[] = [];
    const inner = scoring([]);
    const attempt: Attempt = (from, given) => {
      asked.push([from.id, given.documents.count]);
      const fails = from.id === 1 && given.documents.text(0) !== TEXTS[0];
      return fails ? Promise.resolve(failed('transient')) : inner(from, given);
    };
    const elsewhere = twins([{ ...windowed(4), id: 2 }], heard);

    const outcome = await split({ parallel: 1 })(attempt)(windowed(4), { ...whole, elsewhere });
    const atOnce = await inner(offer(2), whole);

    expect(asked).toEqual([
      [1, 4],
      [1, 4],
      [2, 4],
      [2, 2],
    ]);
    expect(heard).toEqual([2, 2]);
    if (outcome.kind !== 'ranked' || atOnce.kind !== 'ranked') throw new Error('not ranked');
    expect(outcome.ranking.rows).toEqual(atOnce.ranking.rows);
  });

  it('tells that its channel was given up early, though another one ranks the rest', async () => {
    const heard: number[] = [];
    const inner = scoring([]);
    const layer = split({ parallel: 1 });
    const outcome = await layer((from, piece) =>
      from.id === 1 ? Promise.resolve(failed('timeout', { isEarly: true })) : inner(from, piece),
    )(windowed(2), { ...whole, elsewhere: twins([offer(2)], heard) });

    expect(outcome.kind).toBe('ranked');
    expect(heard).toEqual([1, 2, 2, 2, 2, 2]);
  });

  it('that fails in several windows at once goes to one other channel', async () => {
    const ids: number[] = [];
    const inner = scoring([]);
    const attempt: Attempt = async (from, given) => {
      ids.push(from.id);
      // Until all windows are under way.
      await new Promise((resolve) => setImmediate(resolve));
      return from.id === 1 ? failed('transient') : inner(from, given);
    };
    const others = [2, 3].map((id) => ({ ...windowed(4), id }));

    const elsewhere = twins(others);
    const outcome = await split({ parallel: 3 })(attempt)(windowed(4), { ...whole, elsewhere });

    expect(outcome.kind).toBe('ranked');
    expect(ids).toEqual([1, 1, 1, 2, 2, 2]);
  });

  it.each([
    ['there is no other channel of the model', 'timeout', []],
    ['the input is at fault', 'caller', [2]],
    ['the channel refuses it', 'rejected', [2]],
    ['one document is too large', 'limit', [2]],
  ] as const)('fails where %s', async (_why, kind, ids) => {
    const others = ids.map((id) => ({ ...windowed(4), id }));
    const asked: number[] = [];
    const attempt: Attempt = ({ id }) => {
      asked.push(id);
      return Promise.resolve(failed(kind));
    };

    const outcome = await split({ parallel: 1 })(attempt)(windowed(1), {
      ...whole,
      elsewhere: twins(others),
    });

    expect(outcome).toEqual(failed(kind));
    expect(asked).toEqual([1]);
  });

  it('goes elsewhere from a channel that was withdrawn', async () => {
    const inner = scoring([]);
    const attempt: Attempt = (from, given) =>
      from.id === 1 ? Promise.resolve({ kind: 'withdrawn' }) : inner(from, given);

    const outcome = await split({ parallel: 1 })(attempt)(windowed(4), {
      ...whole,
      elsewhere: twins([{ ...windowed(4), id: 2 }]),
    });

    expect(outcome.kind).toBe('ranked');
  });

  it('goes nowhere else once its request has ended', async () => {
    const scope = createScope(Date.now(), 60_000);
    const asked: number[] = [];
    const attempt: Attempt = ({ id }) => {
      asked.push(id);
      scope.end('client_gone');
      return Promise.resolve(failed('transient'));
    };

    await split({ parallel: 1 })(attempt)(windowed(4), {
      ...whole,
      scope,
      elsewhere: twins([{ ...windowed(4), id: 2 }]),
    });
    scope.release();

    expect(asked).toEqual([1]);
  });

  it('asks few channels in all when every one of them fails', async () => {
    const ids: number[] = [];
    const attempt: Attempt = (from) => {
      ids.push(from.id);
      return Promise.resolve(failed('busy'));
    };
    const others = [2, 3, 4, 5].map((id) => ({ ...windowed(4), id }));

    await split({ parallel: 1 })(attempt)(windowed(4), { ...whole, elsewhere: twins(others) });

    expect(ids).toEqual([1, 2, 3]);
  });

  it('is left alone where scores depend on each other', async () => {
    const seen: string[][] = [];

    await split({ parallel: 2 })(scoring(seen))(offer(1), whole);

    expect(seen).toHaveLength(1);
  });
});
