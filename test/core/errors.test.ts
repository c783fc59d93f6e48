import { describe, expect, it } from '@jest/globals';
import {
  ERRORS,
  GatewayError,
  systemCode,
  withBeside,
  type ErrorCode,
} from '../../src/core/errors.js';

describe('the table of errors', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s has a status that its type and retrying fit',
    (code) => {
      const { status, type, retryable } = ERRORS[code];

      expect(status).toBeGreaterThanOrEqual(400);
      if (type === 'server_error' || type === 'upstream_error' || type === 'service_unavailable') {
        expect(status).toBeGreaterThanOrEqual(500);
        expect(retryable).toBe(true);
      } else {
        expect(status).toBeLessThan(500);
      }
      if (type === 'rate_limit_error') expect(status).toBe(429);
      if (type === 'authentication_error') expect([401, 403]).toContain(status);
    },
  );
});

describe('an error of the gateway', () => {
  it('has the status of its code, unless it says otherwise', () => {
    expect(new GatewayError('rate_limited', 'slow down').status).toBe(429);
    expect(new GatewayError('invalid_request', 'odd', { status: 422 }).status).toBe(422);
  });

  it('keeps its cause, and has none where none was given', () => {
    const cause = new Error('why');

    expect(new GatewayError('internal_error', 'failed', { cause }).cause).toBe(cause);
    expect('cause' in new GatewayError('internal_error', 'failed')).toBe(false);
  });

  it('is the same with members beside its message', () => {
    const given = { param: 'query', retryAfterMs: 7, status: 418, headers: { Allow: 'GET' } };
    const failure = new GatewayError('overloaded', 'busy', given);
    const beside = { attempts: 2 };

    expect(withBeside(failure, beside)).toMatchObject({
      ...{ code: 'overloaded', message: 'busy' },
      ...{ ...given, beside, cause: failure },
    });
  });
});

it.each([
  [Object.assign(new Error('exists'), { code: 'EEXIST' }), 'EEXIST'],
  [{ code: 7 }, undefined],
  [new Error('plain'), undefined],
  [null, undefined],
  ['EEXIST', undefined],
])('the system code of %p is %p', (error, code) => {
  expect(systemCode(error)).toBe(code);
});
