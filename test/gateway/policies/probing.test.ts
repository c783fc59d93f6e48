import { describe, expect, it } from '@jest/globals';
import { single } from '../../../src/gateway/failover.js';
import { Probing } from '../../../src/gateway/policies/probing.js';
import type { Attempt, AttemptOutcome, Candidates, Job, Offer } from '../../../src/gateway/rank.js';
import { createScope } from '../../../src/gateway/scope.js';
import { failed, job, offer, ranked } from '../../support/offers.js';

interface Call {
  readonly job: Job;
  answer(outcome: AttemptOutcome): void;
  fail(error: Error): void;
}

/** Channels of which some have an open circuit; each call is answered by the test. */
function setUp(ids: readonly number[], probes: readonly number[]) {
  const offers = ids.map((id) => offer(id));
  const heard: string[] = [];
  const candidates: Candidates = {
    next: () => offers.shift(),
    heard: ({ id }, outcome) => heard.push(`${id} ${outcome.kind}`),
    hasMore: () => offers.length > 0,
    patienceMs: () => 7,
    twinOf: () => undefined,
    again: () => undefined,
    whyNone: () => ({ kind: 'switched_off' }),
  };
  const calls = new Map<number, Call>();
  const attempt: Attempt = ({ id }, asked) =>
    new Promise((answer, fail) => calls.set(id, { job: asked, answer, fail }));
  const asking = { now: () => 0, attemptTimeoutMs: 1_000 };
  const probing = new Probing({
    ...asking,
    isProbe: ({ id }) => probes.includes(id),
    createScope: (deadlineMs) => createScope(0, deadlineMs),
  });
  const ofOffer = probing.layer(attempt)(single(asking, attempt));
  const turn = (asked: Job): Promise<AttemptOutcome> => {
    const first: Offer | undefined = candidates.next();
    if (first === undefined) throw new Error('there is one');
    return ofOffer(first, asked, candidates);
  };
  return { calls, heard, turn, probing };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a channel whose circuit is open', () => {
  it('is tried alongside another one, for which alone the caller waits', async () => {
    const { calls, heard, turn } = setUp([1, 2], [1]);
    const answering = turn(job());
    expect([...calls.keys()].sort()).toEqual([1, 2]);

    calls.get(2)?.answer(ranked(offer(2)));

    expect(await answering).toMatchObject({ ranking: { servedBy: [{ channelId: 2 }] } });
    // It may take as long as an attempt may.
    expect(calls.get(1)?.job.scope.ended).toBeUndefined();
    calls.get(1)?.answer(failed('timeout'));
    await soon();
    expect(heard).toEqual(['2 ranked', '1 failed']);
  });

  it('has a time of its own, however little the caller has left', async () => {
    const { calls, turn } = setUp([1, 2], [1]);
    const scope = createScope(0, 500);
    const answering = turn(job({ scope }));
    calls.get(2)?.answer(ranked(offer(2)));
    await answering;
    scope.release();

    expect(calls.get(1)?.job.scope.deadlineMs).toBe(2_000);
    // Nobody waits for it as for the other one.
    expect([1, 2].map((id) => calls.get(id)?.job.mostMs)).toEqual([undefined, 7]);
    calls.get(1)?.answer(failed('timeout'));
  });

  it('answers the caller if it is the first', async () => {
    const { calls, turn } = setUp([1, 2], [1]);
    const answering = turn(job());

    calls.get(1)?.answer(ranked(offer(1)));

    expect(await answering).toMatchObject({ ranking: { servedBy: [{ channelId: 1 }] } });
    expect(calls.get(2)?.job.scope.ended).toBe('lost');
    calls.get(2)?.fail(new Error('ended'));
  });

  it('is waited for if all others have failed, until its own end', async () => {
    for (const last of [ranked(offer(1)), failed('transient')]) {
      const { calls, turn } = setUp([1, 2], [1]);
      let outcome: AttemptOutcome | undefined;
      const answering = turn(job()).then((each) => (outcome = each));

      calls.get(2)?.answer(failed('busy'));
      await soon();
      expect(outcome).toBeUndefined();
      calls.get(1)?.answer(last);
      await answering;

      expect(outcome).toMatchObject(last.kind === 'ranked' ? last : failed('busy'));
    }
  });

  it('is not waited for if another one can be asked', async () => {
    const { calls, turn } = setUp([1, 2, 3], [1]);
    const answering = turn(job());

    calls.get(2)?.answer(failed('transient'));

    expect(await answering).toMatchObject(failed('transient'));
    calls.get(1)?.answer(failed('timeout'));
  });

  it('is asked like any other if it is the only one', async () => {
    const { calls, turn, heard } = setUp([1], [1]);
    const asked = job();
    const answering = turn(asked);

    expect(calls.get(1)?.job.scope).toBe(asked.scope);
    calls.get(1)?.answer(failed('transient'));
    expect(await answering).toMatchObject(failed('transient'));
    expect(heard).toEqual(['1 failed']);
  });

  it('is tried together with some others like it, and no more', async () => {
    const { calls, turn } = setUp([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]);
    const answering = turn(job());

    expect([...calls.keys()].sort()).toEqual([1, 2, 3, 4, 5]);
    calls.get(3)?.answer(ranked(offer(3)));
    expect(await answering).toMatchObject({ ranking: { servedBy: [{ channelId: 3 }] } });
  });

  it('goes on being tried when the caller leaves, and ends with the process', async () => {
    const { calls, turn, probing } = setUp([1, 2], [1]);
    const scope = createScope(0, 60_000);
    const answering = turn(job({ scope }));

    scope.end('client_gone');
    expect(calls.get(2)?.job.scope.ended).toBe('client_gone');
    calls.get(2)?.fail(new Error('ended'));
    await expect(answering).rejects.toThrow('ended');
    expect(calls.get(1)?.job.scope.ended).toBeUndefined();

    probing.close();
    expect(calls.get(1)?.job.scope.ended).toBe('lost');
    calls.get(1)?.fail(new Error('ended'));
    await soon();
    scope.release();
  });
});
