import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import { DEFAULT_PRICE, type Price } from '../../../src/core/quota.js';
import { NO_SHARES, takeShare, type ShareAsk, type ShareState } from '../../../src/core/share.js';
import { ChannelLimits } from '../../../src/gateway/channels/limits.js';
import type { GatewayEvent } from '../../../src/gateway/events.js';
import { createScope } from '../../../src/gateway/scope.js';
import { Secret } from '../../../src/core/secret.js';
import type { AttemptOutcome } from '../../../src/gateway/rank.js';
import {
  limitsOf,
  limitsOfKey,
  tagBudgetsOf,
} from '../../../src/gateway/channels/declared-limits.js';
import type { Route, RouteKey } from '../../../src/gateway/channels/route.js';
import { StoreUnavailableError, type ShareStore } from '../../../src/store/store.js';
import { textDocuments } from '../../../src/core/text-documents.js';
import { deferred } from '../../support/deferred.js';
import { failed, job, MODEL, offer, ranked } from '../../support/offers.js';

const T0 = 1_800_000_000_000;
const PRICE = 10;

/** Nodes that share one store, and a clock that the test turns. */
function fleet(
  count = 1,
  answers?: ShareStore['takeShare'],
  price: Price = { per: 'request', units: PRICE },
) {
  const state = { nowMs: T0, asks: 0, away: false, returned: Promise.resolve() };
  const taken = new Map<string, ShareState>();
  const store: ShareStore = {
    takeShare: (name: string, ask: ShareAsk, nowMs: number) => {
      state.asks += 1;
      if (answers !== undefined) return answers(name, ask, nowMs);
      if (state.away) return Promise.reject(new StoreUnavailableError('away'));
      const { next, answer } = takeShare(taken.get(name) ?? NO_SHARES, ask, state.nowMs);
      taken.set(name, next);
      return Promise.resolve(answer);
    },
    returnShare: (name, units) => {
      const before = taken.get(name) ?? NO_SHARES;
      taken.set(name, { ...before, current: before.current - units });
      return state.returned;
    },
  };
  const events: GatewayEvent[] = [];
  const prices = {
    models: { [MODEL]: price, free: { per: 'request', units: 0 } },
    fallback: DEFAULT_PRICE,
  } as const;
  const nodes = Array.from(
    { length: count },
    () =>
      new ChannelLimits({
        store,
        prices,
        observe: (event) => events.push(event),
        now: () => state.nowMs,
        // By another origin than the time of day.
        steady: () => state.nowMs - T0,
      }),
  );
  return { nodes, state, events, taken };
}

/** Channels as they are in force together. */
function routes(...given: readonly Partial<Channel>[]): Route[] {
  const all = given.map((each, at) => offer(at + 1, each).route);
  const budgets = tagBudgetsOf(all.map(({ channel: each }) => each));
  return all.map((route) => ({ ...route, limits: limitsOf(route.channel, budgets) }));
}

const channel = (given: Partial<Channel>): Route => {
  const [route] = routes(given);
  if (route === undefined) throw new Error('there is one');
  return route;
};

/** How many of so many calls on each node are let through. */
async function passed(
  nodes: readonly ChannelLimits[],
  of: Route,
  calls: number,
  outcome: AttemptOutcome | 'abandoned' = ranked(offer(1)),
): Promise<number> {
  const asked = nodes.flatMap((node) => Array.from({ length: calls }, () => node.take(of, job())));
  const ends = await Promise.all(asked);
  for (const end of ends) end?.(outcome);
  return ends.filter((end) => end !== undefined).length;
}

