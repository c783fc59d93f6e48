import { describe, expect, it } from '@jest/globals';
import { ERRORS, GatewayError, type ErrorCode } from '../../src/core/errors.js';
import { awsError } from '../../src/ingress/aws.js';
import { DIALECTS } from '../../src/ingress/index.js';
import { fastApiError } from '../../src/ingress/write.js';

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** What AWS's clients raise by name, and the status with which AWS sends it. */
const AWS: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  BadGatewayException: 502,
  ConflictException: 409,
  ExpiredTokenException: 403,
  InternalServerException: 500,
  InvalidSignatureException: 403,
  ModelTimeoutException: 408,
  ResourceNotFoundException: 404,
  ServiceQuotaExceededException: 400,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  UnrecognizedClientException: 403,
  ValidationException: 400,
};

describe('an error for clients of AWS', () => {
  it.each(CODES)('is one that they know: %s', (code) => {
    const { status, headers } = awsError(new GatewayError(code, 'Why.'));

    expect(status).toBe(AWS[headers?.['x-amzn-ErrorType'] ?? '']);
  });

  it.each([
    ['invalid_request', 'ValidationException'],
    ['too_many_documents', 'ValidationException'],
    ['ip_not_allowed', 'AccessDeniedException'],
    ['user_budget_exhausted', 'ServiceQuotaExceededException'],
    ['rate_limited', 'ThrottlingException'],
  ] as const)('says what is wrong: %s is %s', (code, name) => {
    expect(awsError(new GatewayError(code, 'Why.')).headers).toEqual({ 'x-amzn-ErrorType': name });
  });
});

it.each(DIALECTS)('$id says of a spent budget what it says of a spent quota', ({ error }) => {
  const told = (code: ErrorCode) =>
    JSON.stringify(error(new GatewayError(code, 'Why.'), 'id', {})).replaceAll(
      // Some write it with spaces or hyphens.
      new RegExp(code.replaceAll('_', '[_ -]'), 'g'),
      'the code',
    );
  const quota = told('token_quota_exhausted');

  expect(told('insufficient_user_quota')).toBe(quota);
  expect(told('token_budget_exhausted')).toBe(quota);
  expect(told('user_budget_exhausted')).toBe(quota);
});

it.each([
  ['dashscope', 'ip_not_allowed', { code: 'AccessDenied' }],
  ['dashscope', 'invalid_query', { code: 'InvalidParameter' }],
  ['watsonx', 'payload_too_large', { errors: [{ code: 'invalid_request_entity' }] }],
  ['watsonx', 'upstream_error', { errors: [{ code: 'internal_error' }] }],
  ['isaacus', 'ip_not_allowed', { status: 403, title: 'ip not allowed' }],
] as const)('%s tells of %s in its own words', (id, code, words) => {
  const dialect = DIALECTS.find((one) => one.id === id);
  const { body, headers } = dialect?.error(new GatewayError(code, 'Why.'), 'id', {}) ?? {};

  expect(JSON.parse(body ?? '')).toMatchObject(words);
  expect(headers?.['Content-Type']).toBe(id === 'isaacus' ? 'application/problem+json' : undefined);
});

it('an overload is one that TEI’s clients know', () => {
  const tei = DIALECTS.find(({ id }) => id === 'tei');
  const { status, body } = tei?.error(new GatewayError('overloaded', 'Busy.'), 'id', {}) ?? {};

  expect([status, body]).toEqual([429, '{"error":"Busy.","error_type":"Overloaded"}']);
});

it('too many documents are a fault of the body to clients of FastAPI servers', () => {
  const error = new GatewayError('too_many_documents', 'Too many.', { param: 'input' });
  const { status, body } = fastApiError(error);

  expect(status).toBe(422);
  expect(JSON.parse(body)).toMatchObject({
    detail: [{ type: 'too_long', loc: ['body', 'input'], msg: 'Too many.' }],
  });
});
