import {
  NEVER_EXPIRES,
  OPEN_POLICY,
  type Token,
  type TokenPolicy,
  type TokenStatus,
} from '../core/token.js';
import type { Credential } from './admission.js';
import type { QuotaChange } from './balance.js';
import type { Order, OrderValues, Page, Slice } from './page.js';
import { flag, json, maybe, number, recordOf, text } from './records.js';
import { tokenVersion } from './version.js';

/** Reads a stored policy: its JSON lacks undefined members, and those that the older release that wrote it did not know. */
export function storedPolicy(text: string): TokenPolicy {
  return { ...OPEN_POLICY, ...(JSON.parse(text) as Partial<TokenPolicy>) };
}

/** A key as it is kept. */
export interface StoredToken extends Omit<Token, 'budgetUse' | 'oldKeyUntilMs'> {
  readonly keyHash: string;
  readonly version: number;
  readonly budgetSpent: number;
  readonly budgetUntilMs: number;
  readonly oldKeyHash: string | undefined;
  readonly oldKeyUntilMs: number;
}

export const TOKENS = recordOf<StoredToken>(
  'tokens',
  {
    id: number(),
    userId: number(),
    name: text('name'),
    keyHash: text('hash'),
    keyHint: text('hint'),
    enabled: flag('enabled'),
    createdTime: number('created'),
    accessedTime: number('accessed'),
    expiredTime: number('expires'),
    remainQuota: number('remain'),
    unlimitedQuota: flag('unlimited'),
    usedQuota: number('used'),
    version: number('version'),
    policy: json('policy', OPEN_POLICY, storedPolicy),
    budgetSpent: number('spent'),
    budgetUntilMs: number('until'),
    oldKeyHash: maybe(text('oldhash')),
    oldKeyUntilMs: number('olduntil'),
  },
  { name: 'name_key' },
);

export function tokenOf(stored: StoredToken): Token {
  const { keyHash: _, version: _version, oldKeyHash, oldKeyUntilMs, ...others } = stored;
  const { budgetSpent: spent, budgetUntilMs: untilMs, ...token } = others;
  return {
    ...{ ...token, budgetUse: { spent, untilMs } },
    ...(oldKeyHash === undefined ? {} : { oldKeyUntilMs }),
  };
}

/** What a key leads to: the current one unless another is given; `undefined` if the token has a different one. */
export function credentialOf(
  stored: StoredToken,
  userEnabled: boolean,
  keyHash = stored.keyHash,
): Credential | undefined {
  const isOld = stored.oldKeyHash === keyHash;
  if (stored.keyHash !== keyHash && !isOld) return undefined;
  return {
    ...{ token: tokenOf(stored), version: stored.version, keyHash, userEnabled },
    ...(isOld ? { endsAtMs: stored.oldKeyUntilMs } : {}),
  };
}

/** The stored members of a new key. */
export function newStoredToken(token: NewToken, nowMs: number): Omit<StoredToken, 'id'> {
  return {
    ...{ ...token, createdTime: Math.floor(nowMs / 1000), accessedTime: 0, usedQuota: 0 },
    ...{ version: tokenVersion(), budgetSpent: 0, budgetUntilMs: 0 },
    ...{ oldKeyHash: undefined, oldKeyUntilMs: 0 },
  };
}

export interface NewToken extends Omit<
  Token,
  'id' | 'createdTime' | 'accessedTime' | 'usedQuota' | 'budgetUse' | 'oldKeyUntilMs'
> {
  /** SHA-256 of the key in hex; the key itself is never stored. */
  readonly keyHash: string;
}

export interface TokenChange extends Partial<
  Pick<NewToken, 'name' | 'enabled' | 'expiredTime' | 'unlimitedQuota'>
> {
  readonly quota?: QuotaChange;
  /** Replaces the members that are present; `models` and `defaultModel` may be set to undefined. */
  readonly policy?: Partial<TokenPolicy>;
}

/** A new key for an existing token. */
export interface RolledKey {
  readonly keyHash: string;
  readonly keyHint: string;
  /** How long the previous key keeps working; 0: not at all. */
  readonly keepOldMs: number;
}

export type TokenUpdate =
  | { readonly kind: 'updated'; readonly token: Token }
  | { readonly kind: 'not_found' }
  /** `enabled: true` was requested, but the token would still be expired or exhausted after the change. */
  | { readonly kind: 'conflict'; readonly reason: 'expired' | 'exhausted' }
  /** A balance would fall below zero or exceed the range in which it is exact. */
  | { readonly kind: 'conflict'; readonly reason: 'quota_range' }
  /** It is no longer what the change depends on. */
  | { readonly kind: 'conflict'; readonly reason: 'changed' };

/** What keys can be ordered by. */
export const TOKEN_ORDERS = {
  name: ({ name }) => name.toLowerCase(),
  remainQuota: ({ unlimitedQuota, remainQuota }) => (unlimitedQuota ? Infinity : remainQuota),
  usedQuota: ({ usedQuota }) => usedQuota,
  createdTime: ({ createdTime }) => createdTime,
  accessedTime: ({ accessedTime }) => accessedTime,
  expiredTime: ({ expiredTime }) => (expiredTime === NEVER_EXPIRES ? Infinity : expiredTime),
} satisfies OrderValues<Token>;

export type TokenOrder = Order<keyof typeof TOKEN_ORDERS>;

export interface TokenQuery extends Slice {
  readonly userId?: number;
  /** Part of the name, case-insensitive. */
  readonly name?: string;
  /** Exactly this key's hash. */
  readonly keyHash?: string;
  /** As people see it: at the time of the call. */
  readonly status?: TokenStatus;
  /** Those that may use this model, with or without a limit to certain models. */
  readonly model?: string;
  /** Those that are bound to this tag. */
  readonly tag?: string;
  /** Unix seconds: those that end before. */
  readonly expiresBefore?: number;
  /** Unix seconds: those that were not used since. */
  readonly unusedSince?: number;
  /** Those that bear this label themselves: `team`, or `team=search`. */
  readonly label?: string;
  /** The newest first unless given. */
  readonly order?: TokenOrder;
}

/** Reads first give back expired reservations of the users concerned, so that balances are correct at `nowMs`. */
export interface TokenStore {
  /** `undefined` if the user does not exist. A new token counts as accessed at its creation. */
  createToken(token: NewToken, nowMs: number): Promise<Token | undefined>;
  /** The same, unless the user already has `most` tokens. */
  createTokenWithin(
    token: NewToken,
    most: number,
    nowMs: number,
  ): Promise<Token | 'too_many' | undefined>;
  getToken(id: number, nowMs: number): Promise<Token | undefined>;
  listTokens(query: TokenQuery, nowMs: number): Promise<Page<Token>>;
  /** With `ownerId`, a token of another user is `not_found`; with `when`, only if that holds for it, in the same step. */
  updateToken(
    id: number,
    change: TokenChange,
    nowMs: number,
    ownerId?: number,
    when?: (token: Token) => boolean,
  ): Promise<TokenUpdate>;
  /**
   * Gives a token another key; everything else stays. The previous key works for `keepOldMs`, and the one before that no
   * longer works. With `ownerId`, a token of another user is `undefined`, like one that does not exist.
   */
  rollToken(
    id: number,
    key: RolledKey,
    nowMs: number,
    ownerId?: number,
  ): Promise<Token | undefined>;
  /** A deleted token's remaining quota disappears with it; the user's balance was never charged for it. */
  deleteToken(id: number, ownerId?: number): Promise<boolean>;
}
