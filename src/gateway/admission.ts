import { GatewayError } from '../core/errors.js';
import type { RateState } from '../core/rate-limit.js';
import {
  allowsModel,
  TOKEN_DISABLED,
  TOKEN_EXHAUSTED,
  TOKEN_EXPIRED,
  tokenStatus,
  type TokenPolicy,
} from '../core/token.js';
import {
  StoreUnavailableError,
  type Admission,
  type AdmissionStore,
  type Credential,
} from '../store/store.js';
import type { CredentialCache } from './credential-cache.js';

export interface AdmissionDeps {
  readonly store: AdmissionStore;
  readonly credentials: CredentialCache;
  readonly now: () => number;
  /** How long a reservation outlives its request's deadline before it is given back. */
  readonly reservationGraceMs: number;
}

/** Who calls, and with what: found by the key, judged when the request is known. */
export interface Caller {
  readonly keyHash: string;
  credential: Credential;
  /** Whether the caller's address is on the key's list; asked with the list that is in force. */
  readonly addressAllowed: (allowIps: readonly string[]) => boolean;
}

export interface AdmissionAsk {
  readonly caller: Caller;
  readonly reservationId: string;
  readonly deadlineMs: number;
  readonly amount: number;
  /** Whether the key's policy lets this be done; throws the refusal. Asked again when the key has changed. */
  readonly judge: (policy: TokenPolicy) => void;
}

export interface Reservation {
  readonly id: string;
  readonly tokenId: number;
  readonly userId: number;
  readonly amount: number;
  readonly expiresAtMs: number;
  readonly rate: RateState | undefined;
}

/** How often a key may change under a request's hands before it is refused. */
const MAX_STALE = 5;

/**
 * Judges the key's policy and reserves quota, rate and a place in one atomic step of the store.
 * @throws GatewayError for every refusal, and 503 when the store does not answer.
 */
export async function admit(deps: AdmissionDeps, ask: AdmissionAsk): Promise<Reservation> {
  const { caller } = ask;
  const expiresAtMs = ask.deadlineMs + deps.reservationGraceMs;
  try {
    judge(ask);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // What this node remembers of the key lets it in or not at all: a refusal is by what the store knows now.
    await judgeFresh(deps, caller);
    judge(ask);
  }
  for (let round = 0; round < MAX_STALE; round += 1) {
    const { token, version } = caller.credential;
    let admission: Admission;
    try {
      admission = await deps.store.admit({
        tokenId: token.id,
        userId: token.userId,
        version,
        reservationId: ask.reservationId,
        amount: ask.amount,
        nowMs: deps.now(),
        expiresAtMs,
      });
    } catch (error) {
      throw storeError(error);
    }
    switch (admission.kind) {
      case 'admitted':
        return {
          id: ask.reservationId,
          tokenId: token.id,
          userId: token.userId,
          amount: ask.amount,
          expiresAtMs,
          rate: admission.rate,
        };
      case 'stale':
        caller.credential = admission.credential;
        deps.credentials.remember(caller.keyHash, admission.credential);
        judge(ask);
        break;
      case 'refused':
        if (admission.reason === 'unknown') deps.credentials.forget(caller.keyHash);
        throw refusal(admission, caller.credential);
    }
  }
  throw new GatewayError('overloaded', 'The key is being changed at the moment. Try again.', {
    retryAfterMs: 1_000,
  });
}

function judge({ caller, judge: judgePolicy }: AdmissionAsk): void {
  judgeAddress(caller);
  judgePolicy(caller.credential.token.policy);
}

/**
 * Whether the key may be used at all, as the store knows it now: for answers that reserve nothing, such as an unknown
 * model or the list of models.
 */
export async function judgeFresh(deps: AdmissionDeps, caller: Caller): Promise<void> {
  const credential = await storeAnswers(() => deps.credentials.findFresh(caller.keyHash));
  if (credential === undefined) throw unknownKey();
  caller.credential = credential;
  if (!credential.userEnabled)
    throw refusal({ kind: 'refused', reason: 'user_disabled' }, credential);
  const status = tokenStatus(credential.token, deps.now());
  if (status === TOKEN_DISABLED) throw refusal({ kind: 'refused', reason: 'disabled' }, credential);
  if (status === TOKEN_EXPIRED) throw refusal({ kind: 'refused', reason: 'expired' }, credential);
  if (status === TOKEN_EXHAUSTED) {
    throw refusal({ kind: 'refused', reason: 'token_quota' }, credential);
  }
  judgeAddress(caller);
}

/** The 403 of a model that the key's policy does not list. */
export function judgeModel(policy: TokenPolicy, model: string): void {
  if (allowsModel(policy, model)) return;
  throw new GatewayError('model_not_allowed', `This API key may not use model "${model}".`, {
    param: 'model',
  });
}

/** The 403 of a tag that the key is not bound to. */
export function judgeTag(policy: TokenPolicy, tag: string | undefined): void {
  if (tag === undefined || policy.tags.length === 0 || policy.tags.includes(tag)) return;
  throw new GatewayError('tag_not_allowed', `This API key may not use tag "${tag}".`);
}

export function unknownKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'The API key is not valid.');
}

/** Runs a question to the store; a store that does not answer is a 503 of ours. */
export async function storeAnswers<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw storeError(error);
  }
}

function storeError(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  return new GatewayError(
    'store_unavailable',
    'The key store does not answer. Try again shortly.',
    {
      retryAfterMs: 1_000,
      cause: error,
    },
  );
}

function judgeAddress(caller: Caller): void {
  const { allowIps } = caller.credential.token.policy;
  if (allowIps.length === 0 || caller.addressAllowed(allowIps)) return;
  throw new GatewayError('ip_not_allowed', 'This API key may not be used from this address.');
}

function refusal(
  admission: Extract<Admission, { kind: 'refused' }>,
  credential: Credential,
): GatewayError {
  switch (admission.reason) {
    case 'unknown':
      return unknownKey();
    case 'user_disabled':
      return new GatewayError('user_disabled', 'The account of this API key is disabled.');
    case 'disabled':
      return new GatewayError('token_disabled', 'This API key is disabled.');
    case 'expired':
      return new GatewayError('token_expired', 'This API key has expired.');
    case 'token_quota':
      return new GatewayError('token_quota_exhausted', 'The quota of this API key is used up.');
    case 'user_quota':
      return new GatewayError(
        'insufficient_user_quota',
        'The balance of the account does not cover this request.',
      );
    case 'concurrency':
      return new GatewayError(
        'too_many_concurrent_requests',
        `This API key may have ${credential.token.policy.maxConcurrency} requests in flight at once.`,
        { retryAfterMs: 1_000 },
      );
    case 'rate':
      return new GatewayError(
        'rate_limited',
        `This API key may send ${admission.rate.limit} requests a minute.`,
        { retryAfterMs: admission.retryAfterMs, headers: rateHeaders(admission.rate) },
      );
  }
}

/** `RateLimit-*` headers; reset in seconds. */
export function rateHeaders(rate: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(Math.ceil(rate.resetMs / 1000)),
  };
}
