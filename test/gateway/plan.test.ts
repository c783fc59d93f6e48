import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../src/core/channel.js';
import { DEFAULT_RULES, type ModelRules } from '../../src/core/model-rules.js';
import { DEFAULT_PRICE, type PriceList } from '../../src/core/quota.js';
import { createPlanner, type PlanParts } from '../../src/gateway/plan.js';
import type { Attempt, Layer, Rank, Turn } from '../../src/gateway/rank.js';
import type { Route } from '../../src/gateway/channels/route.js';
import { job, offer, ranked } from '../support/offers.js';

/** What is off in each case, unless it says otherwise. */
const RULES: ModelRules = { ...DEFAULT_RULES, split: false };

/** Routes of channels that have these members. */
function routesOf(...channels: readonly Partial<Channel>[]): Route[] {
  return channels.map((channel, index) => offer(index + 1, channel).route);
}

/** A planner whose layers write their names down as a request goes through them. */
function setUp(given: Partial<ModelRules>, routes = routesOf({}, { provider: 'local' })) {
  const seen: string[] = [];
  const layer =
    <F extends Attempt | Rank | Turn>(name: string): Layer<F> =>
    (next) =>
      // The parameters are those of the function that is wrapped.
      ((...asked: Parameters<F>) => {
        seen.push(name);
        return (next as (...asked: Parameters<F>) => unknown)(...asked);
      }) as F;
  const turnOf =
    (name: string) =>
    (attempt: Attempt): Turn =>
    (chosen, asked) => {
      seen.push(name);
      return attempt(chosen, asked);
    };
  const parts: PlanParts = {
    prices: PRICES,
    rulesOf: () => ({ ...RULES, ...given }),
    send: (from) => {
      seen.push('send');
      return Promise.resolve(ranked(from));
    },
    leased: layer('leased'),
    keyed: layer('keyed'),
    limited: layer('limited'),
    placed: layer('placed'),
    observed: layer('observed'),
    longDocuments: layer('long'),
    sliding: layer('sliding'),
    split: layer('split'),
    single: turnOf('single'),
    hedged: turnOf('hedged'),
    probing: () => layer('probing'),
    failover: (turn) => async (asked) => {
      seen.push('failover');
      const outcome = await turn(offer(1), asked, {
        next: () => undefined,
        heard: () => undefined,
        hasMore: () => false,
        patienceMs: () => undefined,
        twinOf: () => undefined,
        again: () => undefined,
        whyNone: () => ({ kind: 'switched_off' }),
      });
      return outcome.kind === 'ranked'
        ? outcome
        : { kind: 'none', why: { kind: 'exhausted', failures: [] } };
    },
    fallbacks: (models) => layer(`fallbacks ${models.join()}`),
    coalesced: layer('coalesced'),
    replyCached: (ttlMs) => layer(`cache ${ttlMs}`),
    queued: (mostMs) => layer(`queue ${mostMs}`),
    refusal: (model, keyId, deadlineMs, mostMs) => ({
      kind: 'busy',
      soonestMs: 0,
      retryAfterMs: model.length + keyId + deadlineMs + mostMs,
    }),
  };
  return { plan: createPlanner(parts)('m', routes), seen };
}

const PRICES: PriceList = { models: {}, fallback: DEFAULT_PRICE };

