import type { ErrorCode } from './errors.js';

/** Whose fault a failed attempt is; decides what happens next. */
export type FaultKind =
  /** What the caller sent: no other channel of any dialect would take it. */
  | 'caller'
  /** A limit of this provider alone (too many documents, too long a body): another dialect may take it. */
  | 'limit'
  /** Overload or a rate limit: the channel cools down. */
  | 'busy'
  /** It did not answer in time. */
  | 'timeout'
  /** A passing fault of the upstream or the way to it. */
  | 'transient'
  /** An answer that is no ranking: an error inside 200, HTML, a bad index. */
  | 'invalid'
  /** Wrong credentials, unknown model, no credit: an operator has to act. */
  | 'misconfigured';

/** One failed attempt. The message is the upstream's own words, without addresses and credentials; it may be empty. */
export interface UpstreamFailure {
  readonly kind: FaultKind;
  readonly status: number | undefined;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

/** Meaning of an HTTP status where the provider's dialect does not know better. */
export function faultOfStatus(status: number): FaultKind {
  if (status === 429 || status === 503 || status === 529) return 'busy';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  if (status === 413) return 'limit';
  if (status === 400 || status === 422) return 'caller';
  if (status === 401 || status === 402 || status === 403 || status === 404 || status === 405) {
    return 'misconfigured';
  }
  // "Not implemented" is said by servers that were started without a reranking model: waiting does not help.
  if (status === 501) return 'misconfigured';
  if (status >= 200 && status < 400) return 'invalid';
  return status >= 500 ? 'transient' : 'misconfigured';
}

/** Whether another channel may be asked after such a failure. */
export function mayFailOver(kind: FaultKind): boolean {
  return kind !== 'caller';
}

/** What the caller is told when no channel is left. */
export function errorCodeOf(failure: UpstreamFailure): ErrorCode {
  switch (failure.kind) {
    case 'caller':
      return 'invalid_request';
    case 'limit':
      return 'payload_too_large';
    case 'busy':
      return 'overloaded';
    case 'timeout':
      return 'upstream_timeout';
    case 'invalid':
      return 'upstream_invalid_response';
    case 'transient':
    case 'misconfigured':
      return 'upstream_error';
  }
}

/** Larger than any wait in seconds: such a reset is a point in unix time. */
const UNIX_TIME_FROM = 1_000_000_000;

/** Larger than any point in unix seconds: such a reset counts milliseconds. */
const UNIX_MILLISECONDS_FROM = 100_000_000_000;

/**
 * When an upstream wants to be asked again, in milliseconds from `nowMs`, never negative: `retry-after-ms`, `Retry-After` as
 * seconds or an HTTP date, else the reset of its rate limit as seconds or unix time, in seconds or milliseconds.
 */
export function parseRetryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): number | undefined {
  const milliseconds = toNumber(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const value = headers['retry-after'];
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value ?? '');
  if (!Number.isNaN(date) && toNumber(value?.replace('-', '')) === undefined) {
    return Math.max(0, date - nowMs);
  }
  const reset = toNumber(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']);
  if (reset === undefined) return undefined;
  if (reset >= UNIX_MILLISECONDS_FROM) return Math.max(0, reset - nowMs);
  return reset >= UNIX_TIME_FROM ? Math.max(0, reset * 1000 - nowMs) : reset * 1000;
}

/** A number that is not negative, `undefined` for everything else. */
function toNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  const value = trimmed === '' ? Number.NaN : Number(trimmed);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
