import { describe, expect, it } from '@jest/globals';
import { RetryBudget } from '../../../src/core/hedge.js';
import { hedged } from '../../../src/gateway/policies/hedge.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Offer } from '../../../src/gateway/rank.js';
import { createScope } from '../../../src/gateway/scope.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

interface Call {
  readonly offer: Offer;
  readonly ends: (string | undefined)[];
  answer(outcome: AttemptOutcome): void;
  fail(error: Error): void;
}

function setUp(
  slowAfterMs: number | undefined,
  budget = new RetryBudget(1, 1),
  offers = [offer(1), offer(2), offer(3)],
) {
  const heard: string[] = [];
  const candidates: Candidates = {
    next: () => offers.shift(),
    heard: ({ id }, outcome) => heard.push(`${id} ${outcome.kind}`),
    hasMore: () => offers.length > 0,
    patienceMs: () => undefined,
    twinOf: () => undefined,
    again: () => undefined,
    whyNone: () => ({ kind: 'switched_off' }),
  };
  const calls: Call[] = [];
  let began: (() => void) | undefined;
  const attempt: Attempt = (asked, { scope }) =>
    new Promise((resolve, reject) => {
      const ends: (string | undefined)[] = [];
      scope.onEnd(() => ends.push(scope.ended));
      calls.push({ offer: asked, ends, answer: resolve, fail: reject });
      began?.();
    });
  const ofOffer = hedged(
    {
      slowAfterMs: () => slowAfterMs,
      onOvertaken: ({ id }) => heard.push(`${id} overtaken`),
      budget,
      now: Date.now,
      attemptTimeoutMs: 1_000,
    },
    attempt,
  );
  const turn = (asked: Job): Promise<AttemptOutcome> => {
    const first = candidates.next();
    if (first === undefined) throw new Error('there is one');
    return ofOffer(first, asked, candidates);
  };
  /** Resolves once so many calls were begun. */
  const begun = async (count: number): Promise<void> => {
    while (calls.length < count) await new Promise<void>((resolve) => (began = resolve));
  };
  return { candidates, calls, heard, turn, begun };
}

describe('a hedged attempt', () => {
  it('asks one channel while it is fast', async () => {
    const { calls, turn, heard } = setUp(60_000);
    const answering = turn(job());

    calls[0]?.answer(ranked(offer(1)));

    expect(await answering).toMatchObject({ kind: 'ranked' });
    expect(calls).toHaveLength(1);
    expect(heard).toEqual(['1 ranked']);
  });

  it('does nothing of its own if there is no second channel', async () => {
    const { candidates, heard } = setUp(1);
    candidates.next();
    candidates.next();
    const last = candidates.next() ?? offer(0);
    const asked = job();
    const scopes: unknown[] = [];
    const turn = hedged(
      {
        slowAfterMs: () => 1,
        onOvertaken: () => undefined,
        budget: new RetryBudget(1),
        now: Date.now,
        attemptTimeoutMs: 1_000,
      },
      (chosen, { scope }) => {
        scopes.push(scope);
        return Promise.resolve(ranked(chosen));
      },
    );

    expect(await turn(last, asked, candidates)).toMatchObject({ kind: 'ranked' });
    expect(scopes[0]).toBe(asked.scope);
    expect(heard).toEqual(['3 ranked']);
  });

  it('asks a second one beside a slow one, and ends the one that lost', async () => {
    const { calls, turn, begun, heard } = setUp(1);
    const answering = turn(job());
    await begun(2);

    calls[1]?.answer(ranked(offer(2)));
    const outcome = await answering;
    // Nobody waits for it any more.
    calls[0]?.fail(new Error('ended'));

    expect(outcome).toMatchObject({ ranking: { servedBy: [{ channelId: 2 }] } });
    expect(calls[0]?.ends).toEqual(['lost']);
    expect(heard).toEqual(['2 ranked', '1 overtaken']);
  });

  it('says of no channel that it was overtaken where the first one is the first to answer', async () => {
    const { calls, turn, begun, heard } = setUp(1);
    const answering = turn(job());
    await begun(2);

    calls[0]?.answer(ranked(offer(1)));
    await answering;

    expect(calls[1]?.ends).toEqual(['lost']);
    expect(heard).toEqual(['1 ranked']);
  });

  it('waits for the other if one fails', async () => {
    const { calls, turn, begun, heard } = setUp(1);
    const answering = turn(job());
    await begun(2);

    calls[1]?.answer(failed('transient'));
    await new Promise((resolve) => setImmediate(resolve));
    calls[0]?.answer(ranked(offer(1)));

    expect(await answering).toMatchObject({ ranking: { servedBy: [{ channelId: 1 }] } });
    expect(heard).toEqual(['2 failed', '1 ranked']);
  });

  it('that fails twice leaves its request the time to go on', async () => {
    const { calls, turn, begun } = setUp(1);
    const asked = job();
    const answering = turn(asked);
    await begun(2);

    for (const call of calls) call.answer(failed('transient'));

    expect(await answering).toMatchObject({ kind: 'failed' });
    expect(asked.scope.ended).toBeUndefined();
  });

  it('asks nobody else if the budget is spent, or if nobody knows what is slow', async () => {
    for (const { calls, turn } of [setUp(1, new RetryBudget(0)), setUp(undefined)]) {
      const answering = turn(job());
      await new Promise((resolve) => setTimeout(resolve, 5));
      calls[0]?.answer(ranked(offer(1)));

      await answering;

      expect(calls).toHaveLength(1);
    }
  });

  it('is paid for by a share of the requests', async () => {
    const offers = Array.from({ length: 8 }, (_, index) => offer(index + 1));
    const { calls, turn } = setUp(1, new RetryBudget(0.5, 1), offers);
    const callsOf: number[] = [];

    for (let request = 0; request < 3; request += 1) {
      const before = calls.length;
      const answering = turn(job());
      await new Promise((resolve) => setTimeout(resolve, 20));
      calls.at(-1)?.answer(ranked(offer(1)));
      await answering;
      callsOf.push(calls.length - before);
    }

    expect(callsOf).toEqual([2, 1, 2]);
  });

  it('ends both calls with its request', async () => {
    const { calls, turn, begun } = setUp(1);
    const scope = createScope(Date.now(), 60_000);
    const answering = turn(job({ scope }));
    await begun(2);

    scope.end('client_gone');
    calls[0]?.fail(new Error('ended'));

    await expect(answering).rejects.toThrow('ended');
    expect(calls.map(({ ends }) => ends)).toEqual([['client_gone'], ['client_gone']]);
    calls[1]?.fail(new Error('ended'));
    scope.release();
  });
});
