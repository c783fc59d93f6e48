import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/core/errors.js';
import {
  judgeAddress,
  judgeModel,
  judgeTag,
  rateHeaders,
  refusal,
} from '../../src/gateway/key-refusals.js';
import { credential } from '../support/credential.js';
import { OPEN_POLICY } from '../support/policy.js';

function codeOf(judge: () => void): string {
  try {
    judge();
    return 'allowed';
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('the policy of a key', () => {
  it('refuses models that it does not list', () => {
    const models = (listed: readonly string[] | undefined, model: string) =>
      codeOf(() => judgeModel({ ...OPEN_POLICY, models: listed }, model));

    expect(models(undefined, 'm')).toBe('allowed');
    expect(models(['m'], 'm')).toBe('allowed');
    expect(models(['n'], 'm')).toBe('model_not_allowed');
    expect(models([], 'm')).toBe('model_not_allowed');
  });

  it('refuses tags that it is not bound to', () => {
    const tags = (bound: readonly string[], tag: string | undefined) =>
      codeOf(() => judgeTag({ ...OPEN_POLICY, tags: bound }, tag));

    expect([tags([], 'eu'), tags(['eu'], 'eu'), tags(['us'], undefined)]).toEqual(
      Array(3).fill('allowed'),
    );
    expect(tags(['us'], 'eu')).toBe('tag_not_allowed');
  });

  it('refuses addresses only where it lists some', () => {
    const from = (allowIps: readonly string[], addressAllowed: boolean) =>
      codeOf(() =>
        judgeAddress({
          credential: credential({ token: { policy: { ...OPEN_POLICY, allowIps } } }),
          addressAllowed: () => addressAllowed,
        }),
      );

    expect([from([], false), from(['10.0.0.0/8'], true)]).toEqual(['allowed', 'allowed']);
    expect(from(['10.0.0.0/8'], false)).toBe('ip_not_allowed');
  });
});

describe('a refused admission', () => {
  const key = credential({ token: { policy: { ...OPEN_POLICY, maxConcurrency: 3 } } });

  it.each([
    ['unknown', 'invalid_api_key'],
    ['user_disabled', 'user_disabled'],
    ['disabled', 'token_disabled'],
    ['expired', 'token_expired'],
    ['token_quota', 'token_quota_exhausted'],
    ['user_quota', 'insufficient_user_quota'],
  ] as const)('because of %s is told as %s, and not to wait', (reason, code) => {
    const error = refusal({ kind: 'refused', reason }, key);

    expect([error.code, error.retryAfterMs]).toEqual([code, undefined]);
  });

  it('because of too many at once says how many may be, and to come back soon', () => {
    const error = refusal({ kind: 'refused', reason: 'concurrency' }, key);

    expect(error).toMatchObject({ code: 'too_many_concurrent_requests', retryAfterMs: 1_000 });
    expect(error.message).toContain('at most 3 requests');
  });

  it('because of its rate says when there is room, in headers too', () => {
    const rate = { limit: 60, remaining: 0, resetMs: 1_001 };
    const error = refusal({ kind: 'refused', reason: 'rate', rate, retryAfterMs: 700 }, key);

    const headers = {
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': '2',
    };
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 700, headers });
    expect(rateHeaders(rate)).toEqual(headers);
  });

  it.each([
    ['token_budget', 'token_budget_exhausted'],
    ['user_budget', 'user_budget_exhausted'],
  ] as const)('because of its %s says to wait, unless waiting cannot help', (reason, code) => {
    const standing = {
      budget: 10,
      period: 'day' as const,
      timeZone: 'UTC',
      spent: 8,
      renewsAtMs: 5_000,
    };
    const told = (amount: number) =>
      refusal({ kind: 'refused', reason, standing, retryAfterMs: 5_000 }, key, amount);

    expect(told(3)).toMatchObject({ code, retryAfterMs: 5_000 });
    expect(told(10)).toMatchObject({ code, retryAfterMs: 5_000 });
    expect(told(11)).toMatchObject({ code, retryAfterMs: undefined });
  });
});
