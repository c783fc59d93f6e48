import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { textDocuments } from '../../../src/core/text-documents.js';
import { coalesced } from '../../../src/gateway/policies/coalesce.js';
import type { Job, Outcome } from '../../../src/gateway/rank.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createScope, type OwnedScope } from '../../../src/gateway/scope.js';
import { job, offer, ranking } from '../../support/offers.js';

const good: Outcome = { kind: 'ranked', ranking: ranking(offer(1)) };

function setUp() {
  const flights: { job: Job; land(outcome: Outcome): void; crash(error: Error): void }[] = [];
  const releases: { readonly mock: { readonly calls: readonly unknown[] } }[] = [];
  const scopeUntil = (deadlineMs: number): OwnedScope => {
    const scope = createScope(Date.now(), deadlineMs - Date.now());
    releases.push(jest.spyOn(scope, 'release'));
    return scope;
  };
  const rank = coalesced(scopeUntil)(
    (given) =>
      new Promise((resolve, reject) => {
        flights.push({ job: given, land: resolve, crash: reject });
      }),
  );
  return { flights, releases, rank };
}

const scopes: OwnedScope[] = [];
function caller(given: Partial<Job> = {}): { job: Job; scope: OwnedScope } {
  const scope = createScope(Date.now(), 60_000);
  scopes.push(scope);
  return { job: job({ scope, ...given }), scope };
}

afterEach(() => {
  for (const scope of scopes.splice(0)) scope.release();
});

describe('identical calls at the same time', () => {
  it('share one ranking', async () => {
    const { flights, releases, rank } = setUp();
    const both = [rank(caller().job), rank(caller().job)];
    await nextTurn();
    expect(releases.map(({ mock }) => mock.calls.length)).toEqual([0]);

    flights[0]?.land(good);

    expect(await Promise.all(both)).toEqual([good, good]);
    expect(flights).toHaveLength(1);
    expect(releases.map(({ mock }) => mock.calls.length)).toEqual([1]);
  });

  it('do not share it with another owner, query, list, number of rows or option', async () => {
    const { flights, rank } = setUp();
    const calls = [
      {},
      { owner: 'other' },
      { query: 'other' },
      { documents: textDocuments(['a', 'b', 'd']) },
      { topN: 1 },
      { options: { truncation: true } },
      { model: 'other' },
    ].map((given) => rank(caller(given).job));
    await nextTurn();

    for (const flight of flights) flight.land(good);
    await Promise.all(calls);

    expect(flights).toHaveLength(7);
  });

  it('go on when the first of the callers leaves', async () => {
    const { flights, rank } = setUp();
    const first = caller();
    const leaving = rank(first.job);
    const staying = rank(caller().job);
    await nextTurn();

    first.scope.end('client_gone');
    await expect(leaving).rejects.toMatchObject({ code: 'client_closed_request' });
    expect(flights[0]?.job.scope.ended).toBeUndefined();
    flights[0]?.land(good);

    expect(await staying).toBe(good);
  });

  it('do not begin for a caller that left before it was clear what it asks', async () => {
    const { flights, rank } = setUp();
    const gone = caller();
    const leaving = rank(gone.job);

    gone.scope.end('client_gone');

    await expect(leaving).rejects.toMatchObject({ code: 'client_closed_request' });
    expect(flights).toEqual([]);
  });

  it('end with the last of them, and a new call begins anew', async () => {
    const { flights, rank } = setUp();
    const callers = [caller(), caller()];
    const leaving = callers.map((each) => rank(each.job));
    await nextTurn();

    for (const { scope } of callers) scope.end('client_gone');
    await Promise.allSettled(leaving);

    expect(flights[0]?.job.scope.ended).toBe('lost');
    void rank(caller().job);
    await nextTurn();
    expect(flights).toHaveLength(2);

    // The end of the first, which may come late, is not that of the second.
    flights[0]?.land(good);
    await nextTurn();
    void rank(caller().job);
    await nextTurn();
    expect(flights).toHaveLength(2);
    flights[1]?.land(good);
  });

  it.each([
    ['is asked for once more by a call that has more time', 120_000, 2],
    ['is not asked for again by the call whose time it had', 60_000, 1],
  ])('whose ranking had no time left %s', async (_what, budgetMs, calls) => {
    const { flights, rank } = setUp();
    const leader = caller();
    const waiting = createScope(leader.scope.deadlineMs - 60_000, budgetMs);
    scopes.push(waiting);
    const answers = [rank(leader.job), rank(job({ scope: waiting }))];
    await nextTurn();

    // The shared call's timer happens to be the first.
    flights[0]?.job.scope.end('deadline');
    flights[0]?.crash(new Error('the time is up'));
    await Promise.race(answers.map((answer) => answer.catch(() => undefined)));
    await nextTurn();
    flights[1]?.land(good);
    const ended = await Promise.allSettled(answers);

    expect(flights).toHaveLength(calls);
    expect(ended.map(({ status }) => status)).toEqual([
      'rejected',
      calls === 2 ? 'fulfilled' : 'rejected',
    ]);
  });

  it('share a failure too, which a caller with more time does not repeat', async () => {
    const { flights, rank } = setUp();
    const patient = createScope(Date.now(), 120_000);
    scopes.push(patient);
    const both = Promise.allSettled([rank(caller().job), rank(job({ scope: patient }))]);
    await nextTurn();

    flights[0]?.crash(new Error('broken'));

    expect(await both).toEqual([
      { status: 'rejected', reason: new Error('broken') },
      { status: 'rejected', reason: new Error('broken') },
    ]);
    expect(flights).toHaveLength(1);
  });

  it('are not shared with calls that come after the answer', async () => {
    const { flights, rank } = setUp();
    const first = rank(caller().job);
    await nextTurn();
    flights[0]?.land(good);
    await first;

    const second = rank(caller().job);
    await nextTurn();
    flights[1]?.land(good);

    expect(await second).toBe(good);
    expect(flights).toHaveLength(2);
  });
});
