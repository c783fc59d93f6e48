import type { BudgetStanding } from '../core/budget.js';
import type { RateState } from '../core/rate-limit.js';
import type { Token } from '../core/token.js';

/** A token as a node keeps it in memory: valid as long as `admit` finds the same version in the store. */
export interface Credential {
  readonly token: Token;
  /** Changes with every management change of the token and never repeats; traffic does not change it. */
  readonly version: number;
  /** SHA-256 in hex of the key that led here: the token's current key or its previous one. */
  readonly keyHash: string;
  /** When that key ends, in unix milliseconds, if another one has replaced it. */
  readonly endsAtMs?: number;
  readonly userEnabled: boolean;
}

export interface AdmitRequest {
  readonly tokenId: number;
  readonly userId: number;
  /** The version of the credential that the caller has judged. */
  readonly version: number;
  /** SHA-256 in hex of the presented key: a store that has lost its last writes may give out ids again. */
  readonly keyHash: string;
  /** Unique; identifies the reservation until it is settled. */
  readonly reservationId: string;
  /** Quota to set aside, ≥ 0. */
  readonly amount: number;
  readonly nowMs: number;
  /** When the reservation is given back if it has not been settled. */
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
  /** The amount that was reserved. */
  readonly amount: number;
  /** The amount owed: 0 for a failed call. The part beyond `amount` is charged as far as both balances and budgets reach. */
  readonly cost: number;
  /** Whether a ranking was delivered, which counts as a request of the user. */
  readonly served: boolean;
  readonly nowMs: number;
}

/**
 * How long a reservation that was given back may still be settled, in milliseconds: it is charged then as if nothing had been
 * reserved. A node that was without the store for long settles when the store is back, perhaps after another one gave back.
 */
export const LAPSED_MS = 10 * 60_000;

export interface AdmissionStore {
  /**
   * Finds a token by the SHA-256 of its key, in hex. Also finds disabled, expired and exhausted tokens, and those whose key
   * has been replaced meanwhile, possibly even after the old key has ended. With a time, expired reservations of its owner are
   * given back first: a key whose whole quota is reserved is refused without `admit`, which would do so.
   */
  findToken(keyHash: string, nowMs?: number): Promise<Credential | undefined>;

  /**
   * Checks and reserves in one step, in this order: token known, with this key (or with this as its old key that has not ended
   * yet), version (`stale`), user enabled, token enabled, not expired, token quota (a limited token must have something left,
   * and at least `amount`), user quota (at least `amount`), the budgets of token and user (something left in the period that
   * the store's clock is in, and at least `amount`), rate, concurrency. On admission, `amount` is taken off both balances (only
   * off the user's for an unlimited token), the rate is counted, the token's accessed time is set, and the reservation holds
   * one of the token's places. Expired reservations of the user are given back first.
   */
  admit(request: AdmitRequest): Promise<Admission>;

  /**
   * Ends a reservation: the unspent part goes back, to the budgets too, the spent part is counted for token and user, and the
   * place becomes free. Resolves to what was charged, or `undefined` if the reservation does not exist (already settled, or
   * given back for longer than `LAPSED_MS`), in which case nothing changes. One that has expired is settled as usual until it
   * is given back, and afterwards charged as far as both balances and budgets reach. Whether the token's balance takes part was decided on admission: making the token unlimited or limited meanwhile
   * does not matter. If the token has been deleted meanwhile, the user is still settled.
   */
  settle(settlement: Settlement): Promise<number | undefined>;
}
