import { describe, expect, it } from '@jest/globals';
import {
  attemptShareMs,
  faultOfStatus,
  parseRetryAfter,
  retryWaitMs,
  type FaultKind,
} from '../../src/core/retry.js';

const NOW = Date.parse('2026-11-01T12:00:00Z');

describe('parseRetryAfter', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': ' 1.5 ' }, 1_500],
    [{ 'retry-after': 'Sun, 01 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sun, 01 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': '0', 'retry-after': '9' }, 0],
    [{ 'x-ratelimit-reset': '0' }, 0],
    [{ 'x-ratelimit-reset': '12' }, 12_000],
    [{ 'ratelimit-reset': '13' }, 13_000],
    [{ 'x-ratelimit-reset': String(NOW / 1000 - 5) }, 0],
    [{ 'x-ratelimit-reset': String(NOW - 7_000) }, 0],
    [{ 'x-ratelimit-reset': String(NOW / 1000 + 5) }, 5_000],
    [{ 'x-ratelimit-reset': String(NOW + 7_000) }, 7_000],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('of %j is %j ms', (headers, expected) => {
    expect(parseRetryAfter(headers, NOW)).toBe(expected);
  });
});

describe('faultOfStatus', () => {
  it.each([
    [400, 'rejected'],
    [401, 'misconfigured'],
    [402, 'misconfigured'],
    [403, 'misconfigured'],
    [404, 'misconfigured'],
    [405, 'misconfigured'],
    [408, 'timeout'],
    [413, 'limit'],
    [422, 'rejected'],
    [429, 'busy'],
    [500, 'transient'],
    [501, 'misconfigured'],
    [502, 'transient'],
    [503, 'busy'],
    [504, 'timeout'],
    [524, 'timeout'],
    [529, 'busy'],
    [599, 'transient'],
    [200, 'invalid'],
    [307, 'invalid'],
    [399, 'invalid'],
    [451, 'misconfigured'],
  ])('of %d is %s', (status, kind) => {
    expect(faultOfStatus(status)).toBe(kind);
  });
});

describe('retryWaitMs', () => {
  const wait = (kind: FaultKind, failures: number, leftMs = 60_000, retryAfterMs?: number) =>
    retryWaitMs({ kind, status: 503, message: '', retryAfterMs }, failures, leftMs, () => 1);

  it('doubles with each failure, up to its bound, with full jitter', () => {
    expect([1, 2, 3, 9].map((failures) => wait('transient', failures))).toEqual([
      100, 200, 400, 2_000,
    ]);
    const none = { kind: 'transient', status: 500, message: '' } as const;
    expect(retryWaitMs(none, 3, 60_000, () => 0)).toBe(0);
  });

  it('waits as long as an overloaded upstream asks for', () => {
    expect(wait('busy', 1, 60_000, 3_000)).toBe(3_000);
    expect(wait('busy', 1)).toBe(1_000);
  });

  it('lets a failing upstream ask for more than the backoff, never for less', () => {
    expect(wait('transient', 1, 60_000, 3_000)).toBe(3_000);
    expect(wait('transient', 1, 60_000, 10)).toBe(100);
  });

  it('sends nothing again that may have been processed without an answer', () => {
    const broken = { kind: 'transient', status: undefined, message: '' } as const;

    expect(retryWaitMs(broken, 1, 60_000, () => 1)).toBeUndefined();
    expect(retryWaitMs({ ...broken, unsent: true }, 1, 60_000, () => 1)).toBe(100);
  });

  it('waits for nothing that does not pass, nor for more than half of the time that is left', () => {
    expect(wait('misconfigured', 1)).toBeUndefined();
    expect(wait('timeout', 1)).toBeUndefined();
    expect(wait('busy', 1, 5_999, 3_000)).toBeUndefined();
    expect(wait('busy', 1, 6_000, 3_000)).toBe(3_000);
  });
});

describe('attemptShareMs', () => {
  it('leaves a third of the time for another attempt', () => {
    expect(attemptShareMs(3_000)).toBe(2_000);
    expect(attemptShareMs(0)).toBe(1);
  });
});
