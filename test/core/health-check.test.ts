import { describe, expect, it } from '@jest/globals';
import { faultOfProbe, healthCheckMs, noteAfter } from '../../src/core/health-check.js';
import type { ProbeProblemCode } from '../../src/core/probe.js';
import type { FaultKind } from '../../src/core/retry.js';

describe('the time between health checks', () => {
  it.each([
    ['of one’s own server where nothing is said', 'tei', undefined, 60_000],
    ['where it costs money', 'cohere', undefined, 0],
    ['of a server that loads its model when asked', 'ollama', undefined, 0],
    ['of a proxy, which may pass them on to who takes money', 'litellm', undefined, 0],
    ['as the channel says', 'cohere', 30, 30_000],
    ['as the channel says of one’s own server', 'tei', 0, 0],
  ])('is, %s, that of %s', (_what, provider, healthCheckS, ms) => {
    expect(healthCheckMs({ provider, healthCheckS })).toBe(ms);
  });
});

describe('the note of a check', () => {
  it('counts failures in a row', () => {
    const first = noteAfter(undefined, 'timeout', 1);
    const second = noteAfter(first, 'transient', 2);

    expect(first).toEqual({ count: 1, failures: 1, kind: 'timeout', atMs: 1 });
    expect(second).toEqual({ count: 2, failures: 2, kind: 'transient', atMs: 2 });
    expect(noteAfter(second, 'ok', 3)).toEqual({ count: 3, failures: 0, kind: 'ok', atMs: 3 });
  });
});

describe('what a probe says in the terms of an attempt', () => {
  it.each<[ProbeProblemCode, FaultKind]>([
    ['busy', 'busy'],
    ['timeout', 'timeout'],
    ['unreachable', 'transient'],
    ['upstream_fault', 'transient'],
    ['web_page', 'invalid'],
    ['wrong_key', 'misconfigured'],
    ['no_credit', 'misconfigured'],
  ])('%s is %s', (code, kind) => {
    expect(faultOfProbe({ ranking: undefined, problem: { code, message: '' } })).toBe(kind);
  });

  it('a ranking is one, in whatever order', () => {
    const ranking = {
      order: 'wrong',
      scores: { right: 0, other: 1 },
      scale: { expected: 'unbounded', observed: 'unbounded', fits: true },
    } as const;
    const problem = { code: 'wrong_order', message: '' } as const;

    expect(faultOfProbe({ ranking, problem })).toBe('ok');
  });
});
