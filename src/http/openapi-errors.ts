import { ERRORS, type ErrorCode } from '../core/errors.js';
import type { JsonSchema } from './json-schema.js';
import { JSON_TYPE, type Content } from './openapi-parts.js';
import type { Operation } from '../operations/operation.js';

/** Every code that an operation can fail with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const { access, method, body, params, query, limit, idempotent, errors = [] } = operation;
  const { unsafe = method !== 'GET' } = operation;
  const codes = new Set<ErrorCode>([
    ...errors,
    'internal_error',
    'store_unavailable',
    'overloaded',
  ]);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  if (access === 'key') add('missing_api_key', 'invalid_api_key', 'user_disabled');
  else if (access !== 'public' && access !== 'visitor')
    add('unauthorized', 'user_disabled', 'permission_denied');
  if (access !== 'public' && access !== 'key') add('invalid_request');
  if (unsafe) add('permission_denied');
  if (params !== undefined || query !== undefined) add('invalid_request');
  if (body !== undefined) {
    add('invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type');
    add('request_timeout');
  }
  if (limit !== undefined) add('rate_limited');
  if (idempotent === true) add('invalid_request', 'conflict');
  return [...codes];
}

export function errorResponses(
  codes: readonly ErrorCode[],
  schema: JsonSchema,
  kept: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {},
): Record<string, Content> {
  const byStatus = new Map<number, ErrorCode[]>();
  // In one order, so that equal sets of codes are one response.
  for (const code of [...new Set(codes)].sort()) {
    for (const status of new Set([ERRORS[code].status, ...(kept[code] ?? [])])) {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  const responses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    responses.map(([status, list]) => [
      String(status),
      { description: list.join(', '), content: { [JSON_TYPE]: { schema } } },
    ]),
  );
}

/** The same failures with those of the gateway's own side as one: callers treat them alike. */
export function serverErrorsTogether(
  responses: Readonly<Record<string, Content>>,
): Record<string, Content> {
  const entries = Object.entries(responses);
  const theirs = entries.filter(([status]) => status.startsWith('5'));
  const description = theirs.map(([status, one]) => `${status} ${one.description}`).join('; ');
  const [[, first] = []] = theirs;
  return {
    ...Object.fromEntries(entries.filter((entry) => !theirs.includes(entry))),
    ...(first === undefined ? {} : { '5XX': { ...first, description } }),
  };
}

const REQUEST_ID_MEMBER: JsonSchema = {
  type: 'string',
  description: 'The same as X-Request-Id; absent if no request could be read.',
};

/** Any code: those of an operation and status are in the description of the response. */
export const ERROR_CODE: JsonSchema = { type: 'string', enum: Object.keys(ERRORS) };

/** `beside`: members that only some failures of the operation have. */
export function managementError(beside: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', enum: [false] },
      message: { type: 'string' },
      code: ERROR_CODE,
      param: { type: 'string', description: 'The field that is wrong.' },
      request_id: REQUEST_ID_MEMBER,
      ...beside,
    },
    required: ['success', 'message', 'code'],
    additionalProperties: false,
  };
}

const TEXT: JsonSchema = { type: 'string' };

export const RERANK_ERROR: JsonSchema = {
  type: 'object',
  properties: {
    message: TEXT,
    detail: TEXT,
    error: {
      type: 'object',
      properties: {
        message: TEXT,
        type: TEXT,
        code: ERROR_CODE,
        param: { type: ['string', 'null'] },
      },
      required: ['message', 'type', 'code', 'param'],
    },
    request_id: REQUEST_ID_MEMBER,
  },
  required: ['message', 'detail', 'error'],
};

export const KEY_ERRORS: readonly ErrorCode[] = [
  'headers_too_large',
  ...(['missing_api_key', 'invalid_api_key', 'token_expired', 'token_disabled'] as const),
  'invalid_signature',
  ...(['token_quota_exhausted', 'ip_not_allowed', 'user_disabled'] as const),
  ...(['internal_error', 'store_unavailable'] as const),
];

export const RERANK_ERRORS: readonly ErrorCode[] = [
  ...KEY_ERRORS,
  ...(['insufficient_user_quota', 'token_budget_exhausted', 'user_budget_exhausted'] as const),
  ...(['invalid_json', 'invalid_request', 'invalid_query', 'invalid_documents'] as const),
  ...(['model_not_allowed', 'tag_not_allowed', 'model_not_found', 'request_timeout'] as const),
  'permission_denied',
  ...(['payload_too_large', 'too_many_documents', 'unsupported_media_type'] as const),
  ...(['rate_limited', 'too_many_concurrent_requests', 'upstream_error'] as const),
  ...(['upstream_invalid_response', 'no_channel_available', 'overloaded'] as const),
  'upstream_timeout',
];

/** An upstream's complaint about the caller's input keeps its status, whichever of the two codes it gets. */
export const KEPT_STATUSES: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  invalid_request: [400, 413, 422],
  payload_too_large: [400, 413, 422],
};
