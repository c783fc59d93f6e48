/**
 * Every error that a caller can meet: its HTTP status, the `type` that OpenAI-style clients read, and whether the same
 * request may succeed later.
 */
export const ERRORS = {
  invalid_json: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_request: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_query: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_documents: { status: 400, type: 'invalid_request_error', retryable: false },
  missing_api_key: { status: 401, type: 'authentication_error', retryable: false },
  invalid_api_key: { status: 401, type: 'authentication_error', retryable: false },
  invalid_signature: { status: 403, type: 'authentication_error', retryable: false },
  token_expired: { status: 401, type: 'authentication_error', retryable: false },
  token_disabled: { status: 401, type: 'authentication_error', retryable: false },
  unauthorized: { status: 401, type: 'authentication_error', retryable: false },
  insufficient_user_quota: { status: 403, type: 'insufficient_quota', retryable: false },
  token_quota_exhausted: { status: 403, type: 'insufficient_quota', retryable: false },
  token_budget_exhausted: { status: 403, type: 'insufficient_quota', retryable: true },
  user_budget_exhausted: { status: 403, type: 'insufficient_quota', retryable: true },
  ip_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  model_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  tag_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  user_disabled: { status: 403, type: 'permission_error', retryable: false },
  permission_denied: { status: 403, type: 'permission_error', retryable: false },
  model_not_found: { status: 404, type: 'not_found_error', retryable: false },
  not_found: { status: 404, type: 'not_found_error', retryable: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retryable: false },
  request_timeout: { status: 408, type: 'invalid_request_error', retryable: true },
  conflict: { status: 409, type: 'conflict_error', retryable: false },
  payload_too_large: { status: 413, type: 'invalid_request_error', retryable: false },
  too_many_documents: { status: 413, type: 'invalid_request_error', retryable: false },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retryable: false },
  rate_limited: { status: 429, type: 'rate_limit_error', retryable: true },
  too_many_concurrent_requests: { status: 429, type: 'rate_limit_error', retryable: true },
  headers_too_large: { status: 431, type: 'invalid_request_error', retryable: false },
  client_closed_request: { status: 499, type: 'invalid_request_error', retryable: true },
  internal_error: { status: 500, type: 'server_error', retryable: true },
  upstream_error: { status: 502, type: 'upstream_error', retryable: true },
  upstream_invalid_response: { status: 502, type: 'upstream_error', retryable: true },
  no_channel_available: { status: 503, type: 'service_unavailable', retryable: true },
  overloaded: { status: 503, type: 'service_unavailable', retryable: true },
  store_unavailable: { status: 503, type: 'service_unavailable', retryable: true },
  upstream_timeout: { status: 504, type: 'upstream_error', retryable: true },
} as const satisfies Record<string, { status: number; type: string; retryable: boolean }>;

export type ErrorCode = keyof typeof ERRORS;

export interface GatewayErrorDetails {
  /** The field of the request that is wrong, in wire spelling. */
  readonly param?: string;
  /** When trying again makes sense; becomes `Retry-After`, rounded up to seconds. */
  readonly retryAfterMs?: number;
  /** A status other than the code's own: an upstream's 413 or 422 keeps its number. */
  readonly status?: number;
  /** Extra reply headers, for example `Allow` or `RateLimit-*`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Members that a management reply has beside the message, such as what a change collided with. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Ends a request with a documented code. The message goes to the caller: no secrets, no addresses. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly beside: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? ERRORS[code].status;
    this.param = details.param;
    this.retryAfterMs = details.retryAfterMs;
    this.headers = details.headers;
    this.beside = details.beside;
  }
}

/** The same failure, with such members beside its message. */
export function withBeside(
  failure: GatewayError,
  beside: Readonly<Record<string, unknown>>,
): GatewayError {
  const { code, message, param, retryAfterMs, status, headers } = failure;
  return new GatewayError(code, message, {
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(headers === undefined ? {} : { headers }),
    ...{ status, beside, cause: failure },
  });
}

/** The `code` of a system error (`EEXIST`, `ERR_…`); `undefined` for anything else that was thrown. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whatever was thrown, as the error that the caller gets: an unexpected one becomes `internal_error` and says nothing. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  // From Express, for a parameter of the path.
  if (error instanceof URIError) {
    return new GatewayError('invalid_request', 'The path is not valid.', { cause: error });
  }
  return new GatewayError(
    'internal_error',
    'The gateway failed. Quote the request id when you report it.',
    { cause: error },
  );
}
