import { describe, expect, it } from '@jest/globals';
import { faultOfStatus, parseRetryAfter } from '../../src/core/retry.js';

const NOW = Date.parse('2026-11-01T12:00:00Z');

describe('parseRetryAfter', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': ' 1.5 ' }, 1_500],
    [{ 'retry-after': 'Sun, 01 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sun, 01 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'x-ratelimit-reset': '12' }, 12_000],
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
    [400, 'caller'],
    [401, 'misconfigured'],
    [402, 'misconfigured'],
    [404, 'misconfigured'],
    [408, 'timeout'],
    [413, 'limit'],
    [422, 'caller'],
    [429, 'busy'],
    [500, 'transient'],
    [501, 'misconfigured'],
    [502, 'transient'],
    [503, 'busy'],
    [504, 'timeout'],
    [529, 'busy'],
    [307, 'invalid'],
  ])('of %d is %s', (status, kind) => {
    expect(faultOfStatus(status)).toBe(kind);
  });
});
