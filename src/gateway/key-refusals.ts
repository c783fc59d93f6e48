import { budgetText, type BudgetStanding } from '../core/budget.js';
import { GatewayError } from '../core/errors.js';
import type { RateState } from '../core/rate-limit.js';
import { allowsModel, type TokenPolicy } from '../core/token.js';
import type { Admission, Credential } from '../store/store.js';

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

/** The 403 for an address that the key's policy excludes. */
export function judgeAddress(caller: {
  readonly credential: Credential;
  readonly addressAllowed: (allowIps: readonly string[]) => boolean;
}): void {
  const { allowIps } = caller.credential.token.policy;
  if (allowIps.length === 0 || caller.addressAllowed(allowIps)) return;
  throw new GatewayError('ip_not_allowed', 'This API key may not be used from this address.');
}

/** The error for an admission that the store refused. */
export function refusal(
  admission: Extract<Admission, { kind: 'refused' }>,
  credential: Credential,
  amount = 0,
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
    case 'token_budget':
      return budgetError('token_budget_exhausted', 'this API key', admission, amount);
    case 'user_budget':
      return budgetError('user_budget_exhausted', 'the account', admission, amount);
    case 'concurrency':
      return new GatewayError(
        'too_many_concurrent_requests',
        `This API key may have at most ${credential.token.policy.maxConcurrency} requests in flight at once.`,
        { retryAfterMs: 1_000 },
      );
    case 'rate':
      return new GatewayError(
        'rate_limited',
        `This API key may send at most ${admission.rate.limit} requests a minute.`,
        { retryAfterMs: admission.retryAfterMs, headers: rateHeaders(admission.rate) },
      );
  }
}

/** Waiting helps, unless the whole budget is too small. */
function budgetError(
  code: 'token_budget_exhausted' | 'user_budget_exhausted',
  owner: string,
  { standing, retryAfterMs }: { readonly standing: BudgetStanding; readonly retryAfterMs: number },
  amount: number,
): GatewayError {
  const message = budgetText(standing, owner, amount);
  return new GatewayError(code, message, amount > standing.budget ? {} : { retryAfterMs });
}

/** `RateLimit-*` headers; reset in seconds. */
export function rateHeaders(rate: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(Math.ceil(rate.resetMs / 1000)),
  };
}
