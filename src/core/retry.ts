import type { ErrorCode } from './errors.js';

/** Whose fault a failed attempt is; decides what happens next. */
export type FaultKind =
  /** What the caller sent, according to the provider's documented code: no other channel with any API would take it. */
  | 'caller'
  /**
   * A request that the gateway found valid is refused as invalid. Until another channel agrees, this counts as the channel's
   * own fault (another wire format, a model unknown there, a proxy that answers a refused key with 400).
   */
  | 'rejected'
  /** A limit of this provider alone (too many documents, too long a body): another one may take it. */
  | 'limit'
  /** Overload or a rate limit: the channel cools down. */
  | 'busy'
  /** It did not answer in time. */
  | 'timeout'
  /** A passing fault of the upstream or the way to it. */
  | 'transient'
  /** An answer that is not a ranking: an error inside 200, HTML, a bad index. */
  | 'invalid'
  /** Wrong credentials, unknown model, no credit: an operator has to act. */
  | 'misconfigured';

/** One failed attempt. The message is the upstream's own words, without addresses and credentials; it may be empty. */
export interface UpstreamFailure {
  readonly kind: FaultKind;
  readonly status: number | undefined;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** Whether nothing of the request has left, so that it cannot have had any effect. */
  readonly unsent?: boolean;
  /** Whether the same channel may get the request again after its connection broke: it is not paid for twice, or may be. */
  readonly repeatable?: boolean;
  /** Whether the channel had less time than it may take, because another one could answer. */
  readonly isEarly?: boolean;
}

/** The meaning of an HTTP status, unless the provider's own code knows better. */
export function faultOfStatus(status: number): FaultKind {
  if (status === 429 || status === 503 || status === 529) return 'busy';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  if (status === 413) return 'limit';
  if (status === 400 || status === 422) return 'rejected';
  // Servers that were started without a reranking model answer "Not implemented": waiting does not help.
  if (status === 501) return 'misconfigured';
  if (status >= 200 && status < 400) return 'invalid';
  return status >= 500 ? 'transient' : 'misconfigured';
}

/** What a kind of failure means: for the next attempt, for the caller if none is left, and for the channel. */
export interface Fault {
  /** Whether another channel may be tried. */
  readonly failsOver: boolean;
  /** The caller's error if no channel is left. */
  readonly code: ErrorCode;
  /** `cools`: the channel is paused for a while. `fails`: it counts against the channel. */
  readonly health: 'none' | 'cools' | 'fails';
}

export const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  caller: { failsOver: false, code: 'invalid_request', health: 'none' },
  rejected: { failsOver: true, code: 'invalid_request', health: 'none' },
  limit: { failsOver: true, code: 'payload_too_large', health: 'none' },
  busy: { failsOver: true, code: 'overloaded', health: 'cools' },
  timeout: { failsOver: true, code: 'upstream_timeout', health: 'fails' },
  transient: { failsOver: true, code: 'upstream_error', health: 'fails' },
  invalid: { failsOver: true, code: 'upstream_invalid_response', health: 'fails' },
  misconfigured: { failsOver: true, code: 'upstream_error', health: 'fails' },
};

/** The share of the remaining time that an attempt may take while another channel could still be tried. */
const ATTEMPT_SHARE = 2 / 3;

/** The time limit of an attempt that must leave time for another one, given the remaining time; at least a millisecond. */
export function attemptShareMs(leftMs: number): number {
  return Math.max(1, Math.floor(leftMs * ATTEMPT_SHARE));
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 2_000;
/** How long to wait for an overloaded channel that does not say so itself. */
const BUSY_WAIT_MS = 1_000;

/**
 * How long to wait before the same channel is tried again: full jitter over a bound that doubles with each failure, or as
 * long as an overloaded channel asks for. `undefined` if the failure does not pass with time, or if the wait would take more
 * than half of the remaining time.
 */
export function retryWaitMs(
  { kind, status, retryAfterMs, unsent, repeatable }: UpstreamFailure,
  failures: number,
  leftMs: number,
  random: () => number,
): number | undefined {
  if (kind !== 'transient' && kind !== 'busy') return undefined;
  // After a broken connection the fate of the request is unknown: sent again, it might be paid for twice.
  if (status === undefined && unsent !== true && repeatable !== true) return undefined;
  const most = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, failures - 1));
  const waitMs =
    kind === 'busy' ? (retryAfterMs ?? BUSY_WAIT_MS) : Math.max(retryAfterMs ?? 0, random() * most);
  return waitMs <= leftMs / 2 ? waitMs : undefined;
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

/** A non-negative number; `undefined` for everything else. */
function toNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  const value = trimmed === '' ? Number.NaN : Number(trimmed);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