describe('a limit that nodes share', () => {
  it('lets no more calls through than it says, whoever makes them', async () => {
    const { nodes, state } = fleet(3);
    const limited = channel({ requestsPerMinute: 60 });

    expect(await passed(nodes, limited, 50)).toBe(60);
    expect(await passed(nodes, limited, 5)).toBe(0);
    state.nowMs += 120_000;
    expect(await passed(nodes, limited, 50)).toBe(60);
  });

  it('asks the store for shares, and not for each call', async () => {
    const { nodes, state } = fleet();

    for (let call = 0; call < 500; call += 1)
      await passed(nodes, channel({ requestsPerMinute: 1_000 }), 1);

    expect(state.asks).toBeLessThanOrEqual(20);
  });

  it('is reported once while it lasts, with its name and its end', async () => {
    const { nodes, state, events } = fleet();
    const [node] = nodes;
    const limited = channel({ requestsPerMinute: 2, name: 'narrow' });
    node?.keepOnly([limited]);
    await passed(nodes, limited, 5);

    const out = { limit: 'requests_per_minute', untilMs: 60_000 };
    expect(node?.outOf(limited, 0)).toEqual(out);
    expect(node?.pauses(0)).toEqual([{ ...out, channelId: 1, sinceMs: 0 }]);
    expect(events).toEqual([
      { kind: 'limited', channelId: 1, channel: 'narrow', limit: out.limit, forMs: 60_000 },
    ]);
    // Nobody asks the store until then.
    const { asks } = state;
    await passed(nodes, limited, 5);
    expect([state.asks, events.length]).toEqual([asks, 1]);
    state.nowMs += 60_000;
    expect([node?.outOf(limited, 60_000), node?.pauses(60_000)]).toEqual([undefined, []]);
  });

  it('counts what calls used, and not what they might have', async () => {
    const { nodes } = fleet();
    const limited = channel({ tokensPerMinute: 100 });
    const used = (inputTokens: number): AttemptOutcome => {
      const outcome = ranked(offer(1));
      if (outcome.kind !== 'ranked') throw new Error('it is ranked');
      return { kind: 'ranked', ranking: { ...outcome.ranking, usage: { inputTokens } } };
    };

    // Two tokens by the gateway's own count.
    for (let call = 0; call < 4; call += 1)
      expect(await passed(nodes, limited, 1, used(25))).toBe(1);
    expect(await passed(nodes, limited, 1)).toBe(0);
  });

  it.each([
    ['tokens', { tokensPerMinute: 10_000 }],
    ['cost', { budget: 10_000 }],
  ] as const)(
    'takes what a chat model reads besides the documents in advance: %s',
    async (_what, limits) => {
      const { nodes } = fleet(1, undefined, { per: 'million_tokens', units: 1_000_000 });
      const chat = { provider: 'openai-listwise', credentials: { apiKey: new Secret('k') } };
      const [small, large] = [channel(limits), channel({ ...limits, ...chat })];

      // The prompt and the answer come to some hundred tokens, the list to two.
      expect(await passed(nodes, small, 200, 'abandoned')).toBe(200);
      expect(await passed(nodes, large, 200, 'abandoned')).toBeLessThan(100);
    },
  );

  it('lets a call through alone that is larger than all of it', async () => {
    const { nodes } = fleet(2);
    const limited = channel({ tokensPerMinute: 1 });

    expect(await passed(nodes, limited, 1)).toBe(1);
  });

  it('lets the small one of two calls through that ask at once, where there is room for it alone', async () => {
    const { nodes } = fleet();
    const [node] = nodes;
    const limited = channel({ tokensPerMinute: 100 });
    const of = (words: number) => job({ documents: textDocuments(['moon '.repeat(words)]) });
    (await node?.take(limited, of(60)))?.('abandoned');

    const ends = await Promise.all(
      [of(10), of(60)].map((each) => node?.take(limited, each) ?? Promise.resolve(undefined)),
    );

    expect(ends.map((end) => end !== undefined)).toEqual([true, false]);
  });

  it('is asked for no less than a call needs, whatever the calls before it needed', async () => {
    const leasts: number[] = [];
    const { nodes } = fleet(1, (_name, { least }) => {
      leasts.push(least);
      return Promise.resolve({ kind: 'granted', units: least, forMs: 60_000 });
    });
    const limited = channel({ tokensPerMinute: 100 });

    for (const words of [10, 60]) {
      await nodes[0]?.take(limited, job({ documents: textDocuments(['moon '.repeat(words)]) }));
    }

    expect(leasts).toEqual([14, 77]);
  });

  it.each([
    ['an unsent one does not count', failed('transient', { unsent: true }), 5],
    ['a failed one counts', failed('transient'), 2],
    ['one that nobody waited for counts', 'abandoned' as const, 2],
  ])('of calls: %s', async (_, outcome, expected) => {
    const { nodes } = fleet();
    let through = 0;

    for (let call = 0; call < 5; call += 1) {
      through += await passed(nodes, channel({ requestsPerMinute: 2 }), 1, outcome);
    }

    expect(through).toBe(expected);
  });

  it('of which another one is used up takes nothing', async () => {
    const { nodes } = fleet();
    const both = channel({ requestsPerMinute: 20, budget: 2 * PRICE });

    expect(await passed(nodes, both, 12)).toBe(2);

    const [requests] = both.limits;
    if (requests === undefined) throw new Error('there are two');
    expect(await passed(nodes, { ...both, limits: [requests] }, 20)).toBe(18);
  });

  it('is asked about once for each call while the store is away, and not in the background as well', async () => {
    const { nodes, state } = fleet();
    state.away = true;

    for (let call = 0; call < 5; call += 1)
      await passed(nodes, channel({ requestsPerMinute: 1_000 }), 1);

    expect(state.asks).toBe(5);
  });

  it('keeps nobody waiting who has left, though the store never answers', async () => {
    const { nodes } = fleet(1, () => new Promise(() => undefined));
    const scope = createScope(Date.now(), 60_000);
    const taking = nodes[0]?.take(channel({ requestsPerMinute: 2 }), job({ scope }));

    scope.end('client_gone');
    scope.release();

    await expect(taking).rejects.toMatchObject({ code: 'client_closed_request' });
  });

  it('of a key rests for a moment where other nodes were quicker each time', async () => {
    const { nodes, state } = fleet(1, () => Promise.resolve({ kind: 'refused', retryAfterMs: 0 }));
    const limited = channel({ keyRequestsPerMinute: 9 });
    const limits = limitsOfKey(limited.channel, 'key');

    const taken = await nodes[0]?.takeWithKey(limited, { limits }, job());

    expect(taken).toEqual({ kind: 'used_up', limit: 'key_requests_per_minute', untilMs: 50 });
    expect(state.asks).toBe(3);
  });

  it('lets calls through while the store is away, and says so', async () => {
    const { nodes, state, events } = fleet();
    state.away = true;

    expect(await passed(nodes, channel({ requestsPerMinute: 2 }), 1)).toBe(1);

    expect(events).toEqual([expect.objectContaining({ kind: 'fault' })]);
  });
});