describe('the plan of a model', () => {
  it.each<[string, Partial<ModelRules>, string]>([
    ['nothing', {}, 'failover probing single observed leased send'],
    ['splitting', { split: true }, 'failover probing single split observed leased send'],
    ['hedging', { hedge: true }, 'failover probing hedged observed leased send'],
    ['a cache', { cacheTtlMs: 5 }, 'cache 5 failover probing single observed leased send'],
    ['a queue', { queueMs: 9 }, 'queue 9 failover probing single observed leased send'],
    [
      'all of it',
      {
        split: true,
        hedge: true,
        coalesce: true,
        cacheTtlMs: 5,
        queueMs: 9,
        fallbacks: ['n', 'o'],
      },
      'fallbacks n,o cache 5 coalesced queue 9 failover probing hedged split observed leased send',
    ],
  ])('that uses %s has that in its chain and nothing else', async (_, given, chain) => {
    const { plan, seen } = setUp(given);

    await plan.rank(job());

    expect(seen.join(' ')).toBe(chain);
  });

  it('of a single channel probes nothing alongside it', async () => {
    const { plan, seen } = setUp({}, routesOf({}));
    await plan.rank(job());

    expect(seen.join(' ')).toBe('failover single observed leased send');
  });

  it.each<[string, Partial<Channel>, string]>([
    ['what the model reads is known', { pairTokens: 512 }, 'long'],
    [
      'its long documents are ranked in parts',
      { pairTokens: 512, longDocuments: 'chunk' },
      'long split',
    ],
    ['a listwise model has windows', { provider: 'local', windowSize: 20 }, 'sliding'],
    ['windows are of no use', { windowSize: 20 }, ''],
    ['a limit is shared by all nodes', { requestsPerMinute: 9 }, 'limited'],
    ['a budget is', { budget: 9 }, 'limited'],
    [
      'a place is held no longer than the call takes',
      { requestsPerMinute: 9, maxConcurrency: 9 },
      'limited placed',
    ],
  ])('of a channel for which %s has that in its chain', async (_, channel, chain) => {
    const { plan, seen } = setUp({}, routesOf(channel, { provider: 'local' }));

    await plan.rank(job());

    const layers = seen.filter((name) =>
      ['long', 'sliding', 'split', 'placed', 'limited'].includes(name),
    );
    expect(layers.join(' ')).toBe(chain);
  });

  it('ranks alone without its fallbacks, which call it', async () => {
    const { plan, seen } = setUp({ fallbacks: ['n'], coalesce: true });

    await plan.rankAlone(job());

    expect(seen[0]).toBe('coalesced');
    expect(plan.answers).toEqual(['m', 'n']);
  });

  it('has a tier for each cost where the cheapest channel is to be asked first, and not otherwise', () => {
    const routes = routesOf({ cost: 9 }, { cost: 1 });
    const idsOf = (select: ModelRules['select']): number[][] => {
      const { plan } = setUp({ select }, routes);
      return plan.tiers.map(({ offers }) => offers.map(({ id }) => id));
    };

    expect(idsOf('cheapest')).toEqual([[2], [1]]);
    expect(idsOf('weighted')).toEqual([[1, 2]]);
  });

  it.each<[string, Partial<ModelRules>, number | undefined]>([
    ['it has no queue', {}, undefined],
    ['it has nothing but a queue', { queueMs: 9 }, 1 + 20 + 300 + 9],
    ['a kept ranking may answer', { queueMs: 9, cacheTtlMs: 5 }, undefined],
    ['an identical call may answer', { queueMs: 9, coalesce: true }, undefined],
    ['another model may answer', { queueMs: 9, fallbacks: ['n'] }, undefined],
  ])('says what is refused beforehand where %s', (_where, rules, retryAfterMs) => {
    const told = setUp(rules).plan.refusal?.(20, 300);

    expect(told).toEqual(
      retryAfterMs === undefined ? undefined : { kind: 'busy', soonestMs: 0, retryAfterMs },
    );
  });

  it('ranks with other fallbacks than those of its rule', async () => {
    const { plan, seen } = setUp({ fallbacks: ['n'], coalesce: true });

    await plan.rankWith(['k', 'l'])(job());

    expect(seen.slice(0, 2)).toEqual(['fallbacks k,l', 'coalesced']);
  });

  it('is a last resort only where nothing but the local ranker stands behind the model', () => {
    const { plan } = setUp({});
    const { plan: local } = setUp({}, routesOf({ provider: 'local' }));

    expect(plan.isLastResort).toBe(false);
    expect(local.isLastResort).toBe(true);
  });
});
