import type { BudgetStanding } from '../core/budget.js';
import type { RateState } from '../core/rate-limit.js';
import type { Token } from '../core/token.js';

/** A token as a node keeps it in memory: good as long as `admit` finds the same version in the store. */
export interface Credential {
  readonly token: Token;
  /** Another one after every management change of the token, and never one that there was before; traffic does not change it. */
  readonly version: number;
  /** SHA-256 in hex of the key that led here: the token's own, or the one before it. */
  readonly keyHash: string;
  /** Unix milliseconds at which that key ends, where another one has replaced it. */
  readonly endsAtMs?: number;
  readonly userEnabled: boolean;
}

export interface AdmitRequest {
  readonly tokenId: number;
  readonly userId: number;
  /** The version of the credential that the caller has judged. */
  readonly version: number;
  /** SHA-256 of the key that was presented, in hex: ids may be given out again by a store that has lost its last writes. */
  readonly keyHash: string;
  /** Unique; names the reservation until it is settled. */
  readonly reservationId: string;
  /** Quota to set aside, ≥ 0. */
  readonly amount: number;
  readonly nowMs: number;
  /** When the reservation is given back if nobody settled it. */
  readonly expiresAtMs: number;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly rate: RateState | undefined }
  /** The token has changed since `version`: judge this one, then ask again. Nothing was reserved. */
  | { readonly kind: 'stale'; readonly credential: Credential }
  | {
      readonly kind: 'refused';
      readonly reason:
        | 'unknown'
        | 'user_disabled'
        | 'disabled'
        | 'expired'
        | 'token_quota'
        | 'user_quota'
        | 'concurrency';
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'rate';
      readonly retryAfterMs: number;
      readonly rate: RateState;
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'token_budget' | 'user_budget';
      readonly standing: BudgetStanding;
      readonly retryAfterMs: number;
    };

export interface Settlement {
  readonly tokenId: number;
  readonly userId: number;
  readonly reservationId: string;
  /** What was reserved. */
  readonly amount: number;
  /** What is owed: 0 for a call that failed. More than `amount` takes the rest as far as both balances reach. */
  readonly cost: number;
  /** Whether a ranking was delivered; counts as a request of the user. */
  readonly served: boolean;
  readonly nowMs: number;
}

export interface AdmissionStore {
  /**
   * The token of a key by the SHA-256 of it, in hex. Disabled, expired and exhausted tokens are found too, and those that
   * have another key meanwhile, also after the time of the old one.
   */
  findToken(keyHash: string): Promise<Credential | undefined>;

  /**
   * Checks and reserves in one step, in this order: token known and of this key (or of an old one whose time is not over), version (`stale`), user enabled, token enabled, not
   * expired, token quota (a limited token must have something left, and at least `amount`), user quota (at least
   * `amount`), the budgets of token and user (something left of the period that the store's clock is in, and at least `amount`),
   * rate, concurrency. When admitted: `amount` is off both balances (off the user's alone for an unlimited
   * token), the rate is counted, the token's accessed time is set, and the reservation holds one place of its
   * concurrency. Expired reservations of the user are given back first.
   */
  admit(request: AdmitRequest): Promise<Admission>;

  /**
   * Ends a reservation: what was not spent goes back, to the budgets too, spent quota is counted on token and user, the place is free.
   * Resolves to what was charged, or `undefined` when the reservation is not there (settled already, or expired and given
   * back), in which case nothing changes. One that has expired and was not given back yet is settled as usual. Whether the
   * token's balance takes part was decided when it was admitted: making it unlimited or limited meanwhile does not matter.
   * A token deleted meanwhile still settles on the user.
   */
  settle(settlement: Settlement): Promise<number | undefined>;
}
