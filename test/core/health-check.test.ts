import { describe, expect, it } from '@jest/globals';
import {
  faultOfProbe,
  healthCheckMs,
  noteAfter,
  rarelyChecked,
} from '../../src/core/health-check.js';
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

describe('channels that are rarely checked', () => {
  const channel = (name: string, healthCheckS: number | undefined, ...models: string[]) => ({
    ...{ name, healthCheckS },
    models: Object.fromEntries(models.map((model) => [model, model])),
  });

  it('are those whose pause ends before the next check, where a caller has to wait for the probe', () => {
    const channels = [
      channel('alone', 30, 'a'),
      channel('often', 5, 'b'),
      channel('never', 0, 'c'),
      channel('unsaid', undefined, 'd'),
      channel('one of two', 30, 'e'),
      channel('partly alone', 30, 'e', 'f'),
    ];

    expect(rarelyChecked(channels, 5_000)).toEqual(['alone', 'partly alone']);
  });

  it('do not include those whose provider has a time of its own', () => {
    const channels = [
      { ...channel('by default', undefined, 'a'), provider: 'tei' },
      { ...channel('as set', 60, 'b'), provider: 'tei' },
    ];

    expect(rarelyChecked(channels, 5_000)).toEqual(['as set']);
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
