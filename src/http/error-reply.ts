import type { ServerResponse } from 'node:http';
import { ERRORS, GatewayError } from '../core/errors.js';
import { errorBody } from '../ingress/cohere.js';
import type { IngressError } from '../ingress/dialect.js';

/** The body of an error on a management route. */
export function managementErrorBody(error: GatewayError, requestId: string): string {
  const { message, code, param, beside } = error;
  return JSON.stringify({
    ...beside,
    success: false,
    message,
    code,
    ...(param === undefined ? {} : { param }),
    request_id: requestId,
  });
}

/** Headers that accompany an error: what was wrong with the key, when to come back, what is allowed. */
function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers };
  if (error.status === 401) {
    headers['WWW-Authenticate'] =
      error.code === 'missing_api_key'
        ? 'Bearer realm="rerank"'
        : 'Bearer realm="rerank", error="invalid_token"';
  }
  const retryable = ERRORS[error.code].retryable && (error.status === 429 || error.status === 503);
  if (error.retryAfterMs !== undefined || retryable) {
    headers['Retry-After'] = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 1_000) / 1000)));
  }
  // Some SDKs repeat every 409 and 5xx: this tells them when that cannot help.
  if (!ERRORS[error.code].retryable && (error.status === 409 || error.status >= 500)) {
    headers['x-should-retry'] = 'false';
  }
  return headers;
}

/** Writes an error; the one place where a status of 400 or more is written. A reply that has begun is cut off instead. */
export function sendError(res: ServerResponse, error: GatewayError, written: IngressError): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { body: text, status = error.status } = written;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries({ ...errorHeaders(error), ...written.headers })) {
    res.setHeader(name, value);
  }
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.statusCode = status;
  res.end(text);
}

/** The bytes of an error for a socket on which no request could be read. */
export function rawErrorReply(error: GatewayError): string {
  const text = errorBody(error);
  return [
    `HTTP/1.1 ${error.status} ${error.code}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}