describe('a budget of a channel', () => {
  const daily = channel({ budget: 10 * PRICE, budgetPeriod: 'day', budgetTimeZone: 'UTC' });
  const midnight = Date.UTC(2027, 0, 16);

  it('pays for as many calls as it says on all nodes, and renews by the calendar', async () => {
    const { nodes, state } = fleet(3);

    expect(await passed(nodes, daily, 9)).toBe(10);
    const out = nodes.map((node) => node.outOf(daily, 0));
    expect(out).toContainEqual({ limit: 'budget', untilMs: midnight - T0 });
    state.nowMs = midnight;
    expect(await passed(nodes, daily, 9)).toBe(10);
  });

  it('that is used up lets through what costs nothing', async () => {
    const { nodes } = fleet(2);
    const paid = channel({ budget: PRICE });
    expect(await passed(nodes.slice(0, 1), paid, 2)).toBe(1);

    expect(await nodes[1]?.take(paid, job({ model: 'free' }))).toBeDefined();
  });

  it('does not pay for what failed', async () => {
    const { nodes } = fleet();
    for (let call = 0; call < 30; call += 1) await passed(nodes, daily, 1, failed('transient'));

    expect(await passed(nodes, daily, 20)).toBe(10);
  });

  it('gets back what a node still holds when the node ends', async () => {
    const { nodes, taken } = fleet();
    const large = channel({ budget: 1_000 * PRICE });
    const name = 'channel:1:budget:month:UTC';
    await passed(nodes, large, 1);
    expect(taken.get(name)?.current).toBeGreaterThan(PRICE);

    await nodes[0]?.close();

    expect(taken.get(name)?.current).toBe(PRICE);
  });

  it('gets nothing back of a minute, which ends by itself', async () => {
    const { nodes, taken } = fleet();
    await passed(nodes, channel({ requestsPerMinute: 1_000 }), 1);
    const held = [...taken.values()].map(({ current }) => current);
    expect(held).toEqual([expect.any(Number)]);

    await nodes[0]?.close();

    expect([...taken.values()].map(({ current }) => current)).toEqual(held);
  });

  it('is given back before the node has ended, and a failure to do so is reported', async () => {
    const { nodes, events, state } = fleet();
    await passed(nodes, channel({ budget: 1_000 * PRICE }), 1);
    const answer = deferred();
    state.returned = answer.promise.then(() => Promise.reject(new Error('too late')));
    let hasEnded = false;

    const ending = nodes[0]?.close().then(() => (hasEnded = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    answer.resolve();
    await ending;

    expect(events).toMatchObject([
      {
        kind: 'fault',
        what: 'the rest of a budget could not be given back',
        error: { message: 'too late' },
      },
    ]);
  });

  it('gets back what a node still holds when its amount changes, and keeps what is spent', async () => {
    const { nodes, taken } = fleet();
    const before = channel({ budget: 1_000 * PRICE });
    const after = channel({ budget: 3 * PRICE });
    await passed(nodes, before, 1);

    nodes[0]?.keepOnly([after]);

    expect(taken.get('channel:1:budget:month:UTC')?.current).toBe(PRICE);
    expect(await passed(nodes, after, 9)).toBe(2);
  });

  it('is one for all channels of a tag, whichever of them declares it, and all are passed over', async () => {
    const { nodes, taken } = fleet(2);
    const shared = { budget: 10 * PRICE, budgetScope: 'tag', tag: 'eu' } as const;
    const [one, other, elsewhere] = routes(shared, { tag: 'eu' }, { tag: 'us' });
    if (one === undefined || other === undefined) throw new Error('there are two');
    for (const node of nodes) node.keepOnly([one, other]);

    const through = [await passed(nodes, one, 3), await passed(nodes, other, 9)];

    expect(through).toEqual([6, 4]);
    const pauses = nodes.flatMap((node) => node.pauses(0));
    expect(new Set(pauses.map(({ channelId }) => channelId))).toEqual(new Set([1, 2]));
    expect(new Set(pauses.map(({ limit }) => limit))).toEqual(new Set(['tag_budget']));
    expect([...taken.keys()]).toEqual(['tag:eu:budget:month:UTC']);
    expect(elsewhere?.limits).toEqual([]);
  });

  it('of a tag is the least that its channels declare, beside what each has for itself', async () => {
    const { nodes } = fleet();
    const ofTag = (units: number) =>
      ({ budget: units * PRICE, budgetScope: 'tag', tag: 'eu' }) as const;
    const [large, small, own] = routes(ofTag(9), ofTag(4), { budget: PRICE, tag: 'eu' });
    if (large === undefined || small === undefined || own === undefined) {
      throw new Error('there are three');
    }

    expect(own.limits.map(({ name, most }) => [name, most])).toEqual([
      ['budget', PRICE],
      ['tag_budget', 4 * PRICE],
    ]);
    expect(await passed(nodes, own, 3)).toBe(1);
    expect(await passed(nodes, large, 9)).toBe(3);
    expect(await passed(nodes, small, 9)).toBe(0);
  });

  it('of a tag is the channel’s own if it has no tag', () => {
    const lone = channel({ budget: PRICE, budgetScope: 'tag' });

    expect(lone.limits.map(({ name }) => name)).toEqual(['budget']);
  });

  it('of a key is its own, the same on all nodes, and outlives a change of channels', async () => {
    const { nodes, taken } = fleet(2);
    const credentials = { apiKey: new Secret('key-one-aaaa\nkey-two-bbbb') };
    const { route } = offer(1, { keyRequestsPerMinute: 6, provider: 'cohere', credentials });
    const [one, other] = route.keys ?? [];
    if (one === undefined || other === undefined) throw new Error('there are two');
    const passedWith = async (key: RouteKey, calls: number): Promise<number> => {
      const asked = nodes.flatMap((node) =>
        Array.from({ length: calls }, () => node.takeWithKey(route, key, job())),
      );
      return (await Promise.all(asked)).filter(({ kind }) => kind === 'taken').length;
    };
    for (const node of nodes) node.keepOnly([route]);

    expect(await passedWith(one, 2)).toBe(4);
    for (const node of nodes) node.keepOnly([route]);
    expect(await passedWith(one, 5)).toBe(2);
    expect(await passedWith(other, 5)).toBe(6);

    expect(await nodes[0]?.takeWithKey(route, one, job())).toEqual({
      ...{ kind: 'used_up', limit: 'key_requests_per_minute', untilMs: 60_000 },
    });
    expect([...taken.keys()].join()).not.toMatch(/aaaa|bbbb/);
    // The channel itself has none.
    expect(nodes[0]?.outOf(route, 0)).toBeUndefined();
  });

  it('of a key is at hand as before when the channels have changed', async () => {
    const { nodes, state } = fleet();
    const credentials = { apiKey: new Secret('key-one-aaaa\nkey-two-bbbb') };
    const { route } = offer(1, { keyRequestsPerMinute: 6_000, provider: 'cohere', credentials });
    const [key] = route.keys ?? [];
    if (key === undefined) throw new Error('there are two');
    const take = () => nodes[0]?.takeWithKey(route, key, job());
    await take();
    const { asks } = state;

    nodes[0]?.keepOnly([route]);

    expect(await take()).toMatchObject({ kind: 'taken' });
    expect(state.asks).toBe(asks);
  });

  it('is forgotten with its channel', async () => {
    const { nodes } = fleet();
    nodes[0]?.keepOnly([daily]);
    await passed(nodes, daily, 20);
    expect(nodes[0]?.pauses(0)).toHaveLength(1);

    nodes[0]?.keepOnly([channel({})]);

    expect(nodes[0]?.pauses(0)).toEqual([]);
  });
});
