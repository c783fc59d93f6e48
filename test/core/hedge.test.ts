import { describe, expect, it } from '@jest/globals';
import { Latencies, RetryBudget } from '../../src/core/hedge.js';

describe('latencies', () => {
  it('name no slow answer before enough are known', () => {
    const latencies = new Latencies();
    for (let at = 0; at < 15; at += 1) latencies.add(10);

    expect(latencies.p95Ms).toBeUndefined();
    latencies.add(10);
    expect(latencies.p95Ms).toBe(10);
  });

  it('name what 95 of 100 recent answers did not exceed, and forget old ones', () => {
    const latencies = new Latencies();
    for (let at = 1; at <= 100; at += 1) latencies.add(at > 36 ? at - 36 : 10_000);

    expect(latencies.p95Ms).toBe(61);
  });

  it('follow newer answers, at most eight of them late', () => {
    const latencies = new Latencies();
    for (let at = 0; at < 16; at += 1) latencies.add(10);
    expect(latencies.p95Ms).toBe(10);
    for (let at = 0; at < 8; at += 1) latencies.add(1_000);

    expect(latencies.p95Ms).toBe(1_000);
  });

  it('count a peak at once and let it wear off', () => {
    const latencies = new Latencies();
    expect(latencies.averageMs).toBeUndefined();
    latencies.add(10);
    latencies.add(1_000);

    expect(latencies.averageMs).toBe(1_000);
    latencies.add(0);
    expect(latencies.averageMs).toBe(900);
  });
});

describe('a retry budget', () => {
  it('gives a share of the traffic, and what was saved', () => {
    const budget = new RetryBudget(0.25, 2);
    const spent = (times: number) =>
      Array.from({ length: times }, () => budget.spend()).filter(Boolean).length;

    expect(spent(5)).toBe(2);
    for (let request = 0; request < 4; request += 1) budget.earn();
    expect(spent(5)).toBe(1);
    for (let request = 0; request < 100; request += 1) budget.earn();
    expect(spent(5)).toBe(2);
  });

  it('gives nothing where its share is 0', () => {
    const budget = new RetryBudget(0);
    budget.earn();

    expect(budget.spend()).toBe(false);
  });
});
