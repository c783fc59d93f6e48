import {
  BUDGET_DEFAULTS,
  fitsBudget,
  NOTHING_USED,
  standingOf,
  type BudgetMembers,
} from '../core/budget.js';
import { GatewayError } from '../core/errors.js';
import type { RateState } from '../core/rate-limit.js';
import {
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
  type AdmitRequest,
  type Credential,
  type User,
} from '../store/store.js';
import type { ChannelTable } from './channels/table.js';
import { judgeAddress, refusal, unknownKey } from './key-refusals.js';
import { beforeEnd, type Scope } from './scope.js';
import type { Settlements } from './settlements.js';
import type { TokenCache } from './token-cache.js';

export interface AdmissionDeps {
  readonly store: AdmissionStore;
  readonly credentials: TokenCache;
  /** Whether the store has been emptied, which takes a look at it. */
  readonly channels: Pick<ChannelTable, 'refresh'>;
  readonly settlements: Pick<Settlements, 'abandon'>;
  readonly now: () => number;
  /** How long a reservation outlives its request's deadline before it is given back. */
  readonly reservationGraceMs: number;
}

/** A key that was found, with the hash by which it was found. */
export interface Identity {
  readonly keyHash: string;
  readonly credential: Credential;
}

/** Who calls, and with what: found by the key, judged once the request is known. */
export interface Caller {
  readonly keyHash: string;
  credential: Credential;
  /** Whether the caller's address is on the key's list; asked with the list in force. */
  readonly addressAllowed: (allowIps: readonly string[]) => boolean;
}

export interface AdmissionAsk {
  readonly caller: Caller;
  readonly reservationId: string;
  readonly scope: Scope;
  readonly amount: number;
  /** Whether the key's policy allows this; throws the refusal. Asked again if the key has changed. */
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

/** How often a key may change while a request is being admitted before it is refused. */
const MAX_STALE = 5;

/**
 * Judges the key's policy and reserves quota, rate and a place in one atomic step of the store.
 * @throws GatewayError for every refusal, and 503 if the store does not answer.
 */
export async function admit(deps: AdmissionDeps, ask: AdmissionAsk): Promise<Reservation> {
  const { caller } = ask;
  const expiresAtMs = ask.scope.deadlineMs + deps.reservationGraceMs;
  try {
    judge(ask);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // What this node remembers of the key may only admit: a refusal must rest on what the store knows now.
    await beforeEnd(ask.scope, judgeFresh(deps, caller));
    judge(ask);
  }
  for (let round = 0; round < MAX_STALE; round += 1) {
    const { token, version } = caller.credential;
    const request: AdmitRequest = {
      tokenId: token.id,
      userId: token.userId,
      version,
      keyHash: caller.keyHash,
      reservationId: ask.reservationId,
      amount: ask.amount,
      nowMs: deps.now(),
      expiresAtMs,
    };
    const asked = deps.store.admit(request);
    let admission: Admission;
    try {
      admission = await beforeEnd(ask.scope, asked);
    } catch (error) {
      abandonLate(deps, request, asked);
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
        if (admission.reason === 'unknown') {
          caller.credential = await beforeEnd(ask.scope, findAgain(deps, caller));
          judge(ask);
          break;
        }
        throw refusal(admission, caller.credential, ask.amount);
    }
  }
  throw new GatewayError('overloaded', 'The key is changing right now. Try again.', {
    retryAfterMs: 1_000,
  });
}

/**
 * Ends an admission whose answer was lost, or comes too late: it may hold quota and a place that are not used. Done as soon as
 * the store can be reached.
 */
function abandonLate(deps: AdmissionDeps, request: AdmitRequest, answer: Promise<Admission>): void {
  answer.then(
    (late) => {
      if (late.kind === 'admitted') deps.settlements.abandon(request);
    },
    (failure: unknown) => {
      if (failure instanceof StoreUnavailableError && !failure.didNothing) {
        deps.settlements.abandon(request);
      }
    },
  );
}

/**
 * A key that this node remembers and the store does not know has been deleted, unless the store has lost everything, which
 * is checked first.
 */
async function findAgain(deps: AdmissionDeps, { keyHash }: Caller): Promise<Credential> {
  const found = await storeAnswers(async () => {
    await deps.channels.refresh();
    return deps.credentials.findFresh(keyHash);
  });
  if (found === undefined) throw unknownKey();
  return found;
}

function judge({ caller, judge: judgePolicy }: AdmissionAsk): void {
  judgeAddress(caller);
  judgePolicy(caller.credential.token.policy);
}

/**
 * Whether the key may be used at all, as the store knows it now: for answers that reserve nothing, such as an unknown model
 * or the list of models.
 */
export async function judgeFresh(deps: AdmissionDeps, caller: Caller): Promise<void> {
  const credential = await storeAnswers(() => deps.credentials.findFresh(caller.keyHash));
  if (credential === undefined) throw unknownKey();
  caller.credential = credential;
  judgeStatus(credential, deps.now());
  judgeAddress(caller);
}

function judgeStatus(credential: Credential, nowMs: number): void {
  if (!credential.userEnabled)
    throw refusal({ kind: 'refused', reason: 'user_disabled' }, credential);
  const status = tokenStatus(credential.token, nowMs);
  if (status === TOKEN_DISABLED) throw refusal({ kind: 'refused', reason: 'disabled' }, credential);
  if (status === TOKEN_EXPIRED) throw refusal({ kind: 'refused', reason: 'expired' }, credential);
  if (status === TOKEN_EXHAUSTED) {
    throw refusal({ kind: 'refused', reason: 'token_quota' }, credential);
  }
}

/** What an account has left, in all and of its budget. */
export type Funds = Pick<User, 'quota' | 'budgetUse' | keyof BudgetMembers>;

/** Of an account that is gone. */
export const NO_FUNDS: Funds = { quota: 0, ...BUDGET_DEFAULTS, budgetUse: NOTHING_USED };

/**
 * Whether a key, as the store knows it, and its owner's balance and budgets would allow an amount to be reserved. Rate and
 * places are not checked here: they are counted when they are taken.
 * @throws GatewayError with the refusal.
 */
export function judgeStanding(
  credential: Credential,
  owner: Funds,
  amount: number,
  nowMs: number,
): void {
  judgeStatus(credential, nowMs);
  const { unlimitedQuota, remainQuota } = credential.token;
  if (!unlimitedQuota && remainQuota < amount) {
    throw refusal({ kind: 'refused', reason: 'token_quota' }, credential);
  }
  if (owner.quota < amount) throw refusal({ kind: 'refused', reason: 'user_quota' }, credential);
  const { policy, budgetUse } = credential.token;
  const reasons = [
    ['token_budget', standingOf(policy, budgetUse, nowMs)],
    ['user_budget', standingOf(owner, owner.budgetUse, nowMs)],
  ] as const;
  for (const [reason, standing] of reasons) {
    if (standing === undefined || fitsBudget(standing, amount)) continue;
    const retryAfterMs = standing.renewsAtMs - nowMs;
    throw refusal({ kind: 'refused', reason, standing, retryAfterMs }, credential, amount);
  }
}

/** Asks the store; if it does not answer, that is a 503 of ours. */
export async function storeAnswers<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw storeError(error);
  }
}

function storeError(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  return new GatewayError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterMs: 1_000,
    cause: error,
  });
}
