import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import {
  actualCost,
  DEFAULT_PRICE,
  estimateCost,
  priceOf,
  type Price,
  type PriceList,
} from '../../src/core/quota.js';

const perRequest = (units: number): Price => ({ per: 'request', units });
const perSearchUnit = (units: number): Price => ({ per: 'search_unit', units });
const perMillionTokens = (units: number): Price => ({ per: 'million_tokens', units });

describe('priceOf', () => {
  const prices: PriceList = { models: { moon: perRequest(7) }, fallback: DEFAULT_PRICE };

  it.each([
    ['moon', perRequest(7)],
    ['sun', DEFAULT_PRICE],
    ['Moon', DEFAULT_PRICE],
    ['constructor', DEFAULT_PRICE],
    ['__proto__', DEFAULT_PRICE],
  ])('of %s is %j', (model, price) => {
    expect(priceOf(prices, model)).toEqual(price);
  });
});

describe('estimateCost', () => {
  it.each([
    [perRequest(0), 1, 0],
    [perRequest(30), 1, 30],
    [perRequest(30), 1_000, 30],
    [perSearchUnit(0), 101, 0],
    [perSearchUnit(1_000), 1, 1_000],
    [perSearchUnit(1_000), 99, 1_000],
    [perSearchUnit(1_000), 100, 1_000],
    [perSearchUnit(1_000), 101, 2_000],
    [perSearchUnit(1_000), 200, 2_000],
    [perSearchUnit(1_000), 201, 3_000],
  ])('at %j for %d documents is %d', (price, documentCount, units) => {
    const documents = textDocuments(Array.from({ length: documentCount }, () => 'text'));

    expect(estimateCost(price, 'query', documents)).toBe(units);
  });

  // Four bytes a token: the query once per document, and the documents as a JSON array.
  it.each([
    [0, 'q', ['abcd'], 0],
    [1, 'q', ['abcd'], 1],
    [1_000_000, 'abcd', ['abcd'], 3],
    [1_000_000, 'abcde', ['abcd'], 4],
    [1_000_000, 'éééé', ['abcd'], 4],
    [1_000_000, 'abcd', ['ab', 'c'], 5],
    [500_000, 'abcd', ['abcd'], 2],
    [300_000, 'abcd', ['abcd'], 1],
    [400_000, 'abcd', ['abcd'], 2],
  ])('at %d per million tokens for %j and %j is %d', (price, query, texts, units) => {
    expect(estimateCost(perMillionTokens(price), query, textDocuments(texts))).toBe(units);
  });
});

describe('actualCost', () => {
  it.each([
    [perRequest(0), 1, 5, 0],
    [perRequest(30), 1, 5, 30],
    [perRequest(30), 1_000, 5_000_000, 30],
    [perSearchUnit(0), 101, 5, 0],
    [perSearchUnit(1_000), 0, 5, 1_000],
    [perSearchUnit(1_000), 1, 5, 1_000],
    [perSearchUnit(1_000), 99, 5, 1_000],
    [perSearchUnit(1_000), 100, 5, 1_000],
    [perSearchUnit(1_000), 101, 5, 2_000],
    [perSearchUnit(1_000), 200, 5, 2_000],
    [perSearchUnit(1_000), 201, 5, 3_000],
    [perMillionTokens(0), 1, 1_000_000, 0],
    [perMillionTokens(1_000), 1, 0, 1],
    [perMillionTokens(1_000), 1, 1, 1],
    [perMillionTokens(1_000), 1, 1_000, 1],
    [perMillionTokens(1_000), 1, 1_001, 2],
    [perMillionTokens(1_000), 1, 1_999, 2],
    [perMillionTokens(1_000), 1, 2_000, 2],
    [perMillionTokens(1_000), 500, 1_000_000, 1_000],
    [perMillionTokens(1_000), 500, 1_000_001, 1_001],
  ])('at %j for %d documents and %d tokens is %d', (price, documentCount, inputTokens, units) => {
    const usage = { inputTokens, searchUnits: 50, estimated: false };

    expect(actualCost(price, documentCount, usage)).toBe(units);
  });
});
