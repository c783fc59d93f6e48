import { OPEN_POLICY, type Token, type TokenPolicy } from '../core/token.js';
import type { QuotaChange } from './balance.js';
import type { Page, Slice } from './page.js';

/** A policy as it is kept: what is undefined is not in its JSON, and an older release left out what it did not know. */
export function storedPolicy(text: string): TokenPolicy {
  return { ...OPEN_POLICY, ...(JSON.parse(text) as Partial<TokenPolicy>) };
}

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  /** SHA-256 of the key in hex; the key itself is never stored. */
  readonly keyHash: string;
  readonly keyHint: string;
  readonly enabled: boolean;
  /** Unix seconds, or -1. */
  readonly expiredTime: number;
  readonly remainQuota: number;
  readonly unlimitedQuota: boolean;
  readonly policy: TokenPolicy;
}

export interface TokenChange {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly expiredTime?: number;
  readonly unlimitedQuota?: boolean;
  readonly quota?: QuotaChange;
  /** Members that are present replace; `models` and `defaultModel` may be set to undefined. */
  readonly policy?: Partial<TokenPolicy>;
}

/** A new key for a token that there is. */
export interface RolledKey {
  readonly keyHash: string;
  readonly keyHint: string;
  /** How long the key before it works on; 0: not at all. */
  readonly keepOldMs: number;
}

export type TokenUpdate =
  | { readonly kind: 'updated'; readonly token: Token }
  | { readonly kind: 'not_found' }
  /** `enabled: true` was asked for, and after the change the token would still be expired or exhausted. */
  | { readonly kind: 'conflict'; readonly reason: 'expired' | 'exhausted' }
  /** A balance would fall below zero or leave the range that is kept exactly. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' };

export interface TokenQuery extends Slice {
  readonly userId?: number;
  /** Part of the name, in any case. */
  readonly name?: string;
  /** Exactly this key's hash. */
  readonly keyHash?: string;
}

/** Reads give back expired reservations of the users concerned first, so that balances are true at `nowMs`. */
export interface TokenStore {
  /** `undefined` when the user does not exist. A new token counts as accessed when it was created. */
  createToken(token: NewToken, nowMs: number): Promise<Token | undefined>;
  /** The same, unless the user has `most` tokens already. */
  createTokenWithin(
    token: NewToken,
    most: number,
    nowMs: number,
  ): Promise<Token | 'too_many' | undefined>;
  getToken(id: number, nowMs: number): Promise<Token | undefined>;
  listTokens(query: TokenQuery, nowMs: number): Promise<Page<Token>>;
  /** With `ownerId`, a token of another user is `not_found`. */
  updateToken(
    id: number,
    change: TokenChange,
    nowMs: number,
    ownerId?: number,
  ): Promise<TokenUpdate>;
  /**
   * Gives a token another key; everything else stays. The one before works for `keepOldMs`, and the one before that no more.
   * With `ownerId`, a token of another user is `undefined`, like one that is not there.
   */
  rollToken(
    id: number,
    key: RolledKey,
    nowMs: number,
    ownerId?: number,
  ): Promise<Token | undefined>;
  /** The remaining quota of a deleted token is gone with it; the user's balance was never charged for it. */
  deleteToken(id: number, ownerId?: number): Promise<boolean>;
}
