import { NO_CHANNELS } from '../../src/gateway/channels/routing-table.js';
import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { DEFAULT_PRICE, type PriceList } from '../../src/core/quota.js';
import { costOf, mostOf } from '../../src/gateway/cost.js';
import type { Ranking } from '../../src/gateway/rank.js';
import { OPEN_POLICY } from '../support/policy.js';
import { offer, plan, ranking } from '../support/offers.js';

const prices: PriceList = {
  models: {
    m: { per: 'request', units: 10 },
    spare: { per: 'request', units: 35 },
    chatted: { per: 'million_tokens', units: 1_000_000 },
    words: { per: 'million_tokens', units: 1_000_000 },
  },
  fallback: DEFAULT_PRICE,
};
const USAGE = { inputTokens: 7, searchUnits: 1, estimated: false };
const TARGET = { model: 'm', tag: undefined };

describe('what a ranking costs', () => {
  const cost = (given: Partial<Ranking>, model = 'm', cacheHitPercent = 25) =>
    costOf(
      { prices, cacheHitPercent },
      { model, tag: undefined },
      { ...ranking(offer(1)), ...given },
      3,
      USAGE,
    );

  it('is the price of the model that answered', () => {
    expect(cost({})).toBe(10);
    expect(cost({ model: 'spare' })).toBe(35);
  });

  it('is a share of that where it was kept, rounded up', () => {
    expect(cost({ from: 'cache' })).toBe(3);
    expect(cost({ from: 'cache', model: 'spare' })).toBe(9);
    expect(cost({ from: 'cache' }, 'm', 0)).toBe(0);
  });
});

describe('what a request may cost at most', () => {
  const request = { query: 'q', documents: textDocuments(['a', 'b']), options: {} };
  const routing = {
    prices,
    aliases: {},
    channels: {
      current: {
        ...NO_CHANNELS,
        version: 1,
        plans: new Map([
          ['m', plan([offer(1)])],
          ['spare', plan([offer(2)], { answers: ['spare', 'm'] })],
          ['chatted', plan([offer(3, { provider: 'chat-listwise' })], { answers: ['chatted'] })],
        ]),
        unusable: new Map(),
      },
    },
  };
  const most = (model: string, fallbacks: readonly string[] = []) =>
    mostOf(routing, request, { ...TARGET, model }, { ...OPEN_POLICY, fallbacks });

  it('is the dearest of the models that may answer it', () => {
    expect(most('m')).toBe(10);
    expect(most('spare')).toBe(35);
    expect(most('m', ['spare'])).toBe(35);
  });

  it('covers the instructions that a chat model reads besides', () => {
    expect(most('chatted')).toBeGreaterThan(most('words') + 50);
  });

  it('is told for a model that nobody serves by its own price', () => {
    expect(most('words')).toBeGreaterThan(0);
  });
});
